"""The hash of Mash and sourmash: MurmurHash3_x64_128 of a k-mer's letters, its first 64 bits.

Letters are made of two bits a base, eight at a time, in registers: no text is ever written. For CPU and CUDA alike.
The hash is Austin Appleby's, in the public domain.
"""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import inlined

_ONE = np.uint64(1)
_EIGHT_BASES = np.uint64(0xFFFF)
_TWO_HALVES = np.uint64(0x000000FF000000FF)
_FOUR_QUARTERS = np.uint64(0x000F000F000F000F)
_EIGHT_PAIRS = np.uint64(0x0303030303030303)
_EACH = np.uint64(0x0101010101010101)
# The letters' codes are A, and for C, G and T so much more: 2, 6, 2 + 6 + 11.
_LETTER_A, _LOW, _HIGH, _BOTH = np.uint64(0x4141414141414141), np.uint64(2), np.uint64(6), np.uint64(11)
_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_ADD_1, _ADD_2, _FIVE = np.uint64(0x52DCE729), np.uint64(0x38495AB5), np.uint64(5)
_MIX_1, _MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


@inlined()
def hash_of_letters(backwards, k, seed):
    """Return the hash (uint64) of the text of a k-mer of at most 31 bases.

    Parameters
    ----------
    backwards : uint64
        The k-mer with its *first* base in the lowest two bits, nothing above its last.
    k : int
    seed : uint64
    """
    first = _letters(backwards, k)
    second = _letters(backwards >> np.uint64(16), k - 8)
    h1 = seed
    h2 = seed
    if k >= 16:
        h1 = (_rotated(h1 ^ _first_word(first), np.uint64(27)) + h2) * _FIVE + _ADD_1
        h2 = (_rotated(h2 ^ _second_word(second), np.uint64(31)) + h1) * _FIVE + _ADD_2
        first = _letters(backwards >> np.uint64(32), k - 16)
        second = _letters(backwards >> np.uint64(48), k - 24)
    # What is left of a block: words without letters are 0 and change nothing.
    h2 ^= _second_word(second)
    h1 ^= _first_word(first)
    h1 ^= np.uint64(k)
    h2 ^= np.uint64(k)
    h1 += h2
    h2 += h1
    return _mixed(h1) + _mixed(h2)


@inlined()
def _letters(bases, n):
    """Return the letters of up to eight bases, the first in the lowest byte; 0 from the n-th on."""
    if n <= 0:
        return np.uint64(0)
    spread = bases & _EIGHT_BASES
    spread = (spread | (spread << np.uint64(24))) & _TWO_HALVES
    spread = (spread | (spread << np.uint64(12))) & _FOUR_QUARTERS
    spread = (spread | (spread << np.uint64(6))) & _EIGHT_PAIRS
    low = spread & _EACH
    high = (spread >> _ONE) & _EACH
    letters = _LETTER_A + _LOW * low + _HIGH * high + _BOTH * (low & high)
    if n >= 8:
        return letters
    return letters & ((_ONE << np.uint64(8 * n)) - _ONE)


@inlined()
def _first_word(word):
    return _rotated(word * _C1, np.uint64(31)) * _C2


@inlined()
def _second_word(word):
    return _rotated(word * _C2, np.uint64(33)) * _C1


@inlined()
def _rotated(word, by):
    return (word << by) | (word >> (np.uint64(64) - by))


@inlined()
def _mixed(word):
    word ^= word >> np.uint64(33)
    word *= _MIX_1
    word ^= word >> np.uint64(33)
    word *= _MIX_2
    return word ^ (word >> np.uint64(33))
