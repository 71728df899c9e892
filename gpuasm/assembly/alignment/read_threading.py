"""Reads along the graph: which anchors are right, and the path of each read from its anchor to its end.

Two tests remove anchors that an error or a second repeat copy explains as well, each by the bases before the anchor:

1. A false anchor: an error in a read of one repeat copy may form the unique k-mer of another copy. The read then
   differs from the unitig before its anchor, at more bases than the error rate of all reads explains.
2. An alternative placement: copies of a repeat run into shared unitigs. The read may match another incoming path of
   what follows its unitig as well as, or better than, its own unitig. Its copy is then unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.graph_anchors import Anchored
from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE, UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.runs import numbers_of_ranges
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import ReadArrays, Reads

MOST_UNITIGS = ALIGNMENT.read_path_max_unitigs
"""Unitigs of a read's path at most: it is cut there."""
_RATE_SCALE = 1 << 12
"""The rate of mismatches is a whole number of parts of this, so that it is the same on every device."""
_BATCH = 1 << 20
"""Reads at a time, so that memory does not grow with their number."""
_MAX_LAG = ALIGNMENT.alternative_max_lag


class GraphArrays(NamedTuple):
    """The arrays of a unitig graph where the reads are, for kernels; see `UnitigGraph` for each.

    Attributes
    ----------
    depth : (n,) int64
        Depth of each unitig, in units of 1 / `DEPTH_SCALE`.
    """

    k: int
    packed: Array
    start: Array
    arc_start: Array
    arc_to: Array
    depth: Array

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any) -> GraphArrays:
        """Copy a graph to where namespace ``xp`` keeps its arrays, its bases packed."""
        depth = graph.count // np.maximum(graph.n_kmers, 1) * DEPTH_SCALE // graph.unit
        arrays = (pack(graph.bases), graph.start, graph.arc_start, graph.arc_to, depth)
        return cls(graph.k, *(to_namespace(xp, array) for array in arrays))


def thread_reads(reads: Reads, anchored: Anchored, graph: GraphArrays) -> Array:
    """Follow segments from their anchors: at the end of each unitig the read's next base chooses the outgoing edge.

    Returns
    -------
    (8 * n_segments,) int32: oriented unitigs of each path, `MOST_UNITIGS` places a segment, -1 where there are no more.
    """
    unitigs = array_namespace(reads.packed).full(MOST_UNITIGS * reads.n_segments, -1, np.int32)
    _thread(reads.n_segments, reads.arrays, anchored, graph, unitigs)
    return unitigs


@inlined()
def oriented_base(packed, start, o, at):
    """Return the code (int64) of the base at a place of an oriented unitig."""
    p = start[o >> 1] + at
    if o & 1:
        p = start[(o >> 1) + 1] - 1 - at
    code = np.int64(base_at(packed, p))
    if o & 1:
        code = 3 - code
    return code


@signatures(
    "int64[::1], int32[::1], uint64[::1], int32[::1], int64[::1], int32[::1], int64, uint64[::1], int64[::1], "
    "int64[::1], int32[::1], int64[::1], int32[::1]"
)
@for_each
def _thread(r, reads: ReadArrays, anchored: Anchored, graph: GraphArrays, unitigs):
    o = np.int64(anchored.oriented[r])
    if o >= 0:
        start, n = graph.start, 1
        unitigs[MOST_UNITIGS * r] = o
        behind = start[(o >> 1) + 1] - start[o >> 1] - anchored.base[r]  # where in the segment the unitig has ended
        while behind < reads.length[r] and n < MOST_UNITIGS:
            code = np.int64(base_at(reads.packed, reads.start[r] + behind))
            # Only the base after the shared k - 1 differs between the arcs.
            following = np.int64(-1)
            for arc in range(graph.arc_start[o], graph.arc_start[o + 1]):
                w = np.int64(graph.arc_to[arc])
                if oriented_base(graph.packed, start, w, graph.k - 1) == code:
                    following = w
            if following < 0:
                break
            unitigs[MOST_UNITIGS * r + n] = following
            n += 1
            o = following
            behind += start[(o >> 1) + 1] - start[o >> 1] - (graph.k - 1)


