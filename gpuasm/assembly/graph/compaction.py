"""Compaction: remove unitigs from a graph and merge each unbranching path into one unitig.

Simplification compacts after each rule, and most rules remove few unitigs. Therefore bases and arcs are written once:
the strand and the order of the new unitigs follow from the first k-mers of their paths in the old graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.canonical_order import order_walks
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented, insert_arc
from gpuasm.kmers.pieces import keep_mutual
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks
from gpuasm.threads import run_chunks


@dataclass(frozen=True)
class SourceUnitigs:
    """The oriented unitigs of an earlier graph that each unitig of a later graph consists of, end to end.

    Attributes
    ----------
    start : (n + 1,) int64
    oriented : (m,) int32
        Oriented unitigs of the earlier graph.
    """

    start: np.ndarray
    oriented: np.ndarray

    @classmethod
    def identity(cls, n: int) -> SourceUnitigs:
        """Return the sources of a graph that is its own earlier graph."""
        return cls(np.arange(n + 1, dtype=np.int64), 2 * np.arange(n, dtype=np.int32))

    @property
    def ends(self) -> np.ndarray:
        """(2n,) int32: the oriented source unitig at the end of each oriented unitig."""
        return np.stack([self.oriented[self.start[1:] - 1], self.oriented[self.start[:-1]] ^ 1], axis=1).ravel()


def compact(
    graph: UnitigGraph, sources: SourceUnitigs, *, is_removed: np.ndarray | None = None
) -> tuple[UnitigGraph, SourceUnitigs]:
    """Remove the marked unitigs, (n,) bool, with their arcs, and merge unbranching paths.

    Return the compacted graph and its source unitigs in the same earlier graph. The graph is canonical except for
    circular unitigs, which start at their source of the lowest number.
    """
    is_removed = np.zeros(graph.n, dtype=bool) if is_removed is None else is_removed
    walks = _drop(strand_walks(_forced(graph, is_removed)), is_removed)
    order, is_flipped = order_walks(graph, walks)
    is_linear = order < walks.n_linear
    start, path = _expanded((2 * order + is_flipped).astype(np.int32), walks.start, walks.path)
    walks = StrandWalks(path, start, walks.n_linear)
    begin, oriented = _expanded(walks.path, sources.start, sources.oriented)
    return _merge_walks(graph, walks, is_linear), SourceUnitigs(begin[walks.start], oriented)


def _forced(graph: UnitigGraph, is_removed: np.ndarray) -> np.ndarray:
    """Return the only successor of each oriented unitig whose only predecessor it is, or -1."""
    successor = np.empty(2 * graph.n, np.int32)
    run_chunks(_find_only, 2 * graph.n, graph.arc_start, graph.arc_to, is_removed, successor)
    keep_mutual(successor.size, successor)
    return successor


@signatures("int64, int64, int64[::1], int32[::1], boolean[::1], int32[::1]")
@compiled()
def _find_only(first, last, arc_start, arc_to, is_removed, only):
    """Find the only kept successor of each kept oriented unitig, or -1: its own twin is none."""
    for oriented in range(first, last):
        to, n = -1, 0
        if not is_removed[oriented >> 1]:
            for arc in range(arc_start[oriented], arc_start[oriented + 1]):
                if not is_removed[arc_to[arc] >> 1]:
                    to = arc_to[arc]
                    n += 1
        only[oriented] = to if n == 1 and to != oriented ^ 1 else -1


def _drop(walks: StrandWalks, is_removed: np.ndarray) -> StrandWalks:
    kept = np.flatnonzero(~is_removed[walks.path[walks.start[:-1]] >> 1])
    length = np.diff(walks.start)[kept]
    path = walks.path[~is_removed[walks.path >> 1]]
    return StrandWalks(path, np.concatenate([[0], np.cumsum(length)]), int((kept < walks.n_linear).sum()))


def _expanded(oriented: np.ndarray, start: np.ndarray, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the list of each oriented number begins in all of them end to end, and these.

    List i is ``lists[start[i] : start[i + 1]]``; the other strand has the twins of its items in reverse.
    """
    begin = np.concatenate([[0], np.cumsum(np.diff(start)[oriented >> 1])])
    expanded = np.empty(begin[-1], np.int32)
    run_chunks(_expand, oriented.size, oriented, begin, start, lists, expanded)
    return begin, expanded


