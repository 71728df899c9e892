"""Joins that no fragment spans, though on either side of them are many reads whose mates should lie beyond.

Two copies of a repeat that are alike base by base, such as the long terminal repeats of a transposon, stand in a graph
once. If no text of a larger k holds what follows the first copy, nor what comes before the second, all that is between
them is lost, and the graph goes on from what is before the one to what is behind the other, without a junction. No read
contradicts that: all of them fit somewhere. But no fragment lies across.

Contigs are looked at through windows, the longest that two dozen fragments span in the mean, and no longer than half
of the fragments. Where none spans one, a contig is broken if on both of its sides

1. a dozen fragments should, by the reads that have a place of their own there and by how long fragments are: chance
   makes none of a dozen once in 160,000 times; but not so many that reads of several copies must lie there;
2. most of these reads have no mate that faces them, those of a few lie in the repeat itself; and
3. the contig goes on for twice the longest fragment: what is near its ends is often of several copies.

So a place without reads proves nothing, nor does a repeat whose reads may lie elsewhere, nor do amplicons that end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.consensus.fragments import Fragments, Strays
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.spanning import unspanned_middles
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.parallel import compiled
from gpuasm.primitives.stable_order import stable_order

_TYPICAL = 24
"""Fragments that span a window in the mean: twice `_ENOUGH`, as many places have less."""
_ENOUGH = 12
"""Fragments that should span a window, by the reads on each of its sides."""
_MOST = 1.75
"""How many times as many as elsewhere these may be: where there are more, reads of several copies lie there."""
_LONE = 0.6
"""Share of them whose mates are nowhere in front of them, at least: mates of the others lie in the repeat."""
_LEAST_WINDOW = 100
"""Bases of a window at least: what is shorter reads span, or coverage is thin."""


@dataclass
class Spans:
    """Reads with places of their own, and fragments, batch by batch, on the host: sums of integers.

    Attributes
    ----------
    rightwards, leftwards : (n_text + 1,) int32
        How many reads begin at each text position and are read to the right; and how many end before it and are read
        to the left.
    begin, end : list of (n,) int64
        Where fragments begin and end, in text positions.
    strays : list of (3, n) int64
        Begin, end and direction of strays, as in `Strays`.
    read_length : int
        Bases of a typical read.
    """

    rightwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    leftwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    begin: list[np.ndarray] = field(default_factory=list)
    end: list[np.ndarray] = field(default_factory=list)
    strays: list[np.ndarray] = field(default_factory=list)
    read_length: int = 0

    @cached_property
    def fragments(self) -> tuple[np.ndarray, np.ndarray]:
        """Where all fragments begin, ascending, and end: (m,) int64 each; asked for when nothing is added any more."""
        none = np.empty(0, np.int64)
        begin, end = np.concatenate([none, *self.begin]), np.concatenate([none, *self.end])
        order = stable_order(begin, int(begin.max(initial=0)) + 1)
        return begin[order], end[order]

    def add(self, first: Laid, pairs: Fragments, strays: Strays, targets: Targets) -> None:
        """Count the first places of reads, pairs that face each other and those that do not."""
        own, size = first.is_unique, int(targets.start[-1]) + 1
        rightwards, leftwards = first.begin[own & (first.turned == 0)], first.end[own & (first.turned == 1)]
        self.rightwards = _count(to_host(rightwards), 1, _room(self.rightwards, size))
        self.leftwards = _count(to_host(leftwards), 1, _room(self.leftwards, size))
        self.begin.append(to_host(pairs.begin))
        self.end.append(to_host(pairs.end))
        own = strays.begin, strays.end, strays.turned
        self.strays.append(np.stack([to_host(values).astype(np.int64) for values in own]))

    def missing(self, targets: Targets, known: np.ndarray) -> np.ndarray:
        """Return the places of the contigs, ascending, that no fragment spans though many should: (b,) int64.

        Parameters
        ----------
        targets
            What was laid on.
        known : (n,) int64, ascending
            Places at which contigs are broken anyway: what no fragment spans for that is not told again.
        """
        if not self.begin:
            return np.empty(0, np.int64)
        size, (begin, end) = int(targets.start[-1]) + 1, self.fragments
        within = end < size  # not those round a circle, which is not judged
        begin, end = begin[within], end[within]
        of_length = np.bincount(np.maximum(end - begin, 0), minlength=1)
        window = window_of(of_length, int(targets.size.sum()))
        if window < _LEAST_WINDOW:
            return np.empty(0, np.int64)
        low, high = without_any(begin, end, targets, window)
        middle = (low + high) // 2
        target = np.searchsorted(targets.start, middle, side="right") - 1
        first, last = targets.start[target], targets.start[target] + targets.size[target]
        longer = np.cumsum(of_length[::-1])[::-1][window:]
        most = _MOST * float(longer.sum()) / int(targets.size.sum())
        # Going away from the window on either side, as far as any fragment reaches.
        before, behind = (np.stack([at, at + step * longer.size]) for at, step in ((middle, -1), (middle + window, 1)))
        rest = 2 * of_length.size
        is_wrong = (middle - rest >= first) & (middle + window + rest <= last)
        for reads, ends, side in ((self.rightwards, begin, before), (self.leftwards, end, behind)):
            alone = _count(ends, -1, reads.copy())
            is_wrong[is_wrong] = _lacks(reads, alone, side[:, is_wrong], longer, most=most)
        place = (targets.offset[target] + middle + window // 2 - first)[is_wrong]
        half = window // 2 + 1
        return place[np.searchsorted(known, place - half) == np.searchsorted(known, place + half, side="right")]

    def guessed(self, targets: Targets, stretches: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the middles of stretches that no fragments go across, ascending: (b,) int64.

        Parameters
        ----------
        targets
            What was laid on.
        stretches : (n, 2) int64
            Places among the bases of all contigs, where each begins and ends.
        known : (n,) int64, ascending
            Places at which contigs are broken anyway: stretches with one of them are not told again.
        """
        if not self.begin or stretches.size == 0:
            return np.empty(0, np.int64)
        is_whole = np.searchsorted(known, stretches[:, 0]) == np.searchsorted(known, stretches[:, 1], side="right")
        return unspanned_middles(stretches[is_whole], *self.fragments, targets)


