"""Stray mates: joins that no fragment spans, where the mates that should lie beyond them lie elsewhere.

Two places of a genome that share some bases, fewer than a fragment has, may be joined wrongly where pairs were walked
the wrong way. Reads and k-mers do not contradict that, but pairs do: those of the one place have their mates in the
contigs that go on there. So windows of half a fragment's length are looked at that no fragment spans. Of a run of them
the last begins where the other place begins, and the first ends where the one ends. Where eight reads begin before the
last whose mates should lie behind the first and within the contig, as far as nine in ten fragments reach, but have
their own place elsewhere, the contig is broken: behind the last base of these reads, up to which they agree with it.

These must be nearly all reads that begin there and whose mates have a place of their own. Other mates may lie in what
the two places share. But where there are reads of two copies on what was told once, those of the one have their mates
elsewhere, and the other's may lie in a repeat, without a place of their own: such a contig may be right. So these must
be fewer than one copy has, and all of them no more than two copies have: more are cut off where they leave the contig.
Either side can tell a false join, so that what is wrong near an end is broken too, and in thin coverage. Reads whose
mates should lie behind the contig's end, as where it ends in a repeat, tell nothing. Nor do those of a library in which
strays are nothing rare, as where the files of mates are out of step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.spanning import without_any
from gpuasm.assembly.consensus.spans import Spans
from gpuasm.assembly.consensus.targets import Targets

_ENOUGH = 8
"""Reads that lead over a run of windows and have their mates elsewhere."""
_SHARE = 0.8
"""Their share of all reads that begin there, are read in that direction, and whose mates have a place of their own,
at least."""
_UNKNOWN, _ALL = 0.7, 2.0
"""Of the reads that begin between the first and the last of them at most so many times what begins elsewhere have mates
without a place of their own, and are there in all."""
_STRAYS = 0.2
"""Their share of all reads whose mates have a place of their own, at most; it is below 0.015 in simulated libraries."""
_FRAGMENTS = 0.9
"""Share of the fragments that are so short that mates which should lie behind a contig's end are few."""

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
    n_strays = sum(own.shape[1] for own in spans.strays)
    if begin.size == 0 or n_strays > _STRAYS * (n_strays + 2 * begin.size):
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
    """Bases of a window, of fragments that few are longer than, of a typical one, and of a read."""

    window: int
    long: int
    typical: int
    read: int

    @classmethod
    def of(cls, fragment: np.ndarray, read: int) -> _Sizes:
        typical = int(np.median(fragment))
        return cls(typical // 2, int(np.quantile(fragment, _FRAGMENTS, method="lower")), typical, read)


@dataclass(frozen=True)
class _Leading:
    """Reads with a place of their own that are read to the right.

    Attributes
    ----------
    begin, end : (n,) int64
        Where the strays among them begin, ascending, and end.
    paired : (m,) int64, ascending
        Where those begin whose mates face them.
    sums : (n_text + 1,) int64
        How many of all begin before each place, from ``origin`` on.
    origin : int
        The first place.
    usual : float
        How many begin at a base in the mean.
    """

    begin: np.ndarray
    end: np.ndarray
    paired: np.ndarray
    sums: np.ndarray
    origin: int
    usual: float

    @classmethod
    def of(cls, spans: Spans, targets: Targets) -> tuple[_Leading, _Leading]:
        """Return those that are read to the right, and those to the left as the other strand has them."""
        begin, end, turned = np.concatenate(spans.strays, axis=1)
        right, left, (low, high) = turned == 0, turned == 1, spans.fragments
        n_bases = int(targets.size.sum())
        return (
            cls._sorted((begin[right], end[right], low), spans.rightwards, n_bases=n_bases),
            cls._sorted((-end[left], -begin[left], -high), spans.leftwards[::-1], n_bases=n_bases, is_turned=True),
        )

    @classmethod
    def _sorted(
        cls,
        places: tuple[np.ndarray, np.ndarray, np.ndarray],
        times: np.ndarray,
        *,
        n_bases: int,
        is_turned: bool = False,
    ) -> _Leading:
        begin, end, paired = places
        order = np.lexsort((end, begin))
        sums = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])
        origin = 1 - times.size if is_turned else 0
        return cls(begin[order], end[order], np.sort(paired), sums, origin, int(sums[-1]) / n_bases)

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
        behind = np.maximum(begin, high - sizes.window)
        end = np.clip(last - sizes.long, begin, behind)
        row, stop, all_before = (np.searchsorted(self.begin, place) for place in (begin, end, behind))
        n_paired = np.searchsorted(self.paired, end) - np.searchsorted(self.paired, begin)
        is_told = (stop - row >= _ENOUGH) & (stop - row >= _SHARE * (stop - row + n_paired))
        found = np.full(low.size, _NONE, np.int64)
        for i in np.flatnonzero(is_told).tolist():
            if self._are_one_copys(int(row[i]), int(stop[i])):
                found[i] = self.end[row[i] : all_before[i]].max()
        return found

    def _are_one_copys(self, row: int, stop: int) -> bool:
        """Tell whether the reads that begin between the first and the last of some strays may be of one copy."""
        begin, end = int(self.begin[row]), int(self.begin[stop - 1]) + 1
        usual = self.usual * (end - begin)
        n_reads = int(self.sums[end - self.origin] - self.sums[begin - self.origin])
        n_paired = int(np.searchsorted(self.paired, end) - np.searchsorted(self.paired, begin))
        return n_reads - (stop - row) - n_paired <= _UNKNOWN * usual and n_reads <= _ALL * usual
