"""A level: the cleaned graph of one k, its k-mers numbered along its unitigs.

Numbered so, a k-mer's number says where in which unitig it stands, and consecutive k-mers of a unitig lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.compaction import Pieces
from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.assembly.unitigs import Unitigs
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import compiled

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@dataclass(frozen=True)
class Level:
    """A cleaned graph whose k-mers are numbered along its unitigs.

    Attributes
    ----------
    graph : UnitigGraph
        On the host.
    dictionary : Dictionary
        k-mer j is window j of the unitigs, counted through all of them.
    strand : (n_kmers,) uint8
        Strand of each k-mer's key that its unitig reads.
    unitig_of : (n_kmers,) int32
        Unitig of each window.
    neighbour : (8 * n_kmers,) int32
        The vertex that follows each vertex by each base, along unitigs and arcs.
    """

    graph: UnitigGraph
    dictionary: Dictionary
    strand: Array
    unitig_of: Array
    neighbour: Array

    @classmethod
    def of(cls, graph: UnitigGraph, keys: Array, strand: Array, *, k0: int) -> Level:
        """Make a level of a graph, the (n_kmers,) keys of its windows and the strands on which it reads them."""
        xp = array_namespace(keys)
        unitig_of = to_namespace(xp, np.repeat(np.arange(graph.n, dtype=np.int32), graph.n_kmers))
        neighbour = to_namespace(xp, _neighbours_along(graph, to_host(strand)))
        return cls(graph, Dictionary.of(keys, k=graph.k, k0=k0), strand, unitig_of, neighbour)


def make_level(unitigs: Unitigs, tally: Tally, cleaned: tuple[UnitigGraph, Pieces], *, k0: int) -> Level:
    """Renumber the k-mers of a cleaned graph along its unitigs.

    Parameters
    ----------
    unitigs, tally
        The graph before clean-up, its vertices, and the k-mers they are.
    cleaned
        The cleaned graph and its pieces in terms of ``unitigs.graph``.
    k0
        Length of the k-mers that the keys are pairs of; 0 for plain keys.
    """
    graph, pieces = cleaned
    vertex = vertices_along(unitigs, pieces)
    return Level.of(graph, tally.keys[vertex >> 1], (vertex & 1).astype(np.uint8), k0=k0)


def vertices_along(unitigs: Unitigs, pieces: Pieces) -> Array:
    """Return the vertices of a graph before clean-up along the unitigs of the cleaned one, made of ``pieces``."""
    xp = array_namespace(unitigs.path)
    windows = unitigs.graph.n_kmers
    old_start = np.concatenate([[0], np.cumsum(windows)])
    size = windows[pieces.piece >> 1]
    new_start = to_namespace(xp, np.concatenate([[0], np.cumsum(size)]))
    first, oriented = to_namespace(xp, old_start[pieces.piece >> 1]), to_namespace(xp, pieces.piece)
    j = xp.arange(int(new_start[-1]), dtype=np.int64)
    at = xp.searchsorted(new_start[1:], j, side="right")
    i = j - new_start[at]
    backwards = (oriented[at] & 1) == 1
    source = first[at] + xp.where(backwards, new_start[at + 1] - new_start[at] - 1 - i, i)
    return unitigs.path[source] ^ backwards


def _neighbours_along(graph: UnitigGraph, strand: np.ndarray) -> np.ndarray:
    window_start = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    neighbour = np.full(8 * int(window_start[-1]), -1, np.int32)
    rows = (graph.arc_start, graph.arc_to)
    _link(graph.bases, graph.start, window_start, graph.is_circular, rows, graph.k, strand, neighbour)
    return neighbour


@compiled()
def _link(bases, start, window_start, is_circular, rows, k, strand, neighbour):
    arc_start, arc_to = rows
    for u in range(is_circular.size):
        first, last = window_start[u], window_start[u + 1] - 1
        for j in range(first, last + 1):
            if j == last and not is_circular[u]:
                continue
            after = first if j == last else j + 1
            position = start[u] + j - first
            here, there = 2 * j + np.int64(strand[j]), 2 * after + np.int64(strand[after])
            # A circle's text ends with its own beginning: the base after the last window is base k - 1 of the first.
            next_base = bases[start[u] + k - 1] if j == last else bases[position + k]
            neighbour[4 * here + next_base] = there
            neighbour[4 * (there ^ 1) + 3 - bases[position]] = here ^ 1
        for side in range(2):
            vertex = 2 * first + np.int64(strand[first] ^ 1) if side else 2 * last + np.int64(strand[last])
            for arc in range(arc_start[2 * u + side], arc_start[2 * u + side + 1]):
                w = arc_to[arc] >> 1
                if arc_to[arc] & 1:
                    at = window_start[w + 1] - 1
                    target = 2 * at + np.int64(strand[at] ^ 1)
                    base = 3 - bases[start[w + 1] - k]
                else:
                    at = window_start[w]
                    target = 2 * at + np.int64(strand[at])
                    base = bases[start[w] + k - 1]
                neighbour[4 * vertex + base] = target
