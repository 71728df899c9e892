"""Depth of a unitig graph: its fixed-point scale, and what it shows of the whole sample.

Multiplicities of k-mers of any length become the depth of bases in reads. Unitigs of more than k k-mers show the depth
of the sample: shorter ones may consist of errors.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE, UnitigGraph
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.kmers.pieces import Pieces
from gpuasm.kmers.spectrum import chance_of_one
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.reads import count_windows


def window_weight(lengths: np.ndarray, k: int, *, n_bases: int) -> int:
    """Return the weight of a window of k bases, in units: the bases of the reads for each of their windows.

    ``lengths`` is the number of reads, or of fragments made of pairs, of each length.
    """
    return DEPTH_SCALE * n_bases // max(1, count_windows(lengths, k))


def scale(tally: Tally, weight: int) -> int:
    """Convert multiplicities to depth in units, in place, and return the units of one."""
    factor = bounded_weight(tally, weight)
    tally.count[:] *= factor
    tally.followers[:] *= factor
    return int(factor)


def bounded_weight(tally: Tally | Pieces, weight: int) -> np.uint32:
    """Return the weight of a window, reduced if 32 bits could not hold the depth: then few reads are as long as k."""
    most = int(tally.count.max()) if tally.n else 1
    return np.uint32(max(1, min(weight, (1 << 31) // most)))


def typical_depth(graph: UnitigGraph) -> float:
    """Return the length-weighted median depth of the unitigs of more than k k-mers, or of all if there are none."""
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
    their own depth. ``windows`` is the windows of k bases for each base of the reads.
    """
    if graph.n == 0:
        return 0.0
    depth, n_kmers = _informative(graph)
    return float((n_kmers * chance_of_one(depth * windows)).sum() / n_kmers.sum())


def _depth_quantile(graph: UnitigGraph, *, of: int, parts: int = 1) -> float:
    """Return the least depth that ``parts`` of ``of`` equal parts of these unitigs' k-mers do not exceed."""
    if graph.n == 0:
        return 0.0
    return weighted_quantile(*_informative(graph), of=of, parts=parts)


def weighted_quantile(values: np.ndarray, weight: np.ndarray, *, of: int = 2, parts: int = 1) -> float:
    """Return the least value that ``parts`` of ``of`` equal parts of the weight do not exceed; their median, if 1 of 2.

    Values are (n,) float64, weights (n,) int64; there is at least one.
    """
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(up_to, -(-up_to[-1] * parts // of))])


def even_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of these unitigs' k-mers in those within a factor of two of the typical depth."""
    depth, n_kmers = _informative(graph)
    near = (depth >= typical / 2) & (depth <= typical * 2)
    return float(n_kmers[near].sum() / max(1, n_kmers.sum()))


def read_share(graph: UnitigGraph, typical: float) -> float:
    """Return the share of the reads' k-mers in unitigs within a factor of two of the typical depth.

    Unitigs of lower depth, mostly errors, do not count.
    """
    counts = graph.depth >= typical / 2
    near = counts & (graph.depth <= typical * 2)
    return float(graph.count[near].sum() / max(1, graph.count[counts].sum()))


def _informative(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the depth and the k-mers of the unitigs of more than k k-mers, or of all if there are none."""
    is_long = graph.n_kmers > graph.k
    return (graph.depth[is_long], graph.n_kmers[is_long]) if is_long.any() else (graph.depth, graph.n_kmers)
