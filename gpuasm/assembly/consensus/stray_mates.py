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
    sides = _Leading.of(spans, targets)
    found: set[int] = set()
    rows = (low, high + sizes.window, first, first + targets.size[target], targets.offset[target] - first)
    for begins, ends, start, stop, shift in zip(*(values.tolist() for values in rows), strict=True):
        if np.searchsorted(known, begins + shift) < np.searchsorted(known, ends + shift, side="right"):
            continue
        place = sides[0].last((begins, ends), (start, stop), sizes)
        if place is None:  # read from the other strand, what leads to the left leads to the right
            turned = sides[1].last((-ends, -begins), (-stop, -start), sizes)
            place = None if turned is None else -turned
        if place is not None:
            found.add(place + shift)
    return np.array(sorted(found), np.int64)


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

    ``all_begin`` is where all reads begin that are read to the right, ascending.
    """

    begin: np.ndarray
    end: np.ndarray
    elsewhere: np.ndarray
    all_begin: np.ndarray

    @classmethod
    def of(cls, spans: Spans, targets: Targets) -> tuple[_Leading, _Leading]:
        """Return those that are read to the right, and those to the left as the other strand has them."""
        begin, end, turned, mate = np.concatenate(spans.strays, axis=1)
        elsewhere = np.searchsorted(targets.start, mate, side="right") - 1
        own = np.searchsorted(targets.start, begin, side="right") - 1
        right, left = ((turned == side) & (elsewhere != own) for side in (0, 1))
        return (
            cls._sorted(begin[right], end[right], elsewhere[right], spans.rightwards),
            cls._sorted(-end[left], -begin[left], elsewhere[left], spans.leftwards, is_turned=True),
        )

    @classmethod
    def _sorted(cls, *values: np.ndarray, is_turned: bool = False) -> _Leading:
        begin, end, elsewhere, times = values
        order = np.lexsort((end, begin))
        places = np.repeat(np.arange(times.size), times)
        return cls(begin[order], end[order], elsewhere[order], -places[::-1] if is_turned else places)

    def last(self, run: tuple[int, int], target: tuple[int, int], sizes: _Sizes) -> int | None:
        """Return where the last stray ends that leads over a run of windows, if these are enough.

        Parameters
        ----------
        run
            Where the first of the windows begins, and the last ends.
        target
            Where the target of the windows begins and ends.
        sizes
            Of windows, fragments and reads.
        """
        least = max(target[0], run[0] + sizes.window - sizes.typical + sizes.read)
        bounds = least, min(run[1] - sizes.window, target[1] - sizes.longest)
        rows = slice(*np.searchsorted(self.begin, bounds).tolist())
        if rows.stop - rows.start < _ENOUGH:
            return None
        known, many = np.unique(self.elsewhere[rows], return_counts=True)
        n = int(many.max())
        all_rows = np.searchsorted(self.all_begin, bounds)
        if n < _ENOUGH or n < _SHARE * (all_rows[1] - all_rows[0]):
            return None
        return int(self.end[rows][self.elsewhere[rows] == known[np.argmax(many)]].max())
