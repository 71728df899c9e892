"""Random numbers without state: each is a hash of a key and an index, so the order of drawing does not matter.

The hash is the output function of SplitMix64 on its own sequence of states [1]_. A key identifies one stream: it is
made of the user's seed and the names of the stream's purpose; the index counts within the stream.

References
----------
.. [1] Steele, Lea and Flood (2014), OOPSLA '14, 453-472. doi:10.1145/2660193.2660195
"""

from __future__ import annotations

import hashlib

import numpy as np

from gpuasm.checks import whole
from gpuasm.parallel import compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-53
_LOW_HALF, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def stream_key(seed: int, *names: str | int) -> np.uint64:
    """Return the key of the stream of a seed and names; other names give other numbers."""
    whole(seed, "the seed", least=-(1 << 63), most=(1 << 64) - 1)
    text = "\0".join(map(str, (seed, *names))).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


@inlined()
def random_bits(key, index):
    """Return 64 random bits (uint64) for a key and an index, both uint64."""
    z = key + (index + _ONE) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@inlined()
def unit_interval(bits):
    """Return a float64 in [0, 1) of the upper 53 of 64 random bits."""
    return np.float64(bits >> np.uint64(11)) * _TO_UNIT


@inlined()
def below(bits, n):
    """Return a random int64 from 0 to n - 1 of 64 random bits; n is an int64 below 2^63."""
    # The upper half of bits * n; the bias is n / 2^64.
    bound = np.uint64(n)
    low = (bits & _LOW_HALF) * (bound & _LOW_HALF)
    middle = (bits >> _HALF) * (bound & _LOW_HALF) + (low >> _HALF)
    other = (bits & _LOW_HALF) * (bound >> _HALF) + (middle & _LOW_HALF)
    return np.int64((bits >> _HALF) * (bound >> _HALF) + (middle >> _HALF) + (other >> _HALF))


def random_uint64(key: np.uint64, first: int, n: int) -> np.ndarray:
    """Return the (n,) uint64 random bits of indices first, first + 1, ... of a stream."""
    bits = np.empty(n, dtype=np.uint64)
    _fill(key, np.uint64(first), bits)
    return bits


def random_units(key: np.uint64, first: int, n: int) -> np.ndarray:
    """Return (n,) float64 in [0, 1), of indices first, first + 1, ... of a stream."""
    return (random_uint64(key, first, n) >> np.uint64(11)).astype(np.float64) * _TO_UNIT


@compiled()
def _fill(key, first, bits):
    for i in range(bits.size):
        bits[i] = random_bits(key, first + np.uint64(i))
