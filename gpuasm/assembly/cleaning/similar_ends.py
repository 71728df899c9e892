"""Similar ends: of the variants of a population one that ends, and says nearly what another way says, goes.

Where nothing tells what one copy is, a branch that ends is no error by its depth: thousands of reads may show it, and
end together where a primer or a larger k ends them. But it keeps the branch beside it from going on, and what it says
is said there as well. `similar_ways` decides between ways that meet again; this rule between ways that do not. In the
last graph of a community it decides between ways of about the same depth (`last_variants`).
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.similar_ways import DIFFERENCES, LONGEST, OF_BASES
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled
from gpuasm.sequence.edits import edits_to_beginning


def find_similar_ends(graph: UnitigGraph, *, longest: int = LONGEST, deeper: float | None = None) -> np.ndarray:
    """Mark unitigs with one free end that say nearly what another way out of the same unitig says.

    Of two that end, the longer stays, of equally long ones the deeper, then the one with the lesser number. Compared
    are the bases behind the junction, with those of the other way and of the deepest way on from there: where ways part
    one base differs, and of the others one in ten may, as between similar ways. Longer ends than ways that are merged
    may be haplotypes, and stay.

    Parameters
    ----------
    graph
        The graph.
    longest
        k-mers of an end at most.
    deeper
        The other way is at least as deep as the end, but less than so many times; None where depth says nothing, as in
        a population.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(graph.n, dtype=bool)
    text = graph.bases, graph.start, graph.k
    _mark(graph.arc_start, graph.arc_to, text, graph.depth, longest, deeper or 0.0, marked)
    return marked & ~graph.is_circular


@compiled()
def _mark(arc_start, arc_to, text, depth, longest, deeper, marked):
    _, start, k = text
    for u in range(depth.size):
        n = start[u + 1] - start[u] - k + 1
        n_forward = arc_start[2 * u + 1] - arc_start[2 * u]
        n_backward = arc_start[2 * u + 2] - arc_start[2 * u + 1]
        if n > longest or (n_forward == 0) == (n_backward == 0):
            continue
        attached = 2 * u if n_forward else 2 * u + 1
        own = np.empty(n, np.uint8)
        _spell(attached ^ 1, arc_start, arc_to, text, depth, own)
        for arc in range(arc_start[attached], arc_start[attached + 1]):
            entrance = arc_to[arc] ^ 1
            for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
                other = arc_to[other_arc]
                if other >> 1 == u or marked[u] or not _stays(other, u, arc_start, start, depth):
                    continue
                if deeper > 0.0 and not depth[u] <= depth[other >> 1] < deeper * depth[u]:
                    continue
                beside = np.empty(n + 1 + n * DIFFERENCES // OF_BASES, np.uint8)
                size = _spell(other, arc_start, arc_to, text, depth, beside)
                marked[u] = _is_similar(own, beside[:size])


@compiled()
def _stays(oriented, u, arc_start, start, depth):
    """Tell whether another way leads on, or is the one to stay of two that end."""
    if arc_start[oriented + 1] > arc_start[oriented]:
        return True
    w = oriented >> 1
    own, other = start[u + 1] - start[u], start[w + 1] - start[w]
    if own != other:
        return other > own
    return (depth[w], -w) > (depth[u], -u)


@compiled()
def _spell(oriented, arc_start, arc_to, text, depth, out):
    """Write what an oriented unitig adds to those before it, and the deepest way on from there; return how much."""
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
            # Arcs ascend, so of equally deep ways the one with the lesser number is taken.
            if best < 0 or depth[arc_to[arc] >> 1] > depth[best >> 1]:
                best = arc_to[arc]
        if best < 0:
            return size
        oriented = best


@compiled()
def _is_similar(own, beside):
    """Tell whether a text is the beginning of another, but for one edit and one in ten bases."""
    return edits_to_beginning(own, beside) <= 1 + own.size * DIFFERENCES // OF_BASES
