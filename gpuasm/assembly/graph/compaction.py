"""Compaction: remove unitigs from a graph and merge each unbranching path into one unitig.

Simplification compacts after each rule, and most rules remove few unitigs. Therefore bases and arcs are written once:
the strand and the order of the new unitigs follow from the first k-mers of their paths in the old graph. In a graph
that is compact, only the neighbours of removed unitigs are looked at, and only the unitigs that merge are put in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.canonical_order import order_walks
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented, insert_arc
from gpuasm.kmers.pieces import keep_mutual
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.runs import numbers_of_ranges
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
    graph: UnitigGraph, sources: SourceUnitigs, *, is_removed: np.ndarray | None = None, is_compact: bool = False
) -> tuple[UnitigGraph, SourceUnitigs]:
    """Remove the marked unitigs, (n,) bool, with their arcs, and merge unbranching paths.

    Return the compacted graph and its source unitigs in the same earlier graph. The graph is canonical except for
    circular unitigs, which start at their source of the lowest number. ``is_compact`` states that this function
    returned ``graph``.
    """
    is_removed, n_in_order = np.zeros(graph.n, dtype=bool) if is_removed is None else is_removed, 0
    if is_compact:
        walks, n_in_order = _walks_near(graph, is_removed)
    else:
        walks = _drop(strand_walks(_forced(graph, is_removed)), is_removed)
    order, is_flipped = order_walks(graph, walks, n_in_order=n_in_order)
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
    for oriented in range(first, last):
        only[oriented] = _only_successor(oriented, arc_start, arc_to, is_removed)


@compiled()
def _only_successor(oriented, arc_start, arc_to, is_removed):
    """Return the only kept successor of an oriented unitig, or -1, also if it is removed: its own twin is none."""
    to, n = -1, 0
    if not is_removed[oriented >> 1]:
        for arc in range(arc_start[oriented], arc_start[oriented + 1]):
            if not is_removed[arc_to[arc] >> 1]:
                to = arc_to[arc]
                n += 1
    return to if n == 1 and to != oriented ^ 1 else -1


def _walks_near(graph: UnitigGraph, is_removed: np.ndarray) -> tuple[StrandWalks, int]:
    """Return the walks of a compact graph without some unitigs, first the number returned of unitigs in their order."""
    removed = np.flatnonzero(is_removed)
    arcs = numbers_of_ranges(graph.arc_start[2 * removed], np.diff(graph.arc_start[::2])[removed])[0]
    source = np.unique(graph.arc_to[arcs] ^ 1)  # what led to a removed unitig
    target = np.empty_like(source)
    _find_mutual(source, graph.arc_start, graph.arc_to, is_removed, target)
    source, target = source[target >= 0], target[target >= 0]
    joined = np.unique(np.concatenate([source, target]) >> 1)
    successor = np.full(2 * joined.size, -1, np.int32)
    for one, other in ((source, target), (target ^ 1, source ^ 1)):
        number = np.searchsorted(joined, other >> 1).astype(np.int32)
        successor[2 * np.searchsorted(joined, one >> 1) + (one & 1)] = 2 * number + (other & 1)
    walks = strand_walks(successor)
    is_alone = ~is_removed
    is_alone[joined] = False
    alone = np.flatnonzero(is_alone).astype(np.int32)
    path = np.concatenate([2 * alone, 2 * joined[walks.path >> 1].astype(np.int32) + (walks.path & 1)])
    start = np.concatenate([np.arange(alone.size, dtype=np.int64), alone.size + walks.start])
    return StrandWalks(path, start, alone.size + walks.n_linear), alone.size


@signatures("int32[::1], int64[::1], int32[::1], boolean[::1], int32[::1]")
@compiled()
def _find_mutual(source, arc_start, arc_to, is_removed, target):
    """Find the only successor of each oriented unitig whose only predecessor it is, or -1."""
    for i in range(source.size):
        to = _only_successor(source[i], arc_start, arc_to, is_removed)
        is_mutual = to >= 0 and _only_successor(to ^ 1, arc_start, arc_to, is_removed) == source[i] ^ 1
        target[i] = to if is_mutual else -1


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
    n, unitigs = walks.start.size - 1, (graph.start, graph.count, graph.is_circular)
    length, count, is_circular = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    run_chunks(_sum_up, n, walks.path, walks.start, unitigs, graph.k, is_linear, length, count, is_circular)
    start = np.concatenate([[0], np.cumsum(length)])
    bases = np.empty(start[-1], np.uint8)
    run_chunks(_concatenate, n, graph.bases, graph.start, graph.k, walks.path, walks.start, start, bases)
    return UnitigGraph(graph.k, bases, start, count, is_circular, *_arcs(graph, walks, is_linear), graph.unit)


@signatures(
    "int64, int64, int32[::1], int64[::1], Tuple((int64[::1], int64[::1], boolean[::1], )), int64, boolean[::1], "
    "int64[::1], int64[::1], boolean[::1]"
)
@compiled()
def _sum_up(first, last, path, walk_start, unitigs, k, is_linear, length, count, is_circular):
    """Write how many bases each walk has, the sum of the counts of its unitigs, and whether it is circular."""
    old_start, old_count, was_circular = unitigs
    for walk in range(first, last):
        length[walk], count[walk] = k - 1, 0
        for oriented in path[walk_start[walk] : walk_start[walk + 1]]:
            u = oriented >> 1
            length[walk] += old_start[u + 1] - old_start[u] - (k - 1)
            count[walk] += old_count[u]
        is_circular[walk] = not is_linear[walk] or was_circular[path[walk_start[walk]] >> 1]


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
    """Return the arcs between the ends of linear walks, as rows.

    From a circular walk, arcs lead to itself and to what was removed alone: no linear walk begins there.
    """
    n = is_linear.size
    begun = np.full(2 * graph.n, -1, np.int32)  # the oriented walk that begins with each oriented unitig
    tail = np.empty(2 * n, np.int32)  # the oriented unitig at the end of each oriented walk
    run_chunks(_name_ends, n, walks.path, walks.start, is_linear, begun, tail)
    n_arcs, old = np.empty(2 * n, np.int64), (graph.arc_start, graph.arc_to)
    run_chunks(_count_arcs, 2 * n, tail, *old, begun, n_arcs)
    start = np.concatenate([[0], np.cumsum(n_arcs)])
    arc_to, arc_count = np.empty(start[-1], np.int32), np.empty(start[-1], np.int64)
    run_chunks(_move_arcs, 2 * n, tail, *old, graph.arc_count, begun, start, arc_to, arc_count)
    return start, arc_to, arc_count


@signatures("int64, int64, int32[::1], int64[::1], boolean[::1], int32[::1], int32[::1]")
@compiled()
def _name_ends(first, last, path, walk_start, is_linear, begun, tail):
    for walk in range(first, last):
        one, other = path[walk_start[walk]], path[walk_start[walk + 1] - 1]
        tail[2 * walk], tail[2 * walk + 1] = other, one ^ 1
        if is_linear[walk]:
            begun[one], begun[other ^ 1] = 2 * walk, 2 * walk + 1


@signatures("int64, int64, int32[::1], int64[::1], int32[::1], int32[::1], int64[::1]")
@compiled()
def _count_arcs(first, last, tail, old_start, old_to, begun, n_arcs):
    for row in range(first, last):
        n = 0
        for arc in range(old_start[tail[row]], old_start[tail[row] + 1]):
            n += begun[old_to[arc]] >= 0
        n_arcs[row] = n


@signatures(
    "int64, int64, int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int64[::1]"
)
@compiled()
def _move_arcs(first, last, tail, old_start, old_to, old_count, begun, start, arc_to, arc_count):
    """Write the arcs between walks into the rows of their sources."""
    for row in range(first, last):
        end = start[row]
        if end == start[row + 1]:
            continue
        for arc in range(old_start[tail[row]], old_start[tail[row] + 1]):
            to = begun[old_to[arc]]
            if to >= 0:
                insert_arc(start[row], end, to, old_count[arc], arc_to, arc_count)
                end += 1
