"""The unitig graph: maximal unbranching paths and the arcs between them, in one canonical order.

Oriented unitig 2u + s is unitig u read on strand s; its twin is ``^ 1``. In canonical form each unitig is read on the
strand whose first k-mer is the lesser text, and starts at its least k-mer if it is circular; longer unitigs come first,
then the lesser text. The form does not depend on how k-mers were numbered, so all devices yield the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.parallel import compiled, run_chunks, signatures
from gpuasm.sequence.encoding import decode

BASES_PER_KEY = 31
"""Bases of a text in each uint64 sort key."""


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


@dataclass(frozen=True)
class CanonicalOrder:
    """The order, strand and rotation of each unitig in canonical form.

    Attributes
    ----------
    order : (n,) int64
        Old number of each new unitig.
    is_flipped : (n,) bool, by new number
        Whether the new unitig is the reverse complement of the old.
    rotation : (n,) int64, by new number
        For circular unitigs, the old window at which the new unitig starts, counted on the old strand.
    """

    order: np.ndarray
    is_flipped: np.ndarray
    rotation: np.ndarray


def canonical_order(bases: np.ndarray, start: np.ndarray, is_circular: np.ndarray, k: int) -> CanonicalOrder:
    """Find the canonical form of unitigs given as in `UnitigGraph`."""
    n = is_circular.size
    is_flipped, rotation = np.zeros(n, dtype=bool), np.zeros(n, np.int64)
    n_keys = -(-k // BASES_PER_KEY)
    keys = np.zeros((n_keys, n), np.uint64)
    run_chunks(_choose_strands, n, bases, start, is_circular, k, is_flipped, rotation, keys)
    order = np.lexsort((*keys[::-1], -np.diff(start)))
    return CanonicalOrder(order, is_flipped[order], rotation[order])


@signatures("int64, int64, uint8[::1], int64[::1], boolean[::1], int64, boolean[::1], int64[::1], uint64[:, ::1]")
@compiled()
def _choose_strands(first, last, bases, start, is_circular, k, is_flipped, rotation, keys):
    for u in range(first, last):
        windows = start[u + 1] - start[u] - k + 1
        best, best_strand = start[u], 0
        if is_circular[u]:
            for w in range(windows):
                for strand in range(2):
                    if _is_less(bases, start[u] + w, strand, best, best_strand, k):
                        best, best_strand = start[u] + w, strand
            rotation[u] = best - start[u]
        elif _is_less(bases, start[u + 1] - k, 1, best, 0, k):
            best, best_strand = start[u + 1] - k, 1
        is_flipped[u] = best_strand == 1
        for i in range(k):
            code = bases[best + i] if best_strand == 0 else 3 - bases[best + k - 1 - i]
            key = i // BASES_PER_KEY
            keys[key, u] = (keys[key, u] << np.uint64(2)) | np.uint64(code)


@compiled()
def _is_less(bases, a, a_strand, b, b_strand, k):
    for i in range(k):
        x = bases[a + i] if a_strand == 0 else 3 - bases[a + k - 1 - i]
        y = bases[b + i] if b_strand == 0 else 3 - bases[b + k - 1 - i]
        if x != y:
            return x < y
    return False


def apply_order(graph: UnitigGraph, canonical: CanonicalOrder) -> UnitigGraph:
    """Return the graph with its unitigs renumbered, flipped and rotated into canonical order."""
    order, flip = canonical.order, canonical.is_flipped
    start = np.concatenate([[0], np.cumsum(graph.length[order])])
    bases = np.empty_like(graph.bases)
    old = graph.bases, graph.start, graph.is_circular
    run_chunks(_copy_bases, graph.n, *old, order, flip, canonical.rotation, graph.k, start, bases)
    new_of_old = np.empty(2 * graph.n, np.int64)
    new_number = np.arange(graph.n)
    new_of_old[2 * order] = 2 * new_number + flip
    new_of_old[2 * order + 1] = 2 * new_number + 1 - flip
    arc_start, arc_to, arc_count = sorted_arcs(
        new_of_old[graph.arc_from], new_of_old[graph.arc_to], graph.arc_count, n_rows=2 * graph.n
    )
    return UnitigGraph(
        graph.k, bases, start, graph.count[order], graph.is_circular[order], arc_start, arc_to, arc_count, graph.unit
    )


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
    """Sort arcs into their rows by insertion: few arcs leave a unitig."""
    end = arc_start[:-1].copy()
    for i in range(source.size):
        row, to = source[i], target[i]
        at = end[row]
        end[row] = at + 1
        while at > arc_start[row] and arc_to[at - 1] > to:
            arc_to[at], arc_count[at] = arc_to[at - 1], arc_count[at - 1]
            at -= 1
        arc_to[at], arc_count[at] = to, count[i]


def oriented_codes(graph: UnitigGraph, oriented: int) -> np.ndarray:
    """Return the bases of an oriented unitig."""
    u = oriented >> 1
    codes = graph.bases[graph.start[u] : graph.start[u + 1]]
    return 3 - codes[::-1] if oriented & 1 else codes


def last_codes(graph: UnitigGraph, oriented: int, n: int) -> np.ndarray:
    """Return the last n bases of an oriented unitig, or all if it has fewer."""
    u, is_reversed = oriented >> 1, oriented & 1
    begin, end = int(graph.start[u]), int(graph.start[u + 1])
    if is_reversed:
        return 3 - graph.bases[begin : min(end, begin + n)][::-1]
    return graph.bases[max(begin, end - n) : end]


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


@signatures(
    "int64, int64, uint8[::1], int64[::1], boolean[::1], int64[::1], boolean[::1], int64[::1], int64, int64[::1], "
    "uint8[::1]"
)
@compiled()
def _copy_bases(first, last, old, old_start, is_circular, order, flip, rotation, k, start, bases):
    for u in range(first, last):
        o = order[u]
        length = old_start[o + 1] - old_start[o]
        if not is_circular[o]:
            copy_oriented(old, old_start[o], length, flip[u], bases, start[u])
            continue
        windows = length - k + 1
        for i in range(length):
            if flip[u]:  # the new first window is the old window `rotation`, reverse-complemented
                bases[start[u] + i] = 3 - old[old_start[o] + (rotation[u] + k - 1 - i) % windows]
            else:
                bases[start[u] + i] = old[old_start[o] + (rotation[u] + i) % windows]
