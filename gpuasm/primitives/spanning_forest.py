"""Minimum spanning forest of links whose weights are their positions: the same forest by every algorithm.

Distinct weights make the minimum forest unique, so a sequential union-find (Kruskal 1956,
doi:10.1090/S0002-9939-1956-0078686-7) on the CPU and rounds of hooking (Boruvka 1926) on CUDA choose the same links.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled
from gpuasm.primitives.union_find import root_of


def spanning_forest(a: Array, b: Array, n: int) -> Array:
    """Choose the links of the minimum spanning forest.

    Parameters
    ----------
    a, b : (k,) int32 or int64, from 0 to n - 1
        The two elements that each link joins; link i has the weight i.
    n
        Number of elements; few of them need to occur.

    Returns
    -------
    (k,) bool: the chosen links, as many as there are elements less trees.
    """
    if array_namespace(a) is np:
        chosen = np.zeros(a.size, dtype=bool)
        _kruskal(a, b, np.arange(n, dtype=a.dtype), chosen)
        return chosen
    return _boruvka(a, b, n)


@compiled()
def _kruskal(a, b, parent, chosen):
    for link in range(a.size):
        x, y = root_of(parent, a[link]), root_of(parent, b[link])
        if x != y:
            chosen[link] = True
            parent[max(x, y)] = min(x, y)


def _boruvka(a: Array, b: Array, n: int) -> Array:
    xp, k = array_namespace(a), int(a.size)
    chosen = xp.zeros(k, dtype=bool)
    if k == 0:
        return chosen
    a, b = a.astype(np.int32), b.astype(np.int32)  # copies: rounds replace the ends by their trees
    find_best, hook, compress = cuda_functions(_CUDA, "find_best", "hook", "compress")
    ends = xp.concatenate([a, b])
    present = xp.zeros(n, dtype=bool)
    present[ends] = True
    elements = xp.flatnonzero(present).astype(np.int32)
    parent, best = xp.empty(n, np.int32), xp.empty(n, np.int32)
    parent[elements] = elements
    n_elements = int(elements.size)
    link_grid, element_grid = ((k + 255) // 256,), ((n_elements + 255) // 256,)
    n_hooked = xp.zeros(1, np.int32)
    while True:
        best[elements] = np.int32(0x7FFFFFFF)
        find_best(link_grid, (256,), (np.int32(k), a, b, parent, best))
        n_hooked.fill(0)
        hook(element_grid, (256,), (np.int32(n_elements), elements, a, b, parent, best, chosen, n_hooked))
        if int(n_hooked[0]) == 0:
            return chosen
        compress(element_grid, (256,), (np.int32(n_elements), elements, parent))


_CUDA = """
// Roots point to themselves and, after compress, everything to its root.
extern "C" __global__ void find_best(int k, int* a, int* b, const int* parent, int* best) {
    int link = blockIdx.x * blockDim.x + threadIdx.x;
    if (link >= k) return;
    int x = a[link], y = b[link];
    if (x == y) return;
    x = parent[x]; y = parent[y];
    a[link] = x; b[link] = y;
    if (x == y) return;
    // Reading first avoids millions of atomic operations on one address in a large tree.
    if (link < *(volatile int*)(best + x)) atomicMin(best + x, link);
    if (link < *(volatile int*)(best + y)) atomicMin(best + y, link);
}

extern "C" __global__ void hook(int n, const int* elements, const int* a, const int* b, int* parent, const int* best,
    bool* chosen, int* n_hooked) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int x = elements[t], link = best[x];
    if (link == 0x7fffffff) return;  // no root, or a finished tree
    int other = a[link] == x ? b[link] : a[link];
    chosen[link] = true;
    // Two trees that choose each other choose the same link: the lesser stays root.
    if (best[other] == link && x < other) return;
    parent[x] = other;
    *n_hooked = 1;
}

extern "C" __global__ void compress(int n, const int* elements, int* parent) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    int x = elements[t], root = parent[x];
    while (root != parent[root]) root = parent[root];
    parent[x] = root;
}
"""
