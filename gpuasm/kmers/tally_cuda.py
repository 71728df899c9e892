"""Count k-mers on CUDA: sort the keys of all windows, take run lengths, then tally followers of the k-mers kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, free_device_memory, to_host
from gpuasm.kmers.keys import MAX_PLAIN_K, NO_KEY, pair_key
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.tally import MAX_MULTIPLICITY, Tally
from gpuasm.kmers.windows import Tiles, tile_windows
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import MIX_CUDA, build_index
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE = np.uint64(1)
_LEAST_BATCH = 1 << 20
_BYTES_PER_WINDOW = 40
"""Device memory a window costs while its batch is sorted: the key, its sorted copy, the sort's own, the run flags."""


def tally_cuda(
    reads: Reads,
    k: int,
    names: Array,
    *,
    k0: int,
    min_count: int,
    with_followers: bool,
    progress: Callable[[int], None],
) -> Tally:
    """Count the k-mers of device reads; see `gpuasm.kmers.tally.tally_kmers`."""
    xp = array_namespace(reads.words)
    tiles = tile_windows(reads, k)
    if tiles.n == 0:
        return Tally.empty(xp, k)
    keys, count = _count(reads, tiles, names, k=k, k0=k0)
    progress(2 * int(tiles.count.sum(dtype=np.int64)))
    histogram = xp.bincount(xp.minimum(count, MAX_MULTIPLICITY), minlength=MAX_MULTIPLICITY + 1)
    kept = xp.flatnonzero(count >= min_count)
    keys, count = keys[kept], count[kept].astype(np.uint32)
    place = xp.zeros(keys.size, np.int64)
    followers = xp.zeros(8 * keys.size if with_followers else 0, np.uint32)
    if keys.size:
        _tally(reads, tiles, names, (k, k - k0), (keys, *build_index(keys)), (place, followers))
    return Tally(k, keys, count, place, followers, to_host(histogram))


