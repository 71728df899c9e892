"""The hash of Mash and sourmash: MurmurHash3_x64_128 of a k-mer's letters, its first 64 bits.

Letters are computed from two bits per base, eight at a time, in registers, on CPU and CUDA. The hash is by Austin
Appleby, in the public domain.
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
# ASCII codes of the letters: A, A + 2 (C), A + 6 (G), A + 2 + 6 + 11 (T).
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
        The k-mer with its *first* base in the lowest two bits and zeros above its last.
    k : int
    seed : uint64
    """
    first = _letters(backwards, k)
    second = _letters(backwards >> np.uint64(16), k - 8)
    h1 = seed
    h2 = seed
    if k >= 16:
        h1 = (_rotated(h1 ^ _first_half(first), np.uint64(27)) + h2) * _FIVE + _ADD_1
        h2 = (_rotated(h2 ^ _second_half(second), np.uint64(31)) + h1) * _FIVE + _ADD_2
        first = _letters(backwards >> np.uint64(32), k - 16)
        second = _letters(backwards >> np.uint64(48), k - 24)
    # The rest of a block: 64-bit halves without letters are 0 and change nothing.
    h2 ^= _second_half(second)
    h1 ^= _first_half(first)
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
def _first_half(bits):
    return _rotated(bits * _C1, np.uint64(31)) * _C2


@inlined()
def _second_half(bits):
    return _rotated(bits * _C2, np.uint64(33)) * _C1


@inlined()
def _rotated(bits, by):
    return (bits << by) | (bits >> (np.uint64(64) - by))


@inlined()
def _mixed(bits):
    bits ^= bits >> np.uint64(33)
    bits *= _MIX_1
    bits ^= bits >> np.uint64(33)
    bits *= _MIX_2
    return bits ^ (bits >> np.uint64(33))
