"""Stray mates: joins that no fragment spans, where the mates that should lie beyond them lie elsewhere.

Two places of a genome that share some bases, fewer than a fragment has, may be joined wrongly where pairs were walked
the wrong way. Reads and k-mers do not contradict that, but pairs do: those of the one place have their mates in the
contig that goes on there. So windows of half a fragment's length are looked at that no fragment spans. Of a run of
them the last begins where the other place begins, and the first ends where the one ends. Where eight reads begin before
the last, whose mates should lie behind the first and within the contig, but have their own place on one other target,
the contig is broken: behind the last base of these reads, up to which they agree with it.

These must be nearly all reads that begin there. Where the reads of two copies lie on what was told once, those of the
one have their mates elsewhere, and the other's may lie in a repeat, without a place of their own: such a contig may be
right. Either side can tell a false join, so that what is wrong near an end is broken too, and in thin coverage. Reads
whose mates should lie behind the contig's end, as where it ends in a repeat, tell nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.targets import Targets
from gpuasm.assembly.consensus.unspanned import Spans, without_any

_ENOUGH = 8
"""Reads that lead over a run of windows and have their mates on one other target."""
_SHARE = 0.8
"""Their share of all reads that begin there, have a place of their own, and are read in that direction, at least."""

_NONE = np.iinfo(np.int64).max
"""No place."""


def find_contradicted(spans: Spans, targets: Targets, known: np.ndarray) -> np.ndarray:
    """Return the places of the contigs, ascending, where by what mates say they end: (b,) int64.

    Parameters
    ----------
    spans
        Reads, fragments and strays.
    targets
        What these were laid on.
    known : (n,) int64, ascending
        Places at which contigs are broken anyway: windows with one of them are not told again.
    """
    begin, end = spans.fragments
    if begin.size == 0:
        return np.empty(0, np.int64)
    sizes = _Sizes.of(end - begin, spans.read_length)
    within = end <= targets.start[-1]  # not round a circle
    low, high = without_any(begin[within], end[within], targets, sizes.window)
    target = np.searchsorted(targets.start, low, side="right") - 1
    first = targets.start[target]
    bounds = np.stack([low, high + sizes.window, first, first + targets.size[target]], axis=1)
    shift = targets.offset[target] - first
    is_told = np.searchsorted(known, bounds[:, 0] + shift) < np.searchsorted(known, bounds[:, 1] + shift, side="right")
    rightwards, leftwards = _Leading.of(spans, targets)
    places = rightwards.last(bounds, sizes)
    # Read from the other strand, what leads to the left leads to the right.
    turned = leftwards.last(-bounds[:, [1, 0, 3, 2]], sizes)
    places = np.where(places == _NONE, -turned, places)
    return np.unique((places + shift)[(np.abs(places) != _NONE) & ~is_told])


@dataclass(frozen=True)
class _Sizes:
    """Bases of a window, of the longest and the typical fragment, and of a read."""

    window: int
    longest: int
    typical: int
    read: int

    @classmethod
    def of(cls, fragment: np.ndarray, read: int) -> _Sizes:
        typical = int(np.median(fragment))
        return cls(typical // 2, int(fragment.max()), typical, read)


@dataclass(frozen=True)
class _Leading:
    """Strays that are read to the right: where they begin, ascending, and end, and the target of the mate.

    ``times`` is how many reads there are of that direction that begin at each place, from ``origin`` on.
    """

    begin: np.ndarray
    end: np.ndarray
    elsewhere: np.ndarray
    times: np.ndarray
    origin: int

    @classmethod
    def of(cls, spans: Spans, targets: Targets) -> tuple[_Leading, _Leading]:
        """Return those that are read to the right, and those to the left as the other strand has them."""
        begin, end, turned, mate = np.concatenate(spans.strays, axis=1)
        elsewhere = np.searchsorted(targets.start, mate, side="right") - 1
        own = np.searchsorted(targets.start, begin, side="right") - 1
        right, left = ((turned == side) & (elsewhere != own) for side in (0, 1))
        return (
            cls._sorted((begin[right], end[right], elsewhere[right]), spans.rightwards, 0),
            cls._sorted((-end[left], -begin[left], elsewhere[left]), spans.leftwards[::-1], 1 - spans.leftwards.size),
        )

    @classmethod
    def _sorted(cls, strays: tuple[np.ndarray, np.ndarray, np.ndarray], times: np.ndarray, origin: int) -> _Leading:
        begin, end, elsewhere = strays
        order = np.lexsort((end, begin))
        return cls(begin[order], end[order], elsewhere[order], times, origin)

    def last(self, runs: np.ndarray, sizes: _Sizes) -> np.ndarray:
        """Return where the last stray ends that leads over each run of windows, if these are enough: (n,) int64.

        Parameters
        ----------
        runs : (n, 4) int64
            Where the first of the windows begins and the last ends, and where their target does.
        sizes
            Of windows, fragments and reads.
        """
        low, high, first, last = runs.T
        begin = np.maximum(first, low + sizes.window - sizes.typical + sizes.read)
        end = np.minimum(high - sizes.window, last - sizes.longest)
        rows, stops = np.searchsorted(self.begin, begin), np.searchsorted(self.begin, end)
        found = np.full(low.size, _NONE, np.int64)
        for i in np.flatnonzero(stops - rows >= _ENOUGH).tolist():
            own = slice(int(rows[i]), int(stops[i]))
            known, many = np.unique(self.elsewhere[own], return_counts=True)
            n_reads = int(self.times[begin[i] - self.origin : end[i] - self.origin].sum())
            if int(many.max()) >= _ENOUGH and int(many.max()) >= _SHARE * n_reads:
                found[i] = self.end[own][self.elsewhere[own] == known[np.argmax(many)]].max()
        return found
