"""Products of the adjacency matrix of an undirected graph with vectors, on the CPU and on CUDA."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.checks import instance
from gpuasm.densest.inputs import check_weights
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import for_each
from gpuasm.primitives.row_classes import row_classes

_BOUNDS, _LANES = (17, 513), (4, 32, 1024)
"""Bounds of the classes of rows by length, and number of threads that sum a row of each class."""


class Adjacency:
    """The symmetric adjacency matrix of a graph, for products with vectors.

    Sums have a fixed order on each device; sums of integers below 2^53 are exact, so equal on all devices.
    """

    def __init__(self, graph: UndirectedGraph) -> None:
        instance(graph, UndirectedGraph, "the graph")
        check_weights(graph.weights)
        self.graph = graph
        self.n = graph.n_vertices
        self._xp = array_namespace(graph.columns)
        self.products = 0
        """Products computed so far."""
        if self._xp is not np:
            self._classes = [rows.astype(np.int64) for rows in row_classes(graph.degree, _BOUNDS)]

    def __matmul__(self, vector: Array) -> Array:
        """Return the product with a vector, (n,) float64."""
        self.products += 1
        result = self._xp.empty(self.n, np.float64)
        vector = self._xp.ascontiguousarray(vector, np.float64)
        graph = self.graph
        if self._xp is not np:
            self._launch(vector, result)
        elif graph.weights is None:
            _sum_rows(self.n, graph.row_offsets, graph.columns, vector, result)
        else:
            _sum_weighted_rows(self.n, graph.row_offsets, graph.columns, graph.weights, vector, result)
        return result

    def _launch(self, vector: Array, result: Array) -> None:
        graph = self.graph
        (multiply,) = cuda_functions(_CUDA[graph.columns.dtype.name, graph.weights is not None], "multiply_rows")
        weights = vector if graph.weights is None else graph.weights  # without weights the pointer is unused
        for rows, lanes in zip(reversed(self._classes), reversed(_LANES), strict=True):
            if rows.size:
                threads = max(lanes, 256)
                per_block = threads // lanes
                arguments = (graph.row_offsets, graph.columns, weights, rows, np.int64(rows.size), np.int32(lanes))
                grid = ((rows.size + per_block - 1) // per_block,)
                multiply(grid, (threads,), (*arguments, vector, result), shared_mem=8 * threads)


@for_each
def _sum_rows(row, offsets, columns, vector, result):
    total = 0.0
    for slot in range(offsets[row], offsets[row + 1]):
        total += vector[columns[slot]]
    result[row] = total


@for_each
def _sum_weighted_rows(row, offsets, columns, weights, vector, result):
    total = 0.0
    for slot in range(offsets[row], offsets[row + 1]):
        total += weights[slot] * vector[columns[slot]]
    result[row] = total


_SOURCE = """
typedef long long i64;
extern "C" __global__ void multiply_rows(const i64* offsets, const COLUMN* columns, const double* weights,
                                         const i64* rows, i64 n_rows, int lanes, const double* vector, double* result) {
    extern __shared__ float4 shared[];
    double* sums = (double*)shared;
    int per_block = blockDim.x / lanes, lane = threadIdx.x % lanes;
    i64 which = (i64)blockIdx.x * per_block + threadIdx.x / lanes;
    i64 row = which < n_rows ? rows[which] : -1;
    double total = 0;
    if (row >= 0) {
        #pragma unroll 4
        for (i64 slot = offsets[row] + lane; slot < offsets[row + 1]; slot += lanes) total += TERM;
    }
    sums[threadIdx.x] = total;
    for (int half = lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (row >= 0 && lane == 0) result[row] = sums[threadIdx.x];
}
"""
_CUDA = {
    (column, weighted): _SOURCE.replace("COLUMN", c_type).replace(
        "TERM", ("weights[slot] * " if weighted else "") + "vector[columns[slot]]"
    )
    for column, c_type in (("int32", "int"), ("int64", "i64"))
    for weighted in (False, True)
}
