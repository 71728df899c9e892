"""Weakly connected components and a spanning forest of a graph: the same on every device.

Components are labelled by their least vertex: by union-find on the CPU, by concurrent hooking with pointer jumping on
CUDA (Jaiganesh and Burtscher 2018, doi:10.1145/3208040.3208041). A root is always the least vertex of its tree, so the
labels do not depend on the order of the edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled
from gpuasm.primitives.spanning_forest import spanning_forest
from gpuasm.primitives.union_find import root_of

if TYPE_CHECKING:
    from gpuasm.graph.csr_graph import CsrGraph


def weak_components(graph: CsrGraph) -> Array:
    """Return the least vertex of the weakly connected component of each vertex, (n,) int64."""
    xp, n = array_namespace(graph.columns), graph.n_vertices
    parent = xp.arange(n, dtype=np.int64)
    if xp is np:
        _join_all(graph.row_offsets, graph.columns, parent)
    elif graph.n_edges:
        source, target = (ends.astype(np.int64, copy=False) for ends in graph.edges())
        hook, flatten = cuda_functions(_CUDA, "hook_edges", "flatten")
        hook(_grid(graph.n_edges), (256,), (np.int64(graph.n_edges), source, target, parent))
        flatten(_grid(n), (256,), (np.int64(n), parent))
    return parent


def number_components(labels: Array) -> tuple[Array, int]:
    """Return the number of each vertex's component, by their least vertices, (n,) int64; and how many there are."""
    xp = array_namespace(labels)
    is_least = labels == xp.arange(labels.size)
    number_of_least = xp.cumsum(is_least, dtype=np.int64) - 1
    return number_of_least[labels], int(is_least.sum())


def spanning_edges(graph: CsrGraph) -> Array:
    """Return the numbers of the edges of a spanning forest, (n_vertices - components,) int64, ascending.

    It is the minimum forest where the weight of an edge is its number: it has the edges whose ends no edges of less
    number join. Directions do not matter.
    """
    xp = array_namespace(graph.columns)
    source, target = graph.edges()
    chosen = spanning_forest(source, target.copy(), graph.n_vertices)  # it may overwrite its arguments
    return xp.flatnonzero(chosen)


def _grid(n: int) -> tuple[int]:
    return (min((n + 255) // 256, 1 << 20),)


@compiled()
def _join_all(row_offsets, columns, parent):
    for source in range(row_offsets.size - 1):
        own = root_of(parent, source)
        for slot in range(row_offsets[source], row_offsets[source + 1]):
            other = root_of(parent, np.int64(columns[slot]))
            if other < own:
                parent[own] = other
                own = other
            elif own < other:
                parent[other] = own
    for vertex in range(parent.size):  # a parent is less than its children, so it is final already
        parent[vertex] = parent[parent[vertex]]


_CUDA = """
typedef long long i64;
__device__ i64 root_of(i64 vertex, i64* parent) {
    volatile i64* p = parent;
    i64 above = p[vertex];
    while (above != vertex) {
        i64 next = p[above];
        if (next != above) p[vertex] = next;  // halves the path; other threads only shorten it
        vertex = above;
        above = next;
    }
    return vertex;
}
extern "C" __global__ void hook_edges(i64 m, const i64* source, const i64* target, i64* parent) {
    for (i64 e = blockIdx.x * (i64)blockDim.x + threadIdx.x; e < m; e += (i64)gridDim.x * blockDim.x) {
        i64 a = root_of(source[e], parent), b = root_of(target[e], parent);
        while (a != b) {
            if (a < b) { i64 c = a; a = b; b = c; }
            i64 found = (i64)atomicCAS((unsigned long long*)(parent + a), (unsigned long long)a,
                                       (unsigned long long)b);
            if (found == a) break;
            a = root_of(found, parent);
            b = root_of(b, parent);
        }
    }
}
extern "C" __global__ void flatten(i64 n, i64* parent) {
    // Path halving here could overwrite a root written by another thread, so paths are only read.
    for (i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        volatile i64* p = parent;
        i64 root = p[v];
        while (p[root] != root) root = p[root];
        p[v] = root;
    }
}
"""
