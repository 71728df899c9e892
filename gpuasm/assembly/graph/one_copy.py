"""The depth of one copy, to tell strains that differ from copies of a repeat that do.

Both make superbubbles. Copies stand in a genome most of which is there once, in long unitigs, so what is connected has
a typical depth, and copies go beyond it. Strains differ all over: hardly any unitig is long, and none tells what one
copy is.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.local_depth import LONG, depth_near_by, local_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import Mode
from gpuasm.parallel import compiled


def one_copy_depth(graph: UnitigGraph, mode: Mode) -> np.ndarray:
    """Return the depth of one copy around each unitig: (n,) float64.

    It is the local depth, but no more than the median depth of the k-mers of the unitig's component, and infinite
    in components that have no more than half of their k-mers in unitigs of more than 200 k-mers.

    Parameters
    ----------
    graph
        The graph.
    mode
        What the sample is: an isolate has one depth, and the local depth says it all; of a population nothing tells.
    """
    if mode.is_population:
        return np.full(graph.n, np.inf)
    if mode.is_isolate or graph.n == 0:
        return local_depth(graph)
    component = _components(graph.arc_start, graph.arc_to)
    n_kmers, depth = graph.n_kmers, graph.depth
    order = np.lexsort((np.arange(graph.n), depth, component))
    first = np.flatnonzero(np.diff(component[order], prepend=-1))
    total = np.add.reduceat(n_kmers[order], first)
    before = np.cumsum(n_kmers[order])
    half = before[first] - n_kmers[order][first] + (total + 1) // 2
    median = depth[order][np.searchsorted(before, half)]
    telling = np.add.reduceat(np.where(n_kmers > LONG, n_kmers, 0)[order], first)
    of = np.empty(graph.n, np.int64)
    of[order] = np.repeat(np.arange(first.size), np.diff(first, append=graph.n))
    return np.where((2 * telling > total)[of], np.minimum(depth_near_by(graph), median[of]), np.inf)


@compiled()
def _components(arc_start, arc_to):
    """Return the least unitig of each one's component."""
    least = np.arange(arc_start.size // 2)
    for u in range(least.size):
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            a, b = _root(u, least), _root(arc_to[arc] >> 1, least)
            least[max(a, b)] = min(a, b)
    for u in range(least.size):
        least[u] = _root(u, least)
    return least


@compiled()
def _root(u, least):
    while least[u] != u:
        least[u] = least[least[u]]
        u = least[u]
    return u
