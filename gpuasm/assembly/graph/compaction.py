"""Compaction: remove unitigs from a graph and merge each unbranching path into one unitig.

Simplification compacts after each rule, and most rules remove few unitigs. Therefore bases and arcs are written once:
the strand and the order of the new unitigs follow from the first k-mers of their paths in the old graph (`walk_order`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.assembly.graph.walk_order import order_walks
from gpuasm.parallel import compiled, run_chunks, signatures
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks


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
    """Remove unitigs and merge unbranching paths.

    Parameters
    ----------
    graph, sources
        A graph and its source unitigs.
    is_removed : (n,) bool
        Unitigs to remove, with their arcs.

    Returns
    -------
    The compacted graph and its source unitigs in the same earlier graph. The graph is canonical except for circular
    unitigs, which start at their source of the lowest number.
    """
    is_removed = np.zeros(graph.n, dtype=bool) if is_removed is None else is_removed
    walks = _drop(strand_walks(_forced(graph, is_removed)), is_removed)
    order, is_flipped = order_walks(graph, walks)
    is_linear = order < walks.n_linear
    walks = _reordered(walks, order, is_flipped)
    return _merge_walks(graph, walks, is_linear), _composed_sources(walks, sources)


def _forced(graph: UnitigGraph, is_removed: np.ndarray) -> np.ndarray:
    """Return the only successor of each oriented unitig whose only predecessor it is, or -1."""
    n = 2 * graph.n
    only, successor = np.empty(n, np.int32), np.empty(n, np.int32)
    run_chunks(_find_only, n, graph.arc_start, graph.arc_to, is_removed, only)
    run_chunks(_find_forced, n, only, successor)
    return successor


@signatures("int64, int64, int64[::1], int32[::1], boolean[::1], int32[::1]")
@compiled()
def _find_only(first, last, arc_start, arc_to, is_removed, only):
    """Find the only successor of each oriented unitig that is kept, or -1."""
    for oriented in range(first, last):
        to, n = -1, 0
        if not is_removed[oriented >> 1]:
            for arc in range(arc_start[oriented], arc_start[oriented + 1]):
                if not is_removed[arc_to[arc] >> 1]:
                    to = arc_to[arc]
                    n += 1
        only[oriented] = to if n == 1 else -1


@signatures("int64, int64, int32[::1], int32[::1]")
@compiled()
def _find_forced(first, last, only, successor):
    for oriented in range(first, last):
        to = only[oriented]
        successor[oriented] = to if to >= 0 and only[to ^ 1] == oriented ^ 1 and to != oriented ^ 1 else -1


def _drop(walks: StrandWalks, is_removed: np.ndarray) -> StrandWalks:
    kept = np.flatnonzero(~is_removed[walks.path[walks.start[:-1]] >> 1])
    length = np.diff(walks.start)[kept]
    path = walks.path[~is_removed[walks.path >> 1]]
    return StrandWalks(path, np.concatenate([[0], np.cumsum(length)]), int((kept < walks.n_linear).sum()))


def _reordered(walks: StrandWalks, order: np.ndarray, is_flipped: np.ndarray) -> StrandWalks:
    """Return the walks in the given order, each on its canonical strand."""
    start = np.concatenate([[0], np.cumsum(np.diff(walks.start)[order])])
    path = np.empty_like(walks.path)
    run_chunks(_copy_walks, order.size, order, is_flipped, walks.start, walks.path, start, path)
    return StrandWalks(path, start, walks.n_linear)


@signatures("int64, int64, int64[::1], boolean[::1], int64[::1], int32[::1], int64[::1], int32[::1]")
@compiled()
def _copy_walks(first, last, order, is_flipped, old_start, old_path, start, path):
    for walk in range(first, last):
        at = old_start[order[walk]]
        n = start[walk + 1] - start[walk]
        for i in range(n):
            path[start[walk] + i] = old_path[at + n - 1 - i] ^ 1 if is_flipped[walk] else old_path[at + i]


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


@signatures("int64, int64, int32[::1], int64[::1], int32[::1], int32[::1], int64[::1]")
@compiled()
def _count_arcs(first, last, tail, old_start, old_to, head_of, size):
    for row in range(first, last):
        n = 0
        if tail[row] >= 0:
            for arc in range(old_start[tail[row]], old_start[tail[row] + 1]):
                n += head_of[old_to[arc]] >= 0
        size[row] = n


@signatures(
    "int64, int64, int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1]"
)
@compiled()
def _move_arcs(first, last, tail, old_start, old_to, old_count, head_of, arc_start, arc_to, arc_count):
    """Sort the arcs of each row by target by insertion: few arcs leave a unitig."""
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


def _composed_sources(walks: StrandWalks, sources: SourceUnitigs) -> SourceUnitigs:
    size = np.diff(sources.start)[walks.path >> 1]
    offset = np.concatenate([[0], np.cumsum(size)])
    oriented = np.empty(offset[-1], np.int32)
    run_chunks(_expand, walks.path.size, walks.path, offset, sources.start, sources.oriented, oriented)
    return SourceUnitigs(offset[walks.start], oriented)


@signatures("int64, int64, int32[::1], int64[::1], int64[::1], int32[::1], int32[::1]")
@compiled()
def _expand(first, last, path, offset, source_start, source, out):
    for j in range(first, last):
        u = path[j] >> 1
        n = source_start[u + 1] - source_start[u]
        for i in range(n):
            if path[j] & 1:
                out[offset[j] + i] = source[source_start[u + 1] - 1 - i] ^ 1
            else:
                out[offset[j] + i] = source[source_start[u] + i]
