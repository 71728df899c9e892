"""Local reads: collect the reads that may lie in a gap.

A read of a repeat, or beyond a dead end, aligns to no contig, or to that of another copy. But its mate may be aligned
next to the gap and point towards it, within the length of a fragment. Such reads, and those aligned at either end of
the gap, are its local reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.ends.clipped_tails import LEFT, RIGHT
from gpuasm.assembly.parameters import ENDS
from gpuasm.primitives.searching import places_among
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class GapEnds:
    """Ends of contigs on both sides of gaps: ends 2g and 2g + 1 belong to gap g.

    Attributes
    ----------
    number : (2, n_targets) int64
        The number of the right and the left end of each target; -1 where no gap follows.
    target, edge : (n,) int64
        The target of each end, -1 where it has none, and the position behind its last base or of its first.
    is_left_end : (n,) bool
    flank, longest : int
        Most bases before an end at which a read at that end begins, and at which a read with a mate begins that points
        towards it.
    """

    number: Array
    target: Array
    edge: Array
    is_left_end: Array
    flank: int
    longest: int

    @classmethod
    def of(cls, targets: Targets, at_end: np.ndarray, ends: np.ndarray, reads: Reads, *, longest: int) -> GapEnds:
        """Find the ends of gaps: oriented unitigs, (2 * n_gaps,) int64; each leads into its gap, and occurs once.

        ``at_end``, (2, n_targets) int64, are the oriented unitigs that end at the right and at the left end of each
        target, -1 for none. The longest fragments have ``longest`` bases.
        """
        # The last place is that of targets without an end.
        number_of = np.full(2 + int(max(at_end.max(initial=0), ends.max(initial=0))), -1, np.int64)
        number_of[ends] = np.arange(ends.size)
        number = number_of[at_end]
        target, is_left_end = np.full(ends.size, -1, np.int64), (ends & 1) == LEFT
        side, own = np.nonzero(number >= 0)
        target[number[side, own]] = own
        edge = targets.start[target] + np.where(is_left_end, 0, targets.size[target])
        xp = array_namespace(reads.packed)
        flank = ENDS.local_reach_reads * (int(reads.length.max()) if reads.n_segments else 0)
        number, target, edge, is_left_end = (to_namespace(xp, a) for a in (number, target, edge, is_left_end))
        return cls(number, target, edge, is_left_end, flank, longest)

    def distance(self, end: Array, aligned: Alignments, length: Array) -> Array:
        """Return the distance in bases from each read's far end to its contig end."""
        xp = array_namespace(end)
        return xp.where(self.is_left_end[end], aligned.at + length - self.edge[end], self.edge[end] - aligned.at)


def find_local_reads(reads: Reads, first: Alignments, ends: GapEnds) -> Iterator[tuple[int, bytes, int]]:
    """Yield the local reads of gaps, given the first alignments of reads.

    Yields
    ------
    int, bytes, int
        A gap, the codes of a read in the direction from end 2g to end 2g + 1, and the distance from its mate's
        beginning to end 2g. The mate points towards the gap; the distance is negative if the mate is behind end
        2g + 1, and 0 if there is none. A read that may lie there in both directions is yielded in both.
    """
    xp = array_namespace(first.at)
    own, found = first.where(xp.flatnonzero(first.is_unique)), []
    for side in (RIGHT, LEFT):
        end = ends.number[side][own.target]
        before, towards = ends.distance(end, own, reads.length[own.segment]), (own.is_reversed == 1) == (side == LEFT)
        rows = xp.flatnonzero((end >= 0) & (before <= ends.flank))
        found.append((end[rows], own.segment[rows], ~towards[rows], xp.zeros(rows.size, np.int64)))
        if reads.paired:
            rows = xp.flatnonzero((end >= 0) & towards & (before <= ends.longest))
            found.append(_mates(reads, own, ends, (end[rows], own.segment[rows], before[rows])))
    end, segment, is_flipped, before = (np.concatenate([to_host(a) for a in some]) for some in zip(*found, strict=True))
    is_behind = end & 1
    # Outwards from end 2g + 1 is opposite to the gap's direction.
    rows = np.stack([end >> 1, segment, is_flipped ^ is_behind, np.where(is_behind, -before, before)]).astype(np.int64)
    # Each gap, segment and direction is yielded once, with its mate's position if known.
    rows = rows[:, np.lexsort((rows[3], -np.abs(rows[3]), *rows[2::-1]))]
    gap, segment, is_flipped, before = rows[:, (np.diff(rows[:3], axis=1, prepend=-1) != 0).any(axis=0)]
    segment, is_reversed = to_namespace(xp, segment), to_namespace(xp, is_flipped == 1)
    length = reads.length[segment].astype(np.int64)
    text = reads.codes_of(segment, xp.zeros_like(length), length, is_reversed=is_reversed).tobytes()
    last = np.cumsum(to_host(length)).tolist()
    for g, begin, end, mate in zip(gap.tolist(), [0, *last[:-1]], last, before.tolist(), strict=False):
        yield g, text[begin:end], mate


def _mates(
    reads: Reads, own: Alignments, ends: GapEnds, found: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array, Array]:
    """Return the ends with the mates of segments that point towards them, True (mates face each other), and distances.

    A mate aligned farther inside one of the gap's two contigs does not lie in the gap.
    """
    xp, (end, segment, before) = array_namespace(own.at), found
    segment, has_segment = places_among(reads.read[segment] ^ 1, reads.read)
    row, is_aligned = places_among(segment, own.segment)
    aligned = own.where(row)
    is_on, is_at = xp.zeros(segment.size, dtype=bool), xp.zeros(segment.size, dtype=bool)
    for one in (end, end ^ 1):
        here = is_aligned & (aligned.target == ends.target[one])
        is_on |= here
        is_at |= here & (ends.distance(one, aligned, reads.length[segment]) <= ends.flank)
    rows = xp.flatnonzero(has_segment & (is_at | ~is_on))
    return end[rows], segment[rows], xp.ones(rows.size, dtype=bool), before[rows]
