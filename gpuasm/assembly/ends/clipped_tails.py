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
from gpuasm.primitives.searching import places_among
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks

_MIN_VOTES, (_AGREEING, _VOTERS) = ALIGNMENT.min_votes, ALIGNMENT.vote_agreement
_BASES_PER_STRIKE = ALIGNMENT.alignment_bases_per_mismatch
RIGHT, LEFT = 0, 1


@dataclass(frozen=True)
class ClippedTails:
    """Bases of reads beyond ends of contigs, on the host, outwards: tails at a left end are reverse-complemented.

    Attributes
    ----------
    end : (n,) int64
        2c for the right end of contig c, 2c + 1 for its left end; or other numbers of ends.
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

    @property
    def start(self) -> np.ndarray:
        """(n,) int64: where in ``codes`` each tail begins."""
        return np.cumsum(self.length) - self.length


def free_ends(targets: Targets, bounds: np.ndarray, is_free: np.ndarray) -> np.ndarray:
    """Return the free contig end that is the right and the left end of each target: (2, n_targets) int64, -1 for none.

    Targets are segments of contigs whose places begin at ``bounds``. ``is_free``, (n_contigs, 2) bool, marks the right
    and the left ends that are dead ends of the graph.
    """
    contig = np.searchsorted(bounds, targets.offset, side="right") - 1
    at_end = np.stack([targets.offset + targets.size == bounds[contig + 1], targets.offset == bounds[contig]])
    at_end &= is_free[contig].T & ~targets.is_circular
    return np.where(at_end, 2 * contig + np.array([[RIGHT], [LEFT]]), -1)


def find_clipped_tails(
    reads: Reads, aligned: tuple[Alignments, Alignments], targets: Targets, *, ends: np.ndarray
) -> ClippedTails:
    """Find the clipped tails of reads.

    ``aligned`` are the first and the second alignments of their segments, ``ends`` the numbers of the right and the
    left end of each target: (2, n_targets) int64, -1 for ends that are not free.
    """
    start = targets.start[:-1]
    right = _tails_at_right(reads, aligned, start + targets.size, ends[RIGHT])
    first, second = (_mirrored(reads, own) for own in aligned)
    return ClippedTails.joined([right, _tails_at_right(reads, (first, second), -start, ends[LEFT])])


def _mirrored(reads: Reads, aligned: Alignments) -> Alignments:
    """Return alignments to the reverse complement of the text, whose positions are negative: left ends are right."""
    return aligned._replace(
        at=-(aligned.at + reads.length[aligned.segment]),
        is_reversed=1 - aligned.is_reversed,
        begin=-aligned.end,
        end=-aligned.begin,
    )


def _tails_at_right(
    reads: Reads, aligned: tuple[Alignments, Alignments], edge: np.ndarray, ends: np.ndarray
) -> ClippedTails:
    """Return the tails beyond the right ends of targets, given the position behind each and its number, or -1."""
    (first, second), xp = aligned, array_namespace(aligned[0].at)
    edge, ends = to_namespace(xp, edge), to_namespace(xp, ends)
    rows = xp.flatnonzero(first.is_unique & (first.end == edge[first.target]))
    rows = rows[ends[first.target[rows]] >= 0]
    own = first.where(rows)
    n, inside = reads.length[own.segment].astype(np.int64), edge[own.target] - own.at
    length = xp.minimum(n - inside, _before_second(own, second, n, inside))
    if reads.paired:
        length = xp.minimum(length, _within_fragment(reads, first, rows, own.at + inside))
    kept = xp.flatnonzero(length > 0)
    own, inside, length = own.where(kept), inside[kept], length[kept]
    codes = reads.codes_of(own.segment, inside, length, is_reversed=own.is_reversed == 1)
    end, length, aligned_bases = map(to_host, (ends[own.target], length, own.end - own.begin))
    return ClippedTails(end, length, aligned_bases, codes)


_FAR = np.int64(1 << 40)


def _before_second(own: Alignments, second: Alignments, n: Array, inside: Array) -> Array:
    """Return how far each segment extends beyond its end before its second alignment begins; 0 where it folds back."""
    xp = array_namespace(own.at)
    if second.n == 0:
        return xp.full(own.n, _FAR)
    row, has_second = places_among(own.segment, second.segment)
    other = second.where(row)
    flipped = other.is_reversed != own.is_reversed
    begin = xp.where(flipped, n - (other.end - other.at), other.begin - other.at)
    folds_back = flipped & (other.target == own.target) & (other.end == own.at + inside)
    return xp.where(has_second, xp.where(folds_back, 0, xp.maximum(begin - inside, 0)), _FAR)


def _within_fragment(reads: Reads, first: Alignments, rows: Array, edge: Array) -> Array:
    """Return how far the fragment extends beyond its end, for each outward segment whose mate is aligned there."""
    xp = array_namespace(first.at)
    own, read = first.where(rows), reads.read[first.segment]
    row, is_mate_here = places_among(read[rows] ^ 1, read)
    other = first.where(row)
    is_mate_here &= (own.is_reversed == 0) & (other.is_reversed == 1) & (other.target == own.target)
    return xp.where(is_mate_here, xp.maximum(other.at + reads.length[other.segment] - edge, 0), _FAR)


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
    end, start, n_rows = np.unique(tails.end[order], return_index=True, return_counts=True)
    longest = np.maximum.reduceat(tails.length[order], start) if end.size else np.zeros(0, np.int64)
    out = np.cumsum(longest) - longest
    codes, depth = np.empty(int(longest.sum()), np.uint8), np.empty(int(longest.sum()), np.int32)
    length = np.zeros(end.size, np.int64)
    rows = (start, n_rows, tails.start[order], tails.length[order], tails.codes)
    run_chunks(_vote_by_base, end.size, *rows, n_single, out, codes, depth, length)
    slices = [slice(first, first + n) for first, n in zip(out.tolist(), length.tolist(), strict=True)]
    return Consensus(end, [codes[s] for s in slices], [depth[s] for s in slices]).cut(length.tolist())


@signatures(
    "int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int64, int64[::1], uint8[::1], "
    "int32[::1], int64[::1]"
)
@compiled()
def _vote_by_base(first, last, start, n_rows, first_base, length, bases, n_single, out, codes, depth, extended):
    for e in range(first, last):
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
            if votes[best] < _MIN_VOTES or _VOTERS * votes[best] < _AGREEING * total:
                if total != 1 or singles == n_single or strikes[voter - start[e]] > 0:
                    break
                singles += 1
            codes[out[e] + j], depth[out[e] + j] = best, votes[best]
            for r in rows:
                if length[r] > j and bases[first_base[r] + j] != best:
                    strikes[r - start[e]] += 1
            j += 1
        extended[e] = j
