"""Read correction: correct substitutions in junction-spanning reads along the cleaned graph of the first k.

A substitution removes each window that contains it, k of them at the first k and more at each larger k, until few reads
of a library with low coverage or many errors have a window across a junction. It is corrected where no window with it
is in the graph, though the window before is, and exactly one other base leads along the graph in agreement with the
rest of the read. An edge that the graph lacks is not corrected, as the windows on both sides of it are in the graph.
(Pevzner, Tang and Waterman 2001, doi:10.1073/pnas.171285098, correct reads by solid k-mers without a graph; here only
junction-spanning reads are examined.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.graph.kmer_graph import LINK_ROW_TYPES, KmerGraph, LinkRows, follow_name
from gpuasm.assembly.parameters import ITERATION
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import ReadArrays, Reads

_THREE = np.uint64(3)
_AGREEING = ITERATION.correction_agreeing_bases


def correct_reads(reads: Reads, names: Array, kmer_graph: KmerGraph) -> tuple[Reads, Array, int]:
    """Correct substitutions in reads along a graph of plain k.

    The reads are packed by `gpuasm.assembly.alignment.reads_on_unitigs.repack`, no two segments in one uint64.
    ``names``, (32 * packed.size,) int32, are the oriented names of the graph's k-mers at every position, -1 where there
    is none. Return the corrected reads, these names of theirs, and the number of corrected bases.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    packed, names, corrected = reads.packed.copy(), names.copy(), xp.zeros(n, np.int32)
    reads, links = replace(reads, packed=packed), kmer_graph.link_rows
    for is_back in (False, True):
        _correct(n, reads.arrays, kmer_graph.graph.k, is_back, links, names, corrected)
    del links
    # Windows are named anew, not as the reads were traversed: beyond an edge that the graph lacks, a corrected base is
    # in windows of the graph, and successors and predecessors of k-mers must be counted at the same positions.
    return reads, kmer_graph.text_index.name_windows(reads), int(corrected.sum())


@signatures("int64[::1], int32[::1], uint64[::1], int64, boolean, " + LINK_ROW_TYPES + "int32[::1], int32[::1]")
@for_each
def _correct(r, reads: ReadArrays, k, is_back, links: LinkRows, names, corrected):
    begin, n, packed = reads.start[r], np.int64(reads.length[r]) - k + 1, reads.packed
    vertex, added = np.int64(-1), 0 if is_back else k - 1  # which base of a window the one before lacks
    for i in range(n):
        here = _window(begin, n, i, is_back)
        if names[here] >= 0:
            vertex = np.int64(names[here])
            continue
        if vertex < 0:
            continue
        at = here + added
        following = _follow(vertex, np.int64(base_at(packed, at)), is_back, k, links)
        if following < 0 and _n_unnamed(begin, n, i, k, names, is_back) >= min(k, n - i):
            base = np.int64(-1)
            for other in range(4):
                first = _follow(vertex, np.int64(other), is_back, k, links)
                if first >= 0 and _agrees(first, begin, n, k, i, added, packed, is_back, links):
                    base, following = (np.int64(-2), np.int64(-1)) if base != -1 else (np.int64(other), first)
            if base >= 0:
                shift = np.uint64(62 - 2 * (at & 31))
                packed[at >> 5] = (packed[at >> 5] & ~(_THREE << shift)) | (np.uint64(base) << shift)
                corrected[r] += 1
        if following >= 0:
            names[here] = following
        vertex = following


@inlined()
def _window(begin, n, i, is_back):
    """Return where the i-th window begins, counted from the first one on or from the last one back."""
    return begin + n - 1 - i if is_back else begin + i


@inlined()
def _follow(vertex, base, is_back, k, links):
    """Return the vertex that one more base leads to, forwards or backwards, or -1."""
    if is_back:
        twin = follow_name(vertex ^ 1, 3 - base, k, links)
        return twin ^ 1 if twin >= 0 else np.int64(-1)
    return follow_name(vertex, base, k, links)


@inlined()
def _n_unnamed(begin, n, i, most, names, is_back):
    """Return how many windows from the i-th on, up to ``most``, have no name."""
    found = np.int64(0)
    while found < most and i + found < n and names[_window(begin, n, i + found, is_back)] < 0:
        found += 1
    return found


@inlined()
def _agrees(vertex, begin, n, k, i, added, packed, is_back, links):
    """Return whether the read agrees with the graph for `_AGREEING` bases after the vertex of its i-th window."""
    found = np.int64(0)
    while found < _AGREEING and vertex >= 0 and i + found + 1 < n:
        base = np.int64(base_at(packed, _window(begin, n, i + found + 1, is_back) + added))
        vertex = _follow(vertex, base, is_back, k, links)
        found += 1 if vertex >= 0 else 0
    return found == _AGREEING
