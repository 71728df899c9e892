"""How much of a piece of a read agrees with a text that it is laid on: for bodies of `for_each`.

What agrees is the stretch with the highest score: 1 for a base that agrees, -4 for one that does not.
"""

from __future__ import annotations

import numpy as np

from gpuasm.kmers.keys import reverse_complement_plain
from gpuasm.parallel import inlined

MISMATCH = 5
"""What a mismatch costs beside a match: 1 + 4."""
LEAST_SCORE = 31
"""A stretch that scores less places nothing."""

_ONE = np.uint64(1)
_ODD = np.uint64(0x5555555555555555)


@inlined()
def word_at(words, position):
    """Return 32 bases (uint64) of packed words from a position on."""
    i = position >> 5
    shift = np.uint64(2 * (position & 31))
    word = words[i] << shift
    if shift > np.uint64(0):
        word |= words[i + 1] >> (np.uint64(64) - shift)
    return word


@inlined()
def differing(reads_words, first, length, turned, j, text_words, at):
    """Compare bases j to j + 31 of a piece laid at ``at``, as far as it goes: bit 62 - 2i is 1 where base i differs."""
    n = min(32, length - j)
    if turned:
        word = word_at(reads_words, first + length - j - n) >> np.uint64(64 - 2 * n)
        word = reverse_complement_plain(word, n) << np.uint64(64 - 2 * n)
    else:
        word = word_at(reads_words, first + j)
    differs = word ^ word_at(text_words, at + j)
    differs = (differs | (differs >> _ONE)) & _ODD
    return (differs >> np.uint64(64 - 2 * n)) << np.uint64(64 - 2 * n)


@inlined()
def leftmost(found, i, length, k):
    """Return where a piece's leftmost base lies whose window i stands at ``found`` (position << 1 | turned)."""
    position = found >> 1
    if found & 1:
        return position + i + k - length
    return position - i


@inlined()
def best_stretch(reads_words, first, length, turned, text_words, at, text_begin, text_end):
    """Return score, begin and end (bases of the piece) of the stretch that agrees best of a piece laid at ``at``."""
    # The stretch with the highest score: where the sum falls below nothing, a new one begins.
    score, best = np.int64(0), np.int64(0)
    opened = max(np.int64(0), text_begin - at)
    best_begin, best_end = opened, opened
    last = min(length, text_end - at)
    j = opened
    while j < last:
        differs = differing(reads_words, first, length, turned, j, text_words, at)
        stop = min(last, j + 32)
        if differs == np.uint64(0):
            score += stop - j
        else:
            for i in range(j, stop):
                if (differs >> np.uint64(62 - 2 * (i - j))) & _ONE:
                    if score > best:
                        best, best_begin, best_end = score, opened, np.int64(i)
                    score -= MISMATCH - 1
                    if score < 0:
                        score, opened = np.int64(0), np.int64(i + 1)
                else:
                    score += 1
        j = stop
        if score > best:
            best, best_begin, best_end = score, opened, j
    return best, best_begin, best_end
