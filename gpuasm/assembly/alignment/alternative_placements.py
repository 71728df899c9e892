"""Remove anchors of reads that an error or a second repeat copy explains as well.

Two tests, each on the bases before the anchor:

1. A false anchor: an error in a read of one repeat copy may form the unique k-mer of another copy. The read then
   differs from the unitig before its anchor, at more bases than the error rate of all reads explains.
2. An alternative placement: copies of a repeat run into shared unitigs. The read may match another incoming path of
   what follows its unitig as well as, or better than, its own unitig. Its copy is then unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.graph_anchors import Anchored
from gpuasm.assembly.alignment.read_threading import GraphArrays, oriented_base
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_RATE_SCALE = 1 << 12
"""The rate of mismatches is a whole number of parts of this, so that it is the same on every device."""
_BATCH = 1 << 20
"""Reads at a time, so that memory does not grow with their number."""


def without_false_anchors(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Remove the anchors of reads that differ too much from the unitig before the anchor.

    The bases before the anchors of all reads give the mean rate of mismatches. An anchor is false where its read has
    more mismatches than `false_anchor_deviations` Poisson standard deviations above the mean.

    Parameters
    ----------
    anchored
        Anchor of each segment.
    reads
        The segments.
    graph
        The graph that they are anchored in.

    Returns
    -------
    Anchored
        The same anchors, without the false ones.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    n_compared, n_differing = xp.zeros(n, np.int32), xp.zeros(n, np.int32)
    _count_mismatches(
        n, reads.start, reads.packed, anchored.oriented, anchored.base, anchored.offset, graph.packed, graph.start,
        n_compared, n_differing,
    )  # fmt: skip
    more = xp.maximum(n_differing.astype(np.int64) - ALIGNMENT.false_anchor_free_mismatches, 0)
    expected = n_compared.astype(np.int64)
    expected *= _RATE_SCALE * int(more.sum()) // max(1, int(expected.sum()))
    excess = _RATE_SCALE * more - expected
    is_false = (excess > 0) & (excess * excess > ALIGNMENT.false_anchor_deviations**2 * _RATE_SCALE * expected)
    return replace(anchored, oriented=xp.where(is_false, -1, anchored.oriented).astype(np.int32))


@signatures(
    "int64[::1], uint64[::1], int32[::1], int64[::1], int32[::1], uint64[::1], int64[::1], int32[::1], int32[::1]"
)
@for_each
def _count_mismatches(r, read_start, read_packed, oriented, base, offset, packed, start, n_compared, n_differing):
    o = np.int64(oriented[r])
    if o >= 0:
        n = 0
        for q in range(max(np.int64(0), -base[r]), offset[r]):
            code = np.int64(base_at(read_packed, read_start[r] + q))
            if oriented_base(packed, start, o, base[r] + q) != code:
                n += 1
        n_compared[r] = offset[r] - max(np.int64(0), -base[r])
        n_differing[r] = n


def without_alternative_placements(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Remove the anchors of reads that match another incoming path of the next unitigs as well as their own unitig.

    Parameters
    ----------
    anchored
        Anchor of each segment.
    reads
        The segments.
    graph
        The graph that they are anchored in.

    Returns
    -------
    Anchored
        The same anchors, without those that have an alternative from their first aligned base on.
    """
    xp = array_namespace(reads.packed)
    has_alternative = xp.zeros(reads.n_segments, np.uint8)
    for first in range(0, reads.n_segments, _BATCH):
        paths = _first_paths(anchored, reads, graph, range(first, min(first + _BATCH, reads.n_segments)))
        for i in range(ALIGNMENT.alternative_max_unitigs):
            if paths.read.size == 0:
                break
            paths = _extend_paths(paths, anchored, reads, graph, has_alternative, is_first=i == 0)
    return replace(anchored, oriented=xp.where(has_alternative == 1, -1, anchored.oriented).astype(np.int32))


@dataclass(frozen=True)
class _BackwardPaths:
    """Backward paths: the read, the last oriented unitig, where that begins in the read, and missing matches."""

    read: Array
    unitig: Array
    begin: Array
    lag: Array


