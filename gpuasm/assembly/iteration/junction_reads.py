"""Junction-spanning reads: select the reads that do not lie within one unitig, and name and cut them for the next k.

A read within one unitig adds nothing to the next graph. The next k resolves junctions, and each window across a
junction belongs to a read that continues beyond its unitig.

A k-mer occurs once in the unitigs of its graph. So a window of the next k lies within a unitig exactly if its first and
its last k-mer are as far apart there as in the read. Such a window needs no key: its unitig and its place there name
it. Inner windows, all but the first and the last of a unitig, have one successor and one predecessor, in that unitig.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph, WindowRows, unitig_of, window_on_unitig
from gpuasm.kmers.names import Dictionary, KmerIndex, find_pair
from gpuasm.kmers.windows import tile_windows
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.sequence.reads import Reads


def select_named_junction_reads(reads: Reads, names: Array, kmer_graph: KmerGraph) -> Reads:
    """Return the reads that do not lie within one unitig of a k-mer graph, given the names of their windows."""
    xp = array_namespace(reads.packed)
    contained, k = xp.empty(reads.n_segments, dtype=bool), kmer_graph.graph.k
    _find_contained(reads.n_segments, reads.start, reads.length, k, names, kmer_graph.rows, contained)
    return reads.select(xp.flatnonzero(~contained))


@signatures("int64[::1], int32[::1], int64, int32[::1], int64[::1], int32[::1], boolean[::1]")
@for_each
def _find_contained(r, start, length, k, names, rows: WindowRows, contained):
    first = start[r]
    last = start[r] + length[r] - k
    while first <= last and names[first] < 0:
        first += 1
    while first <= last and names[last] < 0:
        last -= 1
    contained[r] = True
    if first < last:
        a, b = np.int64(names[first]), np.int64(names[last])
        u, distance = unitig_of(a >> 1, rows), (a >> 1) - (b >> 1) if a & 1 else (b >> 1) - (a >> 1)
        same = (a ^ b) & 1 == 0 and rows.first_window[u] <= b >> 1 < rows.first_window[u + 1]
        contained[r] = same and distance == last - first


def cut_at_inner_windows(reads: Reads, names: Array, kmer_graph: KmerGraph, n_next: Array, *, k: int) -> Reads:
    """Return the runs of consecutive windows of the next k that are named and not inner windows of a unitig.

    ``names`` are those of the reads' windows at the k of the graph, ``n_next``, (n,) int64, the windows of the next k
    in each of its unitigs.
    """
    xp, n = array_namespace(reads.packed), reads.n_segments
    where = (reads.start, reads.length, k, k - kmer_graph.graph.k, names, n_next, kmer_graph.rows)
    end, start, length = xp.zeros(n, np.int64), xp.empty(0, np.int64), xp.empty(0, np.int32)
    for writes in (False, True):
        if writes:
            end = xp.cumsum(end)
            n_runs = int(end[-1]) if n else 0
            start, length = xp.empty(n_runs, np.int64), xp.empty(n_runs, np.int32)
        _cut(n, *where, writes, end, start, length)
    return Reads(reads.packed, start, length, xp.full(start.size, -1, np.int64), int(start.size))


@signatures(
    "int64[::1], int32[::1], int64, int64, int32[::1], int64[::1], int64[::1], int32[::1], boolean, "
    "int64[::1], int64[::1], int32[::1]"
)
@for_each
def _cut(r, begin, n_bases, k, step, names, n_next, rows: WindowRows, writes, end, start, length):
    n_runs, n_windows = np.int64(0), np.int64(0)
    for p in range(begin[r], begin[r] + n_bases[r] - k + 1):
        a, b, is_counted = np.int64(names[p]), np.int64(names[p + step]), False
        if a >= 0 and b >= 0:
            window, u = window_on_unitig(a, b, step, n_next, rows)
            is_counted = window <= 0 or window == n_next[u] - 1
        if is_counted:
            if n_windows == 0:
                n_runs += 1
            n_windows += 1
            if writes:
                start[end[r] - n_runs] = p - n_windows + 1
                length[end[r] - n_runs] = n_windows + k - 1
        else:
            n_windows = np.int64(0)
    if not writes:
        end[r] = n_runs


def name_next_windows(
    reads: Reads,
    names: Array,
    before: tuple[KmerGraph, Array],
    counted: tuple[Dictionary, Array],
    contig_name: Array,
    after: KmerGraph,
) -> Array:
    """Name the windows of reads in the next graph, as `gpuasm.kmers.names.name_windows` does.

    Parameters
    ----------
    reads, names
        Reads and the oriented names of their windows in the graph before.
    before
        That graph, and the windows of the next k in each of its unitigs: (n,) int64.
    counted
        The dictionary of the counted k-mers, and their names in the next graph, -1 where they were removed.
    contig_name
        As `gpuasm.assembly.iteration.passed_contigs.contig_names` returns it.
    after
        The next graph.
    """
    xp, (kmer_graph, n_next), (dictionary, name_of) = array_namespace(reads.packed), before, counted
    found = xp.full(names.size, -1, np.int32)
    tiles = tile_windows(reads, dictionary.k)
    _name_next(
        tiles.n, tiles.position, tiles.count, names, dictionary.k - kmer_graph.graph.k, n_next,
        kmer_graph.rows, dictionary.index, name_of, contig_name, after.rows, found,
    )  # fmt: skip
    return found


@signatures(
    "int64[::1], int32[::1], int32[::1], int64, int64[::1], int64[::1], int32[::1], uint64[::1], int32[::1], uint64, "
    "int32[::1], int32[::1], int64[::1], int32[::1], int32[::1]"
)
@for_each
def _name_next(
    t, position, count, names, step, n_next, before: WindowRows, index: KmerIndex, name_of, contig_name,
    after: WindowRows, found,
):  # fmt: skip
    for j in range(count[t]):
        p = position[t] + j
        a, b = np.int64(names[p]), np.int64(names[p + step])
        if a >= 0 and b >= 0:
            window, u = window_on_unitig(a, b, step, n_next, before)
            if window >= 0:
                first = np.int64(contig_name[u])
                found[p] = name_along(first, window, after) ^ (a & 1) if first >= 0 else -1
            else:
                vertex = find_pair(a, b, index)
                if vertex >= 0 and name_of[vertex >> 1] >= 0:
                    found[p] = np.int64(name_of[vertex >> 1]) ^ (vertex & 1)


@inlined()
def name_along(first, window, rows):
    """Return the name of a window of a passed contig by the name of its first window; circular unitigs wrap."""
    j = first >> 1
    u = unitig_of(j, rows)
    begin, end = rows.first_window[u], rows.first_window[u + 1]
    at = j - window if first & 1 else j + window
    if at < begin:
        at += end - begin
    if at >= end:
        at -= end - begin
    return 2 * at + (first & 1)
