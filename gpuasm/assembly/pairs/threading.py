"""Threading: the walk through the graph that a read spells, from its first anchor to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.anchors import Anchored
from gpuasm.parallel import for_each, inlined
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import Reads

DEPTH_UNIT = 32
MOST_UNITIGS = 8
"""A walk of more unitigs within one read is cut there: the place is a tangle."""


@dataclass(frozen=True)
class GraphArrays:
    """What walking needs of a unitig graph, where the reads are: see `UnitigGraph` for each array.

    Attributes
    ----------
    depth : (n,) int64
        Depth of each unitig in 1 / 32.
    """

    k: int
    words: Array
    start: Array
    arc_start: Array
    arc_to: Array
    depth: Array

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any) -> GraphArrays:
        """Copy a graph to where namespace ``xp`` keeps its arrays; its bases become packed words."""
        depth = graph.count // np.maximum(graph.n_kmers, 1) * DEPTH_UNIT // graph.unit
        arrays = (pack(graph.bases), graph.start, graph.arc_start, graph.arc_to, depth)
        return cls(graph.k, *(to_namespace(xp, array) for array in arrays))


@dataclass(frozen=True)
class Threads:
    """The walk of each piece of reads.

    Attributes
    ----------
    anchored : Anchored
    unitigs : (8 * n_pieces,) int32
        Oriented unitigs of each walk, 8 places a piece.
    size : (n_pieces,) int32
        How many there are; 0 where a piece has no anchor.
    """

    anchored: Anchored
    unitigs: Array
    size: Array


def thread_reads(reads: Reads, anchored: Anchored, graph: GraphArrays) -> Threads:
    """Walk along pieces of reads: at each unitig's end the read's own base chooses the arc.

    Where more than one base in ten differs, the walk is the anchor's unitig only.
    """
    xp = array_namespace(reads.words)
    unitigs = xp.full(MOST_UNITIGS * reads.n_pieces, -1, np.int32)
    size = xp.zeros(reads.n_pieces, np.int32)
    own = (reads.start, reads.length, reads.words, anchored.oriented, anchored.base, anchored.offset)
    _thread(
        reads.n_pieces, *own, graph.k, graph.words, graph.start, graph.arc_start, graph.arc_to, MOST_UNITIGS,
        unitigs, size,
    )  # fmt: skip
    return Threads(anchored, unitigs, size)


@inlined()
def oriented_base(words, start, o, at):
    """Return the base at a place of an oriented unitig of a graph: its code, as int64."""
    p = start[o >> 1] + at
    if o & 1:
        p = start[(o >> 1) + 1] - 1 - at
    code = np.int64(base_at(words, p))
    if o & 1:
        code = 3 - code
    return code


@for_each
def _thread(
    r, read_start, read_length, read_words, oriented, base, offset,
    k, words, start, arc_start, arc_to, most, unitigs, size,
):  # fmt: skip
    o = np.int64(oriented[r])
    size[r] = 0
    if o >= 0:
        n = 1
        unitigs[most * r] = o
        u = o >> 1
        length = start[u + 1] - start[u]
        at = base[r] + offset[r]
        differing, stopped = 0, False
        for q in range(offset[r], read_length[r]):
            code = np.int64(base_at(read_words, read_start[r] + q))
            if at == length and not stopped:
                # Only the base after the shared k - 1 differs between the arcs.
                following = np.int64(-1)
                for arc in range(arc_start[o], arc_start[o + 1]):
                    w = np.int64(arc_to[arc])
                    if oriented_base(words, start, w, k - 1) == code:
                        following = w
                if following < 0 or n == most:
                    stopped = True
                else:
                    unitigs[most * r + n] = following
                    n += 1
                    o = following
                    u = o >> 1
                    length = start[u + 1] - start[u]
                    at = np.int64(k - 1)
            if not stopped:
                if oriented_base(words, start, o, at) != code:
                    differing += 1
                at += 1
        if differing * 10 > read_length[r] - offset[r]:
            n = 1
        size[r] = n
