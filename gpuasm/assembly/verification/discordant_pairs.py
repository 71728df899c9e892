"""Break contigs at joins that discordant pairs contradict.

Two places of a genome that share fewer bases than a fragment has may be joined wrongly. Reads and k-mers support the
join, but no fragment spans it, and mates that should align beyond it align elsewhere.

Windows of half a fragment's length that no fragment spans are searched. In a run of such windows, the reads before the
last window are counted whose mates should align behind the first. If `discordant_min_reads` of them have their mates
uniquely elsewhere, the contig is broken behind the last base of these reads. They must be `discordant_min_share` of the
reads there whose mates align uniquely. Three cases break nothing:

- Mates should lie beyond the contig end, as far as `discordant_fragment_quantile` of the fragments reach.
- The reads may be of two copies: more than `discordant_max_unknown` of the usual number of reads have mates without a
  unique place, or there are more than `discordant_max_reads` times the usual reads. The contig may then be right.
- The library has more discordant pairs than `discordant_max_rate`, as where the files of mates are out of step.

One side of a join suffices, so that joins near contig ends and at low coverage are found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.pairs.spanning_fragments import BreakEvidence, unspanned_windows
from gpuasm.assembly.parameters import VERIFICATION

_MAX_UNKNOWN, _MAX_READS = VERIFICATION.discordant_max_unknown, VERIFICATION.discordant_max_reads
_NONE = np.iinfo(np.int64).max
"""No place."""


def find_discordant_joins(spans: BreakEvidence, targets: Targets, known: np.ndarray) -> np.ndarray:
    """Find the places of contigs, ascending, at which discordant pairs contradict a join: (b,) int64.

    Parameters
    ----------
    spans
        Uniquely aligned reads, fragments and discordant pairs.
    targets
        What the reads are aligned to.
    known : (n,) int64, ascending
        Places at which contigs are broken anyway; runs of windows with one of them are skipped.
    """
    begin, end = spans.fragments
    n_discordant = sum(own.shape[1] for own in spans.discordant)
    if begin.size == 0 or n_discordant > VERIFICATION.discordant_max_rate * (n_discordant + 2 * begin.size):
        return np.empty(0, np.int64)
    sizes = _Sizes.of(end - begin, spans.read_length)
    within = end <= targets.start[-1]  # not across the origin of a circular target
    low, high = unspanned_windows(begin[within], end[within], targets, sizes.window)
    target = np.searchsorted(targets.start, low, side="right") - 1
    first = targets.start[target]
    bounds = np.stack([low, high + sizes.window, first, first + targets.size[target]], axis=1)
    shift = targets.offset[target] - first
    has_break = np.searchsorted(known, bounds[:, 0] + shift) < np.searchsorted(
        known, bounds[:, 1] + shift, side="right"
    )
    rightwards, leftwards = _DirectedReads.of(spans, targets)
    places = rightwards.last(bounds, sizes)
    # On the other strand, reads to the left are reads to the right.
    mirrored = leftwards.last(-bounds[:, [1, 0, 3, 2]], sizes)
    places = np.where(places == _NONE, -mirrored, places)
    return np.unique((places + shift)[(np.abs(places) != _NONE) & ~has_break])


@dataclass(frozen=True)
class _Sizes:
    """Bases of a window, of a long and of the median fragment, and of a read."""

    window: int
    long: int
    typical: int
    read: int

    @classmethod
    def of(cls, fragment: np.ndarray, read: int) -> _Sizes:
        typical = int(np.median(fragment))
        return cls(
            typical // 2,
            int(np.quantile(fragment, VERIFICATION.discordant_fragment_quantile, method="lower")),
            typical,
            read,
        )


@dataclass(frozen=True)
class _DirectedReads:
    """Uniquely aligned reads in one direction, on the strand on which that is to the right.

    Attributes
    ----------
    begin, end : (n,) int64
        Begin of those of discordant pairs, ascending, and end.
    paired : (m,) int64, ascending
        Where reads of concordant pairs begin.
    times : (n_text,) int32
        Number of all reads that begin at each place, from ``origin`` on.
    origin : int
        The first place.
    usual : float
        Mean number of reads that begin at a base.
    """

    begin: np.ndarray
    end: np.ndarray
    paired: np.ndarray
    times: np.ndarray
    origin: int
    usual: float

    @classmethod
    def of(cls, spans: BreakEvidence, targets: Targets) -> tuple[_DirectedReads, _DirectedReads]:
        """Return the reads to the right, and those to the left, on the other strand."""
        begin, end, is_reversed = np.concatenate(spans.discordant, axis=1)
        right, left, (low, high) = is_reversed == 0, is_reversed == 1, spans.fragments
        n_bases = int(targets.size.sum())
        return (
            cls._sorted((begin[right], end[right], low), spans.rightwards, n_bases=n_bases),
            cls._sorted((-end[left], -begin[left], -high), spans.leftwards[::-1], n_bases=n_bases, is_reversed=True),
        )

    @classmethod
    def _sorted(
        cls,
        places: tuple[np.ndarray, np.ndarray, np.ndarray],
        times: np.ndarray,
        *,
        n_bases: int,
        is_reversed: bool = False,
    ) -> _DirectedReads:
        begin, end, paired = places
        order = np.lexsort((end, begin))
        origin, n_reads = 1 - times.size if is_reversed else 0, int(times.sum(dtype=np.int64))
        return cls(begin[order], end[order], np.sort(paired), times, origin, n_reads / n_bases)

    def last(self, runs: np.ndarray, sizes: _Sizes) -> np.ndarray:
        """Return the last end of the discordant reads over each run of windows, if they are enough: (n,) int64.

        Parameters
        ----------
        runs : (n, 4) int64
            Begin of the first window, end of the last, and begin and end of their target.
        sizes
            Bases of windows, fragments and reads.
        """
        low, high, first, last = runs.T
        begin = np.maximum(first, low + sizes.window - sizes.typical + sizes.read)
        behind = np.maximum(begin, high - sizes.window)
        end = np.clip(last - sizes.long, begin, behind)
        row, stop, all_before = (np.searchsorted(self.begin, place) for place in (begin, end, behind))
        n_paired = np.searchsorted(self.paired, end) - np.searchsorted(self.paired, begin)
        has_break = (stop - row >= VERIFICATION.discordant_min_reads) & (
            stop - row >= VERIFICATION.discordant_min_share * (stop - row + n_paired)
        )
        found = np.full(low.size, _NONE, np.int64)
        for i in np.flatnonzero(has_break).tolist():
            if self._may_be_of_one_copy(int(row[i]), int(stop[i])):
                found[i] = self.end[row[i] : all_before[i]].max()
        return found

    def _may_be_of_one_copy(self, row: int, stop: int) -> bool:
        """Check whether the reads that begin among some discordant reads may be of one copy."""
        begin, end = int(self.begin[row]), int(self.begin[stop - 1]) + 1
        usual = self.usual * (end - begin)
        n_reads = int(self.times[begin - self.origin : end - self.origin].sum(dtype=np.int64))
        n_paired = int(np.searchsorted(self.paired, end) - np.searchsorted(self.paired, begin))
        return n_reads - (stop - row) - n_paired <= _MAX_UNKNOWN * usual and n_reads <= _MAX_READS * usual
