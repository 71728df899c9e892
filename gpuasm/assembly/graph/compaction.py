"""Compaction: take unitigs or arcs out of a graph and join what has become unbranching.

Clean-up compacts after each rule, and most of what it finds is but a few unitigs. So nothing is written twice: strands
and order are told by the first k-mers of the walks, where these stand in the old graph, and bases and arcs then go to
their places at once. What is no part of a longer walk has kept its place among its like (`walk_order`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.assembly.graph.walk_order import order_walks
from gpuasm.parallel import compiled, run_chunks
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks


@dataclass(frozen=True)
class Pieces:
    """Which oriented unitigs of an earlier graph each unitig of a later one is made of, end to end.

    Attributes
    ----------
    start : (n + 1,) int64
    piece : (m,) int32
        Oriented unitigs of the earlier graph.
    """

    start: np.ndarray
    piece: np.ndarray

    @classmethod
    def identity(cls, n: int) -> Pieces:
        """Return the pieces of a graph that is its own earlier graph."""
        return cls(np.arange(n + 1, dtype=np.int64), 2 * np.arange(n, dtype=np.int32))


def compact(graph: UnitigGraph, pieces: Pieces, *, is_removed: np.ndarray | None = None) -> tuple[UnitigGraph, Pieces]:
    """Remove and join.

    Parameters
    ----------
    graph, pieces
        A graph and what it is made of.
    is_removed : (n,) bool
        Unitigs to take out, with their arcs.

    Returns
    -------
    The compacted graph, canonical but for circles (which start at their least piece), and what it is made of in terms
    of the same earlier graph.
    """
    gone = np.zeros(graph.n, dtype=bool) if is_removed is None else is_removed
    walks = _drop(strand_walks(_forced(graph, gone)), gone)
    order, is_flipped = order_walks(graph, walks)
    is_linear = order < walks.n_linear
    walks = _reordered(walks, order, is_flipped)
    return _joined(graph, walks, is_linear), _composed(walks, pieces)


def _forced(graph: UnitigGraph, gone: np.ndarray) -> np.ndarray:
    """Return the forced successor of each oriented unitig, or -1."""
    n = 2 * graph.n
    only, successor = np.empty(n, np.int32), np.empty(n, np.int32)
    run_chunks(_find_only, n, graph.arc_start, graph.arc_to, gone, only)
    run_chunks(_find_forced, n, only, successor)
    return successor


@compiled()
def _find_only(first, last, arc_start, arc_to, gone, only):
    """Find the only way on from each oriented unitig that stays, or -1."""
    for oriented in range(first, last):
        to, n = -1, 0
        if not gone[oriented >> 1]:
            for arc in range(arc_start[oriented], arc_start[oriented + 1]):
                if not gone[arc_to[arc] >> 1]:
                    to = arc_to[arc]
                    n += 1
        only[oriented] = to if n == 1 else -1


@compiled()
def _find_forced(first, last, only, successor):
    for oriented in range(first, last):
        to = only[oriented]
        successor[oriented] = to if to >= 0 and only[to ^ 1] == oriented ^ 1 and to != oriented ^ 1 else -1


def _drop(walks: StrandWalks, gone: np.ndarray) -> StrandWalks:
    kept = np.flatnonzero(~gone[walks.path[walks.start[:-1]] >> 1])
    length = np.diff(walks.start)[kept]
    path = walks.path[~gone[walks.path >> 1]]
    return StrandWalks(path, np.concatenate([[0], np.cumsum(length)]), int((kept < walks.n_linear).sum()))


def _reordered(walks: StrandWalks, order: np.ndarray, is_flipped: np.ndarray) -> StrandWalks:
    """Return the walks in an order, each on the strand it is told on."""
    start = np.concatenate([[0], np.cumsum(np.diff(walks.start)[order])])
    path = np.empty_like(walks.path)
    run_chunks(_turn_over, order.size, order, is_flipped, walks.start, walks.path, start, path)
    return StrandWalks(path, start, walks.n_linear)


@compiled()
def _turn_over(first, last, order, is_flipped, old_start, old_path, start, path):
    for walk in range(first, last):
        at = old_start[order[walk]]
        n = start[walk + 1] - start[walk]
        for i in range(n):
            path[start[walk] + i] = old_path[at + n - 1 - i] ^ 1 if is_flipped[walk] else old_path[at + i]


def _joined(graph: UnitigGraph, walks: StrandWalks, is_linear: np.ndarray) -> UnitigGraph:
    n, unitig = walks.start.size - 1, walks.path >> 1
    windows = np.concatenate([[0], np.cumsum(graph.n_kmers[unitig])])[walks.start]
    start = windows + np.arange(n + 1) * (graph.k - 1)
    bases = np.empty(start[-1], np.uint8)
    run_chunks(_concatenate, n, graph.bases, graph.start, graph.k, walks.path, walks.start, start, bases)
    count = np.concatenate([[0], np.cumsum(graph.count[unitig])])[walks.start]
    is_circular = ~is_linear | graph.is_circular[walks.path[walks.start[:-1]] >> 1]
    rows = _arcs(graph, walks, is_linear)
    return UnitigGraph(graph.k, bases, start, np.diff(count), is_circular, *rows, graph.unit)


@compiled()
def _concatenate(first, last, old, old_start, k, path, walk_start, start, bases):
    for walk in range(first, last):
        at = start[walk]
        for j in range(walk_start[walk], walk_start[walk + 1]):
            u = path[j] >> 1
            said = 0 if j == walk_start[walk] else k - 1  # by the unitig before
            n = old_start[u + 1] - old_start[u] - said
            is_flipped = path[j] & 1 == 1
            copy_oriented(old, old_start[u] + (0 if is_flipped else said), n, is_flipped, bases, at)
            at += n


def _arcs(graph: UnitigGraph, walks: StrandWalks, is_linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arcs between the ends of walks, as rows."""
    n = is_linear.size
    first, last = walks.path[walks.start[:-1]], walks.path[walks.start[1:] - 1]
    linear = np.flatnonzero(is_linear).astype(np.int32)
    head_of, tail = np.full(2 * graph.n, -1, np.int32), np.full(2 * n, -1, np.int32)
    head_of[first[linear]], head_of[last[linear] ^ 1] = 2 * linear, 2 * linear + 1
    tail[2 * linear], tail[2 * linear + 1] = last[linear], first[linear] ^ 1
    size = np.empty(2 * n, np.int64)
    run_chunks(_count_arcs, 2 * n, tail, graph.arc_start, graph.arc_to, head_of, size)
    arc_start = np.concatenate([[0], np.cumsum(size)])
    arc_to, arc_count = np.empty(arc_start[-1], np.int32), np.empty(arc_start[-1], np.int64)
    old = graph.arc_start, graph.arc_to, graph.arc_count
    run_chunks(_move_arcs, 2 * n, tail, *old, head_of, arc_start, arc_to, arc_count)
    return arc_start, arc_to, arc_count


