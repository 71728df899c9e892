"""The cleaned graph of one k, with its k-mers numbered along its unitigs.

The number of a k-mer determines its unitig and its place there, and consecutive k-mers of a unitig are consecutive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import Unitigs
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.searching import run_of

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@dataclass(frozen=True)
class KmerGraph:
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
        The successor of each vertex by each base, along unitigs and arcs.
    """

    graph: UnitigGraph
    dictionary: Dictionary
    strand: Array
    unitig_of: Array
    neighbour: Array

    @classmethod
    def of(cls, graph: UnitigGraph, keys: Array, strand: Array, *, k0: int) -> KmerGraph:
        """Index a graph by the (n_kmers,) keys of its windows and the strands on which its unitigs read them."""
        xp = array_namespace(keys)
        window_start = to_namespace(xp, np.concatenate([[0], np.cumsum(graph.n_kmers)]))
        unitig_of = xp.empty(keys.size, np.int32)
        _find_unitig(int(keys.size), window_start, graph.n, unitig_of)
        rows = (graph.start, graph.is_circular, graph.arc_start, graph.arc_to, graph.bases)
        start, is_circular, arc_start, arc_to, bases = (to_namespace(xp, a) for a in rows)
        neighbour = xp.empty(8 * keys.size, np.int32)
        _link(
            int(keys.size), unitig_of, window_start, start, is_circular, arc_start, arc_to, bases, graph.k, strand,
            neighbour,
        )  # fmt: skip
        return cls(graph, Dictionary.of(keys, k=graph.k, k0=k0), strand, unitig_of, neighbour)

    def graph_only(self) -> KmerGraph:
        """Return the graph without its k-mers, which take far more memory."""
        of = self.dictionary
        none = Dictionary.of(of.keys[:0], k=of.k, k0=of.k0)
        return KmerGraph(
            self.graph, none, *(array[:0].copy() for array in (self.strand, self.unitig_of, self.neighbour))
        )


def make_kmer_graph(
    unitigs: Unitigs, tally: Tally, cleaned: tuple[UnitigGraph, SourceUnitigs], *, k0: int
) -> KmerGraph:
    """Renumber the k-mers of a cleaned graph along its unitigs.

    Parameters
    ----------
    unitigs, tally
        The graph before simplification, its vertices, and the k-mers that they are.
    cleaned
        The cleaned graph and its source unitigs in ``unitigs.graph``.
    k0
        Length of the k-mers that the keys are pairs of; 0 for plain keys.
    """
    graph, sources = cleaned
    vertex = vertices_along(unitigs, sources)
    return KmerGraph.of(graph, tally.keys[vertex >> 1], (vertex & 1).astype(np.uint8), k0=k0)


def vertices_along(unitigs: Unitigs, sources: SourceUnitigs) -> Array:
    """Return the vertices of a graph before simplification, along the unitigs of the cleaned graph."""
    xp = array_namespace(unitigs.path)
    windows = unitigs.graph.n_kmers
    old_start = np.concatenate([[0], np.cumsum(windows)])
    new_start = to_namespace(xp, np.concatenate([[0], np.cumsum(windows[sources.oriented >> 1])]))
    first, oriented = to_namespace(xp, old_start[sources.oriented >> 1]), to_namespace(xp, sources.oriented)
    vertex = xp.empty(int(new_start[-1]), unitigs.path.dtype)
    _copy_vertex(int(vertex.size), new_start, first, oriented, int(oriented.size), unitigs.path, vertex)
    return vertex


@signatures("int64[::1], int64[::1], int32[::1], int64, int32[::1], int32[::1]")
@for_each
def _copy_vertex(j, new_start, first, oriented, n_sources, path, vertex):
    i = run_of(j, new_start, n_sources)
    if oriented[i] & 1:
        vertex[j] = path[first[i] + new_start[i + 1] - 1 - j] ^ 1
    else:
        vertex[j] = path[first[i] + j - new_start[i]]


@signatures("int64[::1], int64, int32[::1]")
@for_each
def _find_unitig(j, window_start, n_unitigs, unitig_of):
    unitig_of[j] = run_of(j, window_start, n_unitigs)


@signatures(
    "int32[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int32[::1], uint8[::1], int64, uint8[::1], "
    "int32[::1]"
)
@for_each
def _link(
    j, unitig_of, window_start, start, is_circular, arc_start, arc_to, bases, k, strand, neighbour
):  # fmt: skip
    u = np.int64(unitig_of[j])
    first, last = window_start[u], window_start[u + 1] - 1
    here = 2 * np.int64(j) + np.int64(strand[j])
    twin = here ^ 1
    for base in range(4):
        neighbour[4 * here + base] = -1
        neighbour[4 * twin + base] = -1
    if j < last or is_circular[u]:
        after = first if j == last else j + 1
        # A circular text ends with its own beginning: the base after the last window is base k - 1 of the first.
        next_base = np.int64(bases[start[u] + k - 1 if j == last else start[u] + j - first + k])
        neighbour[4 * here + next_base] = 2 * after + np.int64(strand[after])
    if j > first or is_circular[u]:
        before = last if j == first else j - 1
        next_base = 3 - np.int64(bases[start[u] + before - first])
        neighbour[4 * twin + next_base] = (2 * before + np.int64(strand[before])) ^ 1
    for side in range(2):
        if j == (first if side else last):
            for arc in range(arc_start[2 * u + side], arc_start[2 * u + side + 1]):
                w = np.int64(arc_to[arc]) >> 1
                if arc_to[arc] & 1:
                    at = window_start[w + 1] - 1
                    target = (2 * at + np.int64(strand[at])) ^ 1
                    next_base = 3 - np.int64(bases[start[w + 1] - k])
                else:
                    at = window_start[w]
                    target = 2 * at + np.int64(strand[at])
                    next_base = np.int64(bases[start[w] + k - 1])
                neighbour[4 * (twin if side else here) + next_base] = target
