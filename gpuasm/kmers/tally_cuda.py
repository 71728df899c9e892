"""Count k-mers on CUDA: sort the keys of all windows, count runs, then count followers of the k-mers kept.

Keys are sorted in parts, so that few of them are on the device at once. A part has all occurrences of its k-mers, so
rare k-mers are dropped before the next part is counted. Each part reads all windows, which takes far less time than
sorting them; so there are about 40 parts, and fewer where these would be small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from gpuasm.arrays import (
    Array,
    array_namespace,
    cuda_functions,
    free_device_memory,
    release_device_memory,
    to_host,
)
from gpuasm.kmers.keys import MAX_PLAIN_K, NO_KEY, pair_key
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.tally import MAX_MULTIPLICITY, Tally, joined, observed_edges
from gpuasm.kmers.windows import Tiles, tile_windows
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.counting import count_values
from gpuasm.primitives.hashing import MIX_CUDA, build_index, mix
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE, _HALF, _LOW = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
_LEAST_PART, _MOST_PART = 1 << 20, (1 << 31) - 1
_SMALL_PART, _PARTS = 1 << 24, 32
"""Windows of a part where the device has room: a share of all, and not less than so many."""
_EDGE_GROUPS = 8
"""Groups of parts whose followers are counted one after the other, where the tally has edges only."""
_BYTES_PER_WINDOW = 40
"""Device memory per window of a sorted part: the key, its sorted copy, the sort's buffer, the run flags."""


def tally_cuda(
    reads: Reads,
    k: int,
    names: Array,
    *,
    k0: int,
    min_count: int,
    with_followers: bool,
    min_follow: int,
    flanks: Array | None,
    progress: Callable[[int], None],
) -> Tally:
    """Count the k-mers of device reads; see `gpuasm.kmers.counting.tally_kmers`."""
    xp = array_namespace(reads.packed)
    tiles = tile_windows(reads, k, flanks)
    if tiles.n == 0:
        return Tally.empty(xp, k)
    keys, count, histogram, bounds = _count(reads, tiles, names, k=k, k0=k0, min_count=min_count)
    progress(2 * int(tiles.count.sum(dtype=np.int64)))
    source = (reads, tiles, names)
    if min_follow:
        edges = _find_edges(source, k, keys, bounds, min_follow)
        return Tally(k, keys, count, xp.zeros(0, np.int64), xp.zeros(0, np.uint32), histogram, edges)
    place = xp.zeros(keys.size, np.int64)
    followers = xp.zeros(8 * keys.size if with_followers else 0, np.uint32)
    if keys.size:
        _tally(source, (k, k - k0), keys, place, followers)
    return Tally(k, keys, count, place, followers, histogram)


def count_followers_cuda(reads: Reads, k: int, keys: Array, *, flanks: Array | None) -> Array:
    """Count the followers of a few k-mers; see `gpuasm.kmers.counting.count_followers`."""
    xp, tiles = array_namespace(keys), tile_windows(reads, k, flanks)
    followers = xp.zeros(8 * keys.size, np.uint32)
    if keys.size and tiles.n:
        _tally((reads, tiles, xp.empty(0, np.int32)), (k, k), keys, xp.zeros(0, np.int64), followers)
    return followers


def _find_edges(source: tuple[Reads, Tiles, Array], k: int, keys: Array, bounds: np.ndarray, min_follow: int) -> Array:
    """Return the edges of k-mers of plain k, counted in bytes for a group of parts at a time: (n,) uint8."""
    xp, n_parts = array_namespace(keys), bounds.size - 1
    edges = xp.empty(keys.size, np.uint8)
    groups = np.unique(np.linspace(0, n_parts, min(n_parts, _EDGE_GROUPS) + 1).astype(np.int64)).tolist()
    for first, last in itertools.pairwise(groups):
        own = slice(int(bounds[first]), int(bounds[last]))
        followers = xp.zeros(8 * (own.stop - own.start), np.uint8)
        if followers.size:
            _tally(source, (k, k), keys[own], xp.zeros(0, np.int64), followers, parts=(first, last, n_parts))
            edges[own] = observed_edges(followers, min_follow)
    return edges


