"""U-matrix and U*-matrix: distances of neighbouring units, and these weighted by density (Ultsch 2003)."""

from __future__ import annotations

import numpy as np

from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.search.search import unit_vectors


def distance_to_neighbours(weights: np.ndarray, grid: MapGrid, metric: str) -> np.ndarray:
    """Return the mean distance of each unit to its neighbours, (units,) float32: the U-matrix.

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


def u_star(heights: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Return U * (P - mean P) / (mean P - max P) + U: 0 for the largest P, U for its mean, more for less.

    Parameters
    ----------
    heights : (rows, columns) float
        The U-matrix.
    density : (rows, columns) float
        The P-matrix.

    Returns
    -------
    (rows, columns) float64; the U-matrix itself if the density is constant.
    """
    mean, most = float(density.mean()), float(density.max())
    heights = heights.astype(np.float64)
    if most <= mean:
        return heights
    return heights * np.maximum(0.0, (most - density) / (most - mean))
