"""Ungapped local alignment of a read at a given place of a text, for bodies of `for_each`.

The alignment is the stretch with the highest score: 1 for a match, -4 for a mismatch.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import inlined
from gpuasm.sequence.encoding import block_at

_MISMATCH_COST = ALIGNMENT.alignment_mismatch_cost
_ONE = np.uint64(1)
_ODD = np.uint64(0x5555555555555555)


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
