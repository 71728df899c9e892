"""Break contigs at joins that reads or pairs contradict: where reads are clipped, and where pairs are discordant.

**Clipping breakpoints** are those of `read_evidence`.

**Discordant pairs.** Two places of a genome that share fewer bases than a fragment has may be joined wrongly. Reads and
k-mers support the join, but no fragment spans it, and mates that should align beyond it align elsewhere. In a run of
windows of half a fragment's length that no fragment spans, the reads before the last window are counted whose mates
should align behind the first. If `discordant_min_reads` of them have their mates uniquely elsewhere, and these are
`discordant_min_share` of the reads there whose mates align uniquely, the contig is broken behind the last base of these
reads. One side of a join suffices, so that joins near contig ends and at low coverage are found. Three cases break
nothing:

- Mates should lie beyond the contig end, as far as `discordant_fragment_quantile` of the fragments reach.
- The reads may be of two copies: more than `discordant_max_unknown` of the usual number of reads have mates without a
  unique place, or there are more than twice the usual reads. The contig may then be right.
- The library has more discordant pairs than `discordant_max_rate`, as where the files of mates are out of step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.assembly.verification.read_evidence import BreakEvidence, ClippingBreakpoints, spaced_apart
from gpuasm.primitives.runs import mark_ranges

_MAX_UNKNOWN = VERIFICATION.discordant_max_unknown
_NONE = np.iinfo(np.int64).max
"""No place."""


def find_breaks(
    breakpoints: ClippingBreakpoints, spans: BreakEvidence | None, targets: Targets, *, read_length: int
) -> tuple[np.ndarray, int]:
    """Return the places at which contigs are broken, ascending: (n,) int64; and how many of them pairs found.

    ``spans`` are None where contigs are not broken by pairs; ``read_length`` is the mean of the reads.
    """
    place = spaced_apart(breakpoints.unsupported(targets), read_length=read_length)
    if spans is None:
        return place, 0
    discordant = find_discordant_joins(spans, targets, place)
    return np.union1d(place, discordant), int(discordant.size)


def find_discordant_joins(spans: BreakEvidence, targets: Targets, known: np.ndarray) -> np.ndarray:
    """Find the places of contigs, ascending, at which discordant pairs contradict a join: (b,) int64.

    Contigs are broken anyway at the places ``known``, ascending; runs of windows with one of them are skipped.
    """
    begin, end = fragments = np.concatenate([np.empty((2, 0), np.int64), *spans.fragments], axis=1)
    n_discordant = sum(own.shape[1] for own in spans.discordant)
    if begin.size == 0 or n_discordant > VERIFICATION.discordant_max_rate * (n_discordant + 2 * begin.size):
        return np.empty(0, np.int64)
    typical = int(np.median(end - begin))
    longest = int(np.quantile(end - begin, VERIFICATION.discordant_fragment_quantile, method="lower"))
    window = typical // 2
    within = end <= targets.start[-1]  # not across the origin of a circular target
    low, high = unspanned_windows(begin[within], end[within], targets, window)
    target = targets.at(low)
    first = targets.start[target]
    bounds = np.stack([low, high + window, first, first + targets.size[target]], axis=1)
    shift = targets.offset[target] - first
    begin, end = bounds[:, :2].T + shift
    has_break = np.searchsorted(known, begin) < np.searchsorted(known, end, side="right")
    rightwards, leftwards = _DirectedReads.of(spans, fragments, targets)
    sizes = {"window": window, "typical": typical, "long": longest, "read": spans.read_length}
    places = rightwards.last(bounds, **sizes)
    # On the other strand, reads to the left are reads to the right.
    mirrored = leftwards.last(-bounds[:, [1, 0, 3, 2]], **sizes)
    places = np.where(places == _NONE, -mirrored, places)
    return np.unique((places + shift)[(np.abs(places) != _NONE) & ~has_break])


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
    def of(cls, spans: BreakEvidence, fragments: np.ndarray, targets: Targets) -> tuple[_DirectedReads, _DirectedReads]:
        """Return the reads to the right, and those to the left, on the other strand."""
        begin, end, is_reversed = np.concatenate(spans.discordant, axis=1)
        right, left, (low, high) = is_reversed == 0, is_reversed == 1, fragments
        n_bases, n_text = int(targets.size.sum()), spans.rightwards.size
        sides = (
            (begin[right], end[right], low, spans.rightwards, 0),
            (-end[left], -begin[left], -high, spans.leftwards[::-1], 1 - n_text),
        )
        found = []
        for first, last, paired, times, origin in sides:
            order = np.lexsort((last, first))
            usual = int(times.sum(dtype=np.int64)) / n_bases
            found.append(cls(first[order], last[order], np.sort(paired), times, origin, usual))
        return found[0], found[1]

    def last(self, runs: np.ndarray, *, window: int, typical: int, long: int, read: int) -> np.ndarray:
        """Return the last end of the discordant reads over each run of windows, if they are enough: (n,) int64.

        ``runs``, (n, 4) int64, have the begin of the first window, the end of the last, and begin and end of their
        target. ``typical`` and ``long`` are bases of the median and of a long fragment, ``read`` those of a read.
        """
        low, high, first, last = runs.T
        begin = np.maximum(first, low + window - typical + read)
        behind = np.maximum(begin, high - window)
        end = np.clip(last - long, begin, behind)
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
        return n_reads - (stop - row) - n_paired <= _MAX_UNKNOWN * usual and n_reads <= 2 * usual


def unspanned_windows(
    begin: np.ndarray, end: np.ndarray, targets: Targets, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last window of each run of windows of a linear target that no fragment spans.

    Returns
    -------
    low, high : (m,) int64
        Text positions where these windows begin.
    """
    spans = end - begin >= window
    # A run ends where a target's last window begins; circular targets have none.
    n_windows = np.where(targets.is_circular, 0, np.maximum(targets.size - window + 1, 0))
    first, n_text = targets.start[:-1], int(targets.start[-1]) + 1
    is_spanned = mark_ranges(begin[spans], end[spans] - window + 1, n_text)
    is_bare = mark_ranges(first, first + n_windows, n_text) & ~is_spanned
    low, behind = np.flatnonzero(np.diff(is_bare, prepend=False, append=False)).reshape(-1, 2).T
    return low, behind - 1