def _count(reads: Reads, tiles: Tiles, names: Array, *, k: int, k0: int) -> tuple[Array, Array]:
    """Return the distinct keys, sorted, and their counts; batches keep the peak within the device's memory."""
    xp = array_namespace(reads.words)
    end = xp.cumsum(tiles.count.astype(np.int64))
    total = int(end[-1])
    per_batch = max(_LEAST_BATCH, free_device_memory() // _BYTES_PER_WINDOW)
    n_batches = -(-total // per_batch)
    bounds = [int(b) for b in to_host(xp.searchsorted(end, xp.arange(1, n_batches) * (total / n_batches)))]
    merged = xp.empty(0, np.uint64), xp.empty(0, np.int64)
    for first, last in zip([0, *bounds], [*bounds, tiles.n], strict=True):
        keys = _window_keys(reads, (tiles.position[first:last], tiles.count[first:last]), names, k=k, k0=k0)
        keys.sort()
        if k > MAX_PLAIN_K:  # windows without names sort to the end
            keys = keys[: int(xp.searchsorted(keys, xp.asarray([NO_KEY]))[0])]
        counted = _run_lengths(keys)
        merged = _merge(merged, counted) if merged[0].size else counted
    return merged


def _window_keys(reads: Reads, tiles: tuple[Array, Array], names: Array, *, k: int, k0: int) -> Array:
    xp = array_namespace(reads.words)
    position, count = tiles
    end = xp.cumsum(count.astype(np.int64))
    keys = xp.empty(int(end[-1]), np.uint64)
    offset = end - count
    if k <= MAX_PLAIN_K:
        _plain_keys(position.size, position, count, offset, reads.words, k, keys)
    else:
        _pair_keys(position.size, position, count, offset, names, k - k0, keys)
    return keys


@for_each
def _plain_keys(t, position, count, offset, words, k, keys):
    forward, backward = all_but_last(words, position[t], k)
    for j in range(count[t]):
        forward, backward = rolled(forward, backward, base_at(words, position[t] + j + k - 1), k)
        keys[offset[t] + j] = min(forward, backward)


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


def _merge(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    xp = array_namespace(a[0])
    keys = xp.concatenate([a[0], b[0]])
    order = xp.argsort(keys)
    total = xp.cumsum(xp.concatenate([a[1], b[1]])[order])
    keys, run = _run_lengths(keys[order])
    end = total[xp.cumsum(run) - 1]
    count = end.copy()
    count[1:] -= end[:-1]
    return keys, count


def _tally(reads: Reads, tiles: Tiles, names: Array, lengths: tuple[int, int], index: Any, out: Any) -> None:
    k, shift = lengths
    plain, pairs = cuda_functions(_CUDA, "tally_plain", "tally_pairs")
    grid, block = ((tiles.n + 127) // 128,), (128,)
    where = (tiles.position, tiles.count, tiles.is_first, tiles.is_last, np.int64(tiles.n), reads.words)
    counted = (*index, *out, np.int32(out[1].size > 0))
    if k <= MAX_PLAIN_K:
        plain(grid, block, (*where, np.int32(k), *counted))
    else:
        pairs(grid, block, (*where, names, np.int32(k), np.int32(shift), *counted))


_CUDA = (
    MIX_CUDA
    + """
__device__ __forceinline__ u64 base_at(const u64* words, i64 p) { return (words[p >> 5] >> (62 - 2 * (p & 31))) & 3; }

__device__ __forceinline__ void note(i64 number, int strand, i64 p, int k, bool previous, bool next, const u64* words,
                                     i64* place, unsigned* followers, int wanted) {
    place[number] = (p << 1) | strand;  // any occurrence will do: all spell the same k-mer
    if (!wanted) return;
    unsigned* row = followers + 8 * number;
    if (next) atomicAdd(row + 4 * strand + base_at(words, p + k), 1u);
    if (previous) atomicAdd(row + 4 * (1 - strand) + 3 - base_at(words, p - 1), 1u);
}

extern "C" __global__ void tally_plain(const i64* position, const int* count, const bool* is_first, const bool* is_last,
    i64 n, const u64* words, int k, const u64* keys, const int* slots, u64 mask, i64* place, unsigned* followers,
    int wanted) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    u64 kmer_mask = (1ull << (2 * k)) - 1, forward = 0, backward = 0;
    i64 p0 = position[t];
    for (int i = 0; i < k - 1; i++) {
        u64 base = base_at(words, p0 + i);
        forward = (forward << 2) | base;
        backward = (backward >> 2) | ((3 - base) << (2 * (k - 1)));
    }
    for (int j = 0; j < count[t]; j++) {
        u64 base = base_at(words, p0 + j + k - 1);
        forward = ((forward << 2) | base) & kmer_mask;
        backward = (backward >> 2) | ((3 - base) << (2 * (k - 1)));
        int strand = backward < forward;
        i64 number = find(strand ? backward : forward, keys, slots, mask);
        if (number >= 0)
            note(number, strand, p0 + j, k, j > 0 || !is_first[t], j < count[t] - 1 || !is_last[t], words, place,
                 followers, wanted);
    }
}

extern "C" __global__ void tally_pairs(const i64* position, const int* count, const bool* is_first, const bool* is_last,
    i64 n, const u64* words, const int* names, int k, int shift, const u64* keys, const int* slots, u64 mask,
    i64* place, unsigned* followers, int wanted) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    for (int j = 0; j < count[t]; j++) {
        i64 p = position[t] + j;
        int first = names[p], last = names[p + shift];
        if (first < 0 || last < 0) continue;
        u64 a = first, b = last;
        u64 forward = (a << 31) | b, backward = ((b ^ 1) << 31) | (a ^ 1);
        int strand = backward < forward;
        i64 number = find(strand ? backward : forward, keys, slots, mask);
        if (number >= 0)
            note(number, strand, p, k, j > 0 || !is_first[t], j < count[t] - 1 || !is_last[t], words, place, followers,
                 wanted);
    }
}
"""
)
