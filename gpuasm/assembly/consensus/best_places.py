"""Which of several places a piece of a read is laid at, all of whose seeds stand at several: where it agrees best.

A piece that lies whole on one contig hangs over the ends of others that share its seeds, as chimeric contigs and
neighbours in the graph do, or differs from them. The places of its rarest seed are compared by the score of the
stretch that agrees (`stretches`). As good as the best one is a place where a contig's end cuts the piece off, if what
is left of it agrees as well there as at the best one. Among these one is chosen by a hash of the piece's ends,
whichever strand was read, and by how deep the contigs are (`Targets.weight`): a chimeric contig of two fragments takes
few reads of a circle that is 800-fold.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.consensus.stretches import LEAST_SCORE, best_stretch, leftmost, word_at
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
    names = ("start", "size", "is_circular", "weight")
    start, size, closed, weight = (to_namespace(xp, getattr(targets, name)) for name in names)
    own = (reads.start, reads.length, reads.words, start, size, closed, weight, targets.words, targets.n)
    _choose(int(rows.size), rows, *own, index.k, index.first, index.place, window, found)


@inlined()
def _leftmost_on(seed, window, n, k, start, size, closed, n_targets):
    """Return the target on which a piece's window stands, and where its leftmost base lies."""
    own = run_of(seed >> 1, start, n_targets)
    at = leftmost(seed, window, n, k)
    if closed[own]:
        while at < start[own]:
            at += size[own]
    return own, at


@inlined()
def _is_as_good(best, best_score, seed, window, n, k, words, first, start, size, closed, text_words, n_targets):
    """Tell whether a piece agrees as well at one place as at the best one, as far as the one's contig goes."""
    own, at = _leftmost_on(seed, window, n, k, start, size, closed, n_targets)
    score, _, _ = best_stretch(words, first, n, seed & 1, text_words, at, start[own], start[own + 1])
    begin, end = max(np.int64(0), start[own] - at), min(n, start[own + 1] - at)
    if score == best_score or end - begin == n or score < LEAST_SCORE:
        return score == best_score
    if (seed ^ best) & 1:
        begin, end = n - end, n - begin
    own, at = _leftmost_on(best, window, n, k, start, size, closed, n_targets)
    low, high = max(start[own], at + begin), min(start[own + 1], at + end)
    rest, _, _ = best_stretch(words, first, n, best & 1, text_words, at, low, high)
    return score >= rest


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
    weight,
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
    best, best_score = np.int64(0), np.int64(-1)
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        own, at = _leftmost_on(place, i, n, k, start, size, closed, n_targets)
        score, _, _ = best_stretch(words, read_start[r], n, place & 1, text_words, at, start[own], start[own + 1])
        if score > best_score:
            best, best_score = place, score
    summed = np.int64(0)
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        if _is_as_good(
            best, best_score, place, i, n, k, words, read_start[r], start, size, closed, text_words, n_targets
        ):
            summed += weight[run_of(place >> 1, start, n_targets)]
    left, chosen = chance % summed, best
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        if left >= 0 and _is_as_good(
            best, best_score, place, i, n, k, words, read_start[r], start, size, closed, text_words, n_targets
        ):
            left -= weight[run_of(place >> 1, start, n_targets)]
            chosen = place
    found[r] = chosen
