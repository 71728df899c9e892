"""Walks of a skew-symmetric pairing, one strand of each, by list ranking.

On CUDA random vertices cut the walks into segments, so that few vertices are ranked: after Helman and JaJa (2001),
doi:10.1006/jpdc.2000.1678.

A pairing is an array of successors in which every vertex has at most one successor and one predecessor; vertex v ^ 1
is the reverse complement of v, and v -> w holds exactly if w ^ 1 -> v ^ 1 does, so every walk has a reverse complement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.parallel import compiled, for_each, signatures
from gpuasm.primitives.hashing import mix

_CUT_MASK = np.uint64(127)
"""One vertex in so many, and one more, begins a segment."""


@dataclass(frozen=True)
class StrandWalks:
    """Maximal walks, one of each pair of reverse complements.

    Attributes
    ----------
    path : (m,) int32
        The vertices of all walks, concatenated; either a vertex or its reverse complement occurs, once.
    start : (n + 1,) int64
        Start of each walk in ``path``.
    n_linear : int
        Number of linear walks, which come first; the others are circular.
    """

    path: Array
    start: Array
    n_linear: int


def strand_walks(successor: Array) -> StrandWalks:
    """Extract the walks of a pairing: sequential walks on the CPU, ranks of segments on CUDA.

    Parameters
    ----------
    successor : (2n,) int32
        Skew-symmetric, -1 at the end of a walk; no vertex is followed by its own reverse complement.

    Returns
    -------
    StrandWalks, on the device of the argument. Order and strand of the walks may differ between devices.
    """
    if array_namespace(successor) is np:
        return _walk(successor)
    return _rank(successor)


def _walk(successor: np.ndarray) -> StrandWalks:
    length = np.zeros(successor.size, np.int32)
    _measure(successor.size, successor, length)
    heads = np.flatnonzero(length)
    start = np.concatenate([[0], np.cumsum(length[heads], dtype=np.int64)])
    path = np.empty(successor.size // 2, np.int32)
    _write(heads.size, heads, start, successor, path)
    if start[-1] == path.size:
        return StrandWalks(path, start, heads.size)
    on_linear = np.zeros(successor.size // 2, dtype=bool)
    on_linear[path[: start[-1]] >> 1] = True
    circle_starts = _walk_circular(successor, on_linear, path, start[-1])
    return StrandWalks(path, np.concatenate([start, circle_starts]), heads.size)


@signatures("int32[::1], int32[::1]", on="host")
@for_each
def _measure(v, successor, length):
    # Only the head of a walk measures: the strand whose head has the lesser number is kept.
    if successor[v ^ 1] < 0:
        last = np.int64(v)
        n = 1
        while successor[last] >= 0:
            last = np.int64(successor[last])
            n += 1
        if v < last ^ 1:
            length[v] = n


@signatures("int64[::1], int64[::1], int32[::1], int32[::1]", on="host")
@for_each
def _write(w, heads, start, successor, path):
    v = np.int64(heads[w])
    for i in range(start[w], start[w + 1]):
        path[i] = v
        v = np.int64(successor[v])


@signatures("int32[::1], boolean[::1], int32[::1], int64")
@compiled()
def _walk_circular(successor, seen, path, written):
    ends = []
    for number in range(seen.size):
        if seen[number]:
            continue
        v = np.int64(2 * number)
        while not seen[v >> 1]:
            seen[v >> 1] = True
            path[written] = v
            written += 1
            v = np.int64(successor[v])
        ends.append(written)
    return np.array(ends, dtype=np.int64)


def _rank(successor: Array) -> StrandWalks:
    xp = array_namespace(successor)
    segments = _cut(successor)
    head, rank = _rank_segments(segments)
    ends = xp.flatnonzero((segments.following < 0) & (head >= 0))
    first, last = segments.vertex[head[ends]], segments.last[ends]
    kept = xp.flatnonzero(first < (last ^ 1))
    kept = kept[xp.argsort(first[kept])]
    ends = ends[kept]
    size = rank[ends].astype(np.int64) + segments.size[ends]
    start = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(size)])
    begin = xp.full(segments.vertex.size, -1, np.int64)
    begin[head[ends]] = start[:-1]
    path = xp.empty(successor.size // 2, np.int32)
    _write_segments(segments.vertex.size, segments.vertex, segments.size, head, rank, begin, successor, path)
    n_linear, n_on_linear = int(ends.size), int(start[-1])
    del segments, head, rank, begin  # circular walks take as much memory
    if n_on_linear == path.size:
        return StrandWalks(path, start, n_linear)
    on_linear = xp.zeros(successor.size // 2, dtype=bool)
    on_linear[path[:n_on_linear] >> 1] = True
    circles = np.empty(path.size - n_on_linear, np.int32)
    circle_ends = _walk_circular(to_host(successor), to_host(on_linear), circles, 0)
    path[n_on_linear:] = to_namespace(xp, circles)
    return StrandWalks(path, xp.concatenate([start, to_namespace(xp, circle_ends + n_on_linear)]), n_linear)


@dataclass(frozen=True)
class _Segments:
    """Parts of walks: from a head or a cut to the vertex before the next cut, or to the end of the walk.

    Attributes
    ----------
    vertex, last : (n,) int64 and int32
        The first and the last vertex of each.
    size : (n,) int32
        Its vertices.
    following : (n,) int32
        The segment after it, or -1.
    """

    vertex: Array
    last: Array
    size: Array
    following: Array


def _cut(successor: Array) -> _Segments:
    xp = array_namespace(successor)
    is_first = xp.empty(successor.size, bool)
    _mark_cuts(successor.size, successor, is_first)
    vertex = xp.flatnonzero(is_first)
    last, size, following = (xp.empty(vertex.size, np.int32) for _ in range(3))
    _measure_segments(vertex.size, vertex, successor, is_first, last, size, following)
    rows = xp.flatnonzero(following >= 0)
    following[rows] = xp.searchsorted(vertex, following[rows].astype(np.int64))
    return _Segments(vertex, last, size, following)


@signatures("int32[::1], boolean[::1]", on="device")
@for_each
def _mark_cuts(v, successor, is_first):
    is_first[v] = successor[v ^ 1] < 0 or mix(np.uint64(v)) & _CUT_MASK == np.uint64(0)


@signatures("int64[::1], int32[::1], boolean[::1], int32[::1], int32[::1], int32[::1]", on="device")
@for_each
def _measure_segments(s, vertex, successor, is_first, last, size, following):
    v, n = vertex[s], np.int64(1)
    after = np.int64(successor[v])
    while after >= 0 and not is_first[after]:
        v, n = after, n + 1
        after = np.int64(successor[v])
    last[s], size[s], following[s] = v, n, after


def _rank_segments(segments: _Segments) -> tuple[Array, Array]:
    """Return the first segment of each segment's walk, -1 for circular walks, and the vertices before the segment."""
    xp, n = array_namespace(segments.size), segments.size.size
    jump, rank = xp.arange(n, dtype=np.int32), xp.zeros(n, np.int32)
    rows = xp.flatnonzero(segments.following >= 0)
    after = segments.following[rows]
    jump[after], rank[after] = rows, segments.size[rows]
    is_head = xp.ones(n, bool)
    is_head[after] = False
    other_jump, other_rank = xp.empty_like(jump), xp.empty_like(rank)
    for _ in range(max(1, n.bit_length())):
        _double(n, jump, rank, other_jump, other_rank)
        jump, other_jump, rank, other_rank = other_jump, jump, other_rank, rank
    return xp.where(is_head[jump], jump, -1), rank


@signatures("int32[::1], int32[::1], int32[::1], int32[::1]", on="device")
@for_each
def _double(s, jump, rank, next_jump, next_rank):
    middle = jump[s]
    next_jump[s] = jump[middle]
    next_rank[s] = rank[s] + rank[middle]


@signatures("int64[::1], int32[::1], int32[::1], int32[::1], int64[::1], int32[::1], int32[::1]", on="device")
@for_each
def _write_segments(s, vertex, size, head, rank, begin, successor, path):
    if head[s] >= 0 and begin[head[s]] >= 0:
        at, v = begin[head[s]] + rank[s], vertex[s]
        for i in range(size[s]):
            path[at + i] = v
            v = np.int64(successor[v])
