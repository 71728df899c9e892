"""Keys of k-mers: one uint64 that both strands share, for any odd k.

Up to k = 31 the key is the lesser of the k-mer and its reverse complement, two bits a base. A longer k-mer is named by
*doubling*: with a and b the oriented names (2 * number + strand) of its first and last k0-mer, k0 < k <= 2 k0, it is
the pair (a, b), its reverse complement is (b ^ 1, a ^ 1), and the lesser of the two is the key. So any k is counted
exactly with 64-bit keys, provided that the k0-mers were numbered exactly. k is odd, so that no k-mer is its own
reverse complement.
"""

from __future__ import annotations

import numpy as np

from gpuasm.errors import UsageError
from gpuasm.parallel import inlined

MAX_PLAIN_K = 31
"""The largest k whose key is the sequence itself."""

NAME_BITS = 31
NO_KEY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""The key of a window without one."""

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x00FF00FF00FF00FF)
_HALVES = np.uint64(0x0000FFFF0000FFFF)
_NAME_BITS = np.uint64(NAME_BITS)
_NAME_MASK = np.uint64((1 << NAME_BITS) - 1)


def check_k(k: int) -> None:
    """Raise UsageError unless k is odd and at least 3."""
    if k < 3 or k % 2 == 0:
        raise UsageError("an odd k of at least 3", f"k = {k}", "choose an odd k, for example 31")


def doubling_chain(k: int) -> list[int]:
    """Return the values of k to name one after the other, from at most 31 up to ``k``."""
    check_k(k)
    chain = [min(k, MAX_PLAIN_K)]
    while chain[-1] < k:
        chain.append(min(k, 2 * chain[-1] - 1))
    return chain


@inlined()
def reverse_complement_plain(kmer, k):
    """Return the reverse complement of a k-mer of at most 31 bases in the low bits of a uint64."""
    x = ((kmer >> _TWO) & _PAIRS) | ((kmer & _PAIRS) << _TWO)
    x = ((x >> np.uint64(4)) & _NIBBLES) | ((x & _NIBBLES) << np.uint64(4))
    x = ((x >> np.uint64(8)) & _BYTES) | ((x & _BYTES) << np.uint64(8))
    x = ((x >> np.uint64(16)) & _HALVES) | ((x & _HALVES) << np.uint64(16))
    x = (x >> np.uint64(32)) | (x << np.uint64(32))
    return (~x) >> np.uint64(64 - 2 * k)


@inlined()
def pair_key(first, last):
    """Return the key of the pair of oriented names and put its strand in the lowest bit: ``(key << 1) | strand``."""
    a = np.uint64(first)
    b = np.uint64(last)
    forward = (a << _NAME_BITS) | b
    backward = ((b ^ _ONE) << _NAME_BITS) | (a ^ _ONE)
    if backward < forward:
        return (backward << _ONE) | _ONE
    return forward << _ONE


@inlined()
def first_name(key, strand):
    """Return the oriented name (int64) of the first k0-mer of a pair key read on ``strand``."""
    if strand == 0:
        return np.int64(key >> _NAME_BITS)
    return np.int64((key & _NAME_MASK) ^ _ONE)


@inlined()
def last_name(key, strand):
    """Return the oriented name (int64) of the last k0-mer of a pair key read on ``strand``."""
    if strand == 0:
        return np.int64(key & _NAME_MASK)
    return np.int64((key >> _NAME_BITS) ^ _ONE)


_LEAST_MINIMIZER, _CHOICES = 15, 12


def minimizer_bases(k: int) -> int:
    """Return how many bases a minimizer of an indexed k-mer has, odd as k is.

    So many that few places of a text share one by chance; a longer k-mer has 13 m-mers to choose from.
    """
    return min(k, max(_LEAST_MINIMIZER, k - _CHOICES))
