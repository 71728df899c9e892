"""Surfaces over a map that show where it is dense and where it is torn."""

from __future__ import annotations

import numpy as np

from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.search.search import unit_vectors


def distance_to_neighbours(weights: np.ndarray, grid: MapGrid, metric: str) -> np.ndarray:
    """Return the mean distance of each unit to the units that touch it, (units,) float32.

    Parameters
    ----------
    weights : (units, d) float32
        On the host.
    grid
        The map.
    metric
        As for `Searcher`.
    """
    if metric == "cosine":
        weights = unit_vectors(weights)
    total, count = np.zeros(grid.n_units), np.zeros(grid.n_units)
    for other in grid.neighbours().T:
        unit = np.flatnonzero(other >= 0)
        difference = weights[unit].astype(np.float64) - weights[other[unit]]
        if metric == "manhattan":
            distance = np.abs(difference).sum(axis=1)
        elif metric == "chebyshev":
            distance = np.abs(difference).max(axis=1)
        else:
            squared = (difference * difference).sum(axis=1)
            distance = 0.5 * squared if metric == "cosine" else np.sqrt(squared)
        total[unit] += distance
        count[unit] += 1
    return (total / np.maximum(1, count)).astype(np.float32)
