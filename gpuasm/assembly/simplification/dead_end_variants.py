"""Dead-end variants: remove a dead-end branch that is nearly identical in sequence to a sibling branch.

In a population of variants depth does not identify an error: thousands of reads may support a dead end, as where a
primer ends them. But the dead end keeps its sibling from continuing, and the sibling contains its sequence. While
`superbubbles` resolves branches that rejoin, this rule resolves those that do not. In the last graph of a community it
resolves branches of similar depth (`engine.merge_final_variants`).
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT, SIMPLIFICATION
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.edits import edits_to_prefix

_PER_BASES = ALIGNMENT.copy_bases_per_difference


def find_dead_end_variants(
    graph: UnitigGraph, *, longest: int = SIMPLIFICATION.variant_max_kmers, max_ratio: float | None = None
) -> np.ndarray:
    """Mark dead ends that are nearly identical in sequence to another branch of the same unitig.

    Of two dead ends the longer is kept, then the one of the higher depth, then that of the lower number. The bases
    after the junction are compared with those of the other branch, and of its continuation of the highest depth. One
    base differs where branches diverge; of the others one in ten may differ. Longer dead ends may be haplotypes.

    Parameters
    ----------
    graph
        The graph.
    longest
        Most k-mers of a dead end.
    max_ratio
        The other branch has at least the depth of the dead end, and less than so many times as much. None ignores the
        depth, as in a population.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(graph.n, dtype=bool)
    text = graph.bases, graph.start, graph.k
    _mark_dead_ends(graph.arc_start, graph.arc_to, text, graph.depth, longest, max_ratio or 0.0, marked)
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
                marked[u] = _is_similar(own, sibling[:size])


@compiled()
def _is_kept(oriented, u, arc_start, start, depth):
    """Return whether another branch continues, or is the one of two dead ends that is kept."""
    if arc_start[oriented + 1] > arc_start[oriented]:
        return True
    w = oriented >> 1
    own, other = start[u + 1] - start[u], start[w + 1] - start[w]
    if own != other:
        return other > own
    return (depth[w], -w) > (depth[u], -u)


@compiled()
def _write_continuation(oriented, arc_start, arc_to, text, depth, out):
    """Write the bases of an oriented unitig after its overlap, and of its continuation of the highest depth."""
    bases, start, k = text
    size = 0
    while True:
        u = oriented >> 1
        for j in range(k - 1, start[u + 1] - start[u]):
            if size == out.size:
                return size
            out[size] = 3 - bases[start[u + 1] - 1 - j] if oriented & 1 else bases[start[u] + j]
            size += 1
        best = -1
        for arc in range(arc_start[oriented], arc_start[oriented + 1]):
            # Arcs ascend, so of equal depths the successor of the lower number is taken.
            if best < 0 or depth[arc_to[arc] >> 1] > depth[best >> 1]:
                best = arc_to[arc]
        if best < 0:
            return size
        oriented = best


@compiled()
def _is_similar(own, sibling):
    """Return whether a text is a prefix of another, except for one edit and one base in ten."""
    return edits_to_prefix(own, sibling) <= 1 + own.size // _PER_BASES
