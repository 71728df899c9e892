"""Align reads to unitigs: the places of each segment's first and last k-mer that are in the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.kmers.names import KmerIndex
from gpuasm.kmers.rolling import rolled
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
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
    """Align reads to the unitigs of a k-mer graph of plain k by their first and last k-mer in the graph."""
    xp, n = array_namespace(reads.packed), reads.n_segments
    of_ends = (xp.empty(n, dtype) for _ in range(2) for dtype in (np.int32, np.int64))
    aligned, dictionary = UnitigAlignments(xp.empty(n, dtype=bool), *of_ends), kmer_graph.dictionary
    _align_to_unitigs(n, reads.arrays, dictionary.k, dictionary.index, *kmer_graph.rows, aligned)
    return aligned


@inlined()
def _on_unitig(name, strand, unitig_of, window_start):
    """Return the oriented unitig that an oriented k-mer lies on, and which of its k-mers it is."""
    number = name >> 1
    unitig = np.int64(unitig_of[number])
    is_reversed = (name & 1) ^ np.int64(strand[number])
    along = number - window_start[unitig]
    if is_reversed:
        along = window_start[unitig + 1] - 1 - number
    return 2 * unitig + is_reversed, along


@signatures(
    "int64[::1], int32[::1], uint64[::1], int64, uint64[::1], int32[::1], uint64, uint8[::1], int32[::1], "
    "int64[::1], boolean[::1], int32[::1], int64[::1], int32[::1], int64[::1]"
)
@for_each
def _align_to_unitigs(
    r, reads: ReadArrays, k, index: KmerIndex, strand, unitig_of, window_start, aligned: UnitigAlignments
):  # fmt: skip
    start, packed = reads.start[r], reads.packed
    aligned.contained[r] = True
    aligned.oriented[r] = -1
    aligned.base[r] = 0
    end = start + reads.length[r]
    forward, backward = np.uint64(0), np.uint64(0)
    a = np.int64(-1)
    first = start
    for p in range(start, end):
        forward, backward = rolled(forward, backward, base_at(packed, p), k)
        if p - start >= k - 1:
            number = find(min(forward, backward), index.keys, index.slots, index.n_slots)
            if number >= 0:
                a = 2 * number + (1 if backward < forward else 0)
                first = p - k + 1
                break
    b = np.int64(-1)
    last = first
    if a >= 0:
        aligned.oriented[r], along = _on_unitig(a, strand, unitig_of, window_start)
        aligned.base[r] = along - (first - start)
        forward, backward = np.uint64(0), np.uint64(0)
        for i in range(end - first):
            p = end - 1 - i
            backward, forward = rolled(backward, forward, _THREE - base_at(packed, p), k)
            if i >= k - 1:
                number = find(min(forward, backward), index.keys, index.slots, index.n_slots)
                if number >= 0:
                    b = 2 * number + (1 if backward < forward else 0)
                    last = p
                    break
    aligned.last_oriented[r] = aligned.oriented[r]
    aligned.last_base[r] = aligned.base[r]
    if b >= 0:
        aligned.last_oriented[r], along = _on_unitig(b, strand, unitig_of, window_start)
        aligned.last_base[r] = along - (last - start)
    if b >= 0 and last > first:
        a_is_reversed, b_is_reversed = (a & 1) ^ np.int64(strand[a >> 1]), (b & 1) ^ np.int64(strand[b >> 1])
        distance = (a >> 1) - (b >> 1) if a_is_reversed else (b >> 1) - (a >> 1)
        is_same_unitig = unitig_of[a >> 1] == unitig_of[b >> 1] and a_is_reversed == b_is_reversed
        aligned.contained[r] = is_same_unitig and distance == last - first


def repack(reads: Reads) -> Reads:
    """Copy the segments into an array of their own, each from a new uint64 on, so that the others' can be freed."""
    xp = array_namespace(reads.packed)
    n_blocks = (reads.length.astype(np.int64) + 31) // 32
    end = xp.cumsum(n_blocks)
    total = int(end[-1]) if reads.n_segments else 0
    packed = xp.zeros(total + 1, np.uint64)
    segment_of_block = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
    first_block = end - n_blocks
    _copy_block(total, segment_of_block, first_block, reads.start, reads.length, reads.packed, packed)
    return replace(reads, packed=packed, start=32 * first_block)


@signatures("int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], uint64[::1]")
@for_each
def _copy_block(w, segment_of_block, first_block, start, length, old, packed):
    segment = segment_of_block[w]
    offset = 32 * (w - first_block[segment])
    position = start[segment] + offset
    shift = np.uint64(2 * (position & 31))
    block = old[position >> 5] << shift
    if shift > np.uint64(0):
        block |= old[(position >> 5) + 1] >> (np.uint64(64) - shift)
    left = length[segment] - offset
    if left < 32:
        block &= ~((_ONE << np.uint64(64 - 2 * left)) - _ONE)
    packed[w] = block