@compiled()
def _count_arcs(first, last, tail, old_start, old_to, head_of, size):
    for row in range(first, last):
        n = 0
        if tail[row] >= 0:
            for arc in range(old_start[tail[row]], old_start[tail[row] + 1]):
                n += head_of[old_to[arc]] >= 0
        size[row] = n


@compiled()
def _move_arcs(first, last, tail, old_start, old_to, old_count, head_of, arc_start, arc_to, arc_count):
    """Put each row's arcs in order of where they lead, each behind the lesser and equal ones: few leave a unitig."""
    for row in range(first, last):
        if tail[row] < 0:
            continue
        end = arc_start[row]
        for arc in range(old_start[tail[row]], old_start[tail[row] + 1]):
            to, at = head_of[old_to[arc]], end
            if to < 0:
                continue
            end += 1
            while at > arc_start[row] and arc_to[at - 1] > to:
                arc_to[at], arc_count[at] = arc_to[at - 1], arc_count[at - 1]
                at -= 1
            arc_to[at], arc_count[at] = to, old_count[arc]


def _composed(walks: StrandWalks, pieces: Pieces) -> Pieces:
    size = np.diff(pieces.start)[walks.path >> 1]
    offset = np.concatenate([[0], np.cumsum(size)])
    piece = np.empty(offset[-1], np.int32)
    run_chunks(_expand, walks.path.size, walks.path, offset, pieces.start, pieces.piece, piece)
    return Pieces(offset[walks.start], piece)


@compiled()
def _expand(first, last, oriented, offset, piece_start, piece, out):
    for j in range(first, last):
        u = oriented[j] >> 1
        n = piece_start[u + 1] - piece_start[u]
        for i in range(n):
            if oriented[j] & 1:
                out[offset[j] + i] = piece[piece_start[u + 1] - 1 - i] ^ 1
            else:
                out[offset[j] + i] = piece[piece_start[u] + i]
