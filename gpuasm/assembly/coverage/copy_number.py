"""Copy number by depth: the depth of one copy around each unitig, and the odds of one copy more for a number of reads.

Variants of strains and copies of a repeat both form superbubbles. Repeats lie in genomes that are mostly single-copy,
in long unitigs, so a connected component has a typical depth, which repeats exceed. Strains differ everywhere: few
unitigs are long, and no depth of one copy can be estimated.

Read starts at random follow Poisson's distribution; those of real libraries vary more, with base composition or cut
sites. Log odds are therefore divided by the ratio of the observed variance to Poisson's (quasi-likelihood: Wedderburn
1974, doi:10.1093/biomet/61.3.439).
"""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np

from gpuasm.assembly.coverage.local_depth import local_depth, nearby_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, DepthModel
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.union_find import root_of

_WITHIN = 1 - 1 / (3 * COVERAGE.dispersion_window_reads)
"""Variance of the reads in a window by their bases, relative to Poisson's: reads across its ends count in part."""
_DEVIATION = 1.4826
"""Standard deviation of a normal distribution over its median absolute deviation."""


def log_odds_of_one(reads: np.ndarray | float, one: np.ndarray | float, other: float) -> np.ndarray:
    """Return the log odds of the certain copies alone to one copy more, by Poisson's distribution of their reads.

    Parameters
    ----------
    reads : (n,) float64, or one
        Observed reads.
    one : (n,) float64, or one
        Reads expected of the certain copies.
    other
        Reads expected of one copy more.

    Returns
    -------
    (n,) float64, or one
        Natural logarithms; minus infinity where no reads are expected of the certain copies.
    """
    # The logarithm is Python's, once for each number, so that it is the same on every machine.
    distinct, which = np.unique(one, return_inverse=True)
    more = np.array([log(1 + other / own) if own > 0 else 0.0 for own in distinct.tolist()])[which]
    return np.where(np.asarray(one) > 0, other - reads * more.reshape(np.shape(one)), -np.inf)


def overdispersion(depth: np.ndarray, bounds: np.ndarray, *, read_length: int) -> float:
    """Return the ratio of the reads' variance to Poisson's, in windows of two read lengths; at least 1.

    The median absolute deviation estimates it, so windows of repeats do not count.

    Parameters
    ----------
    depth : (n_places,) int32
        Reads on each base of all contigs.
    bounds : (n + 1,) int64
        Where each contig begins, and the end.
    read_length
        Bases of a typical read.
    """
    size = COVERAGE.dispersion_window_reads * read_length
    found = []
    for low, high in pairwise(bounds.tolist()):
        n = (high - low) // size if size else 0
        if n >= COVERAGE.dispersion_min_windows:
            reads = depth[low : low + n * size].reshape(n, size).sum(axis=1) / read_length
            middle = float(np.median(reads))
            found += [(reads - middle) / middle**0.5] if middle > 0 else []
    if not found:
        return 1.0
    distance = np.abs(np.concatenate(found))
    deviation = _DEVIATION * float(np.median(distance))
    errors = COVERAGE.dispersion_errors * COVERAGE.dispersion_error
    return max(1.0, deviation * deviation / _WITHIN / (1 + errors / distance.size**0.5))


def one_copy_depth(graph: UnitigGraph, model: DepthModel) -> np.ndarray:
    """Return the depth of one copy around each unitig: (n,) float64.

    It is the local depth, at most the median depth of the k-mers of the unitig's component. It is infinite in
    components with at most half of their k-mers in long unitigs.

    Parameters
    ----------
    graph
        The graph.
    model
        What depth shows: with `DepthModel.ONE` the local depth is returned, with `DepthModel.NONE` infinity.
    """
    if model is DepthModel.NONE:
        return np.full(graph.n, np.inf)
    if model is DepthModel.ONE or graph.n == 0:
        return local_depth(graph)
    component = _components(graph.arc_start, graph.arc_to)
    n_kmers, depth = graph.n_kmers, graph.depth
    order = np.lexsort((np.arange(graph.n), depth, component))
    first = np.flatnonzero(np.diff(component[order], prepend=-1))
    total = np.add.reduceat(n_kmers[order], first)
    before = np.cumsum(n_kmers[order])
    half = before[first] - n_kmers[order][first] + (total + 1) // 2
    median = depth[order][np.searchsorted(before, half)]
    in_long = np.add.reduceat(np.where(n_kmers > COVERAGE.long_unitig_kmers, n_kmers, 0)[order], first)
    of = np.empty(graph.n, np.int64)
    of[order] = np.repeat(np.arange(first.size), np.diff(first, append=graph.n))
    return np.where((2 * in_long > total)[of], np.minimum(nearby_depth(graph), median[of]), np.inf)


@signatures("int64[::1], int32[::1]")
@compiled()
def _components(arc_start, arc_to):
    """Return the least unitig of each unitig's component."""
    least = np.arange(arc_start.size // 2)
    for u in range(least.size):
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            a, b = root_of(least, u), root_of(least, arc_to[arc] >> 1)
            least[max(a, b)] = min(a, b)
    for u in range(least.size):
        least[u] = root_of(least, u)
    return least
