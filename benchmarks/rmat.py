"""R-MAT graphs of any number of vertices and edges, the same on the host and on a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.random_graphs import random_permutation, rmat_edges


def rmat_graph(n: int, m: int, *, seed: int = 1, shuffle: bool = True, xp: Any = np) -> DirectedGraph:
    """Generate a graph with power-law degrees: m edges, self-loops and parallel ones among them.

    Of an R-MAT graph with the next power of two vertices, those at n and above are taken for those n below; then
    vertices are numbered at random, or gathers of frequent vertices would all be from adjacent memory.
    """
    source, target = rmat_edges(max(1, (n - 1).bit_length()), m, seed=seed, xp=xp)
    order = random_permutation(n, seed=seed, name="rmat", xp=xp) if shuffle else None
    for ends in (source, target):
        ends[...] = xp.where(ends >= n, ends - n, ends)
        if order is not None:
            ends[...] = order[ends]
    return from_edges(source, target, n)
