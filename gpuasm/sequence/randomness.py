"""Random numbers without state: each is a hash of a key and an index, whatever the order they are drawn in.

The hash is the output function of SplitMix64 on its own sequence of states [1]_. A key stands for one stream, made of
the user's seed and the names of what the stream is for; the index counts within the stream.

References
----------
.. [1] Steele, Lea and Flood (2014), OOPSLA '14, 453-472. doi:10.1145/2660193.2660195
"""

from __future__ import annotations

import hashlib

import numpy as np

from gpuasm.parallel import compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-53


def stream_key(seed: int, *names: str | int) -> np.uint64:
    """Return the key of the stream that a seed and names stand for; other names, other numbers."""
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


def random_words(key: np.uint64, first: int, n: int) -> np.ndarray:
    """Return the (n,) uint64 random bits of indices first, first + 1, ... of a stream."""
    words = np.empty(n, dtype=np.uint64)
    _fill(key, np.uint64(first), words)
    return words


def random_units(key: np.uint64, first: int, n: int) -> np.ndarray:
    """Return (n,) float64 in [0, 1), of indices first, first + 1, ... of a stream."""
    return (random_words(key, first, n) >> np.uint64(11)).astype(np.float64) * _TO_UNIT


@compiled()
def _fill(key, first, words):
    for i in range(words.size):
        words[i] = random_bits(key, first + np.uint64(i))
