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
from gpuasm.kmers.rolling import rolled
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.hashing import find
from gpuasm.primitives.searching import run_of

_ONE = np.uint64(1)


class UnitigRows(NamedTuple):
    """Strand and unitig of each k-mer, and the first window of each unitig."""

    strand: Array
    unitig_of: Array
    first_window: Array


class LinkRows(NamedTuple):
    """The arrays by which `follow_name` finds successors: those of `KmerGraph.rows`, and text and arcs of the graph."""

    strand: Array
    unitig_of: Array
    first_window: Array
    start: Array
    is_circular: Array
    arc_start: Array
    arc_to: Array
    bases: Array


@dataclass(frozen=True)
class KmerGraph:
    """A cleaned graph whose k-mers are numbered along its unitigs.

    Attributes
    ----------
    graph : UnitigGraph
        On the host.
    strand : (n_kmers,) uint8
        Strand of each k-mer's key that its unitig reads. Beyond the first graph keys are not kept: names have the
        strands of unitigs, and these are all 0.
    unitig_of : (n_kmers,) int32
        Unitig of each window.
    dictionary : Dictionary
        k-mer j is window j of the unitigs, counted through all of them; empty beyond the first graph.
    """

    graph: UnitigGraph
    strand: Array
    unitig_of: Array
    dictionary: Dictionary

    @classmethod
    def of(cls, graph: UnitigGraph, strand: Array, keys: Array | None = None) -> KmerGraph:
        """Index a graph by the strands of its (n_kmers,) windows and their plain keys, if they have any."""
        xp = array_namespace(strand)
        require_nameable(int(strand.size))
        unitig_of = xp.zeros(strand.size, np.int32)
        unitig_of[to_namespace(xp, window_start(graph)[1:-1])] = 1  # no unitig is without windows
        xp.cumsum(unitig_of, dtype=np.int32, out=unitig_of)
        keys = xp.empty(0, np.uint64) if keys is None else keys
        return cls(graph, strand, unitig_of, Dictionary.of(keys, k=graph.k, k0=0))

    def without_keys(self) -> KmerGraph:
        """Return the graph without its dictionary, which is most of its memory."""
        return replace(self, dictionary=Dictionary.of(self.dictionary.keys[:0].copy(), k=self.graph.k, k0=0))

    def without_windows(self) -> KmerGraph:
        """Return the graph without arrays of its windows."""
        return replace(self.without_keys(), strand=self.strand[:0].copy(), unitig_of=self.unitig_of[:0].copy())

    @property
    def rows(self) -> UnitigRows:
        """Strand and unitig of each k-mer, and the first window of each unitig."""
        start = to_namespace(array_namespace(self.strand), window_start(self.graph))
        return UnitigRows(self.strand, self.unitig_of, start)

    @property
    def link_rows(self) -> LinkRows:
        """The arrays by which `follow_name` finds successors."""
        xp, graph = array_namespace(self.strand), self.graph
        rows = (graph.start, graph.is_circular, graph.arc_start, graph.arc_to, graph.bases)
        return LinkRows(*self.rows, *(to_namespace(xp, row) for row in rows))


