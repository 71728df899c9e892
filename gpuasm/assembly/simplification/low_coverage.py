"""Low-coverage unitigs: edges made by errors in the middle of reads or by chimeras, and isolated short unitigs."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.local_depth import typical_depth
from gpuasm.assembly.coverage.sample_mode import rare_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.parallel import compiled, run_chunks, signatures

_LONG_KMERS = COVERAGE.long_unitig_kmers


def find_low_coverage_edges(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = COVERAGE.few_reads,
    judges_few: bool = True,
    keeps_variants: bool = False,
    keeps_relatives: bool = False,
    error_rate: float = 0.0,
) -> np.ndarray:
    """Mark short unitigs between unitigs of far higher depth: errors and false joins.

    Two kinds: at most 2k k-mers, as an error inside a read makes them, with a competing branch of far higher depth at
    *both* ends; and at most k k-mers, the reach of a single false join, with such a branch at *one* end. Chimeric reads
    and reads that continue into an adapter make the second kind.

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
        Whether edges of few reads are suspect at a lower depth of the competing branches.
    keeps_variants
        Whether an edge with competing branches at both ends may be a strain's.
    keeps_relatives
        Whether it may be a related genome's, unless all its neighbours are long.
    error_rate
        Substitutions a base of the reads: it determines how many of them share an error by chance.

    Returns
    -------
    (n,) bool

    Notes
    -----
    Next to a repeat of many copies a true single copy is negligible too, so a negligible edge is removed only if it has
    at most half a copy's depth.
    """
    marked = np.zeros(graph.n, dtype=bool)
    share = SIMPLIFICATION.rare_share * strictness
    rare = nearby * share
    variant, relative = (
        rare_depth(nearby, share, keeps_variants=keeps, few=few, error_rate=error_rate)
        for keeps in (keeps_variants, keeps_variants or keeps_relatives)
    )
    usual = SIMPLIFICATION.edge_competitor_ratio / strictness
    to_few = SIMPLIFICATION.edge_competitor_ratio_few if strictness == 1.0 and judges_few else usual
    negligible = SIMPLIFICATION.edge_negligible_ratio, SIMPLIFICATION.negligible_ratio
    limits = (2 * graph.k, few, usual, to_few, negligible[0] * strictness, negligible[1] * strictness)
    bounds = (rare, variant, relative, nearby * (SIMPLIFICATION.half_copy * strictness))
    run_chunks(_mark_edges, graph.n, graph.arc_start, graph.arc_to, graph.depth, graph.n_kmers, bounds, limits, marked)
    return marked


@signatures(
    "int64, int64, int64[::1], int32[::1], float64[::1], int64[::1], "
    "Tuple((float64[::1], float64[::1], float64[::1], float64[::1], )), "
    "Tuple((int64, float64, float64, float64, float64, float64, )), boolean[::1]"
)
@compiled()
def _mark_edges(first, last, arc_start, arc_to, depth, n_kmers, bounds, limits, marked):
    rare, variant, relative, half = bounds
    longest, few, usual, to_few, negligible, noise = limits
    for u in range(first, last):
        if n_kmers[u] > longest:
            continue
        competitor = to_few if depth[u] < few else usual
        ahead = _highest_competitor(2 * u, arc_start, arc_to, depth)
        behind = _highest_competitor(2 * u + 1, arc_start, arc_to, depth)
        weaker, stronger = min(ahead, behind), max(ahead, behind)
        if weaker >= competitor * depth[u] and weaker > 0:
            is_negligible = depth[u] < negligible * weaker and depth[u] <= half[u]
            is_rare = depth[u] < relative[u]
            if depth[u] < variant[u] and not is_rare:
                is_rare = _is_between_long(u, arc_start, arc_to, n_kmers)
            marked[u] = is_rare or is_negligible or depth[u] < noise * weaker
        elif stronger >= competitor * depth[u] and n_kmers[u] <= longest // 2:
            marked[u] = depth[u] < rare[u]


@compiled()
def _is_between_long(u, arc_start, arc_to, n_kmers):
    for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
        if n_kmers[arc_to[arc] >> 1] <= _LONG_KMERS:
            return False
    return True


@compiled()
def _highest_competitor(oriented, arc_start, arc_to, depth):
    """Return the highest depth of another predecessor of any successor of an oriented unitig."""
    best = 0.0
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        entrance = arc_to[arc] ^ 1
        for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
            other = arc_to[other_arc] >> 1
            if other != oriented >> 1:
                best = max(best, depth[other])
    return best


def find_isolated(graph: UnitigGraph) -> np.ndarray:
    """Mark isolated unitigs of at most k k-mers whose depth is below half the typical one.

    Only for a graph of one depth: otherwise a rare unitig may be of a minor genome.

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
    return alone & (graph.n_kmers <= graph.k) & (graph.depth < SIMPLIFICATION.isolated_depth_ratio * typical)
