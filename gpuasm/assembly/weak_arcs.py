"""Weak arcs: joins between unitigs that hardly any read shows, as chimeric reads and errors make them."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled

SHARE = 0.15
"""An arc is weak below this share of the lesser of the best other arcs at its two ends,"""
RARE = 0.33
"""if it is also below this share of the local depth."""


def find_weak_arcs(graph: UnitigGraph, nearby: np.ndarray, *, strictness: float = 1.0) -> np.ndarray:
    """Mark arcs that are weak at both ends.

    Parameters
    ----------
    graph
        The graph, its arcs counted.
    nearby : (n,) float64
        Its local depth.
    strictness
        Share of the full thresholds to use.

    Returns
    -------
    (m,) bool; an arc and its twin are marked together.
    """
    weak = np.zeros(graph.arc_to.size, dtype=bool)
    depth = graph.arc_count / graph.unit
    _mark(graph.arc_start, graph.arc_to, depth, nearby * (RARE * strictness), SHARE * strictness, weak)
    return weak


@compiled()
def _mark(arc_start, arc_to, depth, rare, share, weak):
    for source in range(arc_start.size - 1):
        for arc in range(arc_start[source], arc_start[source + 1]):
            entrance = arc_to[arc] ^ 1
            here = _best_other(source, arc_to[arc], arc_start, arc_to, depth)
            there = _best_other(entrance, source ^ 1, arc_start, arc_to, depth)
            limit = min(rare[source >> 1], rare[arc_to[arc] >> 1])
            weak[arc] = depth[arc] < share * min(here, there) and depth[arc] < limit


@compiled()
def _best_other(source, target, arc_start, arc_to, depth):
    best = 0.0
    for arc in range(arc_start[source], arc_start[source + 1]):
        if arc_to[arc] != target:
            best = max(best, depth[arc])
    return best
