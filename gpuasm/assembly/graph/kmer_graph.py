"""The cleaned graph of one k, with its k-mers numbered along its unitigs.

The number of a k-mer determines its unitig and its place there, and consecutive k-mers of a unitig are consecutive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.debruijn import oriented_base
from gpuasm.assembly.graph.unitig_graph import JoinedGraph, UnitigGraph
from gpuasm.assembly.graph.unitigs import Unitigs
from gpuasm.kmers.keys import first_name, last_name, pair_key
from gpuasm.kmers.names import Dictionary, require_nameable
from gpuasm.kmers.pieces import other_strand
from gpuasm.kmers.tally import Tally
from gpuasm.kmers.text_index import TextIndex
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find
from gpuasm.primitives.searching import run_in_block, run_of, runs_of_blocks
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads

_ONE = np.uint64(1)


class WindowRows(NamedTuple):
    """The first window of each unitig, and the unitig of the first window of each block: they give that of any window.

    See `gpuasm.primitives.searching.runs_of_blocks`.
    """

    first_window: Array
    blocks: Array


class LinkRows(NamedTuple):
    """The arrays by which `follow_name` finds successors: those of `WindowRows`, and text and arcs of the graph."""

    first_window: Array
    blocks: Array
    start: Array
    is_circular: Array
    arc_start: Array
    arc_to: Array
    bases: Array


@dataclass(frozen=True)
class KmerGraph:
    """A cleaned graph whose k-mers are numbered along its unitigs.

    k-mer j is window j of the unitigs, counted through all of them. It is named ``2 * j`` as its unitig reads it.

    Attributes
    ----------
    graph : UnitigGraph
        On the host.
    rows : WindowRows
        Where the windows of each unitig are.
    index : TextIndex, or None
        Finds the k-mers by their bases; None beyond the first graph.
    """

    graph: UnitigGraph
    rows: WindowRows
    index: TextIndex | None = None

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any) -> KmerGraph:
        """Return a graph with its k-mers numbered, with arrays of namespace ``xp``."""
        first_window = graph.window_start
        n_kmers = int(first_window[-1])
        require_nameable(n_kmers)
        start = to_namespace(xp, first_window)
        return cls(graph, WindowRows(start, runs_of_blocks(start, n_kmers)))

    def with_index(self) -> KmerGraph:
        """Return the graph of plain k with an index of its k-mers."""
        graph, xp = self.graph, array_namespace(self.rows.blocks)
        rows = (pack(graph.bases), graph.start[:-1], graph.length.astype(np.int32), np.arange(graph.n))
        packed, start, length, number = (to_namespace(xp, row) for row in rows)
        text = Reads(packed, start, length, number, graph.n)
        return replace(self, index=TextIndex.of(text, graph.k, overlap=graph.k - 1))

    @property
    def text_index(self) -> TextIndex:
        """The index of the k-mers.

        Raises
        ------
        ValueError
            If the graph has none.
        """
        if self.index is None:
            raise ValueError("the k-mers of this graph are not indexed")
        return self.index

    def without_windows(self) -> KmerGraph:
        """Return the graph without arrays of its windows."""
        return replace(self, rows=WindowRows(self.rows.first_window, self.rows.blocks[:0].copy()), index=None)

    @property
    def link_rows(self) -> LinkRows:
        """The arrays by which `follow_name` finds successors."""
        xp, graph = array_namespace(self.rows.blocks), self.graph
        rows = (graph.start, graph.is_circular, graph.arc_start, graph.arc_to, graph.bases)
        return LinkRows(*self.rows, *(to_namespace(xp, row) for row in rows))


def cleaned_columns(held: list[JoinedGraph], cleaned: tuple[UnitigGraph, SourceUnitigs]) -> JoinedGraph:
    """Return a cleaned graph with the counts and edges of its windows.

    ``held`` has the graph before simplification, which is taken out of its list; ``cleaned`` is the cleaned graph and
    its source unitigs in the other.
    """
    joined, (graph, sources) = held.pop(), cleaned
    n_kmers = joined.graph.n_kmers[sources.oriented >> 1]
    to, first_window = np.cumsum(n_kmers) - n_kmers, joined.graph.window_start
    count, edges = np.empty(int(n_kmers.sum()), np.uint32), np.empty(int(n_kmers.sum()), np.uint8)
    _move_columns(to.size, sources.oriented, to, first_window, joined.count, joined.edges, count, edges)
    return JoinedGraph(graph, count, edges)


@signatures(
    "int32[::1], int64[::1], int64[::1], uint32[::1], uint8[::1], uint32[::1], uint8[::1]",
    on="host",
)
@for_each
def _move_columns(j, oriented, to, first_window, old_count, old_edges, count, edges):
    u, is_reversed = np.int64(oriented[j]) >> 1, oriented[j] & 1
    n = first_window[u + 1] - first_window[u]
    for i in range(n):
        window = first_window[u] + (n - 1 - i if is_reversed else i)
        own = np.int64(old_edges[window])
        count[to[j] + i], edges[to[j] + i] = old_count[window], other_strand(own) if is_reversed else own


def cleaned_names(unitigs: Unitigs, sources: SourceUnitigs) -> Array:
    """Rename the k-mers of `Unitigs`, in place: (n,) int32, their names in the cleaned graph, -1 if removed."""
    xp, n = array_namespace(unitigs.name), unitigs.graph.n_kmers[sources.oriented >> 1]
    target = np.full(unitigs.graph.n, -1, np.int64)
    target[sources.oriented >> 1] = 2 * (np.cumsum(n) - n) + (sources.oriented & 1)
    rows = (to_namespace(xp, row) for row in (unitigs.graph.window_start, target))
    _rename(unitigs.name.size, unitigs.name, *rows, unitigs.graph.n)
    return unitigs.name


@signatures("int32[::1], int64[::1], int64[::1], int64")
@for_each
def _rename(i, name, first_window, target, n_unitigs):
    window, side = np.int64(name[i]) >> 1, np.int64(name[i]) & 1
    u = run_of(window, first_window, n_unitigs)
    name[i] = -1
    if target[u] >= 0:
        is_reversed = target[u] & 1
        offset = first_window[u + 1] - 1 - window if is_reversed else window - first_window[u]
        name[i] = 2 * ((target[u] >> 1) + offset) + (side ^ is_reversed)


@inlined()
def unitig_of(window, rows):
    """Return the unitig of a window."""
    return run_in_block(window, rows.first_window, rows.blocks)


@inlined()
def window_on_unitig(a, b, step, n_next, rows):
    """Return which window of the next k of their unitig two k-mers begin and end, or -1, and that unitig.

    ``a`` and ``b`` are the oriented names of k-mers ``step`` bases apart, and ``n_next`` is the number of windows of
    the next k in each unitig; a circular unitig has as many of both. The window has the strand of ``a``.
    """
    u, window = unitig_of(a >> 1, rows), np.int64(-1)
    begin, end = rows.first_window[u], rows.first_window[u + 1]
    if n_next[u] > 0 and (a ^ b) & 1 == 0 and begin <= b >> 1 < end:
        first, last = (b >> 1, a >> 1) if a & 1 else (a >> 1, b >> 1)
        if last - first == step or (n_next[u] == end - begin and last - first + end - begin == step):
            window = first - begin
    return window, u


def find_next_neighbours(packed: Array, tally: Tally, dictionary: Dictionary, kmer_graph: KmerGraph) -> Array:
    """Find the successors of k-mers of the next k that follow in its text, along the arcs of the graph before.

    As `gpuasm.assembly.graph.debruijn.find_neighbours` finds them, with ``kmer_graph`` in place of all neighbours of
    its k-mers.
    """
    xp, k0 = array_namespace(tally.keys), kmer_graph.graph.k
    neighbour = xp.empty(8 * tally.n, np.int32)
    index = (dictionary.keys, dictionary.slots, dictionary.n_slots)
    _find_next(2 * tally.n, packed, tally.place, tally.k, k0, kmer_graph.link_rows, *index, tally.followers, neighbour)
    return neighbour


LINK_ROW_TYPES = "int64[::1], int32[::1], int64[::1], boolean[::1], int64[::1], int32[::1], uint8[::1], "
"""The types of `KmerGraph.link_rows`, for the signatures of kernels."""


@inlined()
def follow_name(v, base, k, links):
    """Return the successor of an oriented name by a base, or -1."""
    first_window, bases = links.first_window, links.bases
    start, arc_to = links.start, links.arc_to
    j, side = v >> 1, v & 1
    u = unitig_of(j, links)
    first, last = first_window[u], first_window[u + 1] - 1
    found = np.int64(-1)
    if links.is_circular[u] or j != (first if side else last):
        if side:
            to = last if j == first else j - 1
            if 3 - np.int64(bases[start[u] + to - first]) == base:
                found = 2 * to + 1
        else:
            to = first if j == last else j + 1
            # A circular text ends with its own beginning: the base after the last window is base k - 1 of the first.
            if np.int64(bases[start[u] + to - first + k - 1]) == base:
                found = 2 * to
    else:
        for arc in range(links.arc_start[2 * u + side], links.arc_start[2 * u + side + 1]):
            w = np.int64(arc_to[arc]) >> 1
            if arc_to[arc] & 1:
                to = first_window[w + 1] - 1
                if 3 - np.int64(bases[start[w + 1] - k]) == base:
                    found = 2 * to + 1
            else:
                to = first_window[w]
                if np.int64(bases[start[w] + k - 1]) == base:
                    found = 2 * to
    return found


@signatures(
    "uint64[::1], int64[::1], int64, int64, "
    + LINK_ROW_TYPES
    + "uint64[::1], int32[::1], uint64, uint32[::1], int32[::1]"
)
@for_each
def _find_next(
    v, packed, place, k, k0, links: LinkRows, keys, slots, n_slots, followers, neighbour
):  # fmt: skip
    key, side = keys[v >> 1], v & 1
    added = oriented_base(packed, place[v >> 1], k, side, k0)
    second = follow_name(first_name(key, side), added, k0, links)
    last = last_name(key, side)
    for base in range(4):
        neighbour[4 * v + base] = -1
        if second >= 0 and followers[4 * v + base] > 0:
            after = follow_name(last, base, k0, links)
            if after >= 0:
                keyed = pair_key(second, after)
                number = find(keyed >> _ONE, keys, slots, n_slots)
                if number >= 0:
                    neighbour[4 * v + base] = 2 * number + np.int64(keyed & _ONE)