def _count(
    reads: Reads, tiles: Tiles, names: Array, *, k: int, k0: int, min_count: int
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """Return the distinct keys that occur often enough, their (n,) uint32 counts, and the histogram of all.

    The keys are sorted within each part; (n_parts + 1,) int64 has where each begins.
    """
    xp = array_namespace(reads.packed)
    total = int(tiles.count.sum(dtype=np.int64))
    fitting = min(free_device_memory() // _BYTES_PER_WINDOW, max(_SMALL_PART, total // _PARTS))
    per_part = min(max(_LEAST_PART, fitting), _MOST_PART)
    n_parts = 1 if total <= per_part else -(-5 * total // (4 * per_part))  # the kept k-mers of each part need room too
    solid: tuple[list[Array], list[Array]] = ([], [])
    histogram = np.zeros(MAX_MULTIPLICITY + 1, np.int64)
    for part in range(n_parts):
        where = (tiles.position, tiles.count)
        if n_parts == 1:
            keys = _window_keys(reads, where, names, k=k, k0=k0)
        else:
            keys = _keys_of_part(reads, where, names, k=k, k0=k0, part=(part, n_parts))
        keys.sort()
        if k > MAX_PLAIN_K:  # windows without names sort to the end
            keys = keys[: int(xp.searchsorted(keys, xp.asarray([NO_KEY]))[0])]
        keys, count = _run_lengths(keys)
        classes = count_values(xp.minimum(count, MAX_MULTIPLICITY), MAX_MULTIPLICITY + 1)
        histogram += to_host(classes)
        kept = xp.flatnonzero(count >= min_count)
        solid[0].append(keys[kept])
        solid[1].append(count[kept].astype(np.uint32))
        del keys, count, kept
    bounds = np.cumsum([0, *(keys.size for keys in solid[0])])
    keys, count = joined(solid[0]), joined(solid[1])
    release_device_memory()  # the parts lay in many small blocks
    return keys, count, histogram, bounds


def _window_keys(reads: Reads, tiles: tuple[Array, Array], names: Array, *, k: int, k0: int) -> Array:
    xp = array_namespace(reads.packed)
    position, count = tiles
    end = xp.cumsum(count.astype(np.int64))
    keys = xp.empty(int(end[-1]), np.uint64)
    offset = end - count
    if k <= MAX_PLAIN_K:
        _plain_keys(position.size, position, count, offset, reads.packed, k, keys)
    else:
        _pair_keys(position.size, position, count, offset, names, k - k0, keys)
    return keys


@signatures("int64[::1], int32[::1], int64[::1], uint64[::1], int64, uint64[::1]", on="device")
@for_each
def _plain_keys(t, position, count, offset, packed, k, keys):
    forward, backward = all_but_last(packed, position[t], k)
    for j in range(count[t]):
        forward, backward = rolled(forward, backward, base_at(packed, position[t] + j + k - 1), k)
        keys[offset[t] + j] = min(forward, backward)


@signatures("int64[::1], int32[::1], int64[::1], int32[::1], int64, uint64[::1]", on="device")
@for_each
def _pair_keys(t, position, count, offset, names, shift, keys):
    for j in range(count[t]):
        p = position[t] + j
        first = names[p]
        last = names[p + shift]
        if first < 0 or last < 0:
            keys[offset[t] + j] = NO_KEY
        else:
            keys[offset[t] + j] = pair_key(first, last) >> _ONE


def _keys_of_part(
    reads: Reads, tiles: tuple[Array, Array], names: Array, *, k: int, k0: int, part: tuple[int, int]
) -> Array:
    """Return the keys of the windows of a part (its number, number of parts), without windows that lack names.

    Windows are processed twice: to count those of each tile, and to write them.
    """
    xp, (position, count) = array_namespace(reads.packed), tiles
    chosen = tuple(map(np.uint64, part))
    end, keys = xp.zeros(position.size, np.int64), xp.empty(0, np.uint64)
    for writes in (False, True):
        if writes:
            end = xp.cumsum(end)
            keys = xp.empty(int(end[-1]), np.uint64)
        if k <= MAX_PLAIN_K:
            _plain_keys_of_part(position.size, position, count, reads.packed, k, *chosen, writes, end, keys)
        else:
            _pair_keys_of_part(position.size, position, count, names, k - k0, *chosen, writes, end, keys)
    return keys


@inlined()
def _part_of(key, n_parts):
    """Return the part of a key: the lower half of its hash, scaled, as the upper half is its slot in an index."""
    return ((mix(key) & _LOW) * n_parts) >> _HALF


@signatures("int64[::1], int32[::1], uint64[::1], int64, uint64, uint64, boolean, int64[::1], uint64[::1]", on="device")
@for_each
def _plain_keys_of_part(t, position, count, packed, k, part, n_parts, writes, end, keys):
    forward, backward = all_but_last(packed, position[t], k)
    n = 0
    for j in range(count[t]):
        forward, backward = rolled(forward, backward, base_at(packed, position[t] + j + k - 1), k)
        key = min(forward, backward)
        if _part_of(key, n_parts) == part:
            n += 1
            if writes:
                keys[end[t] - n] = key
    if not writes:
        end[t] = n


@signatures("int64[::1], int32[::1], int32[::1], int64, uint64, uint64, boolean, int64[::1], uint64[::1]", on="device")
@for_each
def _pair_keys_of_part(t, position, count, names, shift, part, n_parts, writes, end, keys):
    n = 0
    for j in range(count[t]):
        p = position[t] + j
        first = names[p]
        last = names[p + shift]
        if first >= 0 and last >= 0:
            key = pair_key(first, last) >> _ONE
            if _part_of(key, n_parts) == part:
                n += 1
                if writes:
                    keys[end[t] - n] = key
    if not writes:
        end[t] = n


def _run_lengths(keys: Array) -> tuple[Array, Array]:
    xp = array_namespace(keys)
    if keys.size == 0:
        return keys, xp.empty(0, np.int64)
    is_first = xp.empty(keys.size, dtype=bool)
    is_first[0] = True
    xp.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    start = xp.flatnonzero(is_first)
    count = xp.empty(start.size, np.int64)
    xp.subtract(start[1:], start[:-1], out=count[:-1])
    count[-1] = keys.size - start[-1]
    return keys[start], count


def _tally(
    source: tuple[Reads, Tiles, Array],
    lengths: tuple[int, int],
    keys: Array,
    place: Array,
    followers: Array,
    *,
    parts: tuple[int, int, int] = (0, 1, 1),
) -> None:
    """Find a place of each key, and count its followers, in the arrays that are not empty.

    Of plain k, ``parts`` are the first part of the keys, the one behind their last, and the number of parts.
    """
    (reads, tiles, names), (k, shift) = source, lengths
    plain, pairs = cuda_functions(_CUDA, "tally_plain", "tally_pairs")
    grid, block = ((tiles.n + 127) // 128,), (128,)
    where = (tiles.position, tiles.count, tiles.is_first, tiles.is_last, np.int64(tiles.n), reads.packed)
    requested = np.int32((place.size > 0) | (followers.size > 0) << 1 | (followers.dtype == np.uint8) << 2)
    counted = (keys, *build_index(keys), place, followers, requested)
    if k <= MAX_PLAIN_K:
        plain(grid, block, (*where, np.int32(k), *counted, *map(np.uint64, parts)))
    else:
        pairs(grid, block, (*where, names, np.int32(k), np.int32(shift), *counted))


_CUDA = (
    MIX_CUDA
    + """
__device__ __forceinline__ u64 base_at(const u64* packed, i64 p) { return (packed[p >> 5] >> (62 - 2 * (p & 31))) & 3; }

__device__ __forceinline__ void add(unsigned* followers, i64 number, int strand, u64 base, bool as_bytes) {
    if (!as_bytes) {
        atomicAdd(followers + 8 * number + 4 * strand + base, 1u);
        return;
    }
    unsigned* row = followers + 2 * number + strand;
    unsigned shift = 8 * (unsigned)base, expected, found = *row;
    do {
        expected = found;
        if (((expected >> shift) & 255u) == 255u) return;
        found = atomicCAS(row, expected, expected + (1u << shift));
    } while (found != expected);
}

// requested: 1 for places, 2 for followers, 4 for followers as bytes.
__device__ __forceinline__ void note(i64 number, int strand, i64 p, int k, bool previous, bool next, const u64* packed,
                                     i64* place, unsigned* followers, int requested) {
    if (requested & 1) place[number] = (p << 1) | strand;  // any occurrence: all have the same sequence
    if (!(requested & 2)) return;
    if (next) add(followers, number, strand, base_at(packed, p + k), requested & 4);
    if (previous) add(followers, number, 1 - strand, 3 - base_at(packed, p - 1), requested & 4);
}

extern "C" __global__ void tally_plain(const i64* position, const int* count, const bool* is_first, const bool* is_last,
    i64 n, const u64* packed, int k, const u64* keys, const int* slots, u64 n_slots, i64* place, unsigned* followers,
    int requested, u64 first_part, u64 end_part, u64 n_parts) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    u64 kmer_mask = (1ull << (2 * k)) - 1, forward = 0, backward = 0;
    i64 p0 = position[t];
    for (int i = 0; i < k - 1; i++) {
        u64 base = base_at(packed, p0 + i);
        forward = (forward << 2) | base;
        backward = (backward >> 2) | ((3 - base) << (2 * (k - 1)));
    }
    for (int j = 0; j < count[t]; j++) {
        u64 base = base_at(packed, p0 + j + k - 1);
        forward = ((forward << 2) | base) & kmer_mask;
        backward = (backward >> 2) | ((3 - base) << (2 * (k - 1)));
        int strand = backward < forward;
        u64 key = strand ? backward : forward;
        if (n_parts > 1) {
            u64 part = ((mix(key) & 0xFFFFFFFFull) * n_parts) >> 32;
            if (part < first_part || part >= end_part) continue;
        }
        i64 number = find(key, keys, slots, n_slots);
        if (number >= 0)
            note(number, strand, p0 + j, k, j > 0 || !is_first[t], j < count[t] - 1 || !is_last[t], packed, place,
                 followers, requested);
    }
}

extern "C" __global__ void tally_pairs(const i64* position, const int* count, const bool* is_first, const bool* is_last,
    i64 n, const u64* packed, const int* names, int k, int shift, const u64* keys, const int* slots, u64 n_slots,
    i64* place, unsigned* followers, int requested) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    for (int j = 0; j < count[t]; j++) {
        i64 p = position[t] + j;
        int first = names[p], last = names[p + shift];
        if (first < 0 || last < 0) continue;
        u64 a = first, b = last;
        u64 forward = (a << 31) | b, backward = ((b ^ 1) << 31) | (a ^ 1);
        int strand = backward < forward;
        i64 number = find(strand ? backward : forward, keys, slots, n_slots);
        if (number >= 0)
            note(number, strand, p, k, j > 0 || !is_first[t], j < count[t] - 1 || !is_last[t], packed, place, followers,
                 requested);
    }
}
"""
)
