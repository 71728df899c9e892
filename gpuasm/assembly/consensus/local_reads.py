"""Local reads: those that may lie in a gap, as reads beside it tell.

A read of a repeat, or one beyond a dead end, lies on no contig of its own, or on that of another copy. But its mate may
lie beside the gap and run towards it, within the reach of a fragment. Such reads, and those at either end of the gap,
are all that may tell the bases between. Which of them do is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.overhangs import LEFT, RIGHT, free_ends
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.sequence.encoding import BASES_PER_WORD
from gpuasm.sequence.reads import Reads

_BESIDE = 4
"""A read lies at an end if it begins no more than so many times the longest read's bases before it."""
_ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class GapEnds:
    """Ends of contigs on both sides of gaps: end 2g and end 2g + 1 are those of gap g.

    Attributes
    ----------
    number : (2, n_targets) int64
        Which end the right and the left end of each target is; -1 where no gap follows.
    target, edge : (n,) int64
        The target of each end, -1 where it has none, and the text position behind its last base or of its first.
    is_left : (n,) bool
    beside, longest : int
        Bases before an end at which a read that lies there may begin, and one that runs towards it and has a mate.
    """

    number: Array
    target: Array
    edge: Array
    is_left: Array
    beside: int
    longest: int

    @classmethod
    def of(
        cls, targets: Targets, where: tuple[np.ndarray, np.ndarray], ends: np.ndarray, reads: Reads, *, longest: int
    ) -> GapEnds:
        """Find the ends of gaps.

        Parameters
        ----------
        targets
            What reads are laid on.
        where
            The (n_contigs,) unitig of each contig, -1 where it is none, and the (n_contigs + 1,) places where each
            begins.
        ends : (2 * n_gaps,) int64
            Oriented unitigs; each leads into its gap. None stands twice.
        reads
            All reads.
        longest
            Bases of the longest fragments; 0 where reads have no mates.
        """
        unitig, bounds = where
        number_of = np.full(2 * int(max(unitig.max(initial=0), ends.max(initial=0) >> 1)) + 3, -1, np.int64)
        number_of[ends] = np.arange(ends.size)
        of_contig = np.where((unitig >= 0)[:, None], number_of[2 * unitig[:, None] + np.array([RIGHT, LEFT])], -1)
        found = free_ends(targets, bounds, of_contig >= 0)
        number = np.where(found >= 0, of_contig[found >> 1, found & 1], -1)
        target, edge = np.full(ends.size, -1, np.int64), np.zeros(ends.size, np.int64)
        is_left = np.zeros(ends.size, dtype=bool)
        for side in (RIGHT, LEFT):
            own = np.flatnonzero(number[side] >= 0)
            target[number[side][own]] = own
            edge[number[side][own]] = targets.start[own] + (targets.size[own] if side == RIGHT else 0)
            is_left[number[side][own]] = side == LEFT
        xp = array_namespace(reads.words)
        beside = _BESIDE * (int(reads.length.max()) if reads.n_pieces else 0)
        number, target, edge, is_left = (to_namespace(xp, a) for a in (number, target, edge, is_left))
        return cls(number, target, edge, is_left, beside, longest)

    def distance(self, end: Array, laid: Laid, length: Array) -> Array:
        """Return how many bases before its end each read of a length begins, or ends where it comes from there."""
        xp = array_namespace(end)
        return xp.where(self.is_left[end], laid.at + length - self.edge[end], self.edge[end] - laid.at)


def find_local_reads(reads: Reads, first: Laid, ends: GapEnds) -> Iterator[tuple[int, bytes, int]]:
    """Find the reads of gaps.

    Parameters
    ----------
    reads
        Pieces of reads; mates are reads 2i and 2i + 1 where they are paired.
    first
        Their first places, as `gpuasm.assembly.consensus.laying.lay_reads` gives them.
    ends
        The ends of the gaps.

    Yields
    ------
    int, bytes, int
        A gap, the codes of a read as they run from its end 2g to its end 2g + 1, and how many bases before end 2g its
        mate begins, which runs towards it; less than 0 where that stands behind end 2g + 1, and 0 where none does so. A
        read that may lie there in both directions is told in both.
    """
    xp = array_namespace(first.at)
    own = first.where(xp.flatnonzero(first.is_unique))
    found = [_beside(reads, own, ends, side) for side in (RIGHT, LEFT)]
    if reads.paired:
        found += [_mates(reads, own, ends, side) for side in (RIGHT, LEFT)]
    columns = (np.concatenate([to_host(part) for part in parts]) for parts in zip(*found, strict=True))
    end, piece, is_turned, before = columns
    is_behind = end & 1
    # Outwards from end 2g + 1 is against the gap's direction.
    rows = np.stack([end >> 1, piece, is_turned ^ is_behind, np.where(is_behind, -before, before)]).astype(np.int64)
    yield from _spelled(reads, _once(rows))


