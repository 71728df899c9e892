"""Hashes of the canonical k-mers of a text, on the device that holds it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.checks import whole
from gpuasm.errors import UsageError
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each
from gpuasm.samples.murmur import hash_of_letters
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

MOST_K = 31
"""The largest k: a k-mer is one uint64 of two bits per base."""
LEAST_K = 3

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_BATCH = 1 << 24
"""Windows hashed at once: 128 MB of hashes."""


def check_sketch_k(k: int) -> None:
    """Raise UsageError unless k-mers of this length can be hashed."""
    whole(k, "k")
    if not LEAST_K <= k <= MOST_K:
        raise UsageError(f"k from {LEAST_K} to {MOST_K}", f"k = {k}", "choose for example -k 21, Mash's own, or 31")


def hash_bits(k: int) -> int:
    """Return the bits of a k-mer's hash that Mash keeps: 32 if there are at most 2^32 k-mers, else 64."""
    return 32 if k <= 16 else 64


def hashes_of_windows(reads: Reads, k: int, *, seed: int = 42, bits: int = 64) -> Iterator[Array]:
    """Yield the hashes of all windows of k bases, in batches that fit into memory.

    A k-mer and its reverse complement have the same hash, that of the lexicographically lesser.

    Parameters
    ----------
    reads
        The text; windows do not cross the ends of its segments.
    k
        From 3 to 31, odd or even.
    seed
        Seed of the hash; 42 in Mash and sourmash.
    bits
        64, or 32 for the lower half alone.

    Yields
    ------
    (windows,) uint64, in the memory of the reads, in the order of the text.
    """
    check_sketch_k(k)
    xp = array_namespace(reads.packed)
    tiles = tile_windows(reads, k)
    end = xp.cumsum(tiles.count, dtype=np.int64)
    n_batches = -(-int(end[-1]) // _BATCH) if tiles.n else 0
    cuts = xp.searchsorted(end, xp.arange(1, n_batches, dtype=np.int64) * _BATCH)
    bounds = [0, *(int(cut) for cut in to_host(cuts)), tiles.n]
    for first, last in itertools.pairwise(bounds):
        count = tiles.count[first:last]
        if count.size:
            place = xp.cumsum(count, dtype=np.int64) - count
            hashes = xp.empty(int(place[-1]) + int(count[-1]), np.uint64)
            keep = _LOW_HALF if bits == 32 else ~np.uint64(0)
            _hash_windows(
                count.size, tiles.position[first:last], count, place, reads.packed, k, _seed_bits(seed), keep, hashes
            )
            yield hashes


def hashes_of_kmers(kmers: Array, k: int, *, seed: int = 42, bits: int = 64) -> Array:
    """Return the hashes of canonical k-mers, (n,) uint64 of two bits per base, the first in the highest bits."""
    check_sketch_k(k)
    hashes = array_namespace(kmers).empty(kmers.size, np.uint64)
    _hash_kmers(kmers.size, kmers, k, _seed_bits(seed), _LOW_HALF if bits == 32 else ~np.uint64(0), hashes)
    return hashes


def _seed_bits(seed: int) -> np.uint64:
    return np.uint64(seed & 0xFFFFFFFF)  # the hash takes a seed of 32 bits


@for_each
def _hash_windows(t, position, count, place, packed, k, seed, keep, hashes):
    mask = (_ONE << np.uint64(2 * k)) - _ONE
    forward, backward = all_but_last(packed, position[t], k)
    for j in range(count[t]):
        forward, backward = rolled(forward, backward, base_at(packed, position[t] + j + k - 1), k)
        # A reversed k-mer is the complement of its reverse complement.
        backwards = ~forward & mask if backward < forward else ~backward & mask
        hashes[place[t] + j] = hash_of_letters(backwards, k, seed) & keep


@for_each
def _hash_kmers(i, kmers, k, seed, keep, hashes):
    rest = kmers[i]
    backwards = np.uint64(0)
    for _ in range(k):
        backwards = (backwards << _TWO) | (rest & _THREE)
        rest >>= _TWO
    hashes[i] = hash_of_letters(backwards, k, seed) & keep
