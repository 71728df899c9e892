"""Tips: short unitigs with one free end, mostly left by errors near the ends of reads."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled, run_chunks

ALTERNATIVE = 2.0
"""A tip goes where another way into the same unitig is at least so many times as deep,"""
HALF = 0.5
"""if it is no deeper than half a copy: a single copy beside several of a repeat is true, though it ends,"""
NOTHING = 0.01
"""or if it is so far below the other that a hundred copies would have to lie side by side."""
RARE = 0.33
"""Or where it is below this share of the local depth and another way in is deeper at all."""
TWICE_WRONG = 0.06
"""Reads with the same two errors are a few, or at most this share of the local depth."""


def find_tips(
    graph: UnitigGraph,
    nearby: np.ndarray,
    *,
    strictness: float = 1.0,
    few: float = FEW_READS,
    judges_few: bool = True,
    windows_are_dense: bool = False,
    reach: int | None = None,
) -> np.ndarray:
    """Mark the unitigs that are tips (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    A tip has at most as many k-mers as one error spoils, and one free end, and competes at its other end with a unitig
    that is deeper: twice as deep where the tip is below half a copy, or deeper at all where it is rare for its
    surroundings. Of two tips that compete the deeper, then the longer, then the one with the lesser number stays. A
    tip that is but a few reads deep also goes, however deep the other, where the other leads on: two reads of one error
    end, the truth does not. Two errors near the end of a read make tips twice as long: these go where they are as rare
    as two errors at once, and the other way in is four times as deep. What is longer, or deeper, is true: beside a
    repeat, another copy would seem the only way on without it. But what is a few reads deep may hold what bridges took
    back, errors and all: there one error spoils k k-mers at any k.

    Where every read has many windows, what goes for a few reads holds of deeper short tips beside what is twice as
    deep, where they meet at least: what so many reads show does not end in all of them at once, but duplicates of one
    fragment do, whose last bases were copied wrong.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Its local depth.
    strictness
        Share of the full thresholds to use, for rounds that start gently.
    few
        Depth below which there are but a few reads.
    judges_few
        Whether a tip a few reads deep goes where the other way leads on.
    windows_are_dense
        Whether k is small beside the reads, so that well covered sequence does not end by chance.
    reach
        k-mers that one error spoils: the first k, as every k-mer of larger k is made of those that were kept. None
        takes the graph's own k.

    Returns
    -------
    (n,) bool
    """
    is_tip = np.zeros(graph.n, dtype=bool)
    longest = int((reach or graph.k) * strictness), int(graph.k * strictness)
    order = (graph.depth, graph.n_kmers)
    goes_alone = few if strictness == 1.0 and judges_few else 0.0
    is_dense = windows_are_dense and strictness == 1.0
    limits = (longest, ALTERNATIVE / strictness, goes_alone, few * strictness, NOTHING * strictness, is_dense)
    bounds = (nearby * (RARE * strictness), nearby * (HALF * strictness), nearby * (TWICE_WRONG * strictness))
    run_chunks(
        _mark, graph.n, graph.arc_start, graph.arc_to, graph.arc_count / graph.unit, order, bounds, limits, is_tip
    )
    return is_tip & ~graph.is_circular


@compiled()
def _mark(first, last, arc_start, arc_to, arc_depth, order, bounds, limits, is_tip):
    depth, n_kmers = order
    rare, half, twice_wrong = bounds
    reaches, alternative, few, some, nothing, is_dense = limits
    for u in range(first, last):
        longest = reaches[1] if depth[u] < some else reaches[0]
        n_forward = arc_start[2 * u + 1] - arc_start[2 * u]
        n_backward = arc_start[2 * u + 2] - arc_start[2 * u + 1]
        if n_kmers[u] > 2 * longest or (n_forward == 0) == (n_backward == 0):
            continue
        is_long = n_kmers[u] > longest
        attached = 2 * u if n_forward else 2 * u + 1
        for arc in range(arc_start[attached], arc_start[attached + 1]):
            # Other ways into the same unitig are what leaves its twin.
            entrance = arc_to[arc] ^ 1
            for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
                other = arc_to[other_arc] >> 1
                if other == u:
                    continue
                if is_long:
                    bound = max(twice_wrong[u], nothing * depth[other], min(some, rare[u]))
                    goes = depth[u] < bound and depth[other] >= 2 * alternative * depth[u]
                else:
                    is_rare = depth[u] < rare[u] and is_above(other, u, depth, n_kmers)
                    is_less = depth[u] <= half[u] and depth[other] >= alternative * depth[u]
                    goes = is_rare or is_less or depth[u] < nothing * depth[other]
                    ends_alone = is_dense and max(depth[other], arc_depth[other_arc]) >= alternative * depth[u]
                    if depth[u] < few or ends_alone:
                        goes = goes or _leads_on(arc_to[other_arc], arc_start, n_kmers, 2 * longest)
                if goes:
                    is_tip[u] = True


@compiled()
def _leads_on(oriented, arc_start, n_kmers, long):
    return n_kmers[oriented >> 1] > long or arc_start[oriented + 1] > arc_start[oriented]


@compiled()
def is_above(a, b, depth, n_kmers):
    """Tell whether unitig a is the deeper of two, of equally deep ones the longer, of equals the lesser number."""
    if depth[a] != depth[b]:
        return depth[a] > depth[b]
    if n_kmers[a] != n_kmers[b]:
        return n_kmers[a] > n_kmers[b]
    return a < b
