"""What errors have not made: branches of a rare member, or strain, beside far deeper relatives.

Where two members have words in common, the rare one's own bases are a branch beside the deep one's, as an error's are.
But one error spoils k k-mers, and that two reads share two errors near each other hardly ever happens: a longer branch
that two reads show all along is true. So is, most often, a shorter one that leads out of common bases whose other end
such a branch leads out of, about as deep: the rare member comes in there, or goes on. (Of S. pneumoniae at 5x with
S. pyogenes at 43x, first graph of 21 bases: of 2,300 branches at most k long that two reads show and clean-up had
marked, 62 of those without such company were true, and with it 62 of 78.)
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.graph.depth_units import TWO_READS
from gpuasm.assembly.graph.local_depth import LONG
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled, run_chunks

ALIKE = 3.0
"""Two branches of one thin member differ in depth by chance, but not more often than so many times."""
SHARED = 2.0
"""What a rare member shares with a deep one is at least so many times as deep as its own branches."""


def find_shown(graph: UnitigGraph, *, few: float = FEW_READS) -> np.ndarray:
    """Mark the unitigs that reads show to be a rare member's.

    Parameters
    ----------
    graph
        The graph of the first k.
    few
        Depth below which there are but a few reads: three.

    Returns
    -------
    (n,) bool: two reads deep, and longer than k k-mers or in the company of such.
    """
    is_shown = graph.depth >= TWO_READS * few / FEW_READS
    is_long = is_shown & (graph.n_kmers > graph.k)
    has_company = np.zeros(graph.n, dtype=bool)
    rows = np.flatnonzero(is_shown & ~is_long)
    unitigs = graph.depth, graph.n_kmers, is_long
    run_chunks(_find_company, rows.size, rows, graph.arc_start, graph.arc_to, unitigs, has_company)
    return is_long | has_company


@compiled()
def _find_company(first, last, rows, arc_start, arc_to, unitigs, has_company):
    depth, n_kmers, is_long = unitigs
    for u in rows[first:last]:
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            shared = arc_to[arc]
            if n_kmers[shared >> 1] > LONG or depth[shared >> 1] < SHARED * depth[u]:
                continue
            for beyond in range(arc_start[shared], arc_start[shared + 1]):
                other = arc_to[beyond] >> 1
                is_alike = depth[other] <= ALIKE * depth[u] and depth[u] <= ALIKE * depth[other]
                if other != u and is_long[other] and is_alike and depth[shared >> 1] >= SHARED * depth[other]:
                    has_company[u] = True
