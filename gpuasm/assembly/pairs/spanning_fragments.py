"""Spanning fragments: which stretches of contigs fragments span, and the evidence for breaking contigs in an isolate.

The evidence is collected from batches of aligned reads as sums of integers, which do not depend on order or device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.pairs.fragments import DiscordantPairs, Fragments
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.stable_order import stable_order


@dataclass
class BreakEvidence:
    """Uniquely aligned reads, fragments and discordant pairs, added batch by batch, on the host.

    Attributes
    ----------
    rightwards, leftwards : (n_text + 1,) int32
        How many forward reads begin at each text position, and how many reversed reads end before it.
    begin, end : list of (n,) int64
        Where fragments begin and end, in text positions.
    discordant : list of (3, n) int64
        Begin, end and strand of discordant reads, as in `DiscordantPairs`.
    read_length : int
        Bases of a typical read.
    """

    rightwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    leftwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    begin: list[np.ndarray] = field(default_factory=list)
    end: list[np.ndarray] = field(default_factory=list)
    discordant: list[np.ndarray] = field(default_factory=list)
    read_length: int = 0

    @cached_property
    def fragments(self) -> tuple[np.ndarray, np.ndarray]:
        """Where all fragments begin, ascending, and end: (m,) int64 each; valid once all batches are added."""
        none = np.empty(0, np.int64)
        begin, end = np.concatenate([none, *self.begin]), np.concatenate([none, *self.end])
        order = stable_order(begin, int(begin.max(initial=0)) + 1)
        return begin[order], end[order]

    def add(self, first: Alignments, pairs: Fragments, discordant: DiscordantPairs, targets: Targets) -> None:
        """Add the first alignments of reads, their fragments and their discordant pairs."""
        own, size = first.is_unique, int(targets.start[-1]) + 1
        rightwards, leftwards = first.begin[own & (first.is_reversed == 0)], first.end[own & (first.is_reversed == 1)]
        self.rightwards = count_places(to_host(rightwards), 1, _room(self.rightwards, size))
        self.leftwards = count_places(to_host(leftwards), 1, _room(self.leftwards, size))
        self.begin.append(to_host(pairs.begin))
        self.end.append(to_host(pairs.end))
        own = discordant.begin, discordant.end, discordant.is_reversed
        self.discordant.append(np.stack([to_host(values).astype(np.int64) for values in own]))

    def unspanned(self, targets: Targets, stretches: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the middles of stretches that no fragments span, ascending: (b,) int64.

        Parameters
        ----------
        targets
            What the reads are aligned to.
        stretches : (n, 2) int64
            Places among the bases of all contigs, where each begins and ends.
        known : (n,) int64, ascending
            Positions at which contigs are broken anyway: stretches that contain one are skipped.
        """
        if not self.begin or stretches.size == 0:
            return np.empty(0, np.int64)
        is_whole = np.searchsorted(known, stretches[:, 0]) == np.searchsorted(known, stretches[:, 1], side="right")
        return unspanned_middles(stretches[is_whole], *self.fragments, targets)


def _room(counts: np.ndarray, size: int) -> np.ndarray:
    return counts if counts.size == size else np.zeros(size, np.int32)


def unspanned_middles(stretches: np.ndarray, begin: np.ndarray, end: np.ndarray, targets: Targets) -> np.ndarray:
    """Return the middles of those stretches that fragments do not span, ascending: (b,) int64.

    Only stretches longer than the median fragment are judged: a larger k resolves shorter ones, although mates next to
    them may have no unique alignment. Of overlapping stretches the first unspanned one is returned. Stretches within a
    fragment's length of a contig's end are skipped: no fragment can span them.

    Parameters
    ----------
    stretches : (n, 2) int64
        Places among the bases of all contigs, where each begins and ends.
    begin, end : (m,) int64
        Where fragments begin and end, in text positions.
    targets
        What these are aligned to.
    """
    if stretches.size == 0 or begin.size == 0:
        return np.empty(0, np.int64)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    longest, typical = int((end - begin).max()), int(np.median(end - begin))
    target = np.searchsorted(targets.offset, stretches[:, 0], side="right") - 1
    first, size = targets.offset[target], targets.size[target]
    found: list[int] = []
    for (low, high), t, own, n in zip(stretches.tolist(), target.tolist(), first.tolist(), size.tolist(), strict=True):
        is_short = high - low <= typical
        is_near_end = low - own < longest or own + n - high < longest or targets.is_circular[t]
        if is_short or is_near_end or any(low <= place <= high for place in found):
            continue
        shift = int(targets.start[t]) - own
        rows = slice(*np.searchsorted(begin, [low + shift - longest, low + shift]).tolist())
        if int((end[rows] > high + shift).sum()) < FRAGMENTS.spanning_fragments:
            found.append((low + high) // 2)
    return np.array(sorted(found), np.int64)


@signatures("int64[::1], int64, int32[::1]")
@compiled()
def count_places(places, times, counts):
    """Add ``times`` to the count of each place, and return the counts; places beyond the end are ignored."""
    for place in places:
        if place < counts.size:
            counts[place] += times
    return counts


def unspanned_windows(
    begin: np.ndarray, end: np.ndarray, targets: Targets, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last window of each run of windows of a linear target that no fragment spans.

    Returns
    -------
    low, high : (m,) int64
        Text positions where these windows begin.
    """
    changes, spans = np.zeros(int(targets.start[-1]) + 1, np.int32), end - begin >= window
    spanning = count_places(end[spans] - window + 1, -1, count_places(begin[spans], 1, changes))
    # A run ends where a target's last window begins; circular targets have none.
    n_windows = np.where(targets.is_circular, 0, np.maximum(targets.size - window + 1, 0))
    first, changes = targets.start[:-1], np.zeros(changes.size, np.int32)
    inside = count_places(first + n_windows, -1, count_places(first, 1, changes))
    is_edge = np.empty(changes.size + 1, bool)
    _mark_bare_runs(spanning, inside, is_edge)
    low, behind = np.flatnonzero(is_edge).reshape(-1, 2).T
    return low, behind - 1


@signatures("int32[::1], int32[::1], boolean[::1]")
@compiled()
def _mark_bare_runs(spanning, inside, is_edge):
    """Mark where runs of windows begin, and the places behind them, from the changes of two counts."""
    n_spanning, n_inside, was_bare = 0, 0, False
    for i in range(spanning.size):
        n_spanning += spanning[i]
        n_inside += inside[i]
        is_bare = n_spanning == 0 and n_inside > 0
        is_edge[i] = is_bare != was_bare
        was_bare = is_bare
    is_edge[spanning.size] = was_bare
