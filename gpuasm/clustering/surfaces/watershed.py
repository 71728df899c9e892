"""Watersheds of a surface over a map: the basin of each unit, by flooding."""

from __future__ import annotations

import numpy as np

from gpuasm.clustering.grid import MapGrid
from gpuasm.errors import UsageError
from gpuasm.parallel import compiled
from gpuasm.primitives.union_find import root_of

_HIGH = 0.98


def watersheds(surface: np.ndarray, grid: MapGrid, *, depth: float = 0.0) -> np.ndarray:
    """Flood a surface from its minima; a unit belongs to the basin that reaches it first.

    A minimum is a unit, or a plateau of neighbouring units of one height, without lower neighbours. The lowest reached
    unit is flooded next; of equally high ones the one reached first.

    Parameters
    ----------
    surface : (rows, columns) float
    grid
        The map, planar or toroidal.
    depth
        Basins of less depth than this share of the surface's height are merged over their lowest saddle. The height is
        that from the minimum to the 98 % quantile, as the maximum depends on few units.

    Returns
    -------
    (units,) int32
        Number of each unit's basin, 0 being that of the lowest unit.

    Raises
    ------
    UsageError
        If the depth is not from 0 to 1.
    """
    if not 0 <= depth <= 1:
        raise UsageError("a depth of valleys from 0 to 1", repr(depth), "give a share such as 0.2")
    height = np.ascontiguousarray(surface, dtype=np.float64).reshape(-1)
    order = np.argsort(height, kind="stable")
    rank = np.empty(height.size, np.int64)
    rank[order] = np.concatenate([[0], np.cumsum(np.diff(height[order]) > 0)])  # equal heights have one rank
    basin = np.full(height.size, -1, np.int32)
    neighbours = grid.neighbours()
    _flood(order, rank, neighbours, basin)
    if depth > 0:
        least = depth * float(np.quantile(height, _HIGH) - height.min())
        return _joined(height, neighbours, basin, least)
    return basin


def _joined(height: np.ndarray, neighbours: np.ndarray, basin: np.ndarray, least: float) -> np.ndarray:
    unit, place = np.nonzero(neighbours >= 0)
    other = neighbours[unit, place]
    crosses = basin[unit] < basin[other]
    unit, other = unit[crosses], other[crosses]
    saddle = np.maximum(height[unit], height[other])
    order = np.argsort(saddle, kind="stable")
    # Basins are numbered in ascending order of their floors.
    floor = np.full(int(basin.max()) + 1, np.inf)
    np.minimum.at(floor, basin, height)
    root = np.arange(floor.size)
    _join(basin[unit[order]], basin[other[order]], saddle[order], floor, least, root)
    return np.unique(root[basin], return_inverse=True)[1].astype(np.int32)


@compiled()
def _join(one, other, saddle, floor, least, root):
    for i in range(saddle.size):
        a, b = root_of(root, np.int64(one[i])), root_of(root, np.int64(other[i]))
        low, high = min(a, b), max(a, b)
        # Saddles are in ascending order: one that is too high for two basins is too high after merges as well.
        if a != b and saddle[i] - floor[high] < least:
            root[high] = low
    for basin in range(root.size):
        root[basin] = root[root[basin]]  # a parent has a lower number and is final


@compiled()
def _flood(order, rank, neighbours, basin):
    n = order.size
    n_basins = 0
    # Reached units, one queue for each rank, as linked lists.
    first, last = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    behind = np.full(n, -1, np.int64)
    state = np.zeros(n, np.int8)  # 1: assigned to a plateau, 2: in a queue or flooded
    plateau = np.empty(n, np.int64)
    for start in order:
        if state[start]:
            continue
        size, is_lowest = 1, True
        plateau[0] = start
        state[start] = 1
        at = 0
        while at < size:
            unit = plateau[at]
            at += 1
            for other in neighbours[unit]:
                if other < 0:
                    continue
                if rank[other] < rank[unit]:
                    is_lowest = False
                elif rank[other] == rank[unit] and state[other] == 0:
                    state[other] = 1
                    plateau[size] = other
                    size += 1
        if is_lowest:
            for i in range(size):
                basin[plateau[i]] = n_basins
            n_basins += 1
    is_lowest_place = basin >= 0  # flooding assigns more units
    for i in range(n):
        state[i] = 2 if is_lowest_place[i] else 0
    for i in range(n):
        if is_lowest_place[i]:
            _reach_neighbours(i, rank, neighbours, basin, state, first, last, behind)
    level = 0
    while level < n:
        unit = first[level]
        if unit < 0:
            level += 1
            continue
        first[level] = behind[unit]
        # Units below a crossed saddle are reached now: continue at their level.
        lowest = _reach_neighbours(unit, rank, neighbours, basin, state, first, last, behind)
        level = min(level, lowest)


@compiled()
def _reach_neighbours(unit, rank, neighbours, basin, state, first, last, behind):
    """Queue the unflooded neighbours of a unit; return their lowest rank."""
    lowest = rank.size
    for other in neighbours[unit]:
        if other < 0 or state[other] == 2:
            continue
        state[other] = 2
        basin[other] = basin[unit]
        r = rank[other]
        lowest = min(lowest, r)
        behind[other] = -1
        if first[r] < 0:
            first[r] = other
        else:
            behind[last[r]] = other
        last[r] = other
    return lowest
