"""Bubbles: two unitigs between the same two others, one of them rare: an error or a rare variant."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.cleaning.tips import is_above
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import rare_depth
from gpuasm.parallel import compiled, run_chunks

MAX_LENGTH_DIFFERENCE = 2
SHARE = 0.5
"""The rarer branch must have at most this share of the other's depth,"""
RARE = 0.33
"""and be below this share of the local depth."""
HALVES = 1.25
"""Or it is a few reads deep, and both branches together are no deeper than one copy, give or take a quarter."""


def find_bubbles(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = FEW_READS,
    judges_few: bool = True,
    keeps_variants: bool = False,
    error_rate: float = 0.0,
) -> np.ndarray:
    """Mark the rare branches of simple bubbles (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    Both branches come from one oriented unitig and lead into one, have no other arcs, and differ by at most two bases
    in length. A branch a few reads deep goes before an equal one where both share the depth of one copy: of the two,
    at least one is an error; of equals the longer stays, then the one with the lesser number.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Its local depth.
    strictness
        Share of the full thresholds to use.
    few
        Depth below which there are but a few reads.
    judges_few
        Whether a branch a few reads deep may go before an equal one.
    keeps_variants
        Whether the rarer branch may be true: a strain's, or a related member's.
    error_rate
        Substitutions a base of the reads: it tells how many of them share an error by chance.

    Returns
    -------
    (n,) bool

    Notes
    -----
    Where two ways lead in and two out, none of them but a few reads deep, two copies of a repeat pass. If all other
    branches together are no deeper than one copy, a branch a few reads deep is the second copy's own, and stays.
    """
    marked = np.zeros(graph.n, dtype=bool)
    rare = rare_depth(nearby, RARE * strictness, keeps_variants=keeps_variants, few=few, error_rate=error_rate)
    copy = nearby * HALVES
    both = copy if strictness == 1.0 and judges_few else np.zeros(graph.n)
    bounds = (rare, both, copy)
    limits = (SHARE * strictness, few)
    run_chunks(_mark, graph.n, graph.arc_start, graph.arc_to, (graph.depth, graph.n_kmers), bounds, limits, marked)
    return marked


@compiled()
def _mark(first, last, arc_start, arc_to, order, bounds, limits, marked):
    depth, n_kmers = order
    share, few = limits
    rare, both, copy = bounds
    for u in range(first, last):
        if arc_start[2 * u + 1] - arc_start[2 * u] != 1 or arc_start[2 * u + 2] - arc_start[2 * u + 1] != 1:
            continue
        if depth[u] >= max(rare[u], few):
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
            other = rival >> 1
            if depth[u] < few and _is_second_copy(u, before, target, (copy[u], few), (arc_start, arc_to, depth)):
                continue
            if depth[u] < rare[u] and depth[u] <= share * depth[other]:
                marked[u] = True
            if depth[u] < few and depth[u] + depth[other] <= both[u] and is_above(other, u, depth, n_kmers):
                marked[u] = True


@compiled()
def _is_second_copy(u, before, target, limits, graph):
    arc_start, arc_to, depth = graph
    copy, few = limits
    others = -depth[u]
    for arc in range(arc_start[before], arc_start[before + 1]):
        others += depth[arc_to[arc] >> 1]
    return others <= copy and _n_ways(before ^ 1, few, graph) >= 2 and _n_ways(target, few, graph) >= 2


@compiled()
def _n_ways(oriented, few, graph):
    arc_start, arc_to, depth = graph
    n = 0
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        n += depth[arc_to[arc] >> 1] >= few
    return n
