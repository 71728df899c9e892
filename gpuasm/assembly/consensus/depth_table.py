"""What the depth of its bases says of each contig: mean, variance, median, least, breadth, copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.consensus.targets import SeedIndex, Targets
from gpuasm.parallel import compiled

LEAST_CORE = 1000
"""Bases that a core must have for the depth of a linear contig to be told from the reads on it."""


@dataclass(frozen=True)
class DepthTable:
    """A row for each contig, over its core, or where there is none over all its bases.

    Attributes
    ----------
    has_core : (n,) bool
        Whether there is a core (see `core_of`).
    mean, variance : (n,) float64
    median, least : (n,) int64
        Of the depth of these bases.
    breadth : (n,) float64
        Share of these bases that any read covers.
    """

    has_core: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    median: np.ndarray
    least: np.ndarray
    breadth: np.ndarray


def core_of(targets: Targets, index: SeedIndex, bounds: np.ndarray) -> np.ndarray:
    """Find the core of each contig: from its first seed that stands nowhere else to its last.

    A circle is core all over. Ends that a contig shares with others, as neighbours in the graph do, are left out: to
    which of them the reads belong is not known there, and how many of those from beyond reach into a short core is not
    either.

    Parameters
    ----------
    targets, index
        Targets and their seeds.
    bounds : (n + 1,) int64
        The places where each contig begins, and the end.

    Returns
    -------
    (n_places,) bool: nowhere in a linear contig whose core would be too short.
    """
    first, place = to_host(index.first), to_host(index.place)
    position = np.sort(place[first[:-1][np.diff(first) == 1]] >> 1)
    low, high = (np.searchsorted(position, ends) for ends in (targets.start[:-1], targets.start[1:]))
    found = np.flatnonzero(high > low)
    closed, offset = targets.is_circular[found], targets.offset[found]
    begin = np.where(closed, offset, offset + position[low[found]] + index.k - targets.start[found])
    end = np.where(closed, offset + targets.size[found], offset + position[high[found] - 1] - targets.start[found])
    contig = np.searchsorted(bounds, offset, side="right") - 1
    core_begin, core_end = bounds[:-1].copy(), bounds[:-1].copy()
    core_begin[contig[::-1]] = begin[::-1]  # the first of a contig's stretches is written last
    core_end[contig] = end
    is_circle = np.zeros(bounds.size - 1, dtype=bool)
    is_circle[contig[closed]] = True
    kept = is_circle | (core_end - core_begin >= LEAST_CORE)
    edges = np.zeros(int(bounds[-1]) + 1, np.int8)
    np.add.at(edges, core_begin[kept], np.int8(1))
    np.add.at(edges, core_end[kept], np.int8(-1))
    return np.cumsum(edges[:-1], dtype=np.int8) > 0


def summarise(depth: np.ndarray, is_base: np.ndarray, is_core: np.ndarray, bounds: np.ndarray) -> DepthTable:
    """Summarise the depth of contigs.

    Parameters
    ----------
    depth : (n_places,) int32
        Of each base of all contigs.
    is_base, is_core : (n_places,) bool
        False in gaps, which count for nothing; true in the cores, as `core_of` gives them.
    bounds : (n + 1,) int64
        The places where each contig begins, and the end.
    """
    n = bounds.size - 1
    has_core = np.zeros(n, dtype=bool)
    sums, counts, order = np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64)
    histogram = np.zeros(int(depth.max(initial=0)) + 1, np.int64)
    _summarise(depth, is_base, is_core, bounds, histogram, has_core, sums, counts, order)
    summed = np.maximum(counts[:, 0], 1)
    mean = sums[:, 0] / summed
    variance = np.maximum(0.0, sums[:, 1] / summed - mean**2)
    return DepthTable(has_core, mean, variance, order[:, 0], order[:, 1], counts[:, 1] / summed)


@compiled()
def _summarise(depth, is_base, is_core, bounds, histogram, has_core, sums, counts, order):
    for c in range(bounds.size - 1):
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
        passed, least, median = 0, -1, -1
        for d in range(most + 1):
            passed += histogram[d]
            if passed > 0 and least < 0:
                least = d
            if 2 * passed >= counts[c, 0] and passed > 0 and median < 0:
                median = d
            histogram[d] = 0
        order[c, 0], order[c, 1] = max(0, median), max(0, least)


def window_means(depth: np.ndarray, bounds: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut contigs into windows of ``width`` bases, the last of each shorter, and return each one's mean depth.

    Returns
    -------
    contig : (w,) int64
    begin : (w,) int64
        Within the contig.
    mean : (w,) float64
    """
    length = np.diff(bounds)
    per_contig = -(-length // width)
    contig = np.repeat(np.arange(length.size), per_contig)
    begin = (np.arange(contig.size) - (np.cumsum(per_contig) - per_contig)[contig]) * width
    size = np.minimum(width, length[contig] - begin)
    sums = np.concatenate([[0], np.cumsum(depth, dtype=np.int64)])
    first = bounds[contig] + begin
    return contig, begin, (sums[first + size] - sums[first]) / np.maximum(size, 1)
