"""Copy number by depth: the depth of one copy around each unitig, the odds of one copy more, and repeat k-mers.

A single-copy branch next to a seven-copy repeat has a seventh of its depth, so rules for rare branches compare with the
depth of one copy. Long unitigs are mostly single-copy: the longest one near by estimates that depth. If the graph has
one typical depth, as of an isolate, this bounds the estimate. In a tangle, whose longest unitig may be a repeat, the
next long unitig beyond it does.

Variants of strains and copies of a repeat both form superbubbles. Repeats lie in genomes that are mostly single-copy,
in long unitigs, so a connected component has a typical depth, which repeats exceed. Strains differ everywhere: few
unitigs are long, and no depth of one copy can be estimated.

Read starts at random follow Poisson's distribution; those of real libraries vary more, with base composition or cut
sites. Log odds are therefore divided by the ratio of the observed variance to Poisson's (quasi-likelihood: Wedderburn
1974, doi:10.1093/biomet/61.3.439).

At a large k the graph may have lost one copy of a repeat, whose continuation too few fragments cover. Its k-mers then
occur once in the graph, on the unitig of the other copy, and would anchor the mates of both copies there: pairs would
join unitigs that are not adjacent. In the last graph of reads these k-mers have twice the depth of one copy.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from gpuasm.arrays import Array
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, text_of_unitigs
from gpuasm.assembly.coverage.graph_depth import typical_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, PATHS, DepthModel
from gpuasm.kmers.counting import tally_kmers
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.union_find import root_of
from gpuasm.threads import run_chunks

_WITHIN = 1 - 1 / (3 * COVERAGE.dispersion_window_reads)
"""Variance of the reads in a window by their bases, relative to Poisson's: reads across its ends count in part."""
_DEVIATION = 1.4826
"""Standard deviation of a normal distribution over its median absolute deviation."""


def local_depth(graph: UnitigGraph, model: DepthModel = DepthModel.ONE) -> np.ndarray:
    """Return the depth of one copy of the sequence around each unitig: (n,) float64.

    It is the depth of the longest unitig within `COVERAGE.local_depth_arcs` arcs, the unitig itself included; of
    equally long ones that of the lowest number. With `DepthModel.ONE` the typical depth bounds it. With
    `DepthModel.LOCAL`, if no unitig so near is long, the nearest long one within `COVERAGE.tangle_arcs` bounds it. With
    `DepthModel.NONE` a long unitig beyond a tangle may be host sequence, and bounds nothing.
    """
    order, best = _longest_near_by(graph)
    near_by = graph.depth[order[best]]
    if model is DepthModel.ONE:
        return np.minimum(near_by, typical_depth(graph))
    if model is DepthModel.NONE:
        return near_by
    n_long = np.count_nonzero(graph.n_kmers > COVERAGE.long_unitig_kmers)
    n_steps = COVERAGE.tangle_arcs - COVERAGE.local_depth_arcs
    _take_long_beyond(np.flatnonzero(best >= n_long), n_long, n_steps, graph.arc_start, graph.arc_to, best)
    return np.where(best < n_long, np.minimum(near_by, graph.depth[order[best]]), near_by)


def nearby_depth(graph: UnitigGraph) -> np.ndarray:
    """Return the depth of the longest unitig near each unitig: (n,) float64."""
    order, best = _longest_near_by(graph)
    return graph.depth[order[best]]