def _once(rows: np.ndarray) -> np.ndarray:
    """Return each gap, piece and direction once, with where its mate begins if that is known."""
    order = np.lexsort((rows[3], -np.abs(rows[3]), *rows[2::-1]))
    rows = rows[:, order]
    return rows[:, np.concatenate([[True], (np.diff(rows[:3], axis=1) != 0).any(axis=0)])[: rows.shape[1]]]


def _beside(reads: Reads, own: Laid, ends: GapEnds, side: int) -> tuple[Array, Array, Array, Array]:
    """Return the ends with the pieces that lie at them, whether these are turned to run outwards, and 0: no mate."""
    xp = array_namespace(own.at)
    end = ends.number[side][own.target]
    rows = xp.flatnonzero((end >= 0) & (ends.distance(end, own, reads.length[own.piece]) <= ends.beside))
    is_turned = (own.turned[rows] == 1) != (side == LEFT)
    return end[rows], own.piece[rows], is_turned, xp.zeros(rows.size, np.int64)


def _mates(reads: Reads, own: Laid, ends: GapEnds, side: int) -> tuple[Array, Array, Array, Array]:
    """Return the ends with the mates of those that run towards them, True: mates face each other; and these' distances.

    A mate that lies farther inside one of the gap's two contigs does not lie in the gap.
    """
    xp = array_namespace(own.at)
    end = ends.number[side][own.target]
    towards = (end >= 0) & ((own.turned == 1) == (side == LEFT))
    rows = xp.flatnonzero(towards & (ends.distance(end, own, reads.length[own.piece]) <= ends.longest))
    before = ends.distance(end, own, reads.length[own.piece])[rows]
    end, wanted = end[rows], reads.read[own.piece[rows]] ^ 1
    piece = xp.minimum(xp.searchsorted(reads.read, wanted), max(0, reads.n_pieces - 1))
    rows = xp.flatnonzero((reads.read[piece] == wanted) & ~_lies_inside(reads, own, ends, (end, piece)))
    return end[rows], piece[rows], xp.ones(rows.size, dtype=bool), before[rows]


def _lies_inside(reads: Reads, own: Laid, ends: GapEnds, asked: tuple[Array, Array]) -> Array:
    """Tell which pieces have a place of their own on a contig of their gap, but at neither of its ends."""
    end, piece = asked
    xp = array_namespace(own.at)
    if own.n == 0:
        return xp.zeros(piece.size, dtype=bool)
    row = xp.minimum(xp.searchsorted(own.piece, piece), own.n - 1)
    laid, is_laid = own.where(row), own.piece[row] == piece
    is_on, is_at = xp.zeros(piece.size, dtype=bool), xp.zeros(piece.size, dtype=bool)
    for one in (end, end ^ 1):
        here = is_laid & (laid.target == ends.target[one])
        is_on |= here
        is_at |= here & (ends.distance(one, laid, reads.length[piece]) <= ends.beside)
    return is_on & ~is_at


def _spelled(reads: Reads, rows: np.ndarray) -> Iterator[tuple[int, bytes, int]]:
    """Yield gap, codes and mate of rows of gap, piece, whether the piece is turned, and where its mate begins."""
    xp = array_namespace(reads.words)
    for i in range(0, rows.shape[1], _ROWS_AT_A_TIME):
        gap, piece, is_turned, before = rows[:, i : i + _ROWS_AT_A_TIME]
        own, turned = to_namespace(xp, piece), to_namespace(xp, is_turned == 1)
        length = reads.length[own].astype(np.int64)
        last = xp.cumsum(length)
        index = xp.arange(int(last[-1]), dtype=np.int64)
        row = xp.searchsorted(last, index, side="right")
        position = reads.start[own][row] + xp.where(turned[row], last[row] - 1 - index, index - (last - length)[row])
        shift = (62 - 2 * (position % BASES_PER_WORD)).astype(np.uint64)
        codes = ((reads.words[position // BASES_PER_WORD] >> shift) & np.uint64(3)).astype(np.uint8)
        text = to_host(xp.where(turned[row], 3 - codes, codes)).tobytes()
        columns = (gap, to_host(last - length), to_host(last), before)
        for g, begin, end, mate in zip(*(column.tolist() for column in columns), strict=True):
            yield g, text[begin:end], mate


def by_gap(found: Sequence[tuple[int, bytes, int]], n_gaps: int) -> list[list[tuple[bytes, int]]]:
    """Return the reads of each gap with their mates' places, ascending: their order tells nothing."""
    reads: list[list[tuple[bytes, int]]] = [[] for _ in range(n_gaps)]
    for gap, text, before in found:
        reads[gap].append((text, before))
    return [sorted(own) for own in reads]
