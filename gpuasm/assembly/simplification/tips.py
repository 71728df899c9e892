"""Tips: short unitigs with one dead end, mostly made by errors near the ends of reads."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.parallel import compiled, run_chunks, signatures


def find_tips(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = COVERAGE.few_reads,
    judges_few: bool = True,
    windows_are_dense: bool = False,
    reach: int | None = None,
) -> np.ndarray:
    """Mark the unitigs that are tips (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    A tip has one dead end, at most as many k-mers as one error spoils, and a competing branch at its other end. It is
    removed if

    - it has at most half a copy's depth, and the competing branch at least twice its own depth;
    - it is rare for its surroundings, and the competing branch has more depth, or is longer, or has the lower number;
    - its depth is negligible compared with the competing branch;
    - it has a few reads, and the competing branch continues: reads of one error end there.

    Tips of two errors near the end of a read are up to twice as long. They are removed if they are as rare as that, and
    the competing branch has four times their depth. Tips of few reads may contain bases that mercy k-mers restored,
    where one error spoils k k-mers at any k.

    If every read has many windows, the rule for few reads applies to short tips of any depth next to a branch of twice
    their depth: true reads do not all end at one place, but duplicates of one miscopied fragment do.

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
        Whether a tip of few reads is removed if the competing branch continues.
    windows_are_dense
        Whether k is small compared with the reads, so that well covered sequence does not end by chance.
    reach
        k-mers that one error spoils: the first k, as k-mers of larger k consist of those kept at the first. None takes
        the graph's own k.

    Returns
    -------
    (n,) bool
    """
    is_tip = np.zeros(graph.n, dtype=bool)
    longest = int((reach or graph.k) * strictness), int(graph.k * strictness)
    order = (graph.depth, graph.n_kmers)
    judged = few if strictness == 1.0 and judges_few else 0.0
    is_dense = windows_are_dense and strictness == 1.0
    competitor = SIMPLIFICATION.tip_competitor_ratio / strictness
    limits = (longest, competitor, judged, few * strictness, SIMPLIFICATION.negligible_ratio * strictness, is_dense)
    shares = SIMPLIFICATION.rare_share, SIMPLIFICATION.half_copy, COVERAGE.error_depth_share
    bounds = tuple(nearby * (share * strictness) for share in shares)
    run_chunks(
        _mark_tips, graph.n, graph.arc_start, graph.arc_to, graph.arc_count / graph.unit, order, bounds, limits, is_tip
    )
    return is_tip & ~graph.is_circular


@signatures(
    "int64, int64, int64[::1], int32[::1], float64[::1], Tuple((float64[::1], int64[::1], )), "
    "Tuple((float64[::1], float64[::1], float64[::1], )), "
    "Tuple((Tuple((int64, int64, )), float64, float64, float64, float64, boolean, )), boolean[::1]"
)
@compiled()
def _mark_tips(first, last, arc_start, arc_to, arc_depth, order, bounds, limits, is_tip):
    depth, n_kmers = order
    rare, half, two_errors = bounds
    reaches, competitor, judged, few, negligible, is_dense = limits
    for u in range(first, last):
        longest = reaches[1] if depth[u] < few else reaches[0]
        n_forward = arc_start[2 * u + 1] - arc_start[2 * u]
        n_backward = arc_start[2 * u + 2] - arc_start[2 * u + 1]
        if n_kmers[u] > 2 * longest or (n_forward == 0) == (n_backward == 0):
            continue
        is_long = n_kmers[u] > longest
        attached = 2 * u if n_forward else 2 * u + 1
        for arc in range(arc_start[attached], arc_start[attached + 1]):
            # The other incoming arcs of the same unitig are the outgoing arcs of its twin.
            entrance = arc_to[arc] ^ 1
            for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
                other = arc_to[other_arc] >> 1
                if other == u:
                    continue
                if is_long:
                    bound = max(two_errors[u], negligible * depth[other], min(few, rare[u]))
                    is_error = depth[u] < bound and depth[other] >= 2 * competitor * depth[u]
                else:
                    is_rare = depth[u] < rare[u] and is_above(other, u, depth, n_kmers)
                    is_less = depth[u] <= half[u] and depth[other] >= competitor * depth[u]
                    is_error = is_rare or is_less or depth[u] < negligible * depth[other]
                    ends_alone = is_dense and max(depth[other], arc_depth[other_arc]) >= competitor * depth[u]
                    if depth[u] < judged or ends_alone:
                        is_error = is_error or _branch_continues(arc_to[other_arc], arc_start, n_kmers, 2 * longest)
                if is_error:
                    is_tip[u] = True


@compiled()
def _branch_continues(oriented, arc_start, n_kmers, long):
    return n_kmers[oriented >> 1] > long or arc_start[oriented + 1] > arc_start[oriented]


@compiled()
def is_above(a, b, depth, n_kmers):
    """Return whether unitig a has more depth than b, or equal depth and more k-mers, or else the lower number."""
    if depth[a] != depth[b]:
        return depth[a] > depth[b]
    if n_kmers[a] != n_kmers[b]:
        return n_kmers[a] > n_kmers[b]
    return a < b
