"""Power iteration on CUDA: each rank is pulled over the edges into its vertex by a thread, some of a warp, or a block.

What a vertex hands on along each of its edges is computed once an iteration, so the inner loop is one gather. Sums run
in an order that only the graph decides, so every run gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, cuda_functions, to_namespace
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import group_by, index_type
from gpuasm.primitives.row_classes import row_classes
from gpuasm.ranking.places import in_places, places_by_degree
from gpuasm.ranking.teleport import Surfer

_BLOCK = 256
_BOUNDS = (4, 16, 64, 1024)
_WIDTHS = (1, 4, 16, 32, _BLOCK)
"""Threads that share a row of each class."""
_MOST_BLOCKS = 1 << 13  # of a class; a constant, so that sums run in the same order on every device
_NOTHING = np.uint64(0)
"""A null pointer."""


class PullCuda:
    """The state of a power iteration; see `PullCpu` for its twin.

    Parameters
    ----------
    surfer
        With arrays on a device; the graph has at least one vertex.
    """

    def __init__(self, surfer: Surfer) -> None:
        xp, graph, n = surfer.xp, surfer.graph.reverse(), surfer.graph.n_vertices
        self._xp, self._damping = xp, 1.0 - surfer.reset
        kernels = cuda_functions(_CUDA[index_type(n)], *(f"pull_{width}" for width in _WIDTHS), "finish_step")
        self._pulls, self._finish_step = kernels[:-1], kernels[-1]
        self._uniform = np.float64(1.0 / n)
        self._out_weight = self._out_weights(surfer)
        self._teleport: Any = _NOTHING
        self._rank: Array = xp.full(n, 1.0 / n)
        if surfer.teleport is not None:
            self._teleport = to_namespace(xp, surfer.teleport)
            self._rank = self._teleport.copy()
        goes_on = self._out_weight > 0
        self._lumped_rows = self._deal(graph, xp.flatnonzero(~goes_on))
        self._rows = self._deal(graph, xp.flatnonzero(goes_on))
        lumped = 1.0 - float(self._rank[goes_on].sum())
        self._state = xp.asarray([0.0, lumped])
        handed = xp.where(goes_on, self._rank / xp.where(goes_on, self._out_weight, 1.0), 0.0)
        del goes_on
        place, columns = places_by_degree(surfer)
        self._place = _NOTHING if place is None else place
        weights = _NOTHING if surfer.weights is None else group_by(surfer.graph.columns, surfer.weights, n)[1]
        self._graph = graph.row_offsets, columns, weights
        self._handed = in_places(handed, place)
        self._next_handed = xp.zeros(n)
        blocks = sum(self._blocks_of(i, rows) for i, rows in enumerate(self._rows))
        self._partial = xp.zeros((max(blocks, 1), 2))

    def step(self) -> float:
        """Do one iteration of the vertices with edges out; return the sum of the absolute changes."""
        self._pull(self._rows)
        self._handed, self._next_handed = self._next_handed, self._handed
        n_partial = sum(self._blocks_of(i, rows) for i, rows in enumerate(self._rows))
        self._finish_step((1,), (_BLOCK,), (self._partial, np.int64(n_partial), self._state))
        return float(self._state[0])

    def finish(self) -> Array:
        """Return all ranks, (n,) float64."""
        self._partial = self._xp.zeros((sum(self._blocks_of(i, rows) for i, rows in enumerate(self._lumped_rows)), 2))
        self._pull(self._lumped_rows)
        return self._rank / self._rank.sum()

    def _pull(self, classes: list[Array]) -> None:
        first = 0
        for i in reversed(range(len(classes))):  # the longest rows first: short ones then fill the gaps
            n_blocks = self._blocks_of(i, classes[i])
            if n_blocks:
                self._pulls[i](
                    (n_blocks,), (_BLOCK,),
                    (classes[i], np.int64(classes[i].size), *self._graph, self._handed, np.float64(self._damping),
                     self._state, self._teleport, self._uniform, self._out_weight, self._place, self._rank,
                     self._next_handed, self._partial[first:]),
                )  # fmt: skip
                first += n_blocks

    def _blocks_of(self, i: int, rows: Array) -> int:
        return min(-(-int(rows.size) // (_BLOCK // _WIDTHS[i])), _MOST_BLOCKS)

    def _deal(self, graph: DirectedGraph, rows: Array) -> list[Array]:
        classes = row_classes(graph.row_offsets[1:] - graph.row_offsets[:-1], _BOUNDS, rows=rows)
        lengths = graph.row_offsets[classes[-1] + 1] - graph.row_offsets[classes[-1]]
        classes[-1] = classes[-1][self._xp.argsort(-lengths, kind="stable")]
        return classes

    def _out_weights(self, surfer: Surfer) -> Array:
        """Return the sum of the weights of the edges that leave each vertex, (n,) float64."""
        graph, xp = surfer.graph, self._xp
        if surfer.weights is None:
            return graph.out_degree.astype(np.float64)
        totals = xp.zeros(graph.n_vertices)
        zero = np.float64(0)
        for i, rows in enumerate(self._deal(graph, xp.arange(graph.n_vertices, dtype=graph.columns.dtype))):
            if rows.size:
                self._pulls[i](
                    (self._blocks_of(i, rows),), (_BLOCK,),
                    (rows, np.int64(rows.size), graph.row_offsets, graph.columns, surfer.weights, _NOTHING, zero,
                     _NOTHING, _NOTHING, zero, _NOTHING, _NOTHING, totals, _NOTHING, _NOTHING),
                )  # fmt: skip
        return totals


_SOURCE = r"""
typedef long long i64;
#define BLOCK 256

