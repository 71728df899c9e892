"""Weakly connected components, labelled by their least vertex, in time linear in the edges but for a log-star.

Trees are hooked so that a root is always the least vertex of its tree. So the labels are the same whatever the order
of the edges, by union-find on the CPU and by racing hooks with pointer jumping on CUDA, after Jaiganesh and
Burtscher (2018), doi:10.1145/3208040.3208041.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled, inlined

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph


def weak_components(graph: DirectedGraph) -> Array:
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


def _grid(n: int) -> tuple[int]:
    return (min((n + 255) // 256, 1 << 20),)


@inlined()
def _root(parent, vertex):
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@compiled()
def _join_all(row_offsets, columns, parent):
    for source in range(row_offsets.size - 1):
        mine = _root(parent, source)
        for slot in range(row_offsets[source], row_offsets[source + 1]):
            other = _root(parent, np.int64(columns[slot]))
            if other < mine:
                parent[mine] = other
                mine = other
            elif mine < other:
                parent[other] = mine
    for vertex in range(parent.size):  # parents are less than their children, so they are final already
        parent[vertex] = parent[parent[vertex]]


_CUDA = """
typedef long long i64;
__device__ i64 root_of(i64 vertex, i64* parent) {
    volatile i64* p = parent;
    i64 above = p[vertex];
    while (above != vertex) {
        i64 next = p[above];
        if (next != above) p[vertex] = next;  // halves the path; other threads only ever move it further up
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
    // Halving here could put an old ancestor over a root that another thread has written already: only look.
    for (i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {
        volatile i64* p = parent;
        i64 root = p[v];
        while (p[root] != root) root = p[root];
        p[v] = root;
    }
}
"""
