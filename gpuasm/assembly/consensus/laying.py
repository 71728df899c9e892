"""Reads laid back on contigs: where each lies, and how much of it agrees.

A read is placed by its first seed that stands at one place only, without gaps, and what agrees is the stretch of it
with the highest score (1 for a base that agrees, -4 for one that does not). Where the stretch ends before the read
does, as it does at the end of a contig, the last seed of the rest may place the read a second time. First and last are
those of the lesser of the read's two strands, whichever was read. A read all of whose seeds stand at several places
goes to the one where it agrees best, among equals by a hash of its ends and by how deep the contigs are
(`best_places`): copies of a repeat then share their reads evenly, and neither order nor strand of the reads matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.consensus.best_places import choose_places
from gpuasm.assembly.consensus.stretches import LEAST_SCORE, MISMATCH, best_stretch, leftmost, word_at
from gpuasm.assembly.consensus.targets import SeedIndex, Targets
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import find, mix
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.reads import Reads

LEAST_MATCHES = 12
"""Bases of a stretch for each mismatch, at least: about 8 % may differ."""
LARGEST_SHIFT = 15
"""Two places of one read so close to each other are one place with a gap: the read goes through."""
_LEAST_REST = 5
"""A rest of fewer bases is an error near the end of a read."""

_ONE, _TWO, _THREE, _FIRST_63 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(0x7FFFFFFFFFFFFFFF)
_ODD = np.uint64(0x5555555555555555)


@dataclass(frozen=True)
class Laid:
    """Placed stretches of reads; text positions are those of `Targets`.

    Attributes
    ----------
    piece : (n,) int64
        The piece of a read.
    at : (n,) int64
        Text position of the piece's leftmost base, were it laid there whole; before the target's start where it
        hangs over.
    turned : (n,) uint8
        Whether the target reads its reverse complement.
    target : (n,) int32
    begin, end : (n,) int64
        The stretch that agrees, in text positions.
    mismatches : (n,) int32
        Bases of it that differ.
    is_unique : (n,) bool
        Whether a seed of its own placed it.
    """

    piece: Array
    at: Array
    turned: Array
    target: Array
    begin: Array
    end: Array
    mismatches: Array
    is_unique: Array

    @property
    def n(self) -> int:
        return int(self.piece.size)

    def where(self, chosen: Array) -> Laid:
        """Return the chosen stretches (a mask or indices)."""
        return Laid(**{name: value[chosen] for name, value in vars(self).items()})

    def joined(self, other: Laid) -> Laid:
        """Return these stretches and then the others."""
        xp = array_namespace(self.at)
        return Laid(**{name: xp.concatenate([value, getattr(other, name)]) for name, value in vars(self).items()})


def lay_reads(reads: Reads, targets: Targets, index: SeedIndex) -> tuple[Laid, Laid]:
    """Lay pieces of reads on targets; see the module.

    Returns
    -------
    first, second : Laid
        Where each piece lies that lies anywhere, and where the rest of some of them lies; both in the pieces' order.
    """
    xp, n = array_namespace(reads.words), reads.n_pieces
    found, window, is_unique = xp.empty(n, np.int64), xp.empty(n, np.int32), xp.empty(n, dtype=bool)
    own = (reads.start, reads.length, reads.words)
    seeds = (index.k, index.sample, index.keys, index.slots, index.mask, index.first, index.place)
    _first_seed(n, *own, *seeds, found, window, is_unique)
    choose_places(reads, targets, index, (found, window))
    pieces = xp.flatnonzero(found != -1)
    first = _measured(reads, targets, (pieces, found[pieces], window[pieces], is_unique[pieces]), k=index.k)
    found, window = xp.empty(first.n, np.int64), xp.empty(first.n, np.int32)
    where = (first.piece, first.at, first.turned, first.begin, first.end, first.is_unique)
    _rest_seed(first.n, *where, *own, *seeds, found, window)
    chosen = xp.flatnonzero(found != -1)
    seconds = (first.piece[chosen], found[chosen], window[chosen], first.is_unique[chosen])
    return first, _measured(reads, targets, seconds, k=index.k, other=first.where(chosen))


def _measured(reads: Reads, targets: Targets, placed: tuple[Array, ...], *, k: int, other: Laid | None = None) -> Laid:
    """Measure how much of each placed piece agrees; keep what agrees well enough and lies not where another does."""
    xp = array_namespace(reads.words)
    piece, found, window, is_unique = placed
    n, turned = int(piece.size), (found & 1).astype(np.uint8)
    at, target = xp.empty(n, np.int64), xp.empty(n, np.int32)
    begin, end, mismatches = xp.empty(n, np.int64), xp.empty(n, np.int64), xp.empty(n, np.int32)
    start, size, closed = (to_namespace(xp, a) for a in (targets.start, targets.size, targets.is_circular))
    own = (reads.start, reads.length, reads.words, start, size, closed, targets.words)
    _measure(n, piece, found, window, k, targets.n, *own, at, target, begin, end, mismatches)
    laid = Laid(piece, at, turned, target, begin, end, mismatches, is_unique)
    length = end - begin
    good = (length - MISMATCH * mismatches >= LEAST_SCORE) & (mismatches * LEAST_MATCHES <= length)
    if other is not None:
        good &= (at != other.at) | (turned != other.turned)
    return laid.where(xp.flatnonzero(good))


@inlined()
def _is_backwards(words, start, n, k):
    """Tell whether the other strand of a piece is the lesser text: then its seeds are looked for from its end on."""
    shift = np.uint64(64 - 2 * k)
    return (word_at(words, start) >> shift) > reverse_complement_plain(word_at(words, start + n - k) >> shift, k)


@for_each
def _first_seed(r, start, length, words, k, sample, keys, slots, mask, first, places, found, window, is_unique):
    found[r] = -1
    window[r] = 0
    is_unique[r] = False
    n = np.int64(length[r])
    fewest = np.int64(0)
    shift = np.uint64(64 - 2 * k)
    backwards = n >= k and _is_backwards(words, start[r], n, k)
    for step in range(n - k + 1):
        i = n - k - step if backwards else step
        forward = word_at(words, start[r] + i) >> shift
        backward = reverse_complement_plain(forward, k)
        key = min(forward, backward)
        if mix(key) & sample == np.uint64(0):
            number = find(key, keys, slots, mask)
            if number >= 0:
                strand = np.int64(1 if backward < forward else 0)
                n_places = first[number + 1] - first[number]
                if n_places == 1:
                    found[r] = places[first[number]] ^ strand
                    window[r] = i
                    is_unique[r] = True
                    break
                if fewest == 0 or n_places < fewest:
                    fewest = n_places
                    found[r] = -2 - (number << 1 | strand)
                    window[r] = i


@for_each
def _rest_seed(
    p,
    piece,
    at,
    turned,
    begin,
    end,
    was_unique,
    start,
    length,
    words,
    k,
    sample,
    keys,
    slots,
    mask,
    first,
    places,
    found,
    window,
):
    found[p] = -1
    window[p] = 0
    r = piece[p]
    n = np.int64(length[r])
    # Where, in the direction that seeds are looked for, the stretch that agrees ends.
    backwards = _is_backwards(words, start[r], n, k)
    reached = at[p] + n - begin[p] if (turned[p] == 1) != backwards else end[p] - at[p]
    if was_unique[p] and n - reached >= _LEAST_REST:
        shift = np.uint64(64 - 2 * k)
        for back in range(n - k - max(reached - k, np.int64(-1))):
            i = back if backwards else n - k - back
            forward = word_at(words, start[r] + i) >> shift
            backward = reverse_complement_plain(forward, k)
            key = min(forward, backward)
            if mix(key) & sample == np.uint64(0):
                number = find(key, keys, slots, mask)
                if number >= 0 and first[number + 1] - first[number] == 1:
                    place = places[first[number]] ^ np.int64(1 if backward < forward else 0)
                    if (place & 1) != turned[p] or leftmost(place, i, n, k) != at[p]:
                        found[p] = place
                        window[p] = i
                        break


@for_each
def _measure(
    p,
    piece,
    found,
    window,
    k,
    n_targets,
    read_start,
    length,
    reads_words,
    start,
    size,
    closed,
    text_words,
    at,
    target,
    begin,
    end,
    mismatches,
):
    r = piece[p]
    n = np.int64(length[r])
    own = run_of(found[p] >> 1, start, n_targets)
    place = leftmost(found[p], np.int64(window[p]), n, k)
    if closed[own]:
        while place < start[own]:
            place += size[own]
    at[p] = place
    target[p] = own
    turned = found[p] & 1
    best, best_begin, best_end = best_stretch(
        reads_words, read_start[r], n, turned, text_words, place, start[own], start[own + 1]
    )
    begin[p] = place + best_begin
    end[p] = place + best_end
    mismatches[p] = (best_end - best_begin - best) // MISMATCH
