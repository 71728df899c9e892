"""Mate rescue: align a read without a unique place within a fragment's length of its uniquely aligned mate.

The reads of a repeat copy align to all copies, but the mates of some align next to one copy only. Each such read is
compared with every position in reach of its mate, without seeds, and rescued if exactly one position fits. Discordant
reads are tried as well: where a base of a repeat copy is wrong, reads of that copy align to another copy. Rescued reads
vote in polishing; they do not count for depth and breaks.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import TargetArrays, Targets
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.counting import count_ones
from gpuasm.primitives.searching import places_among
from gpuasm.sequence.reads import ReadArrays, Reads

_MIN_SCORE, _BASES_PER_MISMATCH = ALIGNMENT.alignment_min_score, ALIGNMENT.alignment_bases_per_mismatch


def rescue_mates(
    reads: Reads, first: Alignments, targets: Targets, *, longest: int, discordant: Array | None = None
) -> Alignments:
    """Align segments without a unique place, or with a discordant one, within a fragment's length of their mates.

    Parameters
    ----------
    reads, first
        Paired reads, and the first alignments of their segments, in the segments' order.
    longest
        Bases of the longest fragments.
    discordant : (m,) int64, or None
        Segments of discordant pairs.

    Returns
    -------
    In the segments' order, those that fit at exactly one place in reach, up to the ends of the target: where at most
    one base in `alignment_bases_per_mismatch` differs.
    """
    xp = array_namespace(first.at)
    own = first.where(xp.flatnonzero(first.is_unique))
    segment, mate = _with_mates(reads, own, discordant)
    at, mismatches = xp.empty(segment.size, np.int64), xp.empty(segment.size, np.int32)
    _align_near_mate(segment.size, segment, mate, own, longest, reads.arrays, targets.arrays, at, mismatches)
    found = xp.flatnonzero(at != -1)
    segment, mate, at = segment[found], mate[found], at[found]
    target, is_reversed = own.target[mate], (1 - own.is_reversed[mate]).astype(np.uint8)
    begin = xp.maximum(at, targets.arrays.start[target])
    end = xp.minimum(at + reads.length[segment], targets.arrays.start[target + 1])
    return Alignments(segment, at, is_reversed, target, begin, end, mismatches[found], xp.ones(segment.size, bool))


def _with_mates(reads: Reads, own: Alignments, discordant: Array | None) -> tuple[Array, Array]:
    """Return the segments to rescue, ascending, and the row in ``own`` of the unique alignment of the mate of each."""
    xp = array_namespace(own.at)
    is_candidate = xp.ones(reads.n_segments, dtype=bool)
    is_candidate[own.segment] = False
    if discordant is not None:
        is_candidate[discordant] = True
    segment = xp.flatnonzero(is_candidate)
    row, is_placed = places_among(reads.read[segment] ^ 1, reads.read[own.segment])
    good = xp.flatnonzero(is_placed)
    return segment[good], row[good]


@signatures(
    "int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], int32[::1], int64[::1], int64[::1], int32[::1], "
    "boolean[::1], int64, int64[::1], int32[::1], uint64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], "
    "int64[::1], uint64[::1], int64[::1], int32[::1]"
)
@for_each
def _align_near_mate(
    i, segment, mate, own: Alignments, longest, reads: ReadArrays, targets: TargetArrays, found, found_mismatches
):  # fmt: skip
    found[i] = -1
    found_mismatches[i] = 0
    r, row = segment[i], mate[i]
    n, m = np.int64(reads.length[r]), np.int64(reads.length[own.segment[row]])
    mate_at, target, is_reversed = own.at[row], own.target[row], 1 - own.is_reversed[row]
    text_begin, text_end = targets.start[target], targets.start[target + 1]
    # Mates face each other, and a fragment is no shorter than either mate.
    low, high = mate_at + m - longest, mate_at + m - max(m, n)
    if is_reversed:
        low, high = mate_at + max(m, n) - n, mate_at + longest - n
    low, high = max(low, text_begin - n + _MIN_SCORE), min(high, text_end - _MIN_SCORE)
    n_found, at = 0, low
    while at <= high and n_found < 2:
        j, last = max(np.int64(0), text_begin - at), min(n, text_end - at)
        is_long = last - j >= _MIN_SCORE
        max_mismatches, mismatches = (last - j) // _BASES_PER_MISMATCH, np.int64(0)
        while j < last and mismatches <= max_mismatches:
            differs = mismatch_mask(reads.packed, reads.start[r], n, is_reversed, j, targets.packed, at)
            if last - j < 32:
                differs = differs >> np.uint64(64 - 2 * (last - j))
            mismatches += count_ones(differs)
            j += 32
        if is_long and mismatches <= max_mismatches:
            n_found += 1
            found[i] = at
            found_mismatches[i] = mismatches
        at += 1
    if n_found != 1:
        found[i] = -1
