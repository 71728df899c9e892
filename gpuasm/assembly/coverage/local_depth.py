"""Local depth: the depth of one copy of the sequence around each unitig, from the longest unitig near by.

A single-copy branch next to a seven-copy repeat has a seventh of its depth, so rules for rare branches compare with the
depth of one copy. Long unitigs are mostly single-copy: the longest one near by estimates that depth. If the graph has
one typical depth, as of an isolate, this bounds the estimate. In a tangle, whose longest unitig may be a repeat, the
next long unitig beyond it does.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, DepthModel
from gpuasm.kmers.spectrum import chance_of_one
from gpuasm.parallel import compiled, run_chunks, signatures


def local_depth(graph: UnitigGraph, model: DepthModel = DepthModel.ONE) -> np.ndarray:
    """Return the depth of one copy of the sequence around each unitig.

    Parameters
    ----------
    graph
        The graph.
    model
        What depth shows. With `DepthModel.NONE` a long unitig beyond a tangle may be host sequence, and bounds nothing.

    Returns
    -------
    (n,) float64: the depth of the longest unitig within `COVERAGE.local_depth_arcs` arcs, the unitig itself included;
    of equally long ones that of the lowest number. With `DepthModel.ONE` the typical depth bounds it. With
    `DepthModel.LOCAL`, if no unitig so near is long, the nearest long one within `COVERAGE.tangle_arcs` bounds it.
    """
    best = _longest_near_by(graph)
    near_by = graph.depth[best]
    if model is DepthModel.ONE:
        return np.minimum(near_by, typical_depth(graph))
    if model is DepthModel.NONE:
        return near_by
    for _ in range(COVERAGE.local_depth_arcs, COVERAGE.tangle_arcs):
        short = np.flatnonzero(graph.n_kmers[best] <= COVERAGE.long_unitig_kmers)
        if short.size == 0:
            break
        best = _propagate_longest(best, graph, rows=short)
    is_long = graph.n_kmers[best] > COVERAGE.long_unitig_kmers
    return np.where(is_long, np.minimum(near_by, graph.depth[best]), near_by)


def bits_for_single_copy(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return the log2 odds of one copy to two copies of each unitig, by Poisson's distribution of its reads.

    Parameters
    ----------
    graph
        A graph of reads.
    copy : (n,) float64
        Depth of one copy of the sequence around each unitig.
    bases_per_read
        Mean bases of a read.

    Returns
    -------
    (n,) float64: below 0 where two copies are likelier.
    """
    reads_per_depth = (graph.n_kmers + max(0.0, bases_per_read - graph.k)) / bases_per_read
    return reads_per_depth * (copy / np.log(2) - graph.depth)


def nearby_depth(graph: UnitigGraph) -> np.ndarray:
    """Return the depth of the longest unitig near each unitig: (n,) float64."""
    return graph.depth[_longest_near_by(graph)]


def _longest_near_by(graph: UnitigGraph) -> np.ndarray:
    best = np.arange(graph.n, dtype=np.int64)
    for _ in range(COVERAGE.local_depth_arcs):
        best = _propagate_longest(best, graph, rows=np.arange(graph.n))
    return best


def typical_depth(graph: UnitigGraph) -> float:
    """Return the length-weighted median depth of the unitigs of more than k k-mers, or of all if there are none.

    Shorter unitigs may consist of errors.
    """
    return _depth_quantile(graph, of=2)


def low_coverage_depth(graph: UnitigGraph) -> float:
    """Return the lowest tenth of these unitigs' depth: that of the minor genomes of a community."""
    return _depth_quantile(graph, of=COVERAGE.depth_tail_parts)


def high_coverage_depth(graph: UnitigGraph) -> float:
    """Return the highest tenth of these unitigs' depth: that of the dominant genomes of a community."""
    return _depth_quantile(graph, of=COVERAGE.depth_tail_parts, parts=COVERAGE.depth_tail_parts - 1)


def missed_share(graph: UnitigGraph, *, windows: float) -> float:
    """Return the expected share of these unitigs' k-mers that occur in at most one read, by Poisson's distribution.

    `Spectrum.rare_share` assumes one depth. In a community most missing k-mers are of minor genomes, whose unitigs have
    their own depth.

    Parameters
    ----------
    graph
        The graph.
    windows
        Windows of k bases for each base of the reads.
    """
    if graph.n == 0:
        return 0.0
    chosen = _informative(graph)
    depth, n_kmers = graph.depth[chosen] * windows, graph.n_kmers[chosen]
    return float((n_kmers * chance_of_one(depth)).sum() / n_kmers.sum())


def _depth_quantile(graph: UnitigGraph, *, of: int, parts: int = 1) -> float:
    """Return the least depth that ``parts`` of ``of`` equal parts of these unitigs' k-mers do not exceed."""
    if graph.n == 0:
        return 0.0
    chosen = _informative(graph)
    depth, n_kmers = graph.depth[chosen], graph.n_kmers[chosen]
    order = np.lexsort((chosen, depth))
    weight = np.cumsum(n_kmers[order])
    return float(depth[order][np.searchsorted(weight, -(-weight[-1] * parts // of))])


def even_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of a graph's k-mers in unitigs within a factor of two of its typical depth.

    As for the typical depth, unitigs of more than k k-mers count, or all if there are none.
    """
    chosen = _informative(graph)
    depth, n_kmers = graph.depth[chosen], graph.n_kmers[chosen]
    near = (depth >= typical / 2) & (depth <= typical * 2)
    return float(n_kmers[near].sum() / max(1, n_kmers.sum()))


def read_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of the reads' k-mers in unitigs within a factor of two of the typical depth.

    Unitigs of lower depth, mostly errors, do not count.
    """
    counts = graph.depth >= typical / 2
    near = counts & (graph.depth <= typical * 2)
    return float(graph.count[near].sum() / max(1, graph.count[counts].sum()))


def long_share(graph: UnitigGraph) -> float:
    """Return the share of the reads' k-mers in long unitigs."""
    return float(graph.count[graph.n_kmers > COVERAGE.long_unitig_kmers].sum() / max(1, graph.count.sum()))


def _informative(graph: UnitigGraph) -> np.ndarray:
    """Return the unitigs of more than k k-mers, or all if there are none."""
    long = np.flatnonzero(graph.n_kmers > graph.k)
    return long if long.size else np.arange(graph.n)


def _propagate_longest(best: np.ndarray, graph: UnitigGraph, *, rows: np.ndarray) -> np.ndarray:
    """Return the longest known unitig within one more arc of the given unitigs; the others keep theirs."""
    wider = best.copy()
    run_chunks(_take_longest, rows.size, rows, best, graph.length, graph.arc_start, graph.arc_to, wider)
    return wider


@signatures("int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1]")
@compiled()
def _take_longest(first, last, rows, best, length, arc_start, arc_to, wider):
    for row in range(first, last):
        u = rows[row]
        own = best[u]
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            other = best[arc_to[arc] >> 1]
            if length[other] > length[own] or (length[other] == length[own] and other < own):
                own = other
        wider[u] = own