def _room(counts: np.ndarray, size: int) -> np.ndarray:
    return counts if counts.size == size else np.zeros(size, np.int32)


@compiled()
def _count(places, times, counts):
    """Count each place so many times, and return the counts; places beyond the end are passed over."""
    for place in places:
        if place < counts.size:
            counts[place] += times
    return counts


def window_of(of_length: np.ndarray, n_bases: int) -> int:
    """Return the longest window that enough fragments span in the mean, at most as long as half of these.

    Parameters
    ----------
    of_length : (longest + 1,) int64
        How many fragments there are of each length.
    n_bases
        Of all targets.
    """
    longer = np.cumsum(of_length[::-1])[::-1]
    # A fragment spans one window more for each base that it is longer.
    spanned = np.cumsum(longer[::-1])[::-1]
    fits = np.flatnonzero((spanned >= _TYPICAL * n_bases) & (2 * longer >= longer[0]))
    return int(fits[-1]) if fits.size and longer[0] else 0


def without_any(begin: np.ndarray, end: np.ndarray, targets: Targets, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last of each run of windows, within one linear target, that no fragment spans.

    Returns
    -------
    low, high : (m,) int64
        Text positions where these windows begin.
    """
    changes, spans = np.zeros(int(targets.start[-1]) + 1, np.int32), end - begin >= window
    spanning = np.cumsum(_count(end[spans] - window + 1, -1, _count(begin[spans], 1, changes)))
    # A run ends where a target's last window begins; circles have none.
    n_windows = np.where(targets.is_circular, 0, np.maximum(targets.size - window + 1, 0))
    first, changes = targets.start[:-1], np.zeros(changes.size, np.int32)
    inside = np.cumsum(_count(first + n_windows, -1, _count(first, 1, changes)))
    is_bare = np.concatenate([[False], (spanning == 0) & (inside > 0), [False]])
    low, behind = np.flatnonzero(is_bare[1:] != is_bare[:-1]).reshape(-1, 2).T
    return low, behind - 1


def _lacks(reads: np.ndarray, alone: np.ndarray, side: np.ndarray, longer: np.ndarray, *, most: float) -> np.ndarray:
    """Tell at which windows the reads on one side should have mates beyond, and lack them: (m,) bool.

    Parameters
    ----------
    reads, alone : (n_text,) int32
        Reads that are read towards a window, by where they begin or end, and those of them without a mate.
    side : (2, m) int64
        From where to where reads are counted, away from the window, without the last place.
    longer : (n,) int64
        How many fragments have as many bases as the window, as one more, and so on.
    most
        Fragments that one copy may have across a window.
    """
    n_reads = max(1, int(reads.sum(dtype=np.int64)))
    found = np.zeros(side.shape[1], dtype=bool)
    for i, (own, last) in enumerate(side.T.tolist()):
        places = np.arange(own, last, 1 if last > own else -1)
        expected, lone = (int((some[places].astype(np.int64) * longer).sum()) for some in (reads, alone))
        found[i] = _ENOUGH * n_reads <= expected <= most * n_reads and lone >= _LONE * expected
    return found
