"""The canonical order and strand of walks through a graph, from their unitigs, before their sequence is written.

A walk is read on the strand whose first k-mer is the lesser text. Longer walks come first, then those whose first k-mer
is the lesser text, then those that were found first. Walks of one unitig keep their order, so if the graph is in order
only the walks of several unitigs are sorted, and merged with the others.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import BASES_PER_KEY, UnitigGraph
from gpuasm.parallel import compiled, inlined, run_chunks, signatures
from gpuasm.primitives.strand_walks import StrandWalks


def order_walks(graph: UnitigGraph, walks: StrandWalks) -> tuple[np.ndarray, np.ndarray]:
    """Find the canonical order and strand of walks.

    Parameters
    ----------
    graph
        The graph.
    walks
        Walks through some or all of its unitigs.

    Returns
    -------
    order : (n,) int64
        The walks in order.
    is_flipped : (n,) bool
        Whether each of them, in that order, is read on its other strand.
    """
    n = walks.start.size - 1
    lead, is_flipped, length = np.empty(n, np.int32), np.empty(n, np.bool_), np.empty(n, np.int64)
    text = graph.bases, graph.start, graph.k
    run_chunks(_choose_walk_strands, n, walks.path, walks.start, *text, lead, is_flipped, length)
    is_alone = np.diff(walks.start) == 1
    alone, joined = np.flatnonzero(is_alone), np.flatnonzero(~is_alone)
    is_in_order = np.ones(1, np.bool_)
    run_chunks(_check_order, alone.size, alone, length, lead, *text, is_in_order)
    if not is_in_order[0]:
        order = _sorted(np.arange(n), length, lead, graph)
        return order, is_flipped[order]
    joined = _sorted(joined, length, lead, graph)
    place = np.empty(joined.size, np.int64)
    run_chunks(_find_insertion_places, joined.size, joined, alone, length, lead, *text, place)
    order = np.insert(alone, place, joined)
    return order, is_flipped[order]


@signatures("int64, int64, int32[::1], int64[::1], uint8[::1], int64[::1], int64, int32[::1], boolean[::1], int64[::1]")
@compiled()
def _choose_walk_strands(first, last, path, walk_start, bases, start, k, lead, is_flipped, length):
    """Find the first oriented unitig of each walk, on the strand whose first k-mer is the lesser text."""
    for walk in range(first, last):
        one, other = path[walk_start[walk]], path[walk_start[walk + 1] - 1] ^ 1
        is_flipped[walk] = _compare(other, one, bases, start, k) < 0
        lead[walk] = other if is_flipped[walk] else one
        windows = 0
        for j in range(walk_start[walk], walk_start[walk + 1]):
            u = path[j] >> 1
            windows += start[u + 1] - start[u] - k + 1
        length[walk] = windows + k - 1


@inlined()
def _unitig_base(oriented, i, bases, start):
    """Return base i (int64) of an oriented unitig."""
    u = oriented >> 1
    if oriented & 1:
        return 3 - np.int64(bases[start[u + 1] - 1 - i])
    return np.int64(bases[start[u] + i])


@compiled()
def _compare(one, other, bases, start, k):
    """Compare the first k-mers of two oriented unitigs: negative if the first is less, 0 if they are equal."""
    for i in range(k):
        difference = _unitig_base(one, i, bases, start) - _unitig_base(other, i, bases, start)
        if difference != 0:
            return difference
    return 0


@compiled()
def _is_before(one, other, length, lead, bases, start, k):
    """Return whether a walk comes before another one."""
    if length[one] != length[other]:
        return length[one] > length[other]
    difference = _compare(lead[one], lead[other], bases, start, k)
    return difference < 0 or (difference == 0 and one < other)


@signatures("int64, int64, int64[::1], int64[::1], int32[::1], uint8[::1], int64[::1], int64, boolean[::1]")
@compiled()
def _check_order(first, last, walks, length, lead, bases, start, k, is_in_order):
    for i in range(max(first, 1), last):
        if not _is_before(walks[i - 1], walks[i], length, lead, bases, start, k):
            is_in_order[0] = False  # all threads write the same value


@signatures("int64, int64, int64[::1], int64[::1], int64[::1], int32[::1], uint8[::1], int64[::1], int64, int64[::1]")
@compiled()
def _find_insertion_places(first, last, walks, among, length, lead, bases, start, k, place):
    """Count how many of the ordered walks come before each walk."""
    for i in range(first, last):
        low, high = 0, among.size
        while low < high:
            middle = (low + high) // 2
            if _is_before(among[middle], walks[i], length, lead, bases, start, k):
                low = middle + 1
            else:
                high = middle
        place[i] = low


def _sorted(walks: np.ndarray, length: np.ndarray, lead: np.ndarray, graph: UnitigGraph) -> np.ndarray:
    """Sort walks, given by ascending number."""
    keys = np.zeros((-(-graph.k // BASES_PER_KEY), walks.size), np.uint64)
    run_chunks(_write_keys, walks.size, lead[walks], graph.bases, graph.start, graph.k, keys)
    return walks[np.lexsort((*keys[::-1], -length[walks]))]


@signatures("int64, int64, int32[::1], uint8[::1], int64[::1], int64, uint64[:, ::1]")
@compiled()
def _write_keys(first, last, lead, bases, start, k, keys):
    for walk in range(first, last):
        for i in range(k):
            key = i // BASES_PER_KEY
            keys[key, walk] = (keys[key, walk] << np.uint64(2)) | np.uint64(_unitig_base(lead[walk], i, bases, start))