def _first_paths(anchored: Anchored, reads: Reads, graph: GraphArrays, some: range) -> _BackwardPaths:
    """Return the unitigs that follow each read's unitig, and where they begin in the read or beyond its end."""
    xp = array_namespace(reads.packed)
    read = xp.arange(some.start, some.stop, dtype=np.int64)
    read = read[anchored.oriented[read] >= 0]
    o = anchored.oriented[read]
    shared = (graph.start[1:] - graph.start[:-1])[o >> 1] - anchored.base[read] - (graph.k - 1)
    arc, own = _numbers_of_ranges(graph.arc_start[o], graph.arc_start[o + 1])
    return _BackwardPaths(read[own], graph.arc_to[arc], shared[own], xp.zeros(own.size, np.int32))


def _numbers_of_ranges(first: Array, last: Array) -> tuple[Array, Array]:
    """Return all numbers of some ranges, and the index of the range of each."""
    xp = array_namespace(first)
    after = xp.cumsum(last - first)
    each = xp.arange(int(after[-1]) if after.size else 0, dtype=np.int64)
    own = xp.searchsorted(after, each, side="right")
    return last[own] - after[own] + each, own


def _extend_paths(
    paths: _BackwardPaths,
    anchored: Anchored,
    reads: Reads,
    graph: GraphArrays,
    has_alternative: Array,
    *,
    is_first: bool,
) -> _BackwardPaths:
    """Extend each path by every unitig before it, and mark the reads that match one up to their first base."""
    xp, n = array_namespace(paths.read), int(paths.read.size)
    unitig, begin, lag = (xp.full(4 * n, -1, dtype) for dtype in (np.int32, np.int64, np.int32))
    _extend_path(
        n, paths.read, paths.unitig, paths.begin, paths.lag, is_first, anchored.oriented, anchored.base, reads.start,
        reads.length, reads.packed, graph.k, graph.packed, graph.start, graph.arc_start, graph.arc_to,
        ALIGNMENT.alternative_max_lag, unitig, begin, lag, has_alternative,
    )  # fmt: skip
    on = xp.flatnonzero(unitig >= 0)
    read = paths.read[on >> 2]
    _, own, count = xp.unique(read, return_inverse=True, return_counts=True)
    few = xp.flatnonzero((count[own] <= ALIGNMENT.alternative_max_paths) & (has_alternative[read] == 0))
    return _BackwardPaths(read[few], unitig[on[few]], begin[on[few]], lag[on[few]])


@signatures(
    "int64[::1], int32[::1], int64[::1], int32[::1], boolean, int32[::1], int64[::1], int64[::1], int32[::1], "
    "uint64[::1], int64, uint64[::1], int64[::1], int64[::1], int32[::1], int64, int32[::1], int64[::1], int32[::1], "
    "uint8[::1]"
)
@for_each
def _extend_path(
    i, read, unitig, reached, lag_so_far, is_first, oriented, base, read_start, read_length, read_packed, k, packed,
    start, arc_start, arc_to, max_lag, next_unitig, next_begin, next_lag, has_alternative,
):  # fmt: skip
    r, w = read[i], np.int64(unitig[i]) ^ 1
    own = np.int64(oriented[r])
    first = max(np.int64(0), -base[r])
    for arc in range(arc_start[w], arc_start[w + 1]):
        x = np.int64(arc_to[arc]) ^ 1
        if is_first and x == own:
            continue
        begin = reached[i] + (k - 1) - (start[(x >> 1) + 1] - start[x >> 1])
        lag = np.int64(lag_so_far[i])
        q = min(reached[i], np.int64(read_length[r])) - 1
        while q >= max(begin, first) and lag <= max_lag:
            code = np.int64(base_at(read_packed, read_start[r] + q))
            lag += 0 if oriented_base(packed, start, x, q - begin) == code else 1
            lag -= 0 if oriented_base(packed, start, own, base[r] + q) == code else 1
            q -= 1
        if lag <= max_lag:
            if begin <= first:
                if lag <= 0:
                    has_alternative[r] = 1  # only ever set: another path of this read may have set it
            elif begin < read_length[r]:
                slot = 4 * i + arc - arc_start[w]
                next_unitig[slot], next_begin[slot], next_lag[slot] = x, begin, lag
