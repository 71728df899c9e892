"""Echoes: unconnected pieces of what was far deeper at the smaller k, made by errors at places where copies differ.

A read whose error turns one copy of a repeat into another, or that two errors apart has both, makes windows that
no other read has, though both halves of each are well known. Few of them follow each other, and their neighbours are
missing: islands. In an isolate they go as such. In a community an island may be a rare member's; but what halves of it
were at the smaller k tells: a rare member's were rare. Echoes have no text of their own, but they hold up pairs: a
31-mer that stands in one is no longer the only one of its kind, and anchors nothing.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.graph.compaction import Pieces, compact
from gpuasm.assembly.graph.levels import Level, vertices_along
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import Unitigs

DEEPER = 4.0
"""All halves of an echo's k-mers were at least so many times as deep as it is."""
_NAME_BITS, _NAME = np.uint64(31), np.uint64((1 << 31) - 1)


def without_echoes(
    cleaned: tuple[UnitigGraph, Pieces], unitigs: Unitigs, keys: Array, before: Level
) -> tuple[UnitigGraph, Pieces, int]:
    """Remove echoes from a cleaned graph.

    Parameters
    ----------
    cleaned
        The graph, and the unitigs of ``unitigs.graph`` that it is made of.
    unitigs
        The graph before clean-up, and its vertices.
    keys : (n,) uint64
        Of the k-mers that these are: pairs of names of the level before.
    before
        The level before.

    Returns
    -------
    Graph and pieces without them, and how many there were.
    """
    graph, pieces = cleaned
    n_arcs = graph.arc_start[2::2] - graph.arc_start[:-1:2]
    island = np.flatnonzero((n_arcs == 0) & ~graph.is_circular & (graph.n_kmers <= graph.k))
    if island.size == 0:
        return graph, pieces, 0
    many = graph.n_kmers[island]
    first = np.cumsum(many) - many
    start = np.concatenate([[0], np.cumsum(graph.n_kmers)])[island]
    window = np.arange(int(many.sum())) - np.repeat(first - start, many)
    vertex = vertices_along(unitigs, pieces)
    chosen = vertex[to_namespace(array_namespace(vertex), window)] >> 1
    halves = _depth_of_halves(to_host(keys[chosen]), before)
    is_removed = np.zeros(graph.n, dtype=bool)
    is_removed[island] = DEEPER * graph.depth[island] <= np.minimum.reduceat(halves, first)
    if not is_removed.any():
        return graph, pieces, 0
    return *compact(graph, pieces, is_removed=is_removed), int(is_removed.sum())


def _depth_of_halves(keys: np.ndarray, before: Level) -> np.ndarray:
    """Return the depth of the shallower half of each k-mer: (n,) float64."""
    unitig_of, depth = to_host(before.unitig_of), before.graph.depth
    halves = (keys >> _NAME_BITS, keys & _NAME)
    one, other = (depth[unitig_of[(half >> np.uint64(1)).astype(np.int64)]] for half in halves)
    return np.minimum(one, other)
