"""Unitigs: the unbranching paths of a de Bruijn graph, with their bases, in canonical order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.debruijn import forced_successors, oriented_base
from gpuasm.assembly.graph.unitig_graph import CanonicalOrder, UnitigGraph, apply_order, canonical_order
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.strand_walks import StrandWalks, strand_walks


@dataclass(frozen=True)
class Unitigs:
    """A unitig graph and the vertices along its unitigs.

    Attributes
    ----------
    graph : UnitigGraph
        On the host, canonical.
    path : (m,) int32
        Vertices of the de Bruijn graph along all unitigs of ``graph``, in their order and strand, on the device.
    """

    graph: UnitigGraph
    path: Array


def build_unitigs(
    packed: Array, tally: Tally, neighbour: Array, *, unit: int = 1, weight: int | np.integer = 1
) -> Unitigs:
    """Compact a de Bruijn graph into unitigs.

    Parameters
    ----------
    packed
        The text that ``tally.place`` points into.
    tally
        The k-mers.
    neighbour : (8n,) int32
        The graph, as `gpuasm.assembly.graph.debruijn.find_neighbours` returns it.
    unit
        Units in one of the graph's multiplicities.
    weight
        Units in one of the tally's counts.
    """
    walks = strand_walks(forced_successors(neighbour))
    graph = _write_unitigs(packed, tally, neighbour, walks, unit=unit, weight=int(weight))
    canonical = canonical_order(graph.bases, graph.start, graph.is_circular, graph.k)
    path = _reorder_path(walks, canonical)
    return Unitigs(apply_order(graph, canonical), path)


def _write_unitigs(
    packed: Array, tally: Tally, neighbour: Array, walks: StrandWalks, *, unit: int, weight: int
) -> UnitigGraph:
    xp, k, n = array_namespace(tally.keys), tally.k, walks.start.size - 1
    length = walks.start[1:] - walks.start[:-1]
    bases = xp.empty(walks.path.size + n * (k - 1), np.uint8)
    walk_of = xp.searchsorted(walks.start[1:], xp.arange(walks.path.size, dtype=np.int64), side="right")
    _write_bases(walks.path.size, walks.path, walks.start, walk_of, packed, tally.place, k, bases)
    cumulative = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(tally.count[walks.path >> 1].astype(np.int64))])
    count = to_host(cumulative[walks.start[1:]] - cumulative[walks.start[:-1]])
    arc_start, arc_to, arc_count = _find_arcs(tally, neighbour, walks)
    start = np.concatenate([[0], np.cumsum(to_host(length) + (k - 1))])
    is_circular, arcs = np.arange(n) >= walks.n_linear, (arc_start, arc_to, weight * arc_count)
    return UnitigGraph(k, to_host(bases), start, weight * count, is_circular, *arcs, unit)


@signatures("int32[::1], int64[::1], int64[::1], uint64[::1], int64[::1], int64, uint8[::1]")
@for_each
def _write_bases(j, path, start, walk_of, packed, place, k, bases):
    walk = walk_of[j]
    vertex = np.int64(path[j])
    where = place[vertex >> 1]
    bases[j + (walk + 1) * (k - 1)] = oriented_base(packed, where, k, vertex & 1, k - 1)
    if j == start[walk]:
        for i in range(k - 1):
            bases[j + walk * (k - 1) + i] = oriented_base(packed, where, k, vertex & 1, i)


def _find_arcs(tally: Tally, neighbour: Array, walks: StrandWalks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arcs between linear unitigs in compressed rows, on the host."""
    xp, n = array_namespace(neighbour), walks.start.size - 1
    first, last = walks.path[walks.start[:-1]], walks.path[walks.start[1:] - 1]
    head_of = xp.full(neighbour.size // 4, -1, np.int32)
    oriented = 2 * xp.arange(walks.n_linear, dtype=np.int32)
    head_of[first[: walks.n_linear]] = oriented
    head_of[last[: walks.n_linear] ^ 1] = oriented + 1
    leaving = xp.stack([last, first ^ 1], axis=1).ravel().astype(np.int64)
    leaving = (4 * leaving[:, None] + xp.arange(4)).ravel()
    to = xp.where(neighbour[leaving] >= 0, head_of[neighbour[leaving]], -1).reshape(2 * n, 4)
    to[2 * walks.n_linear :] = -1
    seen = tally.followers[leaving] if tally.followers.size else xp.zeros(leaving.size, np.uint32)
    to, seen = to_host(to), to_host(seen).reshape(2 * n, 4)
    row, column = np.nonzero(to >= 0)
    order = np.lexsort((to[row, column], row))
    arc_start = np.concatenate([[0], np.cumsum((to >= 0).sum(axis=1))])
    return arc_start, to[row, column][order], seen[row, column][order].astype(np.int64)


def _reorder_path(walks: StrandWalks, canonical: CanonicalOrder) -> Array:
    """Return the vertices in the canonical order, strand and rotation of their unitigs."""
    xp = array_namespace(walks.path)
    length = to_host(walks.start[1:] - walks.start[:-1])[canonical.order]
    new_start = np.concatenate([[0], np.cumsum(length)])
    order, flip, rotation = (to_namespace(xp, a) for a in (canonical.order, canonical.is_flipped, canonical.rotation))
    path = xp.empty_like(walks.path)
    new_start = to_namespace(xp, new_start)
    walk_of = xp.searchsorted(new_start[1:], xp.arange(path.size, dtype=np.int64), side="right")
    _reorder(path.size, walk_of, new_start, walks.path, walks.start, order, flip, rotation, walks.n_linear, path)
    return path


@signatures("int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int64, int32[::1]")
@for_each
def _reorder(j, walk_of, new_start, old_path, old_start, order, flip, rotation, n_linear, path):
    u = walk_of[j]
    old = order[u]
    i = j - new_start[u]
    n = old_start[old + 1] - old_start[old]
    if flip[u]:
        at = n - 1 - i
        if old >= n_linear:
            at = (rotation[u] - i) % n
        path[j] = old_path[old_start[old] + at] ^ 1
    else:
        path[j] = old_path[old_start[old] + (rotation[u] + i) % n]
