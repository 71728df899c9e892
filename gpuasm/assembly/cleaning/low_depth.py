"""Low-depth unitigs: branches that errors in the middle of reads make, and islands that belong to nothing."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.graph.local_depth import LONG, typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import rare_depth
from gpuasm.parallel import compiled, run_chunks

ALTERNATIVE = 4.0
"""A connection is suspect where, at both of its ends, another way is at least so many times as deep,"""
ALTERNATIVE_TO_FEW = 2.5
"""or so many times where the connection is but a few reads deep: two mates that overlap show one error twice."""
RARE = 0.33
"""And it goes where it is below this share of the local depth,"""
NEGLIGIBLE, HALF = 0.06, 0.5
"""or below this share of the shallower of its two best alternatives, and no deeper than half a copy: beside a repeat of
seventeen copies and more a true single copy is negligible as well,"""
NOTHING = 0.01
"""or so far below these alternatives that a hundred copies would have to lie side by side."""
ISLAND = 0.5
"""An unconnected unitig of at most k k-mers goes below this share of the typical depth."""


def find_low_depth_connections(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = FEW_READS,
    judges_few: bool = True,
    keeps_variants: bool = False,
    keeps_relatives: bool = False,
    error_rate: float = 0.0,
) -> np.ndarray:
    """Mark short unitigs that lead away from far deeper ones: what errors and false joins make.

    Two kinds: at most 2k k-mers with a far deeper rival at *both* ends, as an error inside a read makes them; and at
    most k k-mers, the reach of a single false join, with a far deeper rival at *one* end: chimeric reads, and reads
    that run on into an adapter, where the other end meets thousands of its like and no deep rival.

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
        Whether less makes connections suspect that are a few reads deep.
    keeps_variants
        Whether a connection with rivals at both ends may be true: a strain's.
    keeps_relatives
        Whether it may be true unless it lies between long unitigs: a related member's, between words that both have.
    error_rate
        Substitutions a base of the reads: it tells how many of them share an error by chance.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(graph.n, dtype=bool)
    rare = nearby * (RARE * strictness)
    variant, relative = (
        rare_depth(nearby, RARE * strictness, keeps_variants=keeps, few=few, error_rate=error_rate)
        for keeps in (keeps_variants, keeps_variants or keeps_relatives)
    )
    usual = ALTERNATIVE / strictness
    to_few = ALTERNATIVE_TO_FEW if strictness == 1.0 and judges_few else usual
    limits = (2 * graph.k, few, usual, to_few, NEGLIGIBLE * strictness, NOTHING * strictness)
    bounds = (rare, variant, relative, nearby * (HALF * strictness))
    run_chunks(_mark, graph.n, graph.arc_start, graph.arc_to, graph.depth, graph.n_kmers, bounds, limits, marked)
    return marked


@compiled()
def _mark(first, last, arc_start, arc_to, depth, n_kmers, bounds, limits, marked):
    rare, variant, relative, half = bounds
    longest, few, usual, for_few, negligible, nothing = limits
    for u in range(first, last):
        if n_kmers[u] > longest:
            continue
        alternative = for_few if depth[u] < few else usual
        ahead = _deepest_rival(2 * u, arc_start, arc_to, depth)
        behind = _deepest_rival(2 * u + 1, arc_start, arc_to, depth)
        weaker, stronger = min(ahead, behind), max(ahead, behind)
        if weaker >= alternative * depth[u] and weaker > 0:
            is_negligible = depth[u] < negligible * weaker and depth[u] <= half[u]
            is_rare = depth[u] < relative[u]
            if depth[u] < variant[u] and not is_rare:
                is_rare = _is_between_long(u, arc_start, arc_to, n_kmers)
            marked[u] = is_rare or is_negligible or depth[u] < nothing * weaker
        elif stronger >= alternative * depth[u] and n_kmers[u] <= longest // 2:
            marked[u] = depth[u] < rare[u]


@compiled()
def _is_between_long(u, arc_start, arc_to, n_kmers):
    for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
        if n_kmers[arc_to[arc] >> 1] <= LONG:
            return False
    return True


@compiled()
def _deepest_rival(oriented, arc_start, arc_to, depth):
    """Return the greatest depth of another way into any unitig that this one leads to."""
    best = 0.0
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        entrance = arc_to[arc] ^ 1
        for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
            other = arc_to[other_arc] >> 1
            if other != oriented >> 1:
                best = max(best, depth[other])
    return best


def find_islands(graph: UnitigGraph) -> np.ndarray:
    """Mark unconnected unitigs of at most k k-mers whose depth is below half the typical one.

    Only of use where the graph has one depth: elsewhere what is rare may be a rare member of the sample.

    Parameters
    ----------
    graph
        The graph.

    Returns
    -------
    (n,) bool
    """
    typical = typical_depth(graph)
    n_arcs = graph.arc_start[2::2] - graph.arc_start[:-1:2]
    alone = (n_arcs == 0) & ~graph.is_circular
    return alone & (graph.n_kmers <= graph.k) & (graph.depth < ISLAND * typical)
