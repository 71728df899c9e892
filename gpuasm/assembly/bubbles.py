"""Bubbles: two unitigs between the same two others, one of them rare: an error or a rare variant."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled

MAX_LENGTH_DIFFERENCE = 2
SHARE = 0.5
"""The rarer branch must have at most this share of the other's depth,"""
RARE = 0.33
"""and be below this share of the local depth."""


def find_bubbles(graph: UnitigGraph, nearby: np.ndarray, *, strictness: float = 1.0) -> np.ndarray:
    """Mark the rare branches of simple bubbles (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    Both branches come from one oriented unitig and lead into one, have no other arcs, and differ by at most two bases
    in length.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Its local depth.
    strictness
        Share of the full thresholds to use.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(graph.n, dtype=bool)
    rare = nearby * (RARE * strictness)
    _mark(graph.arc_start, graph.arc_to, graph.depth, graph.n_kmers, rare, SHARE * strictness, marked)
    return marked


@compiled()
def _mark(arc_start, arc_to, depth, n_kmers, rare, share, marked):
    for u in range(depth.size):
        if arc_start[2 * u + 1] - arc_start[2 * u] != 1 or arc_start[2 * u + 2] - arc_start[2 * u + 1] != 1:
            continue
        if depth[u] >= rare[u]:
            continue
        target = arc_to[arc_start[2 * u]]
        before = arc_to[arc_start[2 * u + 1]] ^ 1
        for arc in range(arc_start[before], arc_start[before + 1]):
            rival = arc_to[arc]
            if rival >> 1 == u or arc_start[rival + 1] - arc_start[rival] != 1:
                continue
            if arc_start[(rival ^ 1) + 1] - arc_start[rival ^ 1] != 1:
                continue
            if arc_to[arc_start[rival]] != target or abs(n_kmers[rival >> 1] - n_kmers[u]) > MAX_LENGTH_DIFFERENCE:
                continue
            if depth[u] <= share * depth[rival >> 1]:
                marked[u] = True
