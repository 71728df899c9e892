"""Align reads to unitigs: the places of each segment's first and last k-mer that are in the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.kmers.rolling import rolled
from gpuasm.kmers.text_index import TEXT_ROW_TYPES, TextRows, find_place, next_minimizer, segment_of
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.sequence.encoding import base_at, block_at
from gpuasm.sequence.reads import ReadArrays, Reads

_ONE, _THREE = np.uint64(1), np.uint64(3)


class UnitigAlignments(NamedTuple):
    """The unitigs along which reads begin and end.

    Attributes
    ----------
    contained : (n_segments,) bool
        Whether the segment lies within one unitig; also where none of its k-mers is in the graph.
    oriented : (n_segments,) int32
        The oriented unitig of its first k-mer in the graph, -1 where it has none.
    base : (n_segments,) int64
        Position of its first base on that oriented unitig; below 0 where the unitig begins later.
    last_oriented, last_base : (n_segments,) int32 and int64
        The same by its last k-mer in the graph.
    """

    contained: Array
    oriented: Array
    base: Array
    last_oriented: Array
    last_base: Array


def align_to_unitigs(reads: Reads, kmer_graph: KmerGraph) -> UnitigAlignments:
    """Align reads to the unitigs of an indexed k-mer graph by their first and last k-mer in the graph."""
    xp, n = array_namespace(reads.packed), reads.n_segments
    of_ends = (xp.empty(n, dtype) for _ in range(2) for dtype in (np.int32, np.int64))
    aligned = UnitigAlignments(xp.empty(n, dtype=bool), *of_ends)
    _align_to_unitigs(n, reads.arrays, kmer_graph.text_index.rows, aligned)
    return aligned


@inlined()
def _first_place(begin, end, is_back, packed, text):
    """Return the place of the first k-mer of a segment that the text has, or -1, and how many windows are before it.

    Backwards, it is the first k-mer of the segment's reverse complement.
    """
    k, n = text.k, end - begin
    forward, backward = np.uint64(0), np.uint64(0)
    least, at, place, window = np.uint64(0), np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(n):
        base = _THREE - base_at(packed, end - 1 - i) if is_back else base_at(packed, begin + i)
        forward, backward = rolled(forward, backward, base, k)
        if i >= k - 1:
            least, at = next_minimizer(least, at, forward, backward, k, text.m)
            place, _ = find_place(forward, backward, least, at, 1, text)
            window = i - (k - 1)
            if place >= 0:
                break
    return place, window


@inlined()
def _on_unitig(place, text):
    """Return the oriented unitig that a place of a k-mer lies on, and which of its k-mers it is."""
    unitig = segment_of(place >> 1, text)
    along = (place >> 1) - text.start[unitig]
    if place & 1:
        along = text.length[unitig] - text.k - along
    return 2 * unitig + (place & 1), along


@signatures(
    "int64[::1], int32[::1], uint64[::1], "
    + TEXT_ROW_TYPES
    + "boolean[::1], int32[::1], int64[::1], int32[::1], int64[::1]"
)
@for_each
def _align_to_unitigs(r, reads: ReadArrays, text: TextRows, aligned: UnitigAlignments):
    begin, packed = reads.start[r], reads.packed
    end = begin + reads.length[r]
    aligned.contained[r] = True
    aligned.oriented[r] = aligned.last_oriented[r] = -1
    aligned.base[r] = aligned.last_base[r] = 0
    place, before = _first_place(begin, end, 0, packed, text)
    if place >= 0:
        aligned.oriented[r], along = _on_unitig(place, text)
        aligned.base[r] = along - before
        place, behind = _first_place(begin, end, 1, packed, text)
        aligned.last_oriented[r], along = _on_unitig(place ^ 1, text)
        aligned.last_base[r] = along - (reads.length[r] - text.k - behind)
        is_on_one = aligned.oriented[r] == aligned.last_oriented[r]
        aligned.contained[r] = is_on_one and aligned.base[r] == aligned.last_base[r]


def repack(reads: Reads) -> Reads:
    """Copy the segments into an array of their own, each from a new uint64 on, so that the others' can be freed."""
    xp = array_namespace(reads.packed)
    n_blocks = (reads.length.astype(np.int64) + 31) // 32
    end = xp.cumsum(n_blocks)
    packed = xp.zeros((int(end[-1]) if reads.n_segments else 0) + 1, np.uint64)
    first_block = end - n_blocks
    _copy_segment(reads.n_segments, first_block, reads.arrays, packed)
    return replace(reads, packed=packed, start=32 * first_block)


@signatures("int64[::1], int64[::1], int32[::1], uint64[::1], uint64[::1]")
@for_each
def _copy_segment(r, first_block, old: ReadArrays, packed):
    for offset in range(0, old.length[r], 32):
        block, left = block_at(old.packed, old.start[r] + offset), old.length[r] - offset
        if left < 32:
            block &= ~((_ONE << np.uint64(64 - 2 * left)) - _ONE)
        packed[first_block[r] + (offset >> 5)] = block
