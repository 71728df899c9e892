"""Overhangs: what reads that lie on a free end of a contig say of the bases beyond it.

Only a read that agrees with the contig up to its last base counts. It counts as far as it neither lies on another
contig as well, nor goes beyond the other end of its fragment, which its mate tells: what follows there is adapter.
A read that folds back, onto the same end again, does not count: a molecule copied back over itself, or a hairpin, of
which one strand says the reverse complement of what the other says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.sequence.encoding import BASES_PER_WORD
from gpuasm.sequence.reads import Reads

RIGHT, LEFT = 0, 1


@dataclass(frozen=True)
class Overhangs:
    """Bases of reads beyond ends of contigs, on the host, outwards: those at a left end are of the other strand.

    Attributes
    ----------
    end : (n,) int64
        2c for the right end of contig c, 2c + 1 for its left end.
    length : (n,) int64
        At least 1.
    inside : (n,) int64
        Bases of the read that lie on the contig.
    codes : (sum of lengths,) uint8
        Their bases, one overhang after the other, each from the contig's last base on.
    """

    end: np.ndarray
    length: np.ndarray
    inside: np.ndarray
    codes: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Overhangs]) -> Overhangs:
        """Return all of several."""
        none = cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8))
        return cls(*(np.concatenate([getattr(own, name) for own in (none, *parts)]) for name in vars(none)))

    def where(self, chosen: np.ndarray) -> Overhangs:
        """Return the chosen ones (a mask)."""
        codes = self.codes[np.repeat(chosen, self.length)]
        return Overhangs(self.end[chosen], self.length[chosen], self.inside[chosen], codes)


def free_ends(targets: Targets, bounds: np.ndarray, is_free: np.ndarray) -> np.ndarray:
    """Return the free end of a contig that is the right and the left end of each target.

    Parameters
    ----------
    targets
        Stretches of the contigs.
    bounds : (n_contigs + 1,) int64
        The places where each contig begins, and the end.
    is_free : (n_contigs, 2) bool
        Whether the right and the left end of each contig lead nowhere.

    Returns
    -------
    (2, n_targets) int64: the end as in `Overhangs`, -1 where there is none.
    """
    contig = np.searchsorted(bounds, targets.offset, side="right") - 1
    at_end = np.stack([targets.offset + targets.size == bounds[contig + 1], targets.offset == bounds[contig]])
    at_end &= is_free[contig].T & ~targets.is_circular
    return np.where(at_end, 2 * contig + np.array([[RIGHT], [LEFT]]), -1)


def find_overhangs(reads: Reads, laid: tuple[Laid, Laid], targets: Targets, *, ends: np.ndarray) -> Overhangs:
    """Find the overhangs of reads.

    Parameters
    ----------
    reads
        Pieces of reads; mates are reads 2i and 2i + 1 where they are paired.
    laid
        The first and the second places of these pieces, as `lay_reads` gives them.
    targets
        What they lie on.
    ends : (2, n_targets) int64
        Of `free_ends`.
    """
    return Overhangs.joined([_at_side(reads, laid, targets, (ends[side], side)) for side in (RIGHT, LEFT)])


def _at_side(reads: Reads, laid: tuple[Laid, Laid], targets: Targets, at: tuple[np.ndarray, int]) -> Overhangs:
    (first, _), (own_end, side) = laid, at
    xp = array_namespace(first.at)
    edge = to_namespace(xp, targets.start[:-1] + (targets.size if side == RIGHT else 0))
    reached = first.end if side == RIGHT else first.begin
    rows = xp.flatnonzero(first.is_unique & (reached == edge[first.target]))
    rows = rows[to_namespace(xp, own_end)[first.target[rows]] >= 0]
    own = first.where(rows)
    edge = edge[own.target]
    n = reads.length[own.piece].astype(np.int64)
    length = own.at + n - edge if side == RIGHT else edge - own.at
    length = xp.minimum(length, _before_second(own, laid[1], n, (edge, side)))
    if reads.paired:
        length = xp.minimum(length, _within_fragment(reads, first, rows, (edge, side)))
    chosen = xp.flatnonzero(length > 0)
    own, edge, length = own.where(chosen), edge[chosen], length[chosen]
    end = to_namespace(xp, own_end)[own.target]
    return Overhangs(*map(to_host, (end, length, own.end - own.begin, _spell(reads, own, length, (edge, side)))))


_FAR = np.int64(1 << 40)


def _before_second(own: Laid, second: Laid, n: Array, at: tuple[Array, int]) -> Array:
    """Return how far beyond its end each piece goes before it lies somewhere else; 0 where it folds back."""
    xp, (edge, side) = array_namespace(own.at), at
    if second.n == 0:
        return xp.full(own.n, _FAR)
    row = xp.minimum(xp.searchsorted(second.piece, own.piece), second.n - 1)
    other = second.where(row)
    flipped = other.turned != own.turned
    begin, end = other.begin - other.at, other.end - other.at
    begin, end = xp.where(flipped, n - end, begin), xp.where(flipped, n - begin, end)
    free = own.at + begin - edge if side == RIGHT else edge - own.at - end
    folds_back = flipped & (other.target == own.target) & ((other.end if side == RIGHT else other.begin) == edge)
    return xp.where(other.piece == own.piece, xp.where(folds_back, 0, xp.maximum(free, 0)), _FAR)


def _within_fragment(reads: Reads, first: Laid, rows: Array, at: tuple[Array, int]) -> Array:
    """Return how far beyond its end the fragment goes of each piece that leads outwards and whose mate lies there."""
    xp, (edge, side) = array_namespace(first.at), at
    own, read = first.where(rows), reads.read[first.piece]
    mate = read[rows] ^ 1
    row = xp.minimum(xp.searchsorted(read, mate), max(0, first.n - 1))
    other = first.where(row)
    leads_out = (own.turned == 0) if side == RIGHT else (own.turned == 1)
    told = (read[row] == mate) & leads_out & (other.target == own.target) & (other.turned != own.turned)
    free = other.at + reads.length[other.piece] - edge if side == RIGHT else edge - other.at
    return xp.where(told, xp.maximum(free, 0), _FAR)


def _spell(reads: Reads, own: Laid, length: Array, at: tuple[Array, int]) -> Array:
    """Return the bases beyond the ends, outwards."""
    xp, (edge, side) = array_namespace(own.at), at
    last = xp.cumsum(length)
    index = xp.arange(int(last[-1]) if own.n else 0, dtype=np.int64)
    row = xp.searchsorted(last, index, side="right")
    j = index - (last - length)[row]
    beyond = (edge - own.at)[row]
    within = beyond + j if side == RIGHT else beyond - 1 - j
    turned = own.turned[row] == 1
    piece = own.piece[row]
    position = reads.start[piece] + xp.where(turned, reads.length[piece] - 1 - within, within)
    shift = (62 - 2 * (position % BASES_PER_WORD)).astype(np.uint64)
    codes = ((reads.words[position // BASES_PER_WORD] >> shift) & np.uint64(3)).astype(np.uint8)
    return xp.where(turned != (side == LEFT), 3 - codes, codes)
