"""Which of several places a piece of a read is laid at, all of whose seeds stand at several: where it agrees best.

A piece that lies whole on one contig hangs over the ends of others that share its seeds, as chimeric contigs do, or
differs from them. The places of its rarest seed are compared by the score of the stretch that agrees (`stretches`); of
equal ones, as the copies of a repeat are, one is chosen by a hash of the piece's ends, whichever strand was read.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.consensus.stretches import best_stretch, leftmost, word_at
from gpuasm.assembly.consensus.targets import SeedIndex, Targets
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import mix
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.reads import Reads

_MOST_PLACES = 256
"""Places of a seed that are compared; of more, as words of one letter have, so many from a hashed one on."""

_FIRST_63 = np.uint64(0x7FFFFFFFFFFFFFFF)


def choose_places(reads: Reads, targets: Targets, index: SeedIndex, seeds: tuple[Array, Array]) -> None:
    """Choose a place for each piece that has none of its own.

    Parameters
    ----------
    reads, targets, index
        What is laid on what, and the seeds of the latter.
    seeds : (n,) int64, (n,) int32
        For each piece ``-2 - (number << 1 | strand)`` of its rarest seed, which becomes ``position << 1 | turned`` in
        place, and the window that it is of; pieces with other numbers stay as they are.
    """
    found, window = seeds
    xp = array_namespace(found)
    rows = xp.flatnonzero(found < -1)
    start, size, closed = (to_namespace(xp, a) for a in (targets.start, targets.size, targets.is_circular))
    own = (reads.start, reads.length, reads.words, start, size, closed, targets.words, targets.n)
    _choose(int(rows.size), rows, *own, index.k, index.first, index.place, window, found)


@inlined()
def _score(seed, window, n, k, words, first, start, size, closed, text_words, n_targets):
    """Return the score of the best stretch of a piece whose window stands at a place."""
    own = run_of(seed >> 1, start, n_targets)
    at = leftmost(seed, window, n, k)
    if closed[own]:
        while at < start[own]:
            at += size[own]
    score, _, _ = best_stretch(words, first, n, seed & 1, text_words, at, start[own], start[own + 1])
    return score


@for_each
def _choose(
    v,
    rows,
    read_start,
    length,
    words,
    start,
    size,
    closed,
    text_words,
    n_targets,
    k,
    first,
    places,
    window,
    found,
):
    r = rows[v]
    n = np.int64(length[r])
    i = np.int64(window[r])
    seed = -2 - found[r]
    number, strand = seed >> 1, seed & 1
    shift = np.uint64(64 - 2 * k)
    head = word_at(words, read_start[r]) >> shift
    tail = word_at(words, read_start[r] + n - k) >> shift
    head = min(head, reverse_complement_plain(head, k))
    tail = min(tail, reverse_complement_plain(tail, k))
    chance = np.int64(mix(head + tail) & _FIRST_63)
    begin = first[number]
    n_places = first[number + 1] - begin
    n_compared = min(n_places, np.int64(_MOST_PLACES))
    shifted = chance % n_places if n_places > n_compared else np.int64(0)
    best, n_best, last_best = np.int64(-1), np.int64(0), np.int64(0)
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        score = _score(place, i, n, k, words, read_start[r], start, size, closed, text_words, n_targets)
        if score > best:
            best, n_best = score, np.int64(0)
        if score == best:
            n_best += 1
            last_best = place
    left = chance % n_best
    if n_best == n_compared:
        last_best = places[begin + (left + shifted) % n_places] ^ strand
    elif n_best > 1:
        for c in range(n_compared):
            place = places[begin + (c + shifted) % n_places] ^ strand
            if left >= 0 and best == _score(
                place, i, n, k, words, read_start[r], start, size, closed, text_words, n_targets
            ):
                last_best = place
                left -= 1
    found[r] = last_best
