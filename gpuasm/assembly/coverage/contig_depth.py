"""Depth of contigs: how many aligned intervals cover each base, and mean, variance, median, minimum and breadth.

Intervals are text positions of the targets; on circular targets they may cross the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.counting import sum_between
from gpuasm.primitives.runs import mark_ranges, numbers_of_ranges
from gpuasm.primitives.searching import first_not_below
from gpuasm.threads import run_chunks

_BATCH = 1 << 19
"""Intervals that are counted at once: each takes more than a hundred bytes meanwhile."""


class Coverage:
    """Count how many intervals cover each place, with arrays of namespace ``xp``.

    Sums of integers do not depend on the order of intervals.
    """

    def __init__(self, targets: Targets, xp: Any) -> None:
        self._difference = xp.zeros(targets.n_places + 1, np.int32)
        self._targets = targets.arrays

    def add(self, target: Array, begin: Array, end: Array) -> None:
        """Count intervals of targets, (n,) int32, from ``begin`` to ``end``, (n,) int64; empty ones do not count."""
        for row in range(0, int(target.size), _BATCH):
            rows = slice(row, row + _BATCH)
            self._add(target[rows], begin[rows], end[rows])

    def _add(self, target: Array, begin: Array, end: Array) -> None:
        xp = array_namespace(begin)
        kept = xp.flatnonzero(end > begin)
        target, begin, length = target[kept], begin[kept], (end - begin)[kept]
        own = self._targets
        first, size, closed = own.offset[target], own.size[target], own.is_circular[target]
        begin = begin - own.start[target]
        begin = xp.where(closed, begin % size, begin)
        # On a circular target: all whole rounds, then the rest beyond the origin.
        rounds = xp.where(closed, length // size, 0)
        end = begin + length - rounds * size
        beyond = closed & (end > size)
        rounds += beyond
        end = xp.where(beyond, end - size, end)
        xp.add.at(self._difference, first + begin, np.int32(1))
        xp.add.at(self._difference, first + end, np.int32(-1))
        several = xp.flatnonzero(rounds)
        rounds = rounds[several].astype(np.int32)
        xp.add.at(self._difference, first[several], rounds)
        xp.add.at(self._difference, (first + size)[several], -rounds)

    def take(self) -> Array:
        """Return the (n_places,) int32 counts, in the memory of this object, which can count no more."""
        xp, counts = array_namespace(self._difference), self._difference[:-1]
        self._difference = self._difference[:0]
        xp.cumsum(counts, dtype=np.int32, out=counts)
        return counts


@dataclass(frozen=True)
class DepthTable:
    """Depth of each contig: of the bases of its core, or of all its bases if it has none.

    Attributes
    ----------
    has_core : (n,) bool
        Whether there is a core (see `core_of`).
    mean, variance : (n,) float64
    median, least : (n,) int64
        Of the depth of these bases.
    breadth : (n,) float64
        Share of these bases that reads cover.
    """

    has_core: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    median: np.ndarray
    least: np.ndarray
    breadth: np.ndarray


def core_of(targets: Targets, index: SeedIndex, bounds: np.ndarray) -> np.ndarray:
    """Find the core of each contig: from its first unique seed to its last.

    All of a circular contig is core. Ends that a contig shares with others, as neighbours in the graph do, are
    excluded: the origin of the reads there is unknown. ``bounds`` are the places where each contig begins, and the end:
    (n + 1,) int64.

    Returns
    -------
    (n_places,) bool: false in linear contigs whose core would be shorter than `COVERAGE.core_min_bases`.
    """
    first, xp = index.first, array_namespace(index.first)
    position = to_host(xp.sort(index.place[first[:-1][xp.diff(first) == 1]] >> 1))
    low, high = (np.searchsorted(position, ends) for ends in (targets.start[:-1], targets.start[1:]))
    found = np.flatnonzero(high > low)
    closed, offset = targets.is_circular[found], targets.offset[found]
    begin = np.where(closed, offset, offset + position[low[found]] + index.k - targets.start[found])
    end = np.where(closed, offset + targets.size[found], offset + position[high[found] - 1] - targets.start[found])
    contig = np.searchsorted(bounds, offset, side="right") - 1
    core_begin, core_end = bounds[:-1].copy(), bounds[:-1].copy()
    core_begin[contig[::-1]] = begin[::-1]  # the first stretch of a contig is written last
    core_end[contig] = end
    kept = core_end - core_begin >= COVERAGE.core_min_bases
    kept[contig[closed]] = True
    return mark_ranges(core_begin[kept], core_end[kept], int(bounds[-1]))


def summarise(depth: np.ndarray, is_base: np.ndarray, is_core: np.ndarray, bounds: np.ndarray) -> DepthTable:
    """Summarise the depth of contigs, given that of each base: (n_places,) int32.

    ``is_base``, (n_places,) bool, is false in gaps, which do not count; `core_of` explains the others.
    """
    n = bounds.size - 1
    has_core = np.zeros(n, dtype=bool)
    sums, counts, order = np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64)
    run_chunks(
        _accumulate_depth, n, depth, is_base, is_core, bounds, int(depth.max(initial=0)), has_core, sums, counts, order
    )
    summed = np.maximum(counts[:, 0], 1)
    mean = sums[:, 0] / summed
    variance = np.maximum(0.0, sums[:, 1] / summed - mean**2)
    return DepthTable(has_core, mean, variance, order[:, 0], order[:, 1], counts[:, 1] / summed)


@signatures(
    "int64, int64, int32[::1], boolean[::1], boolean[::1], int64[::1], int64, boolean[::1], int64[:, ::1], "
    "int64[:, ::1], int64[:, ::1]"
)
@compiled()
def _accumulate_depth(first, last, depth, is_base, is_core, bounds, deepest, has_core, sums, counts, order):
    histogram = np.zeros(deepest + 1, np.int64)
    for c in range(first, last):
        most = 0
        for i in range(bounds[c], bounds[c + 1]):
            has_core[c] |= is_core[i] and is_base[i]
        for i in range(bounds[c], bounds[c + 1]):
            if is_base[i] and (is_core[i] or not has_core[c]):
                d = np.int64(depth[i])
                histogram[d] += 1
                most = max(most, d)
                counts[c, 0] += 1
                counts[c, 1] += d > 0
                sums[c, 0] += d
                sums[c, 1] += d * d
        for d in range(most):
            histogram[d + 1] += histogram[d]
        if counts[c, 0] > 0:
            order[c, 0] = first_not_below((counts[c, 0] + 1) // 2, histogram, most + 1)
            order[c, 1] = first_not_below(1, histogram, most + 1)
        histogram[: most + 1] = 0


def window_means(depth: np.ndarray, bounds: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean depth of windows of ``width`` bases; the last window of a contig may be shorter.

    Returns
    -------
    contig : (w,) int64
    begin : (w,) int64
        Within the contig.
    mean : (w,) float64
    """
    length = np.diff(bounds)
    number, contig = numbers_of_ranges(np.zeros_like(length), -(-length // width))
    begin = number * width
    size = np.minimum(width, length[contig] - begin)
    return contig, begin, sum_between(depth, np.append(bounds[contig] + begin, bounds[-1])) / np.maximum(size, 1)