@signatures("int64, int64, int32[::1], int64[::1], int64[::1], int32[::1], int32[::1]")
@compiled()
def _expand(first, last, oriented, begin, start, lists, expanded):
    for j in range(first, last):
        u = oriented[j] >> 1
        for i in range(start[u + 1] - start[u]):
            if oriented[j] & 1:
                expanded[begin[j] + i] = lists[start[u + 1] - 1 - i] ^ 1
            else:
                expanded[begin[j] + i] = lists[start[u] + i]


def _merge_walks(graph: UnitigGraph, walks: StrandWalks, is_linear: np.ndarray) -> UnitigGraph:
    n, unitig = walks.start.size - 1, walks.path >> 1
    windows = np.concatenate([[0], np.cumsum(graph.n_kmers[unitig])])[walks.start]
    start = windows + np.arange(n + 1) * (graph.k - 1)
    bases = np.empty(start[-1], np.uint8)
    run_chunks(_concatenate, n, graph.bases, graph.start, graph.k, walks.path, walks.start, start, bases)
    count = np.concatenate([[0], np.cumsum(graph.count[unitig])])[walks.start]
    is_circular = ~is_linear | graph.is_circular[walks.path[walks.start[:-1]] >> 1]
    rows = _arcs(graph, walks, is_linear)
    return UnitigGraph(graph.k, bases, start, np.diff(count), is_circular, *rows, graph.unit)


@signatures("int64, int64, uint8[::1], int64[::1], int64, int32[::1], int64[::1], int64[::1], uint8[::1]")
@compiled()
def _concatenate(first, last, old, old_start, k, path, walk_start, start, bases):
    for walk in range(first, last):
        at = start[walk]
        for j in range(walk_start[walk], walk_start[walk + 1]):
            u = path[j] >> 1
            shared = 0 if j == walk_start[walk] else k - 1  # with the unitig before
            n = old_start[u + 1] - old_start[u] - shared
            is_flipped = path[j] & 1 == 1
            copy_oriented(old, old_start[u] + (0 if is_flipped else shared), n, is_flipped, bases, at)
            at += n


def _arcs(graph: UnitigGraph, walks: StrandWalks, is_linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arcs between the ends of linear walks, as rows."""
    first, last = walks.path[walks.start[:-1]], walks.path[walks.start[1:] - 1]
    linear = np.flatnonzero(is_linear).astype(np.int32)
    begun = np.full(2 * graph.n, -1, np.int32)  # the oriented walk that begins with each oriented unitig
    begun[first[linear]], begun[last[linear] ^ 1] = 2 * linear, 2 * linear + 1
    tail = np.stack([last, first ^ 1], axis=1).ravel()
    start = np.concatenate([[0], np.cumsum(np.where(np.repeat(is_linear, 2), graph.n_arcs[tail], 0))])
    arc_to, arc_count = np.full(start[-1], -1, np.int32), np.empty(start[-1], np.int64)
    old = graph.arc_start, graph.arc_to, graph.arc_count
    run_chunks(_move_arcs, tail.size, tail, *old, begun, start, arc_to, arc_count)
    kept = arc_to >= 0
    return np.concatenate([[0], np.cumsum(kept)])[start], arc_to[kept], arc_count[kept]


@signatures(
    "int64, int64, int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1]"
)
@compiled()
def _move_arcs(first, last, tail, old_start, old_to, old_count, begun, start, arc_to, arc_count):
    """Move the arcs between walks into the rows of their sources, whose other places keep -1."""
    for row in range(first, last):
        end, offset = start[row], old_start[tail[row]] - start[row]
        for place in range(start[row], start[row + 1]):
            to = begun[old_to[place + offset]]
            if to >= 0:
                insert_arc(start[row], end, to, old_count[place + offset], arc_to, arc_count)
                end += 1
