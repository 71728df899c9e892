"""Supported branches: keep branches of a minor genome that no error can have made, next to those of a dominant one.

Where two genomes share k-mers, the minor one's own sequence branches off like an error. But one error spoils k k-mers,
and two reads hardly ever share two errors near each other: a longer branch that two reads support all along is true. A
shorter one is most likely true if it joins shared sequence whose other end such a branch of similar depth joins: the
minor genome passes through there.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.parallel import compiled, run_chunks, signatures

_LONG_KMERS = COVERAGE.long_unitig_kmers
_ALIKE, _SHARED = SIMPLIFICATION.supported_alike_ratio, SIMPLIFICATION.supported_shared_ratio


def find_supported(graph: UnitigGraph, *, few: float = COVERAGE.few_reads) -> np.ndarray:
    """Mark the unitigs that reads support as those of a minor genome.

    Parameters
    ----------
    graph
        The graph of the first k.
    few
        Depth of a few reads, which one error may explain.

    Returns
    -------
    (n,) bool: of two reads, and longer than k k-mers or with such a branch at the other end of the shared sequence.
    """
    is_supported = graph.depth >= COVERAGE.two_reads * few / COVERAGE.few_reads
    is_long = is_supported & (graph.n_kmers > graph.k)
    has_partner = np.zeros(graph.n, dtype=bool)
    rows = np.flatnonzero(is_supported & ~is_long)
    unitigs = graph.depth, graph.n_kmers, is_long
    run_chunks(_find_partners, rows.size, rows, graph.arc_start, graph.arc_to, unitigs, has_partner)
    return is_long | has_partner


@signatures(
    "int64, int64, int64[::1], int64[::1], int32[::1], Tuple((float64[::1], int64[::1], boolean[::1], )), boolean[::1]"
)
@compiled()
def _find_partners(first, last, rows, arc_start, arc_to, unitigs, has_partner):
    depth, n_kmers, is_long = unitigs
    for u in rows[first:last]:
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            shared = arc_to[arc]
            if n_kmers[shared >> 1] > _LONG_KMERS or depth[shared >> 1] < _SHARED * depth[u]:
                continue
            for beyond in range(arc_start[shared], arc_start[shared + 1]):
                other = arc_to[beyond] >> 1
                is_alike = depth[other] <= _ALIKE * depth[u] and depth[u] <= _ALIKE * depth[other]
                if other != u and is_long[other] and is_alike and depth[shared >> 1] >= _SHARED * depth[other]:
                    has_partner[u] = True
