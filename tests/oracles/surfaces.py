"""Surfaces of maps, written down as they are defined: densities, walks and floods one unit at a time."""

from __future__ import annotations

import heapq
import itertools

import numpy as np

from tests.oracles.som import distances


def pareto_radius(rows: np.ndarray, metric: str) -> float:
    """Return the least distance that at least 20.13 % of all pairs do not exceed."""
    found = sorted(
        distances(rows[i : i + 1], rows[j : j + 1], metric)[0, 0]
        for i, j in itertools.combinations(range(len(rows)), 2)
    )
    return found[int(np.ceil(0.2013 * len(found))) - 1]


def flood(height: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the basin of each unit: from each lowest place water runs over the lowest dry unit it touches."""
    touching = [[int(o) for o in row if o >= 0] for row in neighbours]
    basin = np.full(height.size, -1)
    n_basins = 0
    for start in np.argsort(height, kind="stable").tolist():
        plateau, waiting = {start}, [start]
        while waiting:
            for other in touching[waiting.pop()]:
                if height[other] == height[start] and other not in plateau:
                    plateau.add(other)
                    waiting.append(other)
        around = {o for unit in plateau for o in touching[unit]} - plateau
        if basin[start] < 0 and all(height[o] > height[start] for o in around):
            basin[sorted(plateau)] = n_basins
            n_basins += 1
    edge: list[tuple[float, int, int]] = []
    turn = itertools.count()

    def spread(unit: int) -> None:
        for other in touching[unit]:
            if basin[other] < 0:
                basin[other] = basin[unit]
                heapq.heappush(edge, (height[other], next(turn), other))

    for unit in np.flatnonzero(basin >= 0).tolist():
        spread(unit)
    while edge:
        spread(heapq.heappop(edge)[2])
    return basin


def walk_down(height: np.ndarray, neighbours: np.ndarray, unit: int) -> int:
    """Return where one ends who always steps to the lowest neighbour, if that is lower."""
    while True:
        near = [int(o) for o in neighbours[unit] if o >= 0]
        lowest = min(near, key=lambda o: (height[o], o), default=unit)
        if height[lowest] >= height[unit]:
            return unit
        unit = lowest
