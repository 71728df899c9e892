"""Regions of a map: valleys of its surface, joined unless a gap separates their rows."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from gpuasm.clustering.bins.contrast import PRIOR_WEIGHT
from gpuasm.clustering.grid import MapGrid
from gpuasm.parallel import compiled
from gpuasm.threads import single_threaded_blas

VALLEY = 0.5
"""Two groups are separate if fewer rows are between them than this share of those around the sparser group's centre,"""
SIGMAS = 3.0
"""by so many standard deviations of the difference of such counts."""
FEWEST_ROWS = 10
"""Smaller groups are not tested."""
MOST_ROWS = 4000
"""Rows of a group that are tested, evenly spaced; limits the time."""
_PLACES = np.linspace(0.25, 0.75, 9)


@dataclass(frozen=True)
class Regions:
    """A map divided into regions.

    Attributes
    ----------
    of_unit : (units,) int32
        Region of each unit; regions are numbered in descending order of rows.
    of_row : (n,) int32
        Region of each row.
    n : int
        Number of regions.
    n_valleys : int
        Number of valleys of the surface before they were joined.
    """

    of_unit: np.ndarray
    of_row: np.ndarray
    n: int
    n_valleys: int


def find_regions(rows: np.ndarray, units: np.ndarray, surface: np.ndarray, grid: MapGrid) -> Regions:
    """Divide a map into regions.

    Parameters
    ----------
    rows : (n, d) float
        Rows of the map, with noise of about 1 in each column.
    units : (n,) int32
        Best unit of each row.
    surface : (rows, columns) float
        For example a U-matrix: low where units are similar.
    grid
        The map.
    """
    height = np.ascontiguousarray(surface, dtype=np.float64).reshape(-1)
    neighbours = grid.neighbours()
    valley = _flood(height, neighbours)
    n_valleys = int(valley.max()) + 1
    group = _joined(rows, valley[units], _saddles(height, valley, neighbours), n_valleys)
    # A valley without rows is added to the region of the largest number, which has the fewest rows, or none.
    number = _by_size(np.bincount(group[valley[units]], minlength=n_valleys))
    of_unit = number[group[valley]].astype(np.int32)
    return Regions(of_unit, of_unit[units], int(of_unit.max()) + 1, n_valleys)