def without_false_anchors(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Remove the anchors of reads that differ too much from the unitig before the anchor.

    The bases before the anchors of all reads give the mean rate of mismatches. An anchor is false where its read has
    more mismatches than `false_anchor_deviations` Poisson standard deviations above the mean.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    n_compared, n_differing = xp.zeros(n, np.int32), xp.zeros(n, np.int32)
    _count_mismatches(n, reads.arrays, anchored, graph, n_compared, n_differing)
    more = xp.maximum(n_differing.astype(np.int64) - ALIGNMENT.false_anchor_free_mismatches, 0)
    expected = n_compared.astype(np.int64)
    expected *= _RATE_SCALE * int(more.sum()) // max(1, int(expected.sum()))
    excess = _RATE_SCALE * more - expected
    is_false = (excess > 0) & (excess * excess > ALIGNMENT.false_anchor_deviations**2 * _RATE_SCALE * expected)
    return anchored._replace(oriented=xp.where(is_false, -1, anchored.oriented).astype(np.int32))


@signatures(
    "int64[::1], int32[::1], uint64[::1], int32[::1], int64[::1], int32[::1], int64, uint64[::1], int64[::1], "
    "int64[::1], int32[::1], int64[::1], int32[::1], int32[::1]"
)
@for_each
def _count_mismatches(r, reads: ReadArrays, anchored: Anchored, graph: GraphArrays, n_compared, n_differing):
    o = np.int64(anchored.oriented[r])
    if o >= 0:
        n, base = 0, anchored.base[r]
        first, last = max(np.int64(0), -base), np.int64(anchored.offset[r])
        for q in range(first, last):
            code = np.int64(base_at(reads.packed, reads.start[r] + q))
            if oriented_base(graph.packed, graph.start, o, base + q) != code:
                n += 1
        n_compared[r] = last - first
        n_differing[r] = n


def without_alternative_placements(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Remove the anchors of reads that match another incoming path of the next unitigs as well as their own unitig.

    The other path matches from the first aligned base on.
    """
    xp = array_namespace(reads.packed)
    has_alternative = xp.zeros(reads.n_segments, np.uint8)
    for first in range(0, reads.n_segments, _BATCH):
        paths = _first_paths(anchored, reads, graph, range(first, min(first + _BATCH, reads.n_segments)))
        for i in range(ALIGNMENT.alternative_max_unitigs):
            if paths.read.size == 0:
                break
            paths = _extend_paths(paths, anchored, reads, graph, has_alternative, is_first=i == 0)
    return anchored._replace(oriented=xp.where(has_alternative == 1, -1, anchored.oriented).astype(np.int32))


class _BackwardPaths(NamedTuple):
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
    arc, own = numbers_of_ranges(graph.arc_start[o], graph.arc_start[o + 1] - graph.arc_start[o])
    return _BackwardPaths(read[own], graph.arc_to[arc], shared[own], xp.zeros(own.size, np.int32))


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
    _extend_path(n, paths, is_first, reads.arrays, anchored, graph, unitig, begin, lag, has_alternative)
    on = xp.flatnonzero(unitig >= 0)
    read = paths.read[on >> 2]
    _, own, count = xp.unique(read, return_inverse=True, return_counts=True)
    few = xp.flatnonzero((count[own] <= ALIGNMENT.alternative_max_paths) & (has_alternative[read] == 0))
    return _BackwardPaths(read[few], unitig[on[few]], begin[on[few]], lag[on[few]])


@signatures(
    "int64[::1], int32[::1], int64[::1], int32[::1], boolean, int64[::1], int32[::1], uint64[::1], int32[::1], "
    "int64[::1], int32[::1], int64, uint64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], "
    "int64[::1], int32[::1], uint8[::1]"
)
@for_each
def _extend_path(
    i, paths: _BackwardPaths, is_first, reads: ReadArrays, anchored: Anchored, graph: GraphArrays,
    next_unitig, next_begin, next_lag, has_alternative,
):  # fmt: skip
    r, w, reached = paths.read[i], np.int64(paths.unitig[i]) ^ 1, paths.begin[i]
    own, base, length = np.int64(anchored.oriented[r]), anchored.base[r], np.int64(reads.length[r])
    first, start = max(np.int64(0), -base), graph.start
    for arc in range(graph.arc_start[w], graph.arc_start[w + 1]):
        x = np.int64(graph.arc_to[arc]) ^ 1
        if is_first and x == own:
            continue
        begin = reached + (graph.k - 1) - (start[(x >> 1) + 1] - start[x >> 1])
        lag = np.int64(paths.lag[i])
        q = min(reached, length) - 1
        while q >= max(begin, first) and lag <= _MAX_LAG:
            code = np.int64(base_at(reads.packed, reads.start[r] + q))
            lag += 0 if oriented_base(graph.packed, start, x, q - begin) == code else 1
            lag -= 0 if oriented_base(graph.packed, start, own, base + q) == code else 1
            q -= 1
        if lag <= _MAX_LAG:
            if begin <= first:
                if lag <= 0:
                    has_alternative[r] = 1  # only ever set: another path of this read may have set it
            elif begin < length:
                slot = 4 * i + arc - graph.arc_start[w]
                next_unitig[slot], next_begin[slot], next_lag[slot] = x, begin, lag
