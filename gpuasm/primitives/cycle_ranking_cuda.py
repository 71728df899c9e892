"""Rank the cycles of a permutation on CUDA, by sampled list ranking; see `cycle_ranking`."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.errors import ResourceError
from gpuasm.primitives.cycles import Cycles

_SPACING = 32
"""Mean number of elements of a walk."""
_GOLDEN = 0x9E3779B1


def rank_cycles_cuda(successor: Array) -> Cycles:
    """Find the cycles of a permutation on a device.

    Raises
    ------
    ResourceError
        If there are 2^31 elements or more.
    """
    xp, m = array_namespace(successor), int(successor.size)
    if m >= 1 << 31:
        raise ResourceError("fewer than 2,147,483,648 edges on a device", f"{m:,}", "run with --device cpu")
    if m == 0:
        none = xp.empty(0, np.int64)
        return Cycles(successor, successor, none, none)
    successor = successor.astype(np.int32, copy=False)
    bits = max(5, (m - 1).bit_length())
    multiplier = (_GOLDEN >> (32 - bits)) | 1
    inverse = pow(multiplier, -1, 1 << bits)
    n_walks = (1 << bits) // _SPACING
    walk, double_low, cut, double_distance, place, leftover, finish = cuda_functions(
        _CUDA, "walk", "double_low", "cut", "double_distance", "place", "leftover", "finish"
    )
    where = xp.empty(m, np.uint64)
    following, length = xp.empty(n_walks, np.int32), xp.empty(n_walks, np.int32)
    low, low_rank = xp.empty(n_walks, np.uint64), xp.empty(n_walks, np.int32)
    grid = ((n_walks + 127) // 128,)
    numbers = (np.int32(m), np.uint32((1 << bits) - 1), np.uint32(multiplier), np.uint32(n_walks))
    xp.cuda.runtime.memsetAsync(where.data.ptr, 255, where.nbytes, xp.cuda.get_current_stream().ptr)
    walk(grid, (128,), (successor, *numbers, np.uint32(inverse), where, following, length, low, low_rank))
    # The least element of each cycle of walks, and the walk that holds it.
    jump, other_jump, other_low, own_low = following.copy(), xp.empty_like(following), xp.empty_like(low), low.copy()
    for _ in range(max(1, n_walks.bit_length())):
        double_low(grid, (128,), (np.int32(n_walks), jump, low, other_jump, other_low))
        jump, other_jump, low, other_low = other_jump, jump, other_low, low
    # Distance from each walk to the end of its cycle, which is cut before the leader's walk.
    ahead, distance = xp.empty_like(following), length.copy()
    cut(grid, (128,), (np.int32(n_walks), following, low, own_low, ahead))
    other_ahead, other_distance = xp.empty_like(ahead), xp.empty_like(distance)
    for _ in range(max(1, n_walks.bit_length())):
        double_distance(grid, (128,), (np.int32(n_walks), ahead, distance, other_ahead, other_distance))
        ahead, other_ahead, distance, other_distance = other_ahead, ahead, other_distance, distance
    label_of, base_of, total_of = (xp.empty(n_walks, np.int32) for _ in range(3))
    is_leader = xp.zeros(m, np.uint8)
    size_of = xp.empty(m, np.int32)
    place(
        grid, (128,),
        (np.int32(n_walks), low, distance, low_rank, own_low, label_of, base_of, total_of, is_leader, size_of),
    )  # fmt: skip
    edge_grid = ((m + 255) // 256,)
    leftover(edge_grid, (256,), (successor, np.int32(m), where, is_leader, size_of))
    label, rank = xp.empty(m, np.int32), xp.empty(m, np.int32)
    finish(edge_grid, (256,), (np.int32(m), where, label_of, base_of, total_of, label, rank))
    leader = xp.flatnonzero(is_leader)
    return Cycles(label, rank, leader, size_of[leader].astype(np.int64))


_CUDA = """
typedef unsigned long long u64;

// Walk number h starts at element h * inverse (mod 2^bits): multiplying scatters the starts for every stride.
extern "C" __global__ void walk(const int* successor, int m, unsigned mask, unsigned multiplier, unsigned n_walks,
    unsigned inverse, u64* where, int* following, int* length, u64* low, int* low_rank) {
    unsigned h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= n_walks) return;
    unsigned first = (h * inverse) & mask;
    if (first >= (unsigned)m) { following[h] = h; length[h] = 0; low[h] = ~0ull; low_rank[h] = 0; return; }
    int element = first, least = first, least_at = 0, steps = 0;
    unsigned next;
    do {
        where[element] = ((u64)h << 32) | (unsigned)steps;
        if (element < least) { least = element; least_at = steps; }
        steps++;
        element = successor[element];
        next = ((unsigned)element * multiplier) & mask;
    } while (next >= n_walks);
    following[h] = next; length[h] = steps; low[h] = ((u64)(unsigned)least << 32) | h; low_rank[h] = least_at;
}

extern "C" __global__ void double_low(int n, const int* jump, const u64* low, int* next_jump, u64* next_low) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= n) return;
    int middle = jump[h];
    u64 a = low[h], b = low[middle];
    next_low[h] = a < b ? a : b;
    next_jump[h] = jump[middle];
}

extern "C" __global__ void cut(int n, const int* following, const u64* low, const u64* own_low, int* ahead) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= n) return;
    int next = following[h];
    // -1 ends the list: the walk that leads back to the leader's walk.
    ahead[h] = (own_low[next] == low[next]) ? -1 : next;
}

extern "C" __global__ void double_distance(int n, const int* ahead, const int* distance, int* next_ahead,
    int* next_distance) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= n) return;
    int middle = ahead[h];
    next_distance[h] = distance[h] + (middle < 0 ? 0 : distance[middle]);
    next_ahead[h] = middle < 0 ? -1 : ahead[middle];
}

extern "C" __global__ void place(int n, const u64* low, const int* distance, const int* low_rank, const u64* own_low,
    int* label_of, int* base_of, int* total_of, unsigned char* is_leader, int* size_of) {
    int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= n || own_low[h] == ~0ull) return;
    int label = (int)(low[h] >> 32), leader = (int)(low[h] & 0xffffffffu);
    int total = distance[leader];
    // Rank 0 is the least element, not the beginning of its walk.
    int base = total - distance[h] - low_rank[leader];
    label_of[h] = label; base_of[h] = base < 0 ? base + total : base; total_of[h] = total;
    if (h == leader) { is_leader[label] = 1; size_of[label] = total; }
}

// Elements that no walk visited lie on short cycles without a start. Their least element walks them.
extern "C" __global__ void leftover(const int* successor, int m, u64* where, unsigned char* is_leader, int* size_of) {
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= m || where[first] != ~0ull) return;
    int element = successor[first];
    while (element > first) element = successor[element];
    if (element < first) return;
    int steps = 0;
    do {
        where[element] = ((u64)(0x80000000u | (unsigned)first) << 32) | (unsigned)steps;
        steps++;
        element = successor[element];
    } while (element != first);
    is_leader[first] = 1; size_of[first] = steps;
}

extern "C" __global__ void finish(int m, const u64* where, const int* label_of, const int* base_of,
    const int* total_of, int* label, int* rank) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= m) return;
    u64 packed = where[element];
    unsigned h = (unsigned)(packed >> 32);
    int steps = (int)(packed & 0xffffffffu);
    if (h & 0x80000000u) { label[element] = h & 0x7fffffffu; rank[element] = steps; return; }
    int at = base_of[h] + steps, total = total_of[h];
    label[element] = label_of[h];
    rank[element] = at >= total ? at - total : at;
}
"""
