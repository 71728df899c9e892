"""Departures: reads that leave a contig in its middle, at places where nothing goes on with it.

Where coverage is thin, two places of a genome that share a few bases are joined at a small k if what truly follows
each is in one read only, and so no solid k-mer. At larger k the join is carried within a unitig, and too few reads
should go through it for their absence to show anything. But the one read that knows better is there: it runs along the
contig to the end of what both places share, and on with bases of its own. A single read may be chimeric, so it counts
only where no other, and no fragment, goes on along the contig:

1. none covers the last 30 bases before a read leaves and 10 beyond; or
2. one read leaves to the right and another to the left, at most 200 bases apart, and none covers both places and
   5 bases beside them: these share more than 30.

In 4.2 Mb of contigs of E. coli at 4.3x, as part of a community, that is so at 17 places, all of them false, seven of
eleven misassemblies among them. Nothing is concluded where molecules were joined wrongly before they were read, as in
amplified samples: of a phage's reads two in five leave a contig, of a plain library's one in 400 to one in 1,000. What
is joined wrongly there is shown by reads, and depth is so uneven that a place without any shows nothing. No circle is
judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.parallel import for_each
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.reads import Reads

REST = 20
"""A read leaves with so many bases at least: fewer may be errors near its end."""
_BEFORE, _BEYOND = 30, 10
"""What goes on covers so much of the contig before the place where a read leaves, and beyond."""
_FEW = 100
"""One in so many reads may leave, at most, for one of them to be believed."""
_BESIDE, _FARTHEST = 5, 200
"""Between two such places: so much beside both; and they are so far apart at most."""


@dataclass
class Departures:
    """Where reads leave linear targets, and all that lies on them, batch by batch.

    Attributes
    ----------
    rightwards, leftwards : list of (n,) int64
        Text positions, on the host: of the first base that a read does not go on to, read to the right; of the last
        base before what it agrees with, and one, read to the left.
    begin, end : list of (n,) int64
        Stretches that reads and fragments cover, in text positions.
    n_reads : int
        How many places reads have.
    """

    rightwards: list[np.ndarray] = field(default_factory=list)
    leftwards: list[np.ndarray] = field(default_factory=list)
    begin: list[Array] = field(default_factory=list)
    end: list[Array] = field(default_factory=list)
    n_reads: int = 0

    def add(self, reads: Reads, laid: Laid, targets: Targets) -> None:
        """Note which reads leave the targets that they lie on."""
        xp = array_namespace(laid.at)
        start, size, is_circular = (to_namespace(xp, getattr(targets, n)) for n in ("start", "size", "is_circular"))
        first = start[:-1][laid.target]
        last = first + size[laid.target]
        is_told = laid.is_unique & ~is_circular[laid.target]
        ahead = xp.minimum(laid.at + reads.length[laid.piece], last) - laid.end
        behind = laid.begin - xp.maximum(laid.at, first)
        self.n_reads += laid.n
        self.rightwards.append(to_host(laid.end[is_told & (ahead >= REST)]))
        self.leftwards.append(to_host(laid.begin[is_told & (behind >= REST)]))

    def cover(self, begin: Array, end: Array) -> None:
        """Note what reads or fragments cover."""
        self.begin.append(begin)
        self.end.append(end)

    def contradicted(self, targets: Targets) -> np.ndarray:
        """Return the places of the contigs, ascending, at which reads leave and nothing goes on: (b,) int64.

        There are none where many reads leave.
        """
        if _FEW * sum(part.size for part in (*self.rightwards, *self.leftwards)) > self.n_reads:
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
        """Return the places where reads leave, and what should be covered there: within one target, whole."""
        none = np.empty(0, np.int64)
        right, left = (np.unique(np.concatenate([none, *parts])) for parts in (self.rightwards, self.leftwards))
        one, other = _near(right, left)
        place = np.concatenate([right, left, one])
        low = np.concatenate([right - _BEFORE, left - _BEYOND, np.minimum(one, other) - _BESIDE])
        high = np.concatenate([right + _BEYOND, left + _BEFORE, np.maximum(one, other) + _BESIDE])
        target = np.searchsorted(targets.start, place, side="right") - 1
        first = targets.start[target]
        inside = (low >= first) & (high <= first + targets.size[target])
        return place[inside], low[inside], high[inside]


def apart(place: np.ndarray, *, read_length: int) -> np.ndarray:
    """Return the first of places, and each that no read which leaves there can reach from the one returned before.

    Reads leave a false join at both ends of what its sides share: that is one break, not two.

    Parameters
    ----------
    place : (n,) int64, ascending
    read_length
        Mean bases a read.
    """
    kept: list[int] = []
    for own in place.tolist():
        if not kept or own - kept[-1] >= read_length + REST:
            kept.append(own)
    return np.array(kept, np.int64)


def _near(right: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of ascending places that are near each other."""
    low = np.searchsorted(left, right - _FARTHEST)
    many = np.searchsorted(left, right + _FARTHEST, side="right") - low
    row = np.repeat(np.arange(right.size), many)
    rank = np.arange(row.size) - np.repeat(np.cumsum(many) - many, many)
    return right[row], left[low[row] + rank]


def _covered(low: np.ndarray, high: np.ndarray, begin: Sequence[Array], end: Sequence[Array]) -> np.ndarray:
    """Tell which windows, by ascending ``low``, some stretch covers whole: (n,) bool, on the host."""
    is_covered = np.zeros(low.size, np.uint8)
    for one, other in zip(begin, end, strict=True):
        xp = array_namespace(one)
        found = xp.zeros(low.size, np.uint8)
        windows = to_namespace(xp, low), to_namespace(xp, high)
        _mark_covered(int(one.size), one, other, *windows, int(low.size), found)
        is_covered |= to_host(found)
    return is_covered == 1


@for_each
def _mark_covered(i, begin, end, low, high, n, is_covered):
    w = run_of(begin[i] - 1, low, n)
    if low[w] < begin[i]:
        w += 1
    while w < n and low[w] < end[i]:
        if high[w] <= end[i]:
            is_covered[w] = 1  # whoever comes writes the same
        w += 1
