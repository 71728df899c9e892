"""Power iteration on CUDA: each rank is pulled over the edges into its vertex.

Vertices are reordered by descending out-degree, those without outgoing edges last. Values that are read most often then
share cache lines, the rows of the reversed graph are read and the ranks are written in sequence, and iterations need
only the first rows. The graph determines the order of all sums, so every run gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, cuda_functions, to_namespace
from gpuasm.graph.rows import group_by
from gpuasm.ranking.degree_order import order_by_degree
from gpuasm.ranking.teleport import Surfer
from gpuasm.ranking.tiles_cuda import TiledRows

_BLOCK = 256
_MOST_BLOCKS = 1 << 11
"""A constant, so that sums have the same order on every device."""
_NOTHING = np.uint64(0)
"""A null pointer."""


class PullCuda:
    """The state of a power iteration; `PullCpu` is its counterpart on the host.

    Parameters
    ----------
    surfer
        With arrays on a device; the graph has at least one vertex.
    """

    def __init__(self, surfer: Surfer) -> None:
        xp, n = surfer.xp, surfer.graph.n_vertices
        self._xp, self._damping, self._uniform = xp, np.float64(1.0 - surfer.reset), np.float64(1.0 / n)
        self._renew, self._finish_step = cuda_functions(_CUDA, "renew", "finish_step")
        out_weight = _out_weights(surfer)
        self._order, self._n_live = order_by_degree(surfer, out_weight > 0)
        self._out_weight = out_weight[self._order]
        del out_weight
        self._reorder(surfer)
        self._teleport: Any = _NOTHING
        self._rank: Array = xp.full(n, 1.0 / n)
        if surfer.teleport is not None:
            self._teleport = to_namespace(xp, surfer.teleport)[self._order]
            self._rank = self._teleport.copy()
        live = self._rank[: self._n_live]
        self._state = xp.asarray([0.0, 1.0 - float(live.sum())])
        # The others distribute 0, as they may have outgoing edges of weight 0.
        self._handed, self._next_handed = xp.zeros(n), xp.zeros(n)
        self._handed[: self._n_live] = live / self._out_weight[: self._n_live]
        self._partial = xp.zeros((_blocks(self._n_live), 2))

    def _reorder(self, surfer: Surfer) -> None:
        """Reorder the reversed graph, and divide its rows into tiles."""
        xp, back, n, order = self._xp, surfer.graph.reverse(), surfer.graph.n_vertices, self._order
        offsets = xp.zeros(n + 1, np.int64)
        xp.cumsum(back.out_degree[order], out=offsets[1:])
        place = xp.empty_like(order)
        place[order] = xp.arange(n, dtype=order.dtype)
        rows = TiledRows(offsets, n)
        self._columns = rows.take(order, back.row_offsets, back.columns, place=place)
        self._weights = None
        if surfer.weights is not None:
            weights = group_by(surfer.graph.columns, surfer.weights, n)[1]
            self._weights = rows.take(order, back.row_offsets, weights)
        self._live, self._lumped = TiledRows(offsets[: self._n_live + 1], n), TiledRows(offsets[self._n_live :], n)

    def step(self) -> float:
        """Do one iteration of the vertices with outgoing edges; return the sum of the absolute changes."""
        self._pull(self._live, self._next_handed)
        if self._n_live:
            self._renew(
                (_blocks(self._n_live),), (_BLOCK,),
                (np.int64(self._n_live), self._damping, self._state, self._teleport, self._uniform, self._out_weight,
                 self._rank, self._next_handed, self._partial),
            )  # fmt: skip
        self._handed, self._next_handed = self._next_handed, self._handed
        self._finish_step((1,), (_BLOCK,), (self._partial, np.int64(_blocks(self._n_live)), self._state))
        return float(self._state[0])

    def finish(self) -> Array:
        """Return all ranks, (n,) float64."""
        sums = self._xp.zeros(self._lumped.n_rows)
        self._pull(self._lumped, sums)
        share = 1.0 - self._damping + self._damping * float(self._state[1])
        teleport = self._uniform if self._teleport is _NOTHING else self._teleport[self._n_live :]
        self._rank[self._n_live :] = self._damping * sums + share * teleport
        ranks = self._xp.empty_like(self._rank)
        ranks[self._order] = self._rank / self._rank.sum()
        return ranks

    def _pull(self, rows: TiledRows, sums: Array) -> None:
        rows.sum(sums, columns=self._columns, weights=self._weights, values=self._handed)


def _out_weights(surfer: Surfer) -> Array:
    """Return the sum of the weights of the edges that leave each vertex, (n,) float64."""
    graph = surfer.graph
    if surfer.weights is None:
        return graph.out_degree.astype(np.float64)
    totals = surfer.xp.zeros(graph.n_vertices)
    TiledRows(graph.row_offsets, graph.n_vertices).sum(totals, columns=None, weights=surfer.weights, values=None)
    return totals


def _blocks(n_rows: int) -> int:
    return min(-(-n_rows // _BLOCK), _MOST_BLOCKS)


_CUDA = r"""
typedef long long i64;
#define BLOCK 256

// The sum over a block of 256 threads, in the order of a fixed tree, in all threads.
__device__ __forceinline__ double block_sum(double value) {
    __shared__ double shared[BLOCK];
    __syncthreads();
    shared[threadIdx.x] = value;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

// handed: the pulled sums; becomes the value of each vertex that an edge of weight 1 transfers.
extern "C" __global__ __launch_bounds__(BLOCK) void renew(i64 n_rows, double damping, const double* state,
    const double* teleport, double uniform, const double* out_weight, double* rank, double* handed, double* partial) {
    double change = 0.0, mass = 0.0, base = 1.0 - damping + damping * state[1];
    #pragma unroll 4
    for (i64 row = (i64)blockIdx.x * BLOCK + threadIdx.x; row < n_rows; row += (i64)gridDim.x * BLOCK) {
        double now = damping * handed[row] + base * (teleport ? teleport[row] : uniform);
        change += fabs(now - rank[row]);
        mass += now;
        rank[row] = now;
        handed[row] = now / out_weight[row];
    }
    change = block_sum(change);
    mass = block_sum(mass);
    if (threadIdx.x == 0) {
        partial[2 * (i64)blockIdx.x] = change;
        partial[2 * (i64)blockIdx.x + 1] = mass;
    }
}

// state: the change of this iteration, and the rank of the vertices without outgoing edges.
extern "C" __global__ void finish_step(const double* partial, i64 n_partial, double* state) {
    double change = 0.0, mass = 0.0;
    for (i64 i = threadIdx.x; i < n_partial; i += BLOCK) {
        change += partial[2 * i];
        mass += partial[2 * i + 1];
    }
    change = block_sum(change);
    mass = block_sum(mass);
    if (threadIdx.x == 0) {
        state[0] = change + fabs(1.0 - mass - state[1]);
        state[1] = 1.0 - mass;
    }
}
"""