def _longest_near_by(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the unitigs by descending length, and the place there of the first one near each unitig."""
    order = np.argsort(-graph.length, kind="stable")  # linear in a compacted graph, which is in this order
    best, wider = np.empty((2, graph.n), np.int32)
    best[order] = np.arange(graph.n)
    for _ in range(COVERAGE.local_depth_arcs):
        run_chunks(_take_longest, graph.n, best, graph.arc_start, graph.arc_to, wider)
        best, wider = wider, best
    return order, best


@signatures("int64, int64, int32[::1], int64[::1], int32[::1], int32[::1]")
@compiled()
def _take_longest(first, last, best, arc_start, arc_to, wider):
    """Take the first place within one more arc of each unitig."""
    for u in range(first, last):
        wider[u] = _first_within_arc(u, best, arc_start, arc_to)


@signatures("int64[::1], int64, int64, int64[::1], int32[::1], int32[::1]")
@compiled()
def _take_long_beyond(rows, n_long, n_steps, arc_start, arc_to, best):
    """Take the first place within more arcs, for the given unitigs, as long as theirs is ``n_long`` or behind."""
    n, wider = rows.size, np.empty(rows.size, np.int32)
    for _ in range(n_steps):
        for i in range(n):
            wider[i] = _first_within_arc(rows[i], best, arc_start, arc_to)
        n_left = 0
        for i in range(n):
            best[rows[i]] = wider[i]
            if wider[i] >= n_long:
                rows[n_left] = rows[i]
                n_left += 1
        n = n_left


@compiled()
def _first_within_arc(u, best, arc_start, arc_to):
    own = best[u]
    for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
        own = min(own, best[arc_to[arc] >> 1])
    return own


def one_copy_depth(graph: UnitigGraph, model: DepthModel) -> np.ndarray:
    """Return the depth of one copy around each unitig: (n,) float64.

    It is the local depth, at most the median depth of the k-mers of the unitig's component. It is infinite in
    components with at most half of their k-mers in long unitigs. With `DepthModel.ONE` it is the local depth, with
    `DepthModel.NONE` infinite.
    """
    if model is DepthModel.NONE:
        return np.full(graph.n, np.inf)
    if model is DepthModel.ONE:
        return local_depth(graph)
    component, n_kmers = _components(graph.arc_start, graph.arc_to), graph.n_kmers
    order = np.lexsort((graph.depth, component))
    total = np.bincount(component, n_kmers)
    half = np.cumsum(total) - total + (total + 1) // 2
    median = graph.depth[order][np.searchsorted(np.cumsum(n_kmers[order]), half)]
    in_long = np.bincount(component, np.where(n_kmers > COVERAGE.long_unitig_kmers, n_kmers, 0))
    return np.where((2 * in_long > total)[component], np.minimum(nearby_depth(graph), median[component]), np.inf)


@signatures("int64[::1], int32[::1]")
@compiled()
def _components(arc_start, arc_to):
    """Return the number of each unitig's component; components are numbered by their least unitigs."""
    least = np.arange(arc_start.size // 2)
    for u in range(least.size):
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            a, b = root_of(least, u), root_of(least, arc_to[arc] >> 1)
            least[max(a, b)] = min(a, b)
    component, n = np.empty_like(least), 0
    for u in range(least.size):
        root = root_of(least, u)
        component[u] = n if root == u else component[root]
        n += root == u
    return component


def bits_for_single_copy(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return the log2 odds of one copy to two copies of each unitig, by Poisson's distribution of its reads.

    They are (n,) float64, below 0 where two copies are likelier. ``copy`` is the depth of one copy of the sequence
    around each unitig, (n,) float64, and ``bases_per_read`` the mean bases of a read.
    """
    reads_per_depth = (graph.n_kmers + max(0.0, bases_per_read - graph.k)) / bases_per_read
    return reads_per_depth * (copy / np.log(2) - graph.depth)


def are_surely_single(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return which unitigs certainly have one copy: (n,) bool.

    Poisson's distribution makes the reads on them 2^10 times as likely for one copy as for two.
    """
    return bits_for_single_copy(graph, copy, bases_per_read=bases_per_read) >= PATHS.walk_lead_bits


def find_repeat_kmers(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float, xp: Any = np) -> Array:
    """Return the 31-mers of unitigs that occur twice or more often, by Poisson's distribution of their reads.

    Returns
    -------
    (n,) uint64: their keys, ascending, in namespace ``xp``.
    """
    is_repeat = bits_for_single_copy(graph, copy, bases_per_read=bases_per_read) <= -COVERAGE.repeat_kmer_bits
    return xp.sort(tally_kmers(text_of_unitigs(graph, xp, chosen=is_repeat), ANCHOR_K, with_followers=False).keys)


def log_odds_of_one(reads: np.ndarray | float, one: np.ndarray | float, other: float) -> np.ndarray:
    """Return the log odds of the certain copies alone to one copy more, by Poisson's distribution of their reads.

    Of the observed ``reads``, ``one`` are expected of the certain copies, and ``other`` of one copy more. The odds are
    natural logarithms, (n,) float64 or one; minus infinity where no reads are expected of the certain copies.
    """
    # The logarithm is Python's, once for each number, so that it is the same on every machine.
    distinct, which = np.unique(one, return_inverse=True)
    more = np.array([log(1 + other / own) if own > 0 else 0.0 for own in distinct.tolist()])[which]
    return np.where(np.asarray(one) > 0, other - reads * more.reshape(np.shape(one)), -np.inf)


def overdispersion(depth: np.ndarray, bounds: np.ndarray, *, read_length: int) -> float:
    """Return the ratio of the reads' variance to Poisson's, in windows of two read lengths; at least 1.

    The median absolute deviation estimates it, so windows of repeats do not count. ``depth`` is the reads on each base
    of all contigs, (n_places,) int32, and ``bounds`` where each contig begins, and the end: (n + 1,) int64.
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
    return max(1.0, deviation * deviation / _WITHIN / (1 + COVERAGE.dispersion_margin / distance.size**0.5))
