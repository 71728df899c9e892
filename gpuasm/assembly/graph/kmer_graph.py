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
from gpuasm.assembly.graph.piece_joining import order_columns
from gpuasm.assembly.graph.unitig_graph import JoinedGraph, UnitigGraph
from gpuasm.kmers.keys import first_name, last_name
from gpuasm.kmers.names import Dictionary, KmerIndex, find_pair, require_nameable
from gpuasm.kmers.tally import Tally
from gpuasm.kmers.text_index import TextIndex
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.searching import run_in_block, run_of, runs_of_blocks
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads


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
        return replace(self, index=TextIndex.of(Reads(*rows, graph.n).moved_to(xp), graph.k, overlap=graph.k - 1))

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
    at = np.concatenate([[0], np.cumsum(joined.graph.n_kmers[sources.oriented >> 1])])
    count, edges = np.empty(at[-1], np.uint32), np.empty(at[-1], np.uint8)
    # All sources, end to end, are one linear walk, which stays as it is.
    n, zero = sources.oriented.size, np.zeros(1, np.int64)
    walk = sources.oriented, np.array([0, n]), 1, at, 1, zero, np.zeros(1, bool), zero
    order_columns(n, *walk, joined.graph.window_start, joined.count, joined.edges, count, edges)
    return JoinedGraph(graph, count, edges)


def rename(name: Array, graph: UnitigGraph, sources: SourceUnitigs) -> None:
    """Replace names of k-mers in a graph, (n,) int32, by their names in the cleaned graph, -1 if removed.

    ``sources`` are the source unitigs of the cleaned graph.
    """
    xp, n = array_namespace(name), graph.n_kmers[sources.oriented >> 1]
    target = np.full(graph.n, -1, np.int64)
    target[sources.oriented >> 1] = 2 * (np.cumsum(n) - n) + (sources.oriented & 1)
    rows = (to_namespace(xp, row) for row in (graph.window_start, target))
    _rename(name.size, name, *rows, graph.n)


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
    where = packed, tally.place, tally.k, k0, kmer_graph.link_rows
    _find_next(2 * tally.n, *where, dictionary.index, tally.followers, neighbour)
    return neighbour


LINK_ROW_TYPES = "int64[::1], int32[::1], int64[::1], boolean[::1], int64[::1], int32[::1], uint8[::1], "
"""The types of `KmerGraph.link_rows`, for the signatures of kernels."""


@inlined()
def follow_name(v, base, k, links):
    """Return the successor of an oriented name by a base, or -1."""
    j, side = v >> 1, v & 1
    u = unitig_of(j, links)
    first, last = links.first_window[u], links.first_window[u + 1] - 1
    found = np.int64(-1)
    if links.is_circular[u] or j != (first if side else last):
        to = j - 1 if side else j + 1
        to = last if to < first else (first if to > last else to)
        if _last_base(to, side, u, k, links) == base:
            found = 2 * to + side
    else:
        for arc in range(links.arc_start[2 * u + side], links.arc_start[2 * u + side + 1]):
            w, its = np.int64(links.arc_to[arc]) >> 1, np.int64(links.arc_to[arc]) & 1
            to = links.first_window[w + 1] - 1 if its else links.first_window[w]
            if _last_base(to, its, w, k, links) == base:
                found = 2 * to + its
    return found


@inlined()
def _last_base(window, side, u, k, links):
    """Return the last base (int64) of a window of unitig u, read on a strand."""
    place = links.start[u] + window - links.first_window[u]
    return 3 - np.int64(links.bases[place]) if side else np.int64(links.bases[place + k - 1])


@signatures(
    "uint64[::1], int64[::1], int64, int64, "
    + LINK_ROW_TYPES
    + "uint64[::1], int32[::1], uint64, uint32[::1], int32[::1]"
)
@for_each
def _find_next(v, packed, place, k, k0, links: LinkRows, index: KmerIndex, followers, neighbour):
    key, side = index.keys[v >> 1], v & 1
    added = oriented_base(packed, place[v >> 1], k, side, k0)
    second = follow_name(first_name(key, side), added, k0, links)
    last = last_name(key, side)
    for base in range(4):
        after = np.int64(-1)
        if second >= 0 and followers[4 * v + base] > 0:
            after = follow_name(last, base, k0, links)
        neighbour[4 * v + base] = find_pair(second, after, index) if after >= 0 else -1
