"""The unitig graph: maximal unbranching paths and the arcs between them, in one canonical order.

Oriented unitig 2u + s is unitig u read on strand s; its twin is ``^ 1``. In canonical form each unitig is read on the
strand whose first k-mer is the lesser text, and starts at its least k-mer if it is circular; longer unitigs come first,
then the lesser text. The form does not depend on how k-mers were numbered, so all devices yield the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.sequence.encoding import decode

DEPTH_SCALE = 32
"""Units in a depth of one read."""


@dataclass(frozen=True)
class UnitigGraph:
    """Unitigs and arcs, on the host.

    Attributes
    ----------
    k : int
    bases : (total,) uint8
        Codes of all unitigs, one after the other; a circular unitig ends with its first k - 1 bases.
    start : (n + 1,) int64
        Where each unitig starts in ``bases``.
    count : (n,) int64
        Sum of the multiplicities of each unitig's k-mers, in units.
    is_circular : (n,) bool
        Whether the unitig closes on itself.
    arc_start : (2n + 1,) int64
        Where the outgoing arcs of each oriented unitig start.
    arc_to : (m,) int32
        Target of each arc, ascending within a row; consecutive unitigs share k - 1 bases.
    arc_count : (m,) int64
        Multiplicity of the arc's (k + 1)-mer, in units; 0 for overlap edges that were not counted.
    unit : int
        Units in one: 1 if multiplicities are counts, more if they are fixed-point depths.
    """

    k: int
    bases: np.ndarray
    start: np.ndarray
    count: np.ndarray
    is_circular: np.ndarray
    arc_start: np.ndarray
    arc_to: np.ndarray
    arc_count: np.ndarray
    unit: int = 1

    @property
    def n(self) -> int:
        return int(self.count.size)

    # Cached: callers read them unitig by unitig.
    @cached_property
    def length(self) -> np.ndarray:
        """(n,) int64: bases of each unitig."""
        return np.diff(self.start)

    @cached_property
    def n_kmers(self) -> np.ndarray:
        """(n,) int64: k-mers of each unitig."""
        return self.length - (self.k - 1)

    @cached_property
    def depth(self) -> np.ndarray:
        """(n,) float64: mean multiplicity of each unitig's k-mers."""
        return self.count / (np.maximum(self.n_kmers, 1) * self.unit)

    @property
    def arc_from(self) -> np.ndarray:
        """(m,) int32: source of each arc."""
        return np.repeat(np.arange(2 * self.n, dtype=np.int32), self.n_arcs)

    @property
    def n_arcs(self) -> np.ndarray:
        """(2n,) int64: outgoing arcs of each oriented unitig."""
        return np.diff(self.arc_start)

    @property
    def is_dead_end(self) -> np.ndarray:
        """(2n,) bool: which oriented unitigs lead to no other, and not back to themselves."""
        return (self.n_arcs == 0) & ~np.repeat(self.is_circular, 2)

    @property
    def window_start(self) -> np.ndarray:
        """(n + 1,) int64: the number of the first window of each unitig, and of all windows."""
        return np.concatenate([[0], np.cumsum(self.n_kmers)])

    def following(self, oriented: int) -> np.ndarray:
        """Return the oriented unitigs that follow one, ascending: int32."""
        return self.arc_to[self.arc_start[oriented] : self.arc_start[oriented + 1]]

    def sequence(self, u: int) -> str:
        """Return the bases of unitig u as text."""
        return decode(self.bases[self.start[u] : self.start[u + 1]])


@dataclass(frozen=True)
class JoinedGraph:
    """A unitig graph and what is known of its windows, on the host.

    Attributes
    ----------
    graph : UnitigGraph
        Canonical.
    count : (n_kmers,) uint32
        Occurrences of the k-mer of each window, through all unitigs.
    edges : (n_kmers,) uint8
        The bases that follow it and its reverse complement; see `gpuasm.kmers.pieces.Pieces`.
    """

    graph: UnitigGraph
    count: np.ndarray
    edges: np.ndarray


@dataclass(frozen=True)
class CountedGraph:
    """The first graph of reads that were counted elsewhere, in parts.

    Attributes
    ----------
    joined : JoinedGraph
        The graph, in counts of reads.
    min_count : int
        The least multiplicity of its k-mers.
    histogram : (65536,) int64
        Distinct k-mers of each multiplicity.
    n_windows : int
        Windows of k bases in the reads.
    """

    joined: JoinedGraph
    min_count: int
    histogram: np.ndarray
    n_windows: int


def sorted_arcs(
    source: np.ndarray, target: np.ndarray, count: np.ndarray, *, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort arcs by source, then target, into compressed rows: (n_rows + 1,) int64, (m,) int32, (m,) int64."""
    arc_start = np.zeros(n_rows + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=n_rows), out=arc_start[1:])
    arc_to, arc_count = np.empty(source.size, np.int32), np.empty(source.size, np.int64)
    _insert_arcs(source, target, count, arc_start, arc_to, arc_count)
    return arc_start, arc_to, arc_count


@signatures(
    "int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1]",
    "int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int64[::1]",
)
@compiled()
def _insert_arcs(source, target, count, arc_start, arc_to, arc_count):
    end = arc_start[:-1].copy()
    for i in range(source.size):
        row = source[i]
        insert_arc(arc_start[row], end[row], target[i], count[i], arc_to, arc_count)
        end[row] += 1


@inlined()
def insert_arc(first, end, to, count, arc_to, arc_count):
    """Insert an arc into a row that is sorted by target, from ``first`` to ``end``: few arcs leave a unitig."""
    while end > first and arc_to[end - 1] > to:
        arc_to[end], arc_count[end] = arc_to[end - 1], arc_count[end - 1]
        end -= 1
    arc_to[end], arc_count[end] = to, count


def oriented_codes(graph: UnitigGraph, oriented: int) -> np.ndarray:
    """Return the bases of an oriented unitig."""
    u = oriented >> 1
    codes = graph.bases[graph.start[u] : graph.start[u + 1]]
    return 3 - codes[::-1] if oriented & 1 else codes


def last_codes(graph: UnitigGraph, oriented: int, n: int) -> np.ndarray:
    """Return the last n > 0 bases of an oriented unitig, or all if it has fewer."""
    u = oriented >> 1
    codes = graph.bases[graph.start[u] : graph.start[u + 1]]
    return 3 - codes[:n][::-1] if oriented & 1 else codes[-n:]


@compiled()
def copy_oriented(source, first, n, is_flipped, target, at):
    """Copy n bases from ``first`` to ``at``, or their reverse complement.

    Indices are unsigned: the compiler does not vectorise loops whose indices may be negative.
    """
    last, to = np.uint64(first + n - 1), np.uint64(at)
    if is_flipped:
        for i in range(np.uint64(n)):
            target[to + i] = np.uint8(3) - source[last - i]
    else:
        begin = np.uint64(first)
        for i in range(np.uint64(n)):
            target[to + i] = source[begin + i]
