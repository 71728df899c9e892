"""Merged mates: replace each pair of overlapping mates by one read of their fragment.

At low coverage a k-mer is solid once two reads contain it. Overlapping mates are two reads of one molecule, so an error
of amplification would be solid, and its dead ends would hide the true path. Merged before the first k-mers are counted,
a fragment counts once, and it bridges gaps over its whole length (after Magoc and Salzberg 2011,
doi:10.1093/bioinformatics/btr507). Mates must overlap by at least k bases, so each k-mer and edge of the fragment is in
one of the mates. Larger k are counted in the reads as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.assembly.parameters import ITERATION
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import block_at
from gpuasm.sequence.reads import Reads

_BASES_PER_MISMATCH = ITERATION.mate_bases_per_mismatch
_AMBIGUITY_RATIO = ITERATION.mate_ambiguity_ratio
_ONE = np.uint64(1)


@dataclass(frozen=True)
class OverlappingMates:
    """Pairs of overlapping mates: the segment of each first mate, which the other follows, and the insert size."""

    first: Array
    insert: Array

    @property
    def n(self) -> int:
        return int(self.first.size)


def merge_mates(reads: Reads, mates: OverlappingMates) -> Reads:
    """Return the reads with one segment, numbered as the first mate, for each pair of overlapping mates.

    Where mates differ, the base nearer to the beginning of its read is used, as errors increase towards the end.

    Parameters
    ----------
    reads
        Paired reads, on the host or on a device.
    mates
        Found by `overlapping_mates`.

    Returns
    -------
    Reads in the order of their numbers; the packed bases of the fragments follow those of the reads.
    """
    xp = array_namespace(reads.packed)
    first, insert = mates.first, mates.insert
    if mates.n == 0:
        return reads
    n_blocks = (insert + 31) // 32
    end = xp.cumsum(n_blocks)
    total = int(end[-1])
    packed = xp.zeros(total + 1, np.uint64)
    segment = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
    _copy_fragment(total, segment, end - n_blocks, first, insert, reads.start, reads.length, reads.packed, packed)
    stays = xp.ones(reads.n_segments, dtype=bool)
    stays[first + 1] = False
    start, length = reads.start.copy(), reads.length.copy()
    start[first] = 32 * (end - n_blocks + reads.packed.size)
    length[first] = insert.astype(np.int32)
    merged = replace(reads, packed=xp.concatenate([reads.packed, packed]), start=start, length=length)
    return merged.select(xp.flatnonzero(stays))


def overlapping_mates(reads: Reads, k: int) -> OverlappingMates:
    """Find the pairs whose mates overlap by at least ``k`` bases; mates that contain N are skipped."""
    xp = array_namespace(reads.packed)
    number = reads.read
    is_first = (number[:-1] % 2 == 0) & (number[1:] == number[:-1] + 1)
    is_first[1:] &= number[:-2] != number[1:-1]
    is_first[:-1] &= number[2:] != number[1:-1]
    first = xp.flatnonzero(is_first)
    insert = xp.zeros(first.size, np.int64)
    if first.size:
        _find_insert(int(first.size), first, reads.start, reads.length, reads.packed, k, insert)
    chosen = xp.flatnonzero(insert)
    return OverlappingMates(first[chosen], insert[chosen])


@signatures("int64[::1], int64[::1], int32[::1], uint64[::1], int64, int64[::1]")
@for_each
def _find_insert(i, first, start, length, packed, k, insert):
    a = first[i]
    size_a, size_b = np.int64(length[a]), np.int64(length[a + 1])
    best, second, found = np.int64(0), np.int64(0), np.int64(0)
    for size in range(k, size_a + size_b - k + 1):
        begin, end = max(np.int64(0), size - size_b), min(size_a, size)
        n = end - begin
        if n < k or _AMBIGUITY_RATIO * n <= best:
            continue
        # Base j of the second mate's reverse complement lies at position size - size_b + j of the fragment.
        left, j = n // _BASES_PER_MISMATCH, begin - (size - size_b)
        last = j + n
        while j < last and left >= 0:
            differs = mismatch_mask(packed, start[a + 1], size_b, 1, j, packed, start[a] + size - size_b)
            if last - j < 32:
                differs = differs >> np.uint64(64 - 2 * (last - j))
            while differs != np.uint64(0) and left >= 0:
                differs &= differs - _ONE
                left -= 1
            j += 32
        if left >= 0 and n > best:
            best, second, found = n, best, size
        elif left >= 0:
            second = max(second, n)
    insert[i] = found if _AMBIGUITY_RATIO * second < best else 0


@for_each
def _copy_fragment(w, segment, first_block, first, insert, start, length, packed, out):
    p = segment[w]
    a, size = first[p], insert[p]
    at = 32 * (w - first_block[p])
    n = min(np.int64(32), size - at)
    from_a = min(max((size + 1) // 2, size - np.int64(length[a + 1])), np.int64(length[a])) - at
    block = np.uint64(0)
    if from_a > 0:
        kept = np.uint64(64 - 2 * min(n, from_a))
        block = (block_at(packed, start[a] + at) >> kept) << kept
    if from_a < n:
        skipped = max(np.int64(0), from_a)
        m = n - skipped
        # The last bases here are the first of the second mate.
        other = block_at(packed, start[a + 1] + size - at - n) >> np.uint64(64 - 2 * m)
        block |= reverse_complement_plain(other, m) << np.uint64(64 - 2 * n)
    out[w] = block
