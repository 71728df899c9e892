"""What the reads show when they are aligned to contigs, summed up batch by batch, and where they are clipped.

All sums are of integers, so they depend neither on the order of reads nor on the device.

**Clipping breakpoints.** At low coverage two places of a genome that share a few bases may be joined at a small k,
because the true continuation of each occurs in one read only. That read aligns up to the end of the shared bases and is
clipped there. As a single read may be chimeric, a contig is broken only where no other read and no fragment supports
the join:

1. none covers `clipping_cover_before` bases before the breakpoint and `cover_beyond` bases beyond it; or
2. one read is clipped to the right and one to the left within `clipping_pair_max_distance` bases, and none covers both
   breakpoints and `alignment_min_rest` bases outside them: the places share more bases than in 1.

Libraries in which many reads are clipped, as amplified ones with chimeric molecules, break nothing. Circular contigs
are not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches, list_differing_bases
from gpuasm.assembly.alignment.mate_rescue import rescue_mates
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets
from gpuasm.assembly.coverage.contig_depth import Coverage
from gpuasm.assembly.ends.clipped_tails import ClippedTails, find_clipped_tails
from gpuasm.assembly.pairs.insert_sizes import Fragments, find_discordant_pairs, find_fragments, longest_insert
from gpuasm.assembly.parameters import ALIGNMENT, VERIFICATION
from gpuasm.kmers.tally import joined
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.runs import numbers_of_ranges
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.reads import Reads

_BASES_PER_MISMATCH = VERIFICATION.discordant_bases_per_mismatch
"""A discordant read that nearly fits near its mate is concordant: the contig has wrong bases there."""
_COUNTS = ("reads", "reads_aligned", "reads_multi_mapped", "pairs_aligned")
_BEFORE, _BEYOND = VERIFICATION.clipping_cover_before, VERIFICATION.cover_beyond
_FLANK, _MAX_DISTANCE = ALIGNMENT.alignment_min_rest, VERIFICATION.clipping_pair_max_distance


@dataclass
class BreakEvidence:
    """Uniquely aligned reads, fragments and discordant pairs, added batch by batch, on the host.

    Attributes
    ----------
    rightwards, leftwards : (n_text + 1,) int32
        How many forward reads begin at each text position, and how many reversed reads end before it.
    fragments : list of (2, n) int64
        Where fragments begin and end, in text positions.
    discordant : list of (3, n) int64
        Begin, end and strand of discordant reads, as in `Alignments`.
    read_length : int
        Bases of a typical read.
    """

    rightwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    leftwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    fragments: list[np.ndarray] = field(default_factory=list)
    discordant: list[np.ndarray] = field(default_factory=list)
    read_length: int = 0

    def add(self, first: Alignments, pairs: Fragments, discordant: Alignments, targets: Targets) -> None:
        """Add the first alignments of reads, their fragments and their discordant pairs."""
        own, size = first.is_unique, int(targets.start[-1]) + 1
        if self.rightwards.size != size:
            self.rightwards, self.leftwards = np.zeros(size, np.int32), np.zeros(size, np.int32)
        np.add.at(self.rightwards, to_host(first.begin[own & (first.is_reversed == 0)]), np.int32(1))
        leftwards = to_host(first.end[own & (first.is_reversed == 1)])
        np.add.at(self.leftwards, leftwards[leftwards < size], np.int32(1))  # others cross the origin of a circle
        self.fragments.append(np.stack([to_host(pairs.begin), to_host(pairs.end)]))
        own = discordant.begin, discordant.end, discordant.is_reversed
        self.discordant.append(np.stack([to_host(values).astype(np.int64) for values in own]))


@dataclass(frozen=True)
class ReadEvidence:
    """Sums over all aligned reads."""

    depth: Array
    own_depth: Array
    voters: Array
    votes: Array
    counts: dict[str, int]
    tails: ClippedTails
    breakpoints: ClippingBreakpoints
    error_rate: tuple[int, int]


def collect_evidence(
    reads: Reads,
    targets: Targets,
    index: SeedIndex,
    *,
    ends: np.ndarray,
    spans: BreakEvidence | None,
    with_rescue: bool,
) -> ReadEvidence:
    """Align all reads, batch by batch, and sum up what they show."""
    xp = array_namespace(reads.packed)
    own, shared, voting = (Coverage(targets, xp) for _ in range(3))
    votes, counts, longest = [xp.empty(0, np.int64)], np.zeros(len(_COUNTS), np.int64), None
    tails, breakpoints, bases, mismatches = [], ClippingBreakpoints(), 0, 0
    for batch in batches(reads):
        first, second = align_reads(batch, targets, index)
        pairs = find_fragments(batch, first, targets) if reads.paired else None
        if longest is None:
            longest = longest_insert(pairs) if pairs is not None else 0
        for aligned in (first, second):
            for coverage, chosen in ((own, aligned.is_unique), (shared, ~aligned.is_unique)):
                counted = aligned.where(chosen)
                coverage.add(counted.target, counted.begin, counted.end)
            votes.append(list_differing_bases(batch, aligned, targets))
            breakpoints.add(batch, aligned, targets)
            breakpoints.covered.append((aligned.begin, aligned.end))
        breakpoints.covered.append(_with_gaps(first, second))
        if pairs is not None and longest:
            pairs = pairs.no_longer_than(longest)
            breakpoints.covered.append((pairs.begin, pairs.end))
            discordant = find_discordant_pairs(batch, first, targets, longest=longest) if spans is not None else None
            if with_rescue:
                apart = discordant and discordant.segment
                found = rescue_mates(batch, first, targets, longest=longest, discordant=apart)
                voting.add(found.target, found.begin, found.end)
                votes.append(list_differing_bases(batch, found, targets))
                same = found.segment[_BASES_PER_MISMATCH * found.mismatches <= found.end - found.begin]
                if discordant is not None:
                    pair = batch.read[discordant.segment] >> 1
                    discordant = discordant.where(~xp.isin(pair, batch.read[same] >> 1))
            if spans is not None and discordant is not None:
                spans.add(first, pairs, discordant, targets)
        tails.append(find_clipped_tails(batch, (first, second), targets, ends=ends))
        bases, mismatches = bases + int((first.end - first.begin).sum()), mismatches + int(first.mismatches.sum())
        unique, concordant = int(first.is_unique.sum()), 0 if pairs is None else int(pairs.insert.size)
        counts += batch.n_segments, first.n, first.n - unique, concordant
    all_votes, all_tails = joined(votes), ClippedTails.joined(tails)
    own_depth, depth, voters = own.take(), shared.take(), voting.take()
    depth += own_depth
    voters += own_depth
    named = dict(zip(_COUNTS, counts.tolist(), strict=True))
    return ReadEvidence(depth, own_depth, voters, all_votes, named, all_tails, breakpoints, (mismatches, bases))


def _with_gaps(first: Alignments, second: Alignments) -> tuple[Array, Array]:
    """Return begin and end of the reads whose two alignments are one with a small gap."""
    xp = array_namespace(first.at)
    if first.n == 0:
        return first.begin, first.end
    before = first.where(xp.searchsorted(first.segment, second.segment))
    same = (before.target == second.target) & (before.is_reversed == second.is_reversed)
    rows = xp.flatnonzero(same & (abs(before.at - second.at) <= ALIGNMENT.alignment_max_shift))
    return xp.minimum(before.begin, second.begin)[rows], xp.maximum(before.end, second.end)[rows]


@dataclass
class ClippingBreakpoints:
    """Breakpoints of clipped reads on linear targets, and what covers the targets, batch by batch.

    Attributes
    ----------
    rightwards, leftwards : list of (n,) int64
        Text positions, on the host: the end of alignments whose right tail is clipped; the begin of those whose left
        tail is.
    covered : list of two (n,) int64
        Begin and end of stretches that reads and fragments cover, in text positions.
    n_reads : int
        Number of alignments.
    """

    rightwards: list[np.ndarray] = field(default_factory=list)
    leftwards: list[np.ndarray] = field(default_factory=list)
    covered: list[tuple[Array, Array]] = field(default_factory=list)
    n_reads: int = 0

    def add(self, reads: Reads, aligned: Alignments, targets: Targets) -> None:
        """Add the breakpoints of aligned reads."""
        xp, own = array_namespace(aligned.at), targets.arrays
        first = own.start[aligned.target]
        last = first + own.size[aligned.target]
        is_checked = aligned.is_unique & ~own.is_circular[aligned.target]
        ahead = xp.minimum(aligned.at + reads.length[aligned.segment], last) - aligned.end
        behind = aligned.begin - xp.maximum(aligned.at, first)
        self.n_reads += aligned.n
        self.rightwards.append(to_host(aligned.end[is_checked & (ahead >= VERIFICATION.clipping_min_bases)]))
        self.leftwards.append(to_host(aligned.begin[is_checked & (behind >= VERIFICATION.clipping_min_bases)]))

    def unsupported(self, targets: Targets) -> np.ndarray:
        """Return the breakpoints that no read and no fragment covers, ascending: (b,) int64, places of the contigs.

        There are none where many reads are clipped.
        """
        n_clipped = sum(part.size for part in (*self.rightwards, *self.leftwards))
        if VERIFICATION.clipping_reads_per_clipped * n_clipped > self.n_reads:
            return np.empty(0, np.int64)
        place, low, high = self._windows(targets)
        if place.size == 0:
            return place
        order = np.argsort(low, kind="stable")
        place, low, high = place[order], low[order], high[order]
        xp = array_namespace(*(begin for begin, _ in self.covered))
        is_covered = xp.zeros(place.size, np.uint8)
        low, high = to_namespace(xp, low), to_namespace(xp, high)
        for begin, end in self.covered:
            _mark_covered(begin.size, begin, end, low, high, place.size, is_covered)
        wrong = place[to_host(is_covered) == 0]
        target = targets.at(wrong)
        return np.unique(targets.offset[target] + wrong - targets.start[target])

    def _windows(self, targets: Targets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the breakpoints, and the windows to be covered there: those that lie within one target."""
        none = np.empty(0, np.int64)
        right, left = (np.unique(np.concatenate([none, *parts])) for parts in (self.rightwards, self.leftwards))
        near = np.searchsorted(left, right - _MAX_DISTANCE)
        row, facing = numbers_of_ranges(near, np.searchsorted(left, right + _MAX_DISTANCE, side="right") - near)
        one, other = right[facing], left[row]
        place = np.concatenate([right, left, one])
        low = np.concatenate([right - _BEFORE, left - _BEYOND, np.minimum(one, other) - _FLANK])
        high = np.concatenate([right + _BEYOND, left + _BEFORE, np.maximum(one, other) + _FLANK])
        target = targets.at(place)
        first = targets.start[target]
        inside = (low >= first) & (high <= first + targets.size[target])
        return place[inside], low[inside], high[inside]


def spaced_apart(place: np.ndarray, *, read_length: int) -> np.ndarray:
    """Keep the first place, and each one that is at least a read's mean length behind the last one kept.

    Reads are clipped at both ends of what the sides of a false join share: that is one break, not two. Places are
    ascending.
    """
    kept: list[int] = []
    for own in place.tolist():
        if not kept or own - kept[-1] >= read_length + VERIFICATION.clipping_min_bases:
            kept.append(own)
    return np.array(kept, np.int64)


@signatures("int64[::1], int64[::1], int64[::1], int64[::1], int64, uint8[::1]")
@for_each
def _mark_covered(i, begin, end, low, high, n, is_covered):
    """Mark the windows, by ascending ``low``, that a stretch covers whole."""
    w = run_of(begin[i] - 1, low, n)
    if low[w] < begin[i]:
        w += 1
    while w < n and low[w] < end[i]:
        if high[w] <= end[i]:
            is_covered[w] = 1  # all writers write the same
        w += 1