def is_apart(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether a gap separates two groups of rows along Fisher's discriminant.

    Each half of the rows is projected on the discriminant of the other half, as any rows are separate along their own
    discriminant. A single cloud divided in two is densest at the division. Rows are counted in slices of a third of the
    distance: around either mean, and at the sparsest position between them.
    """
    if min(one.shape[0], other.shape[0]) < FEWEST_ROWS:
        return False
    halves = [(one[::2], other[::2]), (one[1::2], other[1::2])]
    along = np.concatenate([_along(halves[i], _discriminant(*halves[1 - i])) for i in (0, 1)])
    around = min(_in_slice(along, 0.0), _in_slice(along, 1.0))
    between = min(_in_slice(along, place) for place in _PLACES)
    return between < VALLEY * around and around - between > SIGMAS * np.sqrt(around + between)


def _discriminant(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return Fisher's discriminant of two groups, with unit noise of weight two rows per column as a prior."""
    low, high = one.mean(axis=0, dtype=np.float64), other.mean(axis=0, dtype=np.float64)
    inside = np.concatenate([one - low, other - high])
    weight = PRIOR_WEIGHT * one.shape[1]
    with single_threaded_blas():
        scatter = (inside.T @ inside + weight * np.eye(one.shape[1])) / (inside.shape[0] + weight)
        return np.linalg.solve(scatter, high - low)


def _along(groups: tuple[np.ndarray, np.ndarray], line: np.ndarray) -> np.ndarray:
    """Return the positions of the rows of two groups along a line, scaled to group means of 0 and 1."""
    first, second = (group @ line for group in groups)
    distance = second.mean() - first.mean()
    if distance <= 0:
        return np.full(first.size + second.size, np.inf)
    return (np.concatenate([first, second]) - first.mean()) / distance


def _in_slice(along: np.ndarray, place: float) -> int:
    return int((np.abs(along - place) < 1 / 6).sum())


def _flood(height: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the valley of each unit, (units,) int64: in ascending order each joins its lowest flooded neighbour."""
    valley = np.full(height.size, -1, np.int64)
    _flood_in_order(np.argsort(height, kind="stable"), height, neighbours, valley)
    return valley


@compiled()
def _flood_in_order(order, height, neighbours, valley):
    n_valleys = 0
    for unit in order:
        lowest = -1
        for other in neighbours[unit]:
            if other >= 0 and valley[other] >= 0 and (lowest < 0 or height[other] < height[lowest]):
                lowest = other
        if lowest < 0:
            valley[unit] = n_valleys
            n_valleys += 1
        else:
            valley[unit] = valley[lowest]


def _saddles(height: np.ndarray, valley: np.ndarray, neighbours: np.ndarray) -> dict[tuple[int, int], float]:
    """Return the height of the lowest saddle between adjacent valleys, the lesser number first."""
    unit, place = np.nonzero(neighbours >= 0)
    other = neighbours[unit, place]
    crosses = valley[unit] < valley[other]
    unit, other = unit[crosses], other[crosses]
    pairs = np.column_stack([valley[unit], valley[other]])
    found, which = np.unique(pairs, axis=0, return_inverse=True)
    lowest = np.full(len(found), np.inf)
    np.minimum.at(lowest, which.reshape(-1), np.maximum(height[unit], height[other]))
    return {(a, b): h for (a, b), h in zip(found.tolist(), lowest.tolist(), strict=True)}


def _joined(rows: np.ndarray, valley: np.ndarray, saddles: dict[tuple[int, int], float], n_valleys: int) -> np.ndarray:
    """Join valleys over the lowest saddles first, unless their rows are separate; return the group of each valley."""
    order = np.argsort(valley, kind="stable")
    members: dict[int, np.ndarray] = dict(
        enumerate(np.split(order, np.searchsorted(valley[order], np.arange(1, n_valleys))))
    )
    saddles_of: dict[int, dict[int, float]] = {v: {} for v in range(n_valleys)}
    for (a, b), height in saddles.items():
        saddles_of[a][b] = saddles_of[b][a] = height
    version = [0] * n_valleys
    group = np.arange(n_valleys)
    waiting = [(height, a, b, 0, 0) for (a, b), height in saddles.items()]
    heapq.heapify(waiting)
    while waiting:
        _, a, b, version_a, version_b = heapq.heappop(waiting)
        if (version[a], version[b]) != (version_a, version_b) or _are_apart(rows, members[a], members[b]):
            continue
        members[a] = np.concatenate([members[a], members.pop(b)])
        group[group == b] = a
        version[a], version[b] = version[a] + 1, -1
        for c, height in saddles_of.pop(b).items():
            del saddles_of[c][b]
            if c != a:
                saddles_of[a][c] = saddles_of[c][a] = min(height, saddles_of[a].get(c, np.inf))
        for c, height in saddles_of[a].items():
            heapq.heappush(waiting, (height, min(a, c), max(a, c), version[min(a, c)], version[max(a, c)]))
    return group


def _are_apart(rows: np.ndarray, one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether the rows of two lists of indices are separate; without any, they are not."""
    if not (one.size and other.size):
        return False
    return is_apart(rows[one[:: 1 + one.size // MOST_ROWS]], rows[other[:: 1 + other.size // MOST_ROWS]])


def _by_size(size: np.ndarray) -> np.ndarray:
    """Return the numbers of groups in descending order of rows; those without rows share the last number."""
    order = np.argsort(-size, kind="stable")
    number = np.empty(size.size, np.int64)
    number[order] = np.minimum(np.arange(size.size), max(0, int((size > 0).sum()) - 1))
    return number
