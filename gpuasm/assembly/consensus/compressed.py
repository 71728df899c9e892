"""Compressed stretches: places that fragments span, but as far too short ones.

Where a unit of a tandem repeat is lost, or what is between two copies of a repeat that both stand there, reads still
fit on either side, and their mates face them. But the fragments across seem shorter by what is missing: the
compression-expansion statistic (Zimin et al. 2008, doi:10.1093/bioinformatics/btm542). A contig is broken where

1. the mean of the fragments across is 5.5 standard errors below what it should be, and so by a whole standard deviation
   of fragments: in real libraries their size shifts a little with the bases, and many show that clearly;
2. it is 40 bases below: fragments of another copy of a repeat may lie there as well, and copies differ by some bases;
3. half of what should lie across does, and ten: where mates of the longer ones have no place of their own, as between
   two repeats, those that are left are short, and fewer. Nine tenths do, where a contig ends within a fragment's reach:
   there most such places are. And
4. half of the fragments are at most as long as either side of the contig. What the mean should be where it ends nearer
   than the longest is told by those that fit.

Of places beside each other, the one counts where all fragments together are the most too short: there most of them lie
across what lost its bases. That too many bases stand somewhere is not told: fragments across a repeat are longer than
others, if mates of the shorter ones lie in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.targets import Targets

_ERRORS = 5.5
"""Standard errors that a mean must be below what is expected: chance has that once in fifty million places."""
_DEVIATIONS = 1.0
"""And standard deviations of single fragments."""
_BASES = 40
"""And bases."""
_SHARE, _SHARE_NEAR_ENDS, _LEAST = 0.5, 0.9, 10
"""Fragments across, as a share of those that are elsewhere, and at least."""
_BESIDE = 10
"""Bases of a fragment on either side of a place that it lies across."""


def find_compressed(begin: np.ndarray, end: np.ndarray, targets: Targets, known: np.ndarray) -> np.ndarray:
    """Return the places of the contigs, ascending, that only far too short fragments span: (b,) int64.

    Parameters
    ----------
    begin, end : (m,) int64
        Where all fragments begin, ascending, and end, in text positions.
    targets
        What these lie on.
    known : (n,) int64, ascending
        Places at which contigs are broken anyway: within half of the fragments' length of one nothing is told.
    """
    length = end - begin
    if length.size == 0:
        return np.empty(0, np.int64)
    sizes = _Sizes(np.bincount(np.maximum(length, 0)).astype(np.int64), int(targets.size.sum()))
    typical = int(np.median(length))
    found: list[int] = []
    for target in np.flatnonzero((targets.size > 2 * typical) & ~targets.is_circular).tolist():
        first, size, offset = int(targets.start[target]), int(targets.size[target]), int(targets.offset[target])
        rows = slice(*np.searchsorted(begin, [first, first + size]).tolist())
        places = _shortest(begin[rows] - first, end[rows] - first, size, sizes)
        found += [offset + place for place in places if typical <= place <= size - typical]
    place, half = np.array(found, np.int64), typical // 2
    return place[np.searchsorted(known, place - half) == np.searchsorted(known, place + half, side="right")]


@dataclass(frozen=True)
class _Sizes:
    """How many fragments there are of each length, in all targets, and the bases of these."""

    histogram: np.ndarray
    n_bases: int

    def across(self, before: int, behind: int) -> tuple[float, float, float]:
        """Return how many should lie across a place so far from both ends, their mean, and its standard deviation."""
        length = np.arange(self.histogram.size)
        ways = np.minimum(before - _BESIDE, before + behind - length) - np.maximum(0, before + _BESIDE - length) + 1
        weight = self.histogram * np.maximum(ways, 0)
        n = int(weight.sum())
        if n == 0:
            return 0.0, 0.0, 0.0
        mean = int((weight * length).sum()) / n
        return n / self.n_bases, mean, (int((weight * length * length).sum()) / n - mean * mean) ** 0.5


def _shortest(begin: np.ndarray, end: np.ndarray, size: int, sizes: _Sizes) -> list[int]:
    """Return the places of one target that fragments show to be too short, one of each run of them."""
    longest = sizes.histogram.size
    fits = (end <= size) & (end - begin >= 2 * _BESIDE)
    begin, end = begin[fits] + _BESIDE, end[fits] - _BESIDE
    n = np.cumsum(_counted(begin, size) - _counted(end, size))
    sums = np.cumsum(_counted(begin, size, end - begin) - _counted(end, size, end - begin)) + 2 * _BESIDE * n
    _, mean, deviation = sizes.across(longest, longest)
    short = np.maximum(0, mean * n - sums)  # by how many bases all of them together are too short
    is_low = (n >= _LEAST) & (short >= _DEVIATIONS * deviation * n) & (short >= _ERRORS * deviation * np.sqrt(n))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_low, [False]]).astype(np.int8))).reshape(-1, 2)
    found = []
    for low, high in edges.tolist():
        place = low + int(np.argmax(short[low:high]))
        before, behind = min(place, longest), min(size - place, longest)
        expected, mean, deviation = sizes.across(before, behind)
        by = mean - int(sums[place]) / int(n[place])
        is_clear = by >= max(_BASES, _DEVIATIONS * deviation) and by * float(n[place]) ** 0.5 >= _ERRORS * deviation
        share = _SHARE if min(before, behind) == longest else _SHARE_NEAR_ENDS
        if is_clear and n[place] >= share * expected:
            found.append(place)
    return _apart(found, longest // 2)


def _apart(places: list[int], least: int) -> list[int]:
    """Return places without those that are nearer to the one before."""
    kept: list[int] = []
    for place in places:
        if not kept or place - kept[-1] >= least:
            kept.append(place)
    return kept


def _counted(places: np.ndarray, size: int, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(places, weights, minlength=size + 1).astype(np.int64)
