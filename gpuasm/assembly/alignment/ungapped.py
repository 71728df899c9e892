"""Ungapped local alignment of a read at given places of a text, and the choice among several places.

The alignment is the stretch with the highest score: 1 for a match, -4 for a mismatch.

A segment is multi-mapping if all its seeds occur several times. The places of its rarest seed are compared by score. A
place where the segment is clipped by a contig end counts as equal to the best if the part within the contig aligns as
well as at the best place. Among equal places a hash of the segment's two ends chooses, weighted by the depth of the
contigs (`Targets.weight`). So the copies of a repeat share their reads evenly, and neither order nor strand of the
reads matters.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.alignment.seed_index import SeedIndex, TargetArrays
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import mix
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import block_at
from gpuasm.sequence.reads import ReadArrays

_MISMATCH_COST, _MIN_SCORE = ALIGNMENT.alignment_mismatch_cost, ALIGNMENT.alignment_min_score
_MAX_PLACES = ALIGNMENT.multi_mapping_max_places
"""Of a seed with more places, so many are compared, from a hashed one on."""
_ONE = np.uint64(1)
_ODD, _FIRST_63 = np.uint64(0x5555555555555555), np.uint64(0x7FFFFFFFFFFFFFFF)


@inlined()
def mismatch_mask(read_packed, first, length, is_reversed, j, text_packed, at):
    """Compare bases j to j + 31 of a segment at place ``at``: bit 62 - 2i is 1 where base j + i exists and differs."""
    n = min(32, length - j)
    if is_reversed:
        block = block_at(read_packed, first + length - j - n) >> np.uint64(64 - 2 * n)
        block = reverse_complement_plain(block, n) << np.uint64(64 - 2 * n)
    else:
        block = block_at(read_packed, first + j)
    differs = block ^ block_at(text_packed, at + j)
    differs = (differs | (differs >> _ONE)) & _ODD
    return (differs >> np.uint64(64 - 2 * n)) << np.uint64(64 - 2 * n)


@inlined()
def leftmost(found, i, length, k):
    """Return the position of a segment's leftmost base from that of its window i, ``position << 1 | is_reversed``."""
    position = found >> 1
    if found & 1:
        return position + i + k - length
    return position - i


@inlined()
def best_ungapped_alignment(read_packed, first, length, is_reversed, text_packed, at, text_begin, text_end):
    """Return score, begin and end (bases of the segment) of the best alignment of a segment at place ``at``."""
    # Maximal scoring stretch: where the running sum falls below 0, a new stretch begins.
    score, best = np.int64(0), np.int64(0)
    begin = max(np.int64(0), text_begin - at)
    best_begin, best_end = begin, begin
    last = min(length, text_end - at)
    j = begin
    while j < last:
        differs = mismatch_mask(read_packed, first, length, is_reversed, j, text_packed, at)
        stop = min(last, j + 32)
        if differs == np.uint64(0):
            score += stop - j
        else:
            for i in range(j, stop):
                if (differs >> np.uint64(62 - 2 * (i - j))) & _ONE:
                    if score > best:
                        best, best_begin, best_end = score, begin, np.int64(i)
                    score -= _MISMATCH_COST - 1
                    if score < 0:
                        score, begin = np.int64(0), np.int64(i + 1)
                else:
                    score += 1
        j = stop
        if score > best:
            best, best_begin, best_end = score, begin, j
    return best, best_begin, best_end


@inlined()
def leftmost_on(seed, window, n, k, targets, n_targets):
    """Return the target of a segment's seed, and the text position of the segment's leftmost base."""
    own = run_of(seed >> 1, targets.start, n_targets)
    at = leftmost(seed, window, n, k)
    if targets.is_circular[own]:
        while at < targets.start[own]:
            at += targets.size[own]
    return own, at


@inlined()
def _score_at(seed, window, n, k, packed, first, targets, n_targets):
    """Return the best score of a segment at a seed, and which of its bases lie within the contig there."""
    own, at = leftmost_on(seed, window, n, k, targets, n_targets)
    low, high = targets.start[own], targets.start[own + 1]
    score, _, _ = best_ungapped_alignment(packed, first, n, seed & 1, targets.packed, at, low, high)
    return score, max(np.int64(0), low - at), min(n, high - at)


@inlined()
def _is_as_good(best, best_score, seed, window, n, k, packed, first, targets, n_targets):
    """Check whether a segment aligns as well at one place as at the best one, within the contig of that place."""
    score, begin, end = _score_at(seed, window, n, k, packed, first, targets, n_targets)
    if score == best_score or end - begin == n or score < _MIN_SCORE:
        return score == best_score
    if (seed ^ best) & 1:
        begin, end = n - end, n - begin
    own, at = leftmost_on(best, window, n, k, targets, n_targets)
    low, high = max(targets.start[own], at + begin), min(targets.start[own + 1], at + end)
    rest, _, _ = best_ungapped_alignment(packed, first, n, best & 1, targets.packed, at, low, high)
    return score >= rest


@signatures(
    "int64[::1], int64[::1], int32[::1], uint64[::1], "
    "int64[::1], int64[::1], boolean[::1], int64[::1], int64[::1], uint64[::1], int64, "
    "int64, uint64, uint64[::1], int32[::1], uint64, int64[::1], int64[::1], int32[::1], int64[::1]"
)
@for_each
def choose_place(
    v, rows, reads: ReadArrays, targets: TargetArrays, n_targets, seeds: SeedIndex, window, found
):  # fmt: skip
    """Choose a place for a segment without a unique seed, in place.

    ``found`` has ``-2 - (number << 1 | strand)`` of its rarest seed, which becomes ``position << 1 | is_reversed``;
    ``window`` is that seed's window in the segment.
    """
    r, packed, k = rows[v], reads.packed, seeds.k
    at = reads.start[r]
    n, i = np.int64(reads.length[r]), np.int64(window[r])
    seed = -2 - found[r]
    number, strand = seed >> 1, seed & 1
    shift = np.uint64(64 - 2 * k)
    head = block_at(packed, at) >> shift
    tail = block_at(packed, at + n - k) >> shift
    head = min(head, reverse_complement_plain(head, k))
    tail = min(tail, reverse_complement_plain(tail, k))
    chance = np.int64(mix(head + tail) & _FIRST_63)
    begin = seeds.first[number]
    n_places = seeds.first[number + 1] - begin
    n_compared = min(n_places, np.int64(_MAX_PLACES))
    shifted = chance % n_places if n_places > n_compared else np.int64(0)
    best, best_score = np.int64(0), np.int64(-1)
    for c in range(n_compared):
        place = seeds.place[begin + (c + shifted) % n_places] ^ strand
        score, _, _ = _score_at(place, i, n, k, packed, at, targets, n_targets)
        if score > best_score:
            best, best_score = place, score
    summed = np.int64(0)
    for c in range(n_compared):
        place = seeds.place[begin + (c + shifted) % n_places] ^ strand
        if _is_as_good(best, best_score, place, i, n, k, packed, at, targets, n_targets):
            summed += targets.weight[run_of(place >> 1, targets.start, n_targets)]
    left, chosen = chance % summed, best
    for c in range(n_compared):
        place = seeds.place[begin + (c + shifted) % n_places] ^ strand
        if left >= 0 and _is_as_good(best, best_score, place, i, n, k, packed, at, targets, n_targets):
            left -= targets.weight[run_of(place >> 1, targets.start, n_targets)]
            chosen = place
    found[r] = chosen
