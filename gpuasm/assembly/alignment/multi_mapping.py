"""Choose a place for each multi-mapping segment: one all of whose seeds occur several times.

The places of its rarest seed are compared by the score of the ungapped alignment. A place where the segment is clipped
by a contig end counts as equal to the best if the part within the contig aligns as well as at the best place. Among
equal places a hash of the segment's two ends chooses, weighted by the depth of the contigs (`Targets.weight`). So the
copies of a repeat share their reads evenly, and neither order nor strand of the reads matters.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets
from gpuasm.assembly.alignment.ungapped import best_ungapped_alignment, leftmost
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import mix
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import block_at
from gpuasm.sequence.reads import Reads

_MAX_PLACES, _MIN_SCORE = ALIGNMENT.multi_mapping_max_places, ALIGNMENT.alignment_min_score
"""Of a seed with more places, so many are compared, from a hashed one on."""

_FIRST_63 = np.uint64(0x7FFFFFFFFFFFFFFF)


def choose_places(reads: Reads, targets: Targets, index: SeedIndex, seeds: tuple[Array, Array]) -> None:
    """Choose a place for each segment without a unique seed, in place.

    Parameters
    ----------
    reads, targets, index
        The segments, what they are aligned to, and the seeds of that.
    seeds : (n,) int64, (n,) int32
        For each segment ``-2 - (number << 1 | strand)`` of its rarest seed, and the seed's window in the segment. The
        former becomes ``position << 1 | is_reversed``; other numbers stay as they are.
    """
    found, window = seeds
    xp = array_namespace(found)
    rows = xp.flatnonzero(found < -1)
    names = ("start", "size", "is_circular", "weight")
    start, size, is_circular, weight = (to_namespace(xp, getattr(targets, name)) for name in names)
    own = (reads.start, reads.length, reads.packed, start, size, is_circular, weight, targets.packed, targets.n)
    _choose_place(int(rows.size), rows, *own, index.k, index.first, index.place, window, found)


@inlined()
def _leftmost_on(seed, window, n, k, start, size, is_circular, n_targets):
    """Return the target of a segment's seed, and the text position of the segment's leftmost base."""
    own = run_of(seed >> 1, start, n_targets)
    at = leftmost(seed, window, n, k)
    if is_circular[own]:
        while at < start[own]:
            at += size[own]
    return own, at


@inlined()
def _is_as_good(best, best_score, seed, window, n, k, packed, first, start, size, is_circular, text_packed, n_targets):
    """Check whether a segment aligns as well at one place as at the best one, within the contig of that place."""
    own, at = _leftmost_on(seed, window, n, k, start, size, is_circular, n_targets)
    score, _, _ = best_ungapped_alignment(packed, first, n, seed & 1, text_packed, at, start[own], start[own + 1])
    begin, end = max(np.int64(0), start[own] - at), min(n, start[own + 1] - at)
    if score == best_score or end - begin == n or score < _MIN_SCORE:
        return score == best_score
    if (seed ^ best) & 1:
        begin, end = n - end, n - begin
    own, at = _leftmost_on(best, window, n, k, start, size, is_circular, n_targets)
    low, high = max(start[own], at + begin), min(start[own + 1], at + end)
    rest, _, _ = best_ungapped_alignment(packed, first, n, best & 1, text_packed, at, low, high)
    return score >= rest


@signatures(
    "int64[::1], int64[::1], int32[::1], uint64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], uint64[::1], "
    "int64, int64, int64[::1], int64[::1], int32[::1], int64[::1]"
)
@for_each
def _choose_place(
    v,
    rows,
    read_start,
    length,
    packed,
    start,
    size,
    is_circular,
    weight,
    text_packed,
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
    head = block_at(packed, read_start[r]) >> shift
    tail = block_at(packed, read_start[r] + n - k) >> shift
    head = min(head, reverse_complement_plain(head, k))
    tail = min(tail, reverse_complement_plain(tail, k))
    chance = np.int64(mix(head + tail) & _FIRST_63)
    begin = first[number]
    n_places = first[number + 1] - begin
    n_compared = min(n_places, np.int64(_MAX_PLACES))
    shifted = chance % n_places if n_places > n_compared else np.int64(0)
    best, best_score = np.int64(0), np.int64(-1)
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        own, at = _leftmost_on(place, i, n, k, start, size, is_circular, n_targets)
        score, _, _ = best_ungapped_alignment(
            packed, read_start[r], n, place & 1, text_packed, at, start[own], start[own + 1]
        )
        if score > best_score:
            best, best_score = place, score
    summed = np.int64(0)
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        if _is_as_good(
            best, best_score, place, i, n, k, packed, read_start[r], start, size, is_circular, text_packed, n_targets
        ):
            summed += weight[run_of(place >> 1, start, n_targets)]
    left, chosen = chance % summed, best
    for c in range(n_compared):
        place = places[begin + (c + shifted) % n_places] ^ strand
        if left >= 0 and _is_as_good(
            best, best_score, place, i, n, k, packed, read_start[r], start, size, is_circular, text_packed, n_targets
        ):
            left -= weight[run_of(place >> 1, start, n_targets)]
            chosen = place
    found[r] = chosen
