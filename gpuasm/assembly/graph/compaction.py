"""Compaction: take unitigs or arcs out of a graph and join what has become unbranching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import (
    CanonicalOrder,
    UnitigGraph,
    apply_order,
    canonical_order,
    copy_oriented,
    sorted_arcs,
)
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
    source = graph.arc_from
    kept = ~(gone[source >> 1] | gone[graph.arc_to >> 1])
    source, target, count = source[kept], graph.arc_to[kept], graph.arc_count[kept]
    walks = _drop(strand_walks(_forced(source, target, 2 * graph.n)), gone)
    joined = _join(graph, walks, (source, target, count))
    composed = _compose(walks, pieces)
    is_flipped = canonical_order(joined.bases, joined.start, np.zeros(joined.n, dtype=bool), graph.k)
    rotation = np.where(
        joined.is_circular[is_flipped.order] & is_flipped.is_flipped, joined.n_kmers[is_flipped.order] - 1, 0
    )
    canonical = CanonicalOrder(is_flipped.order, is_flipped.is_flipped, rotation)
    return apply_order(joined, canonical), _reorder_pieces(composed, canonical)


def _forced(source: np.ndarray, target: np.ndarray, n: int) -> np.ndarray:
    """Return the forced successor of each oriented unitig, or -1."""
    n_out = np.bincount(source, minlength=n)
    forced = (n_out[source] == 1) & (n_out[target ^ 1] == 1) & (target != source ^ 1)
    successor = np.full(n, -1, np.int32)
    successor[source[forced]] = target[forced]
    return successor


def _drop(walks: StrandWalks, gone: np.ndarray) -> StrandWalks:
    kept = np.flatnonzero(~gone[walks.path[walks.start[:-1]] >> 1])
    length = np.diff(walks.start)[kept]
    path = walks.path[~gone[walks.path >> 1]]
    return StrandWalks(path, np.concatenate([[0], np.cumsum(length)]), int((kept < walks.n_linear).sum()))


def _join(graph: UnitigGraph, walks: StrandWalks, arcs: tuple[np.ndarray, ...]) -> UnitigGraph:
    n = walks.start.size - 1
    unitig = walks.path >> 1
    windows = np.concatenate([[0], np.cumsum(graph.n_kmers[unitig])])[walks.start]
    start = windows + np.arange(n + 1) * (graph.k - 1)
    bases = np.empty(start[-1], np.uint8)
    old = graph.bases, graph.start, graph.k
    run_chunks(_concatenate, n, *old, walks.path, walks.start, start, bases)
    count = np.concatenate([[0], np.cumsum(graph.count[unitig])])[walks.start]
    first, last = walks.path[walks.start[:-1]], walks.path[walks.start[1:] - 1]
    head_of, tail_of = np.full(2 * graph.n, -1), np.full(2 * graph.n, -1)
    linear = np.arange(walks.n_linear)
    head_of[first[linear]], head_of[last[linear] ^ 1] = 2 * linear, 2 * linear + 1
    tail_of[last[linear]], tail_of[first[linear] ^ 1] = 2 * linear, 2 * linear + 1
    source, target = tail_of[arcs[0]], head_of[arcs[1]]
    outer = (source >= 0) & (target >= 0)
    rows = sorted_arcs(source[outer], target[outer], arcs[2][outer], n_rows=2 * n)
    is_circular = (np.arange(n) >= walks.n_linear) | graph.is_circular[first >> 1]
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


def _compose(walks: StrandWalks, pieces: Pieces) -> Pieces:
    size = np.diff(pieces.start)[walks.path >> 1]
    offset = np.concatenate([[0], np.cumsum(size)])
    piece = np.empty(offset[-1], np.int32)
    _expand(walks.path, offset, pieces.start, pieces.piece, piece)
    return Pieces(offset[walks.start], piece)


def _reorder_pieces(pieces: Pieces, canonical: CanonicalOrder) -> Pieces:
    oriented = (2 * canonical.order + canonical.is_flipped).astype(np.int32)
    size = np.diff(pieces.start)[canonical.order]
    offset = np.concatenate([[0], np.cumsum(size)])
    piece = np.empty(offset[-1], np.int32)
    _expand(oriented, offset, pieces.start, pieces.piece, piece)
    return Pieces(offset, piece)


@compiled()
def _expand(oriented, offset, piece_start, piece, out):
    for j in range(oriented.size):
        u = oriented[j] >> 1
        n = piece_start[u + 1] - piece_start[u]
        for i in range(n):
            if oriented[j] & 1:
                out[offset[j] + i] = piece[piece_start[u + 1] - 1 - i] ^ 1
            else:
                out[offset[j] + i] = piece[piece_start[u] + i]
