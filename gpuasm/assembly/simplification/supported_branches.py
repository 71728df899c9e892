"""Supported branches: keep branches of a minor genome that no error can have made, next to those of a dominant one.

Where two genomes share k-mers, the minor one's own sequence branches off like an error, and may have as small a share
of the depth as errors of one kind. But one error spoils k k-mers, and reads hardly ever share two errors near each
other: a longer branch is true if it has more reads than errors that coincide. A shorter one is most likely true if it
joins shared sequence whose other end a true branch of similar depth joins: the minor genome passes through there. So it
is if both its ends have such a neighbour, though all are short, and it has more reads than chance gives one error.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.sample_mode import reads_of_one_error
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.parallel import compiled, run_chunks, signatures

_LONG_KMERS = COVERAGE.long_unitig_kmers
_ALIKE, _SHARED = SIMPLIFICATION.supported_alike_ratio, SIMPLIFICATION.supported_shared_ratio


def find_supported(
    graph: UnitigGraph, nearby: np.ndarray, *, window: float = 1.0, error_rate: float = 0.0
) -> np.ndarray:
    """Mark the unitigs that reads support as those of a minor genome.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Its local depth.
    window
        Depth that one read gives each of its k-mers.
    error_rate
        Substitutions a base of the reads: the higher the depth, the more reads have the same errors by chance.

    Returns
    -------
    (n,) bool
    """
    deepest = nearby.copy()  # errors of the deepest neighbour's reads made the branch, if any did
    np.maximum.at(deepest, graph.arc_from >> 1, graph.depth[graph.arc_to >> 1])
    n_reads, of_one_error = graph.depth / window, reads_of_one_error(deepest, error_rate)
    # One read has both errors, so one read less shares each of them by chance.
    is_read = n_reads >= COVERAGE.two_reads * np.maximum(1.0, (of_one_error - 1) / COVERAGE.few_reads)
    is_frequent, is_supported = n_reads >= of_one_error, is_read & (graph.n_kmers > graph.k)
    rows, n_before = np.flatnonzero(is_read & ~is_supported), -1
    while rows.size != n_before:
        unitigs, n_before = (graph.depth, graph.n_kmers, is_frequent, is_supported.copy()), rows.size
        run_chunks(_find_partners, rows.size, rows, graph.arc_start, graph.arc_to, unitigs, is_supported)
        rows = rows[~is_supported[rows]]
    return is_supported


@signatures(
    "int64, int64, int64[::1], int64[::1], int32[::1], "
    "Tuple((float64[::1], int64[::1], boolean[::1], boolean[::1], )), boolean[::1]"
)
@compiled()
def _find_partners(first, last, rows, arc_start, arc_to, unitigs, found):
    is_frequent, is_supported = unitigs[2:]
    for u in rows[first:last]:
        n_frequent = 0
        for oriented in (2 * u, 2 * u + 1):
            n_frequent += _has_partner(oriented, is_frequent, arc_start, arc_to, unitigs)
            found[u] |= _has_partner(oriented, is_supported, arc_start, arc_to, unitigs)
        found[u] |= is_frequent[u] and n_frequent == 2


@compiled()
def _has_partner(oriented, is_chosen, arc_start, arc_to, unitigs):
    """Return whether a chosen branch of similar depth joins the other end of shared sequence ahead."""
    depth, n_kmers, own = unitigs[0], unitigs[1], unitigs[0][oriented >> 1]
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        shared = arc_to[arc]
        if n_kmers[shared >> 1] > _LONG_KMERS or depth[shared >> 1] < _SHARED * own:
            continue
        for beyond in range(arc_start[shared], arc_start[shared + 1]):
            other = arc_to[beyond] >> 1
            is_alike = depth[other] <= _ALIKE * own and own <= _ALIKE * depth[other]
            is_partner = is_chosen[other] and is_alike and depth[shared >> 1] >= _SHARED * depth[other]
            if is_partner and other != oriented >> 1:
                return True
    return False
