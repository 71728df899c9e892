"""U*C: clusters of a map by distances and density (Ultsch 2005, doi:10.1007/3-540-28084-7_84).

A walk from each unit descends the U-matrix to a minimum, away from borders, and then ascends the P-matrix to a maximum
of density. The watersheds of the U*-matrix separate the ends of these walks: units whose walks end in one basin form a
cluster.
"""

from __future__ import annotations

import numpy as np

from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.surfaces.watershed import watersheds
from gpuasm.parallel import compiled


def immersion(heights: np.ndarray, density: np.ndarray, grid: MapGrid) -> np.ndarray:
    """Return the end of the walk from each unit, (units,) int32.

    Each step leads to the lowest (then densest) neighbour, if it is lower (denser) than the current unit; of equal
    ones to that of the lowest number.

    Parameters
    ----------
    heights, density : (rows, columns) float
        U-matrix and P-matrix.
    grid
        The map.
    """
    neighbours = grid.neighbours()
    down = _steepest(np.ascontiguousarray(heights, dtype=np.float64).reshape(-1), neighbours)
    up = _steepest(-np.ascontiguousarray(density, dtype=np.float64).reshape(-1), neighbours)
    return _ends(up)[_ends(down)]


def u_star_clusters(
    heights: np.ndarray, density: np.ndarray, surface: np.ndarray, grid: MapGrid, *, depth: float = 0.0
) -> np.ndarray:
    """Return the cluster of each unit, (units,) int32, numbered from 0, most units first.

    Parameters
    ----------
    heights, density, surface : (rows, columns) float
        U-matrix, P-matrix and U*-matrix.
    grid
        The map.
    depth
        As for `watersheds`; with 0 every valley is a cluster, as published.
    """
    basin = watersheds(surface, grid, depth=depth)[immersion(heights, density, grid)]
    size = np.bincount(basin)
    number = np.empty(size.size, np.int32)
    number[np.argsort(-size, kind="stable")] = np.arange(size.size)
    return number[basin]


@compiled()
def _steepest(height, neighbours):
    """Return the step from each unit: its lowest neighbour, or itself."""
    out = np.empty(height.size, np.int32)
    for unit in range(height.size):
        best = unit
        for other in neighbours[unit]:
            if other >= 0 and height[other] < height[best]:
                best = other
        out[unit] = best
    return out


def _ends(step: np.ndarray) -> np.ndarray:
    """Follow steps to their end: each round doubles the distance."""
    while not np.array_equal(further := step[step], step):
        step = further
    return step