// The sum over a block of 256 threads, in the order of a fixed tree, in thread 0.
__device__ __forceinline__ double block_sum(double value, double* shared) {
    shared[threadIdx.x] = value;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

// WIDTH threads share a row; where handed is null, rank becomes the sum of the row's weights.
template <int WIDTH>
__device__ __forceinline__ void pull(const INDEX* __restrict__ rows, i64 n_rows, const i64* __restrict__ row_offsets,
    const INDEX* __restrict__ columns, const double* __restrict__ weights, const double* __restrict__ handed,
    double damping, const double* state, const double* teleport, double uniform, const double* out_weight,
    const INDEX* place, double* rank, double* next_handed, double* partial) {
    __shared__ double shared[BLOCK];
    const int at_once = BLOCK / WIDTH, lane = threadIdx.x % WIDTH;
    double change = 0.0, mass = 0.0, base = handed ? 1.0 - damping + damping * state[1] : 0.0;
    for (i64 first = (i64)blockIdx.x * at_once; first < n_rows; first += (i64)gridDim.x * at_once) {
        i64 at = first + threadIdx.x / WIDTH, row = 0;
        double total = 0.0;
        if (at < n_rows) {
            row = rows[at];
            i64 end = row_offsets[row + 1];
            if (!handed) {
                for (i64 e = row_offsets[row] + lane; e < end; e += WIDTH) total += weights[e];
            } else if (weights) {
                #pragma unroll 4
                for (i64 e = row_offsets[row] + lane; e < end; e += WIDTH) total += weights[e] * handed[columns[e]];
            } else {
                #pragma unroll 4
                for (i64 e = row_offsets[row] + lane; e < end; e += WIDTH) total += handed[columns[e]];
            }
        }
        if (WIDTH == BLOCK) {
            total = block_sum(total, shared);
            __syncthreads();
        } else {
            for (int half = WIDTH / 2; half > 0; half /= 2) total += __shfl_down_sync(0xffffffffu, total, half, WIDTH);
        }
        if (at < n_rows && lane == 0) {
            if (!handed) {
                rank[row] = total;
            } else {
                double now = damping * total + base * (teleport ? teleport[row] : uniform);
                change += fabs(now - rank[row]);
                mass += now;
                rank[row] = now;
                if (out_weight[row] > 0.0) next_handed[place ? place[row] : row] = now / out_weight[row];
            }
        }
    }
    if (!handed) return;
    change = block_sum(change, shared);
    __syncthreads();
    mass = block_sum(mass, shared);
    if (threadIdx.x == 0) {
        partial[2 * (i64)blockIdx.x] = change;
        partial[2 * (i64)blockIdx.x + 1] = mass;
    }
}

#define KERNEL(WIDTH) extern "C" __global__ __launch_bounds__(BLOCK) void pull_##WIDTH(const INDEX* rows, i64 n_rows, \
    const i64* row_offsets, const INDEX* columns, const double* weights, const double* handed, double damping, \
    const double* state, const double* teleport, double uniform, const double* out_weight, const INDEX* place, \
    double* rank, double* next_handed, double* partial) { \
    pull<WIDTH>(rows, n_rows, row_offsets, columns, weights, handed, damping, state, teleport, uniform, out_weight, \
        place, rank, next_handed, partial); \
}
KERNEL(1)
KERNEL(4)
KERNEL(16)
KERNEL(32)
KERNEL(256)

// state: the change of this iteration, and the rank of the vertices without edges out.
extern "C" __global__ void finish_step(const double* partial, i64 n_partial, double* state) {
    __shared__ double shared[BLOCK];
    double change = 0.0, mass = 0.0;
    for (i64 i = threadIdx.x; i < n_partial; i += BLOCK) {
        change += partial[2 * i];
        mass += partial[2 * i + 1];
    }
    change = block_sum(change, shared);
    __syncthreads();
    mass = block_sum(mass, shared);
    if (threadIdx.x == 0) {
        state[0] = change + fabs(1.0 - mass - state[1]);
        state[1] = 1.0 - mass;
    }
}
"""
_CUDA = {np.int32: _SOURCE.replace("INDEX", "int"), np.int64: _SOURCE.replace("INDEX", "i64")}
