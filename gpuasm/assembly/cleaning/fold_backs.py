"""Fold-backs: joins of a molecule with its own other strand, as amplification and library preparation make them.

A strand that comes loose folds back, and is copied on from itself: its reads run along one strand, then along the other
of a place near by (Lasken and Stockwell 2007, doi:10.1186/1472-6750-7-19). Such a join happens once in a molecule that
has many copies since, so its depth is no error's, and ratios that tell errors leave it. What it is shows in the graph:
the join has no base of its own, and the ends that it joins lie one behind the other.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import rare_depth
from gpuasm.parallel import compiled

ALTERNATIVE = 2.0
"""At both ends of a fold-back another way is so many times as deep, or deeper at all where it is a few reads deep;"""
HALF = 0.5
"""and it is no deeper than half a copy."""
_RADIUS = 3
"""Arcs along the deepest way from one of its ends to the other: some errors may lie between."""


def find_fold_backs(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = FEW_READS,
    judges_few: bool = True,
    keeps_variants: bool = False,
    error_rate: float = 0.0,
) -> np.ndarray:
    """Mark joins of a molecule with its own other strand.

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
        Whether of a few reads it suffices that other ways are deeper.
    keeps_variants
        Whether it may be a strain's inversion: then only what errors make goes.
    error_rate
        Substitutions a base of the reads: it tells how many of them share an error by chance.

    Returns
    -------
    (n,) bool: unitigs of fewer than k k-mers, with one arc at either end, that lead out of an end on one strand and
    into an end on the other: of these two the deepest way leads from one to the other.
    """
    marked = np.zeros(graph.n, dtype=bool)
    bound = rare_depth(nearby, HALF * strictness, keeps_variants=keeps_variants, few=few, error_rate=error_rate)
    goes_alone = few if strictness == 1.0 and judges_few else 0.0
    limits = (graph.k, ALTERNATIVE / strictness, goes_alone)
    _mark(graph.arc_start, graph.arc_to, (graph.depth, graph.n_kmers), bound, limits, marked)
    return marked


@compiled()
def _mark(arc_start, arc_to, order, bound, limits, marked):
    depth, n_kmers = order
    k, alternative, few = limits
    for u in range(depth.size):
        if n_kmers[u] >= k or depth[u] > bound[u]:
            continue
        if arc_start[2 * u + 1] - arc_start[2 * u] != 1 or arc_start[2 * u + 2] - arc_start[2 * u + 1] != 1:
            continue
        ahead = arc_to[arc_start[2 * u]]
        before = arc_to[arc_start[2 * u + 1]] ^ 1
        behind = _deepest_other(before, u, arc_start, arc_to, depth)
        weaker = min(behind, _deepest_other(ahead ^ 1, u, arc_start, arc_to, depth))
        is_outdone = weaker >= alternative * depth[u] or (depth[u] < few and weaker > depth[u])
        if is_outdone and (
            _leads_to(ahead, before ^ 1, u, arc_start, arc_to, depth)
            or _leads_to(before ^ 1, ahead, u, arc_start, arc_to, depth)
        ):
            marked[u] = True


@compiled()
def _deepest_other(oriented, u, arc_start, arc_to, depth):
    """Return the depth of the deepest way on that is not unitig u; 0 where there is none."""
    best = 0.0
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        if arc_to[arc] >> 1 != u:
            best = max(best, depth[arc_to[arc] >> 1])
    return best


@compiled()
def _leads_to(oriented, wanted, u, arc_start, arc_to, depth):
    """Tell whether the deepest way from one oriented unitig comes to another, or is it."""
    for _ in range(_RADIUS):
        if oriented == wanted:
            return True
        best = -1
        for arc in range(arc_start[oriented], arc_start[oriented + 1]):
            # Arcs ascend, so of equally deep ways the one with the lesser number is taken.
            if arc_to[arc] >> 1 != u and (best < 0 or depth[arc_to[arc] >> 1] > depth[best >> 1]):
                best = arc_to[arc]
        if best < 0:
            return False
        oriented = best
    return oriented == wanted
