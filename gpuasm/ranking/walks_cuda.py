"""Random walks on CUDA: work is distributed by coupon, not by vertex.

A thread follows a coupon until it stops and starts its next one at once, so no lane waits for another's walk. The
coupons of neighbouring threads start at the same or neighbouring vertices. Visits are integer additions, whose order
does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import Array, cuda_functions, multiprocessor_count
from gpuasm.graph.rows import index_type

if TYPE_CHECKING:
    from gpuasm.ranking.walk_plan import WalkPlan

_BLOCK = 256
_BLOCKS_PER_PROCESSOR = 8
_NOTHING = np.uint64(0)
"""A null pointer."""


def walk_cuda(plan: WalkPlan) -> tuple[Array, Array]:
    """Walk all coupons until they stop; see `walks_cpu.walk_cpu`."""
    graph, xp, n = plan.surfer.graph, plan.surfer.xp, plan.surfer.graph.n_vertices
    visits, returns = xp.zeros(n, plan.dtype), xp.zeros(n, plan.dtype)
    if plan.n_walks:
        (walk,) = cuda_functions(_CUDA[index_type(n), plan.dtype], "walk")
        blocks = min(-(-plan.n_walks // _BLOCK), multiprocessor_count() * _BLOCKS_PER_PROCESSOR)
        walk(
            (blocks,), (_BLOCK,),
            (graph.row_offsets, graph.columns, _pointer(plan.edge_thresholds), _pointer(plan.start_offsets),
             _pointer(plan.teleport_thresholds), np.int64(n), np.int64(plan.coupons), np.int64(plan.n_walks), plan.key,
             plan.stop, visits, returns),
        )  # fmt: skip
    return visits, returns


def _pointer(array: Array) -> Any:
    return array if array.size else _NOTHING


_SOURCE = """
typedef long long i64;
typedef unsigned long long u64;

__device__ __forceinline__ u64 random_bits(u64 key, u64 index) {
    u64 z = key + (index + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// The first position from first on, below last, whose ascending threshold is above a value.
template <class T>
__device__ __forceinline__ i64 first_above(const T* thresholds, i64 first, i64 last, T value) {
    while (first < last) {
        i64 middle = (first + last) >> 1;
        if (thresholds[middle] > value) last = middle; else first = middle + 1;
    }
    return first;
}

__device__ __forceinline__ i64 next_vertex(const i64* __restrict__ row_offsets, const INDEX* __restrict__ columns,
    const u64* __restrict__ edge_thresholds, const u64* __restrict__ teleport_thresholds, i64 n, i64 vertex, u64 bits) {
    i64 first = row_offsets[vertex], last = row_offsets[vertex + 1];
    u64 total = first == last ? 0 : edge_thresholds ? edge_thresholds[last - 1] : (u64)(last - first);
    if (total > 0) {
        i64 share = (i64)__umul64hi(bits, total);
        return columns[edge_thresholds ? first_above(edge_thresholds, first, last, (u64)share) : first + share];
    }
    if (!teleport_thresholds) return (i64)__umul64hi(bits, (u64)n);
    return first_above(teleport_thresholds, 0, n, (u64)__umul64hi(bits, teleport_thresholds[n - 1]));
}

extern "C" __global__ __launch_bounds__(256) void walk(const i64* __restrict__ row_offsets,
    const INDEX* __restrict__ columns, const u64* __restrict__ edge_thresholds, const i64* __restrict__ start_offsets,
    const u64* __restrict__ teleport_thresholds, i64 n, i64 coupons, i64 n_walks, u64 key, u64 stop, VISIT* visits,
    VISIT* returns) {
    i64 coupon = (i64)blockIdx.x * blockDim.x + threadIdx.x, stride = (i64)gridDim.x * blockDim.x;
    i64 vertex = 0, start = 0;
    u64 own_key = 0, clock = 0;
    for (bool walking = false; walking || coupon < n_walks;) {
        if (!walking) {
            start = start_offsets ? first_above(start_offsets, 1, n, coupon) - 1 : coupon / coupons;
            u64 number = coupon - (start_offsets ? start_offsets[start] : start * coupons);
            own_key = random_bits(random_bits(key, (u64)start), number);
            clock = 0;
            vertex = start;
            coupon += stride;
        }
        walking = random_bits(own_key, clock) >= stop;
        if (walking) {
            u64 bits = random_bits(own_key, clock + 1);
            clock += 2;
            vertex = next_vertex(row_offsets, columns, edge_thresholds, teleport_thresholds, n, vertex, bits);
            atomicAdd(visits + vertex, (VISIT)1);
            if (vertex == start) atomicAdd(returns + start, (VISIT)1);
        }
    }
}
"""
_CUDA = {
    (index, visit): _SOURCE.replace("INDEX", own).replace("VISIT", count)
    for index, own in ((np.int32, "int"), (np.int64, "i64"))
    for visit, count in ((np.uint32, "unsigned"), (np.uint64, "u64"))
}
