"""Bubbles: of two unitigs between the same two others, remove the rare one, an error or a rare variant."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.sample_mode import rare_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.assembly.simplification.branches import is_above
from gpuasm.parallel import compiled, run_chunks, signatures

_LENGTH_DIFFERENCE = SIMPLIFICATION.bubble_length_difference


def find_bubbles(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = COVERAGE.few_reads,
    judges_few: bool = True,
    keeps_variants: bool = False,
    error_rate: float = 0.0,
) -> np.ndarray:
    """Mark the rare branches of simple bubbles (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    Both branches have the same predecessor and the same successor and no other arcs, and differ little in length. The
    rare branch is removed, or a branch of few reads next to an equal one if both together have the depth of one copy:
    then one of them is an error. Of equals the longer branch is kept, then that of the lower number.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Its local depth.
    strictness
        Share of the full thresholds to use.
    few
        Depth of a few reads, which one error may explain.
    judges_few
        Whether a branch of few reads may be removed next to an equal one.
    keeps_variants
        Whether the rare branch may be true: that of a strain or of a related genome.
    error_rate
        Substitutions a base of the reads: it determines how many of them share an error by chance.

    Returns
    -------
    (n,) bool

    Notes
    -----
    If two incoming and two outgoing edges have more than a few reads, two copies of a repeat pass here. If then all
    other branches together have at most the depth of one copy, a branch of few reads is the second copy's, and is kept.
    """
    marked = np.zeros(graph.n, dtype=bool)
    share = SIMPLIFICATION.rare_share * strictness
    rare = rare_depth(nearby, share, keeps_variants=keeps_variants, few=few, error_rate=error_rate)
    copy = nearby * COVERAGE.strict_single_copy_ratio
    both = copy if strictness == 1.0 and judges_few else np.zeros(graph.n)
    bounds = (rare, both, copy)
    limits = (SIMPLIFICATION.bubble_depth_ratio * strictness, few)
    unitigs = (graph.depth, graph.n_kmers)
    run_chunks(_mark_bubbles, graph.n, graph.arc_start, graph.arc_to, unitigs, bounds, limits, marked)
    return marked


@signatures(
    "int64, int64, int64[::1], int32[::1], Tuple((float64[::1], int64[::1], )), "
    "Tuple((float64[::1], float64[::1], float64[::1], )), Tuple((float64, float64, )), boolean[::1]"
)
@compiled()
def _mark_bubbles(first, last, arc_start, arc_to, order, bounds, limits, marked):
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
            branch = arc_to[arc]
            if branch >> 1 == u or arc_start[branch + 1] - arc_start[branch] != 1:
                continue
            if arc_start[(branch ^ 1) + 1] - arc_start[branch ^ 1] != 1:
                continue
            if arc_to[arc_start[branch]] != target or abs(n_kmers[branch >> 1] - n_kmers[u]) > _LENGTH_DIFFERENCE:
                continue
            other = branch >> 1
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
    n_in, n_out = _count_supported_arcs(before ^ 1, few, graph), _count_supported_arcs(target, few, graph)
    return others <= copy and n_in >= 2 and n_out >= 2


@compiled()
def _count_supported_arcs(oriented, few, graph):
    arc_start, arc_to, depth = graph
    n = 0
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        n += depth[arc_to[arc] >> 1] >= few
    return n
