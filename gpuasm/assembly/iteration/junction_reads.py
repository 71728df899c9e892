"""Junction-spanning reads: select the reads that do not lie within one unitig, which are all that the next k counts.

A read within one unitig adds nothing to the next graph. The next k resolves junctions, and each window across a
junction belongs to a read that continues beyond its unitig.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments, repack
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.reads import Reads


def select_junction_reads(reads: Reads, aligned: UnitigAlignments) -> Reads:
    """Return the reads that do not lie within one unitig, packed anew."""
    return repack(reads.select(array_namespace(reads.packed).flatnonzero(~aligned.contained)))


def select_named_junction_reads(reads: Reads, names: Array, kmer_graph: KmerGraph) -> Reads:
    """Return the reads that do not lie within one unitig of a k-mer graph, given the names of their windows."""
    xp = array_namespace(reads.packed)
    contained = xp.empty(reads.n_segments, dtype=bool)
    k = kmer_graph.dictionary.k
    _find_contained(
        reads.n_segments, reads.start, reads.length, k, names, kmer_graph.strand, kmer_graph.unitig_of, contained
    )
    return reads.select(xp.flatnonzero(~contained))


@signatures("int64[::1], int32[::1], int64, int32[::1], uint8[::1], int32[::1], boolean[::1]")
@for_each
def _find_contained(r, start, length, k, names, strand, unitig_of, contained):
    first = start[r]
    last = start[r] + length[r] - k
    while first <= last and names[first] < 0:
        first += 1
    while first <= last and names[last] < 0:
        last -= 1
    contained[r] = True
    if first < last:
        a, b = np.int64(names[first]), np.int64(names[last])
        a_turned, b_turned = (a & 1) ^ np.int64(strand[a >> 1]), (b & 1) ^ np.int64(strand[b >> 1])
        distance = (a >> 1) - (b >> 1) if a_turned else (b >> 1) - (a >> 1)
        same = unitig_of[a >> 1] == unitig_of[b >> 1] and a_turned == b_turned
        contained[r] = same and distance == last - first
