"""Clipped tails: bases of aligned reads beyond the dead ends of contigs, and their consensus.

A read counts only if it matches the contig up to the contig's last base. Its tail ends where the read aligns to another
contig, or at the other end of its fragment, known from its mate: adapter follows there. A read that folds back onto the
same end does not count: it comes from a molecule copied back over itself, or from a hairpin, and its two halves are
reverse complements of each other.

The tails of an end vote base by base. A base is taken if at least two reads and four of five agree; where reads
disagree, as next to a repeat or where chimeras begin, the consensus ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import BASES_PER_WORD
from gpuasm.sequence.reads import Reads

_MIN_VOTES, (_AGREEING, _VOTERS) = ALIGNMENT.min_votes, ALIGNMENT.vote_agreement
_BASES_PER_STRIKE = ALIGNMENT.alignment_bases_per_mismatch
RIGHT, LEFT = 0, 1


@dataclass(frozen=True)
class ClippedTails:
    """Bases of reads beyond ends of contigs, on the host, outwards: tails at a left end are reverse-complemented.

    Attributes
    ----------
    end : (n,) int64
        2c for the right end of contig c, 2c + 1 for its left end.
    length : (n,) int64
        At least 1.
    inside : (n,) int64
        Aligned bases of the read on the contig.
    codes : (sum of lengths,) uint8
        Concatenated tails, each from the contig's last base on.
    """

    end: np.ndarray
    length: np.ndarray
    inside: np.ndarray
    codes: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[ClippedTails]) -> ClippedTails:
        """Concatenate tails."""
        none = cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
        return cls(*(np.concatenate([getattr(own, name) for own in (none, *parts)]) for name in vars(none)))

    def where(self, chosen: np.ndarray) -> ClippedTails:
        """Select tails by a mask."""
        codes = self.codes[np.repeat(chosen, self.length)]
        return ClippedTails(self.end[chosen], self.length[chosen], self.inside[chosen], codes)


def free_ends(targets: Targets, bounds: np.ndarray, is_free: np.ndarray) -> np.ndarray:
    """Return the dead end of a contig that is the right and the left end of each target.

    Parameters
    ----------
    targets
        Segments of the contigs, whose places begin at ``bounds``.
    is_free : (n_contigs, 2) bool
        Whether the right and the left end of each contig are dead ends.

    Returns
    -------
    (2, n_targets) int64: the end as in `ClippedTails`, -1 where there is none.
    """
    contig = np.searchsorted(bounds, targets.offset, side="right") - 1
    at_end = np.stack([targets.offset + targets.size == bounds[contig + 1], targets.offset == bounds[contig]])
    at_end &= is_free[contig].T & ~targets.is_circular
    return np.where(at_end, 2 * contig + np.array([[RIGHT], [LEFT]]), -1)


def find_clipped_tails(
    reads: Reads, aligned: tuple[Alignments, Alignments], targets: Targets, *, ends: np.ndarray
) -> ClippedTails:
    """Find the clipped tails of reads.

    ``aligned`` are the first and the second alignments of their segments, ``ends`` as `free_ends` returns them.
    """
    return ClippedTails.joined([_at_side(reads, aligned, targets, (ends[side], side)) for side in (RIGHT, LEFT)])


def _at_side(
    reads: Reads, aligned: tuple[Alignments, Alignments], targets: Targets, at: tuple[np.ndarray, int]
) -> ClippedTails:
    (first, _), (own_end, side) = aligned, at
    xp = array_namespace(first.at)
    edge = to_namespace(xp, targets.start[:-1] + (targets.size if side == RIGHT else 0))
    reached = first.end if side == RIGHT else first.begin
    rows = xp.flatnonzero(first.is_unique & (reached == edge[first.target]))
    rows = rows[to_namespace(xp, own_end)[first.target[rows]] >= 0]
    own = first.where(rows)
    edge = edge[own.target]
    n = reads.length[own.segment].astype(np.int64)
    length = own.at + n - edge if side == RIGHT else edge - own.at
    length = xp.minimum(length, _before_second(own, aligned[1], n, (edge, side)))
    if reads.paired:
        length = xp.minimum(length, _within_fragment(reads, first, rows, (edge, side)))
    chosen = xp.flatnonzero(length > 0)
    own, edge, length = own.where(chosen), edge[chosen], length[chosen]
    end = to_namespace(xp, own_end)[own.target]
    return ClippedTails(
        *map(to_host, (end, length, own.end - own.begin, _tail_bases(reads, own, length, (edge, side))))
    )


_FAR = np.int64(1 << 40)


def _before_second(own: Alignments, second: Alignments, n: Array, at: tuple[Array, int]) -> Array:
    """Return how far each segment extends beyond its end before its second alignment begins; 0 where it folds back."""
    xp, (edge, side) = array_namespace(own.at), at
    if second.n == 0:
        return xp.full(own.n, _FAR)
    row = xp.minimum(xp.searchsorted(second.segment, own.segment), second.n - 1)
    other = second.where(row)
    flipped = other.is_reversed != own.is_reversed
    begin, end = other.begin - other.at, other.end - other.at
    begin, end = xp.where(flipped, n - end, begin), xp.where(flipped, n - begin, end)
    free = own.at + begin - edge if side == RIGHT else edge - own.at - end
    folds_back = flipped & (other.target == own.target) & ((other.end if side == RIGHT else other.begin) == edge)
    return xp.where(other.segment == own.segment, xp.where(folds_back, 0, xp.maximum(free, 0)), _FAR)


def _within_fragment(reads: Reads, first: Alignments, rows: Array, at: tuple[Array, int]) -> Array:
    """Return how far the fragment extends beyond its end, for each outward segment whose mate is aligned there."""
    xp, (edge, side) = array_namespace(first.at), at
    own, read = first.where(rows), reads.read[first.segment]
    mate = read[rows] ^ 1
    row = xp.minimum(xp.searchsorted(read, mate), max(0, first.n - 1))
    other = first.where(row)
    leads_out = (own.is_reversed == 0) if side == RIGHT else (own.is_reversed == 1)
    is_mate_here = (
        (read[row] == mate) & leads_out & (other.target == own.target) & (other.is_reversed != own.is_reversed)
    )
    free = other.at + reads.length[other.segment] - edge if side == RIGHT else edge - other.at
    return xp.where(is_mate_here, xp.maximum(free, 0), _FAR)


def _tail_bases(reads: Reads, own: Alignments, length: Array, at: tuple[Array, int]) -> Array:
    """Return the bases beyond the ends, outwards."""
    xp, (edge, side) = array_namespace(own.at), at
    beyond, n, is_reversed = edge - own.at, reads.length[own.segment], own.is_reversed == 1
    first = beyond if side == RIGHT else beyond - 1
    position = reads.start[own.segment] + xp.where(is_reversed, n - 1 - first, first)
    return codes_of_stretches(reads, position, length, is_reversed != (side == LEFT))


def codes_of_stretches(reads: Reads, position: Array, length: Array, is_reversed: Array) -> Array:
    """Return the concatenated codes of stretches of reads: (sum of lengths,) uint8.

    Parameters
    ----------
    reads
        The reads.
    position : (n,) int64
        Where each stretch begins in the packed bases; a reversed one is read from there backwards.
    length : (n,) int64
    is_reversed : (n,) bool
        Which stretches are reverse-complemented.
    """
    xp = array_namespace(position)
    last = xp.cumsum(length)
    index = xp.arange(int(last[-1]) if length.size else 0, dtype=np.int64)
    row = xp.searchsorted(last, index, side="right")
    j, is_reversed = index - (last - length)[row], is_reversed[row]
    place = position[row] + xp.where(is_reversed, -j, j)
    shift = (62 - 2 * (place % BASES_PER_WORD)).astype(np.uint64)
    codes = ((reads.packed[place // BASES_PER_WORD] >> shift) & np.uint64(3)).astype(np.uint8)
    return xp.where(is_reversed, 3 - codes, codes)


@dataclass(frozen=True)
class Consensus:
    """Bases to add to contigs.

    Attributes
    ----------
    end : (n,) int64
        The extended ends, as in `ClippedTails`, ascending.
    codes : list of (length,) uint8
        The bases of each, outwards.
    depth : list of (length,) int32
        The reads that agree on each base.
    """

    end: np.ndarray
    codes: list[np.ndarray]
    depth: list[np.ndarray]

    @property
    def n_bases(self) -> int:
        return sum(own.size for own in self.codes)

    def cut(self, length: Sequence[int]) -> Consensus:
        """Trim each extension to a given length, and leave out the empty ones."""
        kept = [i for i, n in enumerate(length) if n > 0]
        codes, depth = ([values[i][: length[i]] for i in kept] for values in (self.codes, self.depth))
        return Consensus(self.end[kept], codes, depth)


def vote(tails: ClippedTails, *, n_single: int) -> Consensus:
    """Return the consensus of the tails at each end, with at most ``n_single`` bases of a single read."""
    order = np.argsort(tails.end, kind="stable")
    first_base = np.cumsum(tails.length) - tails.length
    end, start, n_rows = np.unique(tails.end[order], return_index=True, return_counts=True)
    longest = np.zeros(end.size, np.int64)
    if end.size:
        longest = np.maximum.reduceat(tails.length[order], start)
    out = np.cumsum(longest) - longest
    codes, depth = np.empty(int(longest.sum()), np.uint8), np.empty(int(longest.sum()), np.int32)
    length = np.zeros(end.size, np.int64)
    rows = (start, n_rows, first_base[order], tails.length[order], tails.codes)
    _vote_by_base(*rows, n_single, out, codes, depth, length)
    found = zip(out.tolist(), length.tolist(), strict=True)
    slices = [slice(first, first + n) for first, n in found]
    return Consensus(end, [codes[s] for s in slices], [depth[s] for s in slices]).cut(length.tolist())


@signatures(
    "int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64, int64[::1], uint8[::1], int32[::1], int64[::1]"
)
@compiled()
def _vote_by_base(start, n_rows, first_base, length, bases, n_single, out, codes, depth, extended):
    for e in range(start.size):
        rows = range(start[e], start[e] + n_rows[e])
        strikes = np.zeros(n_rows[e], np.int64)
        singles, j = 0, 0
        while True:
            votes = np.zeros(4, np.int64)
            voter = 0
            for r in rows:
                if length[r] > j and strikes[r - start[e]] <= 1 + j // _BASES_PER_STRIKE:
                    votes[bases[first_base[r] + j]] += 1
                    voter = r
            total, best = np.int64(0), 0
            for code in range(4):  # numpy's own sum and argmax would load scipy with them
                total += votes[code]
                best = code if votes[code] > votes[best] else best
            if votes[best] >= _MIN_VOTES and _VOTERS * votes[best] >= _AGREEING * total:
                pass
            elif total == 1 and singles < n_single and strikes[voter - start[e]] == 0:
                singles += 1
            else:
                break
            codes[out[e] + j], depth[out[e] + j] = best, votes[best]
            for r in rows:
                if length[r] > j and bases[first_base[r] + j] != best:
                    strikes[r - start[e]] += 1
            j += 1
        extended[e] = j