def window_start(graph: UnitigGraph) -> np.ndarray:
    """Return the number of the first window of each unitig, and of all windows: (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum(graph.n_kmers)])


def index_windows(graph: UnitigGraph, xp: Any) -> KmerGraph:
    """Index a graph of plain k by the keys of its windows, in the memory of namespace ``xp``."""
    keys, strand = window_keys(graph, xp)
    return KmerGraph.of(graph, strand, keys)


def window_keys(graph: UnitigGraph, xp: Any) -> tuple[Array, Array]:
    """Return the key of each window of unitigs of plain k and its strand there: (n_kmers,) uint64 and uint8."""
    first_window = window_start(graph)
    n = int(first_window[-1])
    keys, strand = xp.empty(n, np.uint64), xp.empty(n, np.uint8)
    rows = (to_namespace(xp, row) for row in (graph.bases, graph.start, first_window))
    _write_window_keys(-(-n // _BLOCK), n, *rows, graph.n, graph.k, keys, strand)
    return keys, strand


_BLOCK = 64
"""Windows that one index of `_write_window_keys` writes."""


@signatures("int64, uint8[::1], int64[::1], int64[::1], int64, int64, uint64[::1], uint8[::1]")
@for_each
def _write_window_keys(block, n, bases, start, first_window, n_unitigs, k, keys, strand):
    first = _BLOCK * np.int64(block)
    u, at = run_of(first, first_window, n_unitigs), np.int64(-1)  # the next base
    forward, backward = np.uint64(0), np.uint64(0)
    for window in range(first, min(first + _BLOCK, n)):
        while window >= first_window[u + 1]:
            u, at = u + 1, np.int64(-1)
        end = start[u] + window - first_window[u] + k
        if at < 0:
            at = end - k
        for i in range(at, end):
            forward, backward = rolled(forward, backward, np.uint64(bases[i]), k)
        at = end
        keys[window], strand[window] = min(forward, backward), backward < forward


def cleaned_columns(held: list[JoinedGraph], cleaned: tuple[UnitigGraph, SourceUnitigs]) -> JoinedGraph:
    """Return a cleaned graph with the counts and edges of its windows.

    Parameters
    ----------
    held
        The graph before simplification. It is taken out of its list.
    cleaned
        The cleaned graph and its source unitigs in the other.
    """
    joined, (graph, sources) = held.pop(), cleaned
    n_kmers = joined.graph.n_kmers[sources.oriented >> 1]
    to, first_window = np.cumsum(n_kmers) - n_kmers, window_start(joined.graph)
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


def cleaned_names(unitigs: Unitigs, cleaned: tuple[UnitigGraph, SourceUnitigs]) -> Array:
    """Rename the k-mers of `Unitigs`, in place: (n,) int32, their names in the cleaned graph, -1 if removed."""
    xp, sources = array_namespace(unitigs.name), cleaned[1]
    n_kmers = unitigs.graph.n_kmers
    n = n_kmers[sources.oriented >> 1]
    target = np.full(unitigs.graph.n, -1, np.int64)
    target[sources.oriented >> 1] = 2 * (np.cumsum(n) - n) + (sources.oriented & 1)
    rows = (to_namespace(xp, row) for row in (window_start(unitigs.graph), target))
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
def window_on_unitig(a, b, step, n_next, strand, unitig_of, first_window):
    """Return which window of the next k of their unitig two k-mers begin and end, or -1, and the strand of it.

    ``a`` and ``b`` are the oriented names of k-mers ``step`` bases apart, and ``n_next`` is the number of windows of
    the next k in each unitig; a circular unitig has as many of both.
    """
    is_reversed = (a & 1) ^ np.int64(strand[a >> 1])
    u = np.int64(unitig_of[a >> 1])
    window = np.int64(-1)
    if n_next[u] > 0 and unitig_of[b >> 1] == u and (b & 1) ^ np.int64(strand[b >> 1]) == is_reversed:
        first, last = (b >> 1, a >> 1) if is_reversed else (a >> 1, b >> 1)
        n = first_window[u + 1] - first_window[u]
        if last - first == step or (n_next[u] == n and last - first + n == step):
            window = first - first_window[u]
    return window, is_reversed


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


LINK_ROW_TYPES = "uint8[::1], int32[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int32[::1], uint8[::1], "
"""The types of `KmerGraph.link_rows`, for the signatures of kernels."""


@inlined()
def follow_name(v, base, k, links):
    """Return the successor of an oriented name by a base, or -1."""
    strand, first_window, bases = links.strand, links.first_window, links.bases
    start, arc_to = links.start, links.arc_to
    j = v >> 1
    side = (v & 1) ^ np.int64(strand[j])
    u = np.int64(links.unitig_of[j])
    first, last = first_window[u], first_window[u + 1] - 1
    found = np.int64(-1)
    if links.is_circular[u] or j != (first if side else last):
        if side:
            to = last if j == first else j - 1
            if 3 - np.int64(bases[start[u] + to - first]) == base:
                found = (2 * to + np.int64(strand[to])) ^ 1
        else:
            to = first if j == last else j + 1
            # A circular text ends with its own beginning: the base after the last window is base k - 1 of the first.
            if np.int64(bases[start[u] + to - first + k - 1]) == base:
                found = 2 * to + np.int64(strand[to])
    else:
        for arc in range(links.arc_start[2 * u + side], links.arc_start[2 * u + side + 1]):
            w = np.int64(arc_to[arc]) >> 1
            if arc_to[arc] & 1:
                to = first_window[w + 1] - 1
                if 3 - np.int64(bases[start[w + 1] - k]) == base:
                    found = (2 * to + np.int64(strand[to])) ^ 1
            else:
                to = first_window[w]
                if np.int64(bases[start[w] + k - 1]) == base:
                    found = 2 * to + np.int64(strand[to])
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
