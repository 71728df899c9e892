"""Read threading: the path of each read through the graph, from its anchor to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.graph_anchors import Anchored
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import Reads

DEPTH_SCALE = 32
"""Depths are whole numbers of parts of this."""
MOST_UNITIGS = ALIGNMENT.read_path_max_unitigs
"""Unitigs of a read's path at most: it is cut there."""
_BASES_PER_MISMATCH = ALIGNMENT.read_path_bases_per_mismatch


@dataclass(frozen=True)
class GraphArrays:
    """The arrays of a unitig graph where the reads are; see `UnitigGraph` for each.

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


@dataclass(frozen=True)
class ReadPaths:
    """The path of each read segment.

    Attributes
    ----------
    anchored : Anchored
        The anchors, from which the paths start.
    unitigs : (8 * n_segments,) int32
        Oriented unitigs of each path, `MOST_UNITIGS` slots a segment.
    size : (n_segments,) int32
        Number of unitigs of each path; 0 where a segment has no anchor.
    """

    anchored: Anchored
    unitigs: Array
    size: Array


def thread_reads(reads: Reads, anchored: Anchored, graph: GraphArrays) -> ReadPaths:
    """Follow segments through the graph: at the end of each unitig the read's next base chooses the outgoing edge.

    Where more than one base in `read_path_bases_per_mismatch` differs, the path is the anchor's unitig only.
    """
    xp = array_namespace(reads.packed)
    unitigs = xp.full(MOST_UNITIGS * reads.n_segments, -1, np.int32)
    size = xp.zeros(reads.n_segments, np.int32)
    own = (reads.start, reads.length, reads.packed, anchored.oriented, anchored.base, anchored.offset)
    _thread(
        reads.n_segments, *own, graph.k, graph.packed, graph.start, graph.arc_start, graph.arc_to, MOST_UNITIGS,
        unitigs, size,
    )  # fmt: skip
    return ReadPaths(anchored, unitigs, size)


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
    "int64[::1], int32[::1], int64, int32[::1], int32[::1]"
)
@for_each
def _thread(
    r, read_start, read_length, read_packed, oriented, base, offset,
    k, packed, start, arc_start, arc_to, max_unitigs, unitigs, size,
):  # fmt: skip
    o = np.int64(oriented[r])
    size[r] = 0
    if o >= 0:
        n = 1
        unitigs[max_unitigs * r] = o
        u = o >> 1
        length = start[u + 1] - start[u]
        at = base[r] + offset[r]
        n_differing, stopped = 0, False
        for q in range(offset[r], read_length[r]):
            code = np.int64(base_at(read_packed, read_start[r] + q))
            if at == length and not stopped:
                # Only the base after the shared k - 1 differs between the arcs.
                following = np.int64(-1)
                for arc in range(arc_start[o], arc_start[o + 1]):
                    w = np.int64(arc_to[arc])
                    if oriented_base(packed, start, w, k - 1) == code:
                        following = w
                if following < 0 or n == max_unitigs:
                    stopped = True
                else:
                    unitigs[max_unitigs * r + n] = following
                    n += 1
                    o = following
                    u = o >> 1
                    length = start[u + 1] - start[u]
                    at = np.int64(k - 1)
            if not stopped:
                if oriented_base(packed, start, o, at) != code:
                    n_differing += 1
                at += 1
        if n_differing * _BASES_PER_MISMATCH > read_length[r] - offset[r]:
            n = 1
        size[r] = n
