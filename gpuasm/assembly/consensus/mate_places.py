"""Reads laid by their mates: a read of a repeat lies at every copy, but its mate may stand beside one of them only.

A copy of a repeat is spelled with what most reads of all copies say, or those of one of them; what is its own can be
told only by reads that are. A read that has no place of its own is looked for within the reach of a fragment of its
mate's place, base by base, without seeds. So is one whose place is elsewhere: where a base of a copy is told wrongly,
reads of it lie on another one. It votes (`votes`) where it agrees at one place there and at no other: not in tandem
repeats, where several copies are in reach. Depth and breaks are told without such reads.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.consensus.laying import LEAST_MATCHES, Laid
from gpuasm.assembly.consensus.stretches import LEAST_SCORE, differing
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads

_ONE = np.uint64(1)
_NOWHERE = np.int64(-1)


def lay_by_mates(reads: Reads, first: Laid, targets: Targets, *, longest: int, strays: Array | None = None) -> Laid:
    """Lay pieces without a place of their own, or with one elsewhere, within the reach of their mates'.

    Parameters
    ----------
    reads
        Paired reads.
    first
        The first places of their pieces, in the pieces' order.
    targets
        What they lie on.
    longest
        Bases of the longest fragments.
    strays : (m,) int64, or None
        Pieces that have a place of their own, as their mates have, but are not in front of these.

    Returns
    -------
    Laid, in the pieces' order: pieces that agree at one place in reach only, whole as far as their targets go; they
    agree where at most one base in twelve differs.
    """
    xp = array_namespace(first.at)
    own = first.where(xp.flatnonzero(first.is_unique))
    piece, mate = _with_mates(reads, own, strays)
    n = int(piece.size)
    at, mismatches = xp.empty(n, np.int64), xp.empty(n, np.int32)
    start = to_namespace(xp, targets.start)
    beside = (own.target[mate], own.at[mate], own.turned[mate], reads.length[own.piece[mate]])
    text = (reads.start, reads.length, reads.words, start, targets.words)
    _look_beside(n, piece, *beside, longest, *text, at, mismatches)
    found = xp.flatnonzero(at != _NOWHERE)
    piece, mate, at = piece[found], mate[found], at[found]
    target, turned = own.target[mate], (1 - own.turned[mate]).astype(np.uint8)
    begin = xp.maximum(at, start[target])
    end = xp.minimum(at + reads.length[piece], start[target + 1])
    return Laid(piece, at, turned, target, begin, end, mismatches[found], xp.ones(int(piece.size), dtype=bool))


def _with_mates(reads: Reads, own: Laid, strays: Array | None) -> tuple[Array, Array]:
    """Return the pieces to lay, ascending, whose mates have a place of their own, and the row of that in ``own``."""
    xp = array_namespace(own.at)
    is_sought = xp.ones(reads.n_pieces, dtype=bool)
    is_sought[own.piece] = False
    if strays is not None:
        is_sought[strays] = True
    piece = xp.flatnonzero(is_sought)
    if own.n == 0:
        return piece[:0], piece[:0]
    placed, wanted = reads.read[own.piece], reads.read[piece] ^ 1
    row = xp.minimum(xp.searchsorted(placed, wanted), own.n - 1)
    good = xp.flatnonzero(placed[row] == wanted)
    return piece[good], row[good]


@for_each
def _look_beside(
    i,
    piece,
    target,
    mate_at,
    mate_turned,
    mate_length,
    longest,
    read_start,
    length,
    words,
    text_start,
    text_words,
    found,
    found_mismatches,
):
    found[i] = -1
    found_mismatches[i] = 0
    r = piece[i]
    n, m = np.int64(length[r]), np.int64(mate_length[i])
    text_begin, text_end = text_start[target[i]], text_start[target[i] + 1]
    turned = 1 - mate_turned[i]
    # Mates face each other, and a fragment is no shorter than either.
    low, high = mate_at[i] + m - longest, mate_at[i] + m - max(m, n)
    if turned:
        low, high = mate_at[i] + max(m, n) - n, mate_at[i] + longest - n
    low, high = max(low, text_begin - n + LEAST_SCORE), min(high, text_end - LEAST_SCORE)
    n_found, at = 0, low
    while at <= high and n_found < 2:
        j, last = max(np.int64(0), text_begin - at), min(n, text_end - at)
        is_long = last - j >= LEAST_SCORE
        most, mismatches = (last - j) // LEAST_MATCHES, 0
        while j < last and mismatches <= most:
            differs = differing(words, read_start[r], n, turned, j, text_words, at)
            if last - j < 32:
                differs = differs >> np.uint64(64 - 2 * (last - j))
            while differs != np.uint64(0):
                differs &= differs - _ONE
                mismatches += 1
            j += 32
        if is_long and mismatches <= most:
            n_found += 1
            found[i] = at
            found_mismatches[i] = mismatches
        at += 1
    if n_found != 1:
        found[i] = -1
