"""Break contigs at read-clipping breakpoints: reads are clipped within a contig, and no read or fragment continues.

At low coverage two places of a genome that share a few bases may be joined at a small k, because the true continuation
of each occurs in one read only. That read aligns up to the end of the shared bases and is clipped there. As a single
read may be chimeric, a contig is broken only where no other read and no fragment supports the join:

1. none covers `clipping_cover_before` bases before the breakpoint and `clipping_cover_beyond` bases beyond it; or
2. one read is clipped to the right and one to the left within `clipping_pair_max_distance` bases, and none covers both
   breakpoints and `clipping_pair_flank` bases outside them: the places share more bases than in 1.

Libraries in which many reads are clipped, as amplified ones with chimeric molecules, break nothing. Circular contigs
are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.reads import Reads

_BEFORE, _BEYOND = VERIFICATION.clipping_cover_before, VERIFICATION.clipping_cover_beyond
_FLANK, _MAX_DISTANCE = VERIFICATION.clipping_pair_flank, VERIFICATION.clipping_pair_max_distance


@dataclass
class ClippingBreakpoints:
    """Breakpoints of clipped reads on linear targets, and what covers the targets, batch by batch.

    Attributes
    ----------
    rightwards, leftwards : list of (n,) int64
        Text positions, on the host: the end of alignments whose right tail is clipped; the begin of those whose left
        tail is.
    begin, end : list of (n,) int64
        Stretches that reads and fragments cover, in text positions.
    n_reads : int
        Number of alignments.
    """

    rightwards: list[np.ndarray] = field(default_factory=list)
    leftwards: list[np.ndarray] = field(default_factory=list)
    begin: list[Array] = field(default_factory=list)
    end: list[Array] = field(default_factory=list)
    n_reads: int = 0

    def add(self, reads: Reads, aligned: Alignments, targets: Targets) -> None:
        """Add the breakpoints of aligned reads."""
        xp = array_namespace(aligned.at)
        start, size, is_circular = (to_namespace(xp, getattr(targets, n)) for n in ("start", "size", "is_circular"))
        first = start[:-1][aligned.target]
        last = first + size[aligned.target]
        is_checked = aligned.is_unique & ~is_circular[aligned.target]
        ahead = xp.minimum(aligned.at + reads.length[aligned.segment], last) - aligned.end
        behind = aligned.begin - xp.maximum(aligned.at, first)
        self.n_reads += aligned.n
        self.rightwards.append(to_host(aligned.end[is_checked & (ahead >= VERIFICATION.clipping_min_bases)]))
        self.leftwards.append(to_host(aligned.begin[is_checked & (behind >= VERIFICATION.clipping_min_bases)]))

    def cover(self, begin: Array, end: Array) -> None:
        """Add stretches that reads or fragments cover."""
        self.begin.append(begin)
        self.end.append(end)

    def unsupported(self, targets: Targets) -> np.ndarray:
        """Return the breakpoints that no read and no fragment covers, ascending: (b,) int64, places of the contigs.

        There are none where many reads are clipped.
        """
        if (
            VERIFICATION.clipping_reads_per_clipped * sum(part.size for part in (*self.rightwards, *self.leftwards))
            > self.n_reads
        ):
            return np.empty(0, np.int64)
        place, low, high = self._windows(targets)
        if place.size == 0:
            return place
        order = np.argsort(low, kind="stable")
        place, low, high = place[order], low[order], high[order]
        is_covered = _covered(low, high, self.begin, self.end)
        wrong = place[~is_covered]
        target = np.searchsorted(targets.start, wrong, side="right") - 1
        return np.unique(targets.offset[target] + wrong - targets.start[target])

    def _windows(self, targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the breakpoints, and the windows to be covered there: those that lie within one target."""
        none = np.empty(0, np.int64)
        right, left = (np.unique(np.concatenate([none, *parts])) for parts in (self.rightwards, self.leftwards))
        one, other = _facing_pairs(right, left)
        place = np.concatenate([right, left, one])
        low = np.concatenate([right - _BEFORE, left - _BEYOND, np.minimum(one, other) - _FLANK])
        high = np.concatenate([right + _BEYOND, left + _BEFORE, np.maximum(one, other) + _FLANK])
        target = np.searchsorted(targets.start, place, side="right") - 1
        first = targets.start[target]
        inside = (low >= first) & (high <= first + targets.size[target])
        return place[inside], low[inside], high[inside]


def spaced_apart(place: np.ndarray, *, read_length: int) -> np.ndarray:
    """Keep the first place, and each one that is at least a read's length behind the last one kept.

    Reads are clipped at both ends of what the sides of a false join share: that is one break, not two.

    Parameters
    ----------
    place : (n,) int64, ascending
    read_length
        Mean bases a read.
    """
    kept: list[int] = []
    for own in place.tolist():
        if not kept or own - kept[-1] >= read_length + VERIFICATION.clipping_min_bases:
            kept.append(own)
    return np.array(kept, np.int64)


def _facing_pairs(right: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of a right and a left breakpoint within the greatest distance."""
    low = np.searchsorted(left, right - _MAX_DISTANCE)
    many = np.searchsorted(left, right + _MAX_DISTANCE, side="right") - low
    row = np.repeat(np.arange(right.size), many)
    rank = np.arange(row.size) - np.repeat(np.cumsum(many) - many, many)
    return right[row], left[low[row] + rank]


def _covered(low: np.ndarray, high: np.ndarray, begin: Sequence[Array], end: Sequence[Array]) -> np.ndarray:
    """Mark the windows, by ascending ``low``, that some stretch covers whole: (n,) bool, on the host."""
    is_covered = np.zeros(low.size, np.uint8)
    for one, other in zip(begin, end, strict=True):
        xp = array_namespace(one)
        found = xp.zeros(low.size, np.uint8)
        windows = to_namespace(xp, low), to_namespace(xp, high)
        _mark_covered(int(one.size), one, other, *windows, int(low.size), found)
        is_covered |= to_host(found)
    return is_covered == 1


@signatures("int64[::1], int64[::1], int64[::1], int64[::1], int64, uint8[::1]")
@for_each
def _mark_covered(i, begin, end, low, high, n, is_covered):
    w = run_of(begin[i] - 1, low, n)
    if low[w] < begin[i]:
        w += 1
    while w < n and low[w] < end[i]:
        if high[w] <= end[i]:
            is_covered[w] = 1  # all writers write the same
        w += 1
