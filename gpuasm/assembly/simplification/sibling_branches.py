"""Sibling branches: the rare branch of a bubble, and dead ends nearly identical in sequence to a sibling branch.

**Bubbles.** Of two unitigs between the same two others, the rare one is an error or a rare variant.

**Dead-end variants.** In a population of variants depth does not identify an error: thousands of reads may support a
dead end, as where a primer ends them. But the dead end keeps its sibling from continuing, and the sibling contains its
sequence. While `superbubbles` resolves branches that rejoin, this rule resolves those that do not. In the last graph of
a community it resolves branches of similar depth (`engine.merge_final_variants`).
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.assembly.parameters import ALIGNMENT, COVERAGE, SIMPLIFICATION
from gpuasm.assembly.simplification.branches import RuleLimits, is_above
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.edits import edits_to_prefix
from gpuasm.threads import run_chunks

_LENGTH_DIFFERENCE = SIMPLIFICATION.bubble_length_difference


def find_bubbles(graph: UnitigGraph, nearby: np.ndarray, limits: RuleLimits) -> np.ndarray:
    """Mark the rare branches of simple bubbles (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    Both branches have the same predecessor and the same successor and no other arcs, and differ little in length. The
    rare branch is removed, or a branch of few reads next to an equal one if both together have the depth of one copy:
    then one of them is an error. Of equals the longer branch is kept, then that of the lower number.

    If two incoming and two outgoing edges have more than a few reads, two copies of a repeat pass here. If then all
    other branches together have at most the depth of one copy, a branch of few reads is the second copy's, and is kept.
    """
    marked = np.zeros(graph.n, dtype=bool)
    # A minor genome's branch is rare next to a related dominant one, but no error; strains are merged in superbubbles.
    rare = limits.rare_depth(nearby, keeps_variants=limits.keeps_variants or limits.keeps_minor)
    copy = nearby * COVERAGE.strict_single_copy_ratio
    bounds = (rare, copy if limits.judges_few else np.zeros(graph.n), copy)
    ratios = (limits.strictness / SIMPLIFICATION.competitor_ratio, limits.few)
    unitigs = (graph.depth, graph.n_kmers)
    run_chunks(_mark_bubbles, graph.n, graph.arc_start, graph.arc_to, unitigs, bounds, ratios, marked)
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


_PER_BASES = ALIGNMENT.copy_bases_per_difference


def find_dead_end_variants(
    graph: UnitigGraph, *, longest: int = SIMPLIFICATION.variant_max_kmers, max_ratio: float = 0.0
) -> np.ndarray:
    """Mark dead ends that are nearly identical in sequence to another branch of the same unitig: (n,) bool.

    Of two dead ends the longer is kept, then the one of the higher depth, then that of the lower number. The bases
    after the junction are compared with those of the other branch, and of its continuation of the highest depth. One
    base differs where branches diverge; of the others one in ten may differ. Dead ends of more than ``longest`` k-mers
    may be haplotypes. With ``max_ratio`` the other branch has at least the depth of the dead end, and less than so many
    times as much.
    """
    marked = np.zeros(graph.n, dtype=bool)
    text = graph.bases, graph.start, graph.k
    _mark_dead_ends(graph.arc_start, graph.arc_to, text, graph.depth, longest, max_ratio, marked)
    return marked & ~graph.is_circular


@signatures(
    "int64[::1], int32[::1], Tuple((uint8[::1], int64[::1], int64, )), float64[::1], int64, float64, boolean[::1]"
)
@compiled()
def _mark_dead_ends(arc_start, arc_to, text, depth, longest, max_ratio, marked):
    _, start, k = text
    for u in range(depth.size):
        n = start[u + 1] - start[u] - k + 1
        n_forward = arc_start[2 * u + 1] - arc_start[2 * u]
        n_backward = arc_start[2 * u + 2] - arc_start[2 * u + 1]
        if n > longest or (n_forward == 0) == (n_backward == 0):
            continue
        attached = 2 * u if n_forward else 2 * u + 1
        own = np.empty(n, np.uint8)
        _write_continuation(attached ^ 1, arc_start, arc_to, text, depth, own)
        for arc in range(arc_start[attached], arc_start[attached + 1]):
            entrance = arc_to[arc] ^ 1
            for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
                other = arc_to[other_arc]
                if other >> 1 == u or marked[u] or not _is_kept(other, u, arc_start, start, depth):
                    continue
                if max_ratio > 0.0 and not depth[u] <= depth[other >> 1] < max_ratio * depth[u]:
                    continue
                sibling = np.empty(n + 1 + n // _PER_BASES, np.uint8)
                size = _write_continuation(other, arc_start, arc_to, text, depth, sibling)
                marked[u] = edits_to_prefix(own, sibling[:size]) <= 1 + n // _PER_BASES


@compiled()
def _is_kept(oriented, u, arc_start, start, depth):
    """Return whether another branch continues, or is the one of two dead ends that is kept."""
    if arc_start[oriented + 1] > arc_start[oriented]:
        return True
    w = oriented >> 1
    return (start[w + 1] - start[w], depth[w], -w) > (start[u + 1] - start[u], depth[u], -u)


@compiled()
def _write_continuation(oriented, arc_start, arc_to, text, depth, out):
    """Write the bases of an oriented unitig after its overlap, and of its continuation of the highest depth."""
    bases, start, k = text
    size = np.int64(0)
    while size < out.size:
        u = oriented >> 1
        n = min(start[u + 1] - start[u] - (k - 1), out.size - size)
        first = start[u + 1] - (k - 1) - n if oriented & 1 else start[u] + k - 1
        copy_oriented(bases, first, n, oriented & 1, out, size)
        size += n
        best = -1
        for arc in range(arc_start[oriented], arc_start[oriented + 1]):
            # Arcs ascend, so of equal depths the successor of the lower number is taken.
            if best < 0 or depth[arc_to[arc] >> 1] > depth[best >> 1]:
                best = arc_to[arc]
        if best < 0:
            return size
        oriented = best
    return size
