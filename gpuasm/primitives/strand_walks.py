"""Walks of a skew-symmetric pairing, one strand of each, by list ranking.

A pairing is an array of successors in which every vertex has at most one successor and one predecessor; vertex v ^ 1
is the reverse complement of v, and v -> w holds exactly if w ^ 1 -> v ^ 1 does, so every walk has a reverse complement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.parallel import compiled, for_each, signatures


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
    """Extract the walks of a pairing: sequential walks on the CPU, pointer doubling on CUDA (Wyllie 1979).

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
    n = successor.size
    head, rank = _pointer_double(successor)
    tails = xp.flatnonzero((successor < 0) & (head >= 0))
    kept = tails[head[tails] < (tails ^ 1)]
    length = xp.zeros(n, np.int64)
    length[head[kept]] = rank[kept].astype(np.int64) + 1
    heads = xp.flatnonzero(length)
    start = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(length[heads])])
    del length  # as much memory as the next array
    first = xp.full(n, -1, np.int64)
    first[heads] = start[:-1]
    path = xp.empty(n // 2, np.int32)
    _place(n, head, rank, first, path)
    n_on_linear = int(start[-1])
    if n_on_linear == path.size:
        return StrandWalks(path, start, int(heads.size))
    on_linear = xp.zeros(n // 2, dtype=bool)
    on_linear[path[:n_on_linear] >> 1] = True
    circles = np.empty(path.size - n_on_linear, np.int32)
    ends = _walk_circular(to_host(successor), to_host(on_linear), circles, 0)
    path[n_on_linear:] = to_namespace(xp, circles)
    return StrandWalks(path, xp.concatenate([start, to_namespace(xp, ends + n_on_linear)]), int(heads.size))


def _pointer_double(successor: Array) -> tuple[Any, Any]:
    """Return the head of each vertex's walk (-1 for circular walks) and the vertex's distance from it."""
    xp = array_namespace(successor)
    n = successor.size
    twin = xp.arange(n, dtype=np.int32) ^ 1
    jump = xp.where(successor[twin] >= 0, successor[twin] ^ 1, xp.arange(n, dtype=np.int32)).astype(np.int32)
    is_head = jump == xp.arange(n, dtype=np.int32)
    is_head &= successor[twin] < 0  # a vertex that follows itself is a circular walk
    rank = xp.where(is_head, 0, 1).astype(np.int32)
    del twin
    other_jump, other_rank = xp.empty_like(jump), xp.empty_like(rank)
    for _ in range(max(1, n.bit_length())):
        _double(n, jump, rank, other_jump, other_rank)
        jump, other_jump, rank, other_rank = other_jump, jump, other_rank, rank
    return xp.where(is_head[jump], jump, -1), rank


@signatures("int32[::1], int32[::1], int32[::1], int32[::1]", on="device")
@for_each
def _double(v, jump, rank, next_jump, next_rank):
    middle = jump[v]
    next_jump[v] = jump[middle]
    next_rank[v] = rank[v] + rank[middle]


@signatures("int32[::1], int32[::1], int64[::1], int32[::1]", on="device")
@for_each
def _place(v, head, rank, first, path):
    if head[v] >= 0 and first[head[v]] >= 0:
        path[first[head[v]] + rank[v]] = v
