"""The canonical order and strand of unitigs, and of walks through a graph before their sequence is written.

A unitig is read on the strand whose first k-mer is the lesser text; a circular one starts at its least k-mer. Longer
unitigs come first, then those whose first k-mer is the lesser text, then those that were found first. Walks follow the
same order. Walks of one unitig keep their order, so if the graph is in order only the walks of several unitigs are
sorted, and merged with the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented, sorted_arcs
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.primitives.strand_walks import StrandWalks
from gpuasm.threads import run_chunks

_BASES_PER_KEY = 31
"""Bases of a text in each uint64 sort key."""


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

    def by_old_number(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the windows of each old unitig begin in canonical order, and its strand and rotation.

        ``size`` is the windows of each old unitig.
        """
        new, size = np.empty_like(self.order), size[self.order]
        new[self.order] = np.arange(new.size)
        return (np.cumsum(size) - size)[new], self.is_flipped[new], self.rotation[new]


def canonical_order(bases: np.ndarray, start: np.ndarray, is_circular: np.ndarray, k: int) -> CanonicalOrder:
    """Find the canonical form of unitigs given as in `UnitigGraph`."""
    is_flipped, place = np.zeros(is_circular.size, dtype=bool), np.empty(is_circular.size, np.int64)
    run_chunks(_choose_strands, is_circular.size, bases, start, is_circular, k, is_flipped, place)
    order = _order_by_text(bases, place, is_flipped, k, np.diff(start))
    return CanonicalOrder(order, is_flipped[order], np.where(is_circular, place - start[:-1], 0)[order])


@signatures("int64, int64, uint8[::1], int64[::1], boolean[::1], int64, boolean[::1], int64[::1]")
@compiled()
def _choose_strands(first, last, bases, start, is_circular, k, is_flipped, place):
    """Find the least k-mer that each unitig may start with."""
    for u in range(first, last):
        place[u], final = start[u], start[u + 1] - k
        # A linear unitig starts with its first k-mer, or with the reverse complement of its last one.
        for window in range(start[u] if is_circular[u] else final, final + 1):
            for strand in range(0 if is_circular[u] else 1, 2):
                if _compare_kmers(bases, window, strand, place[u], is_flipped[u], k) < 0:
                    place[u], is_flipped[u] = window, strand == 1


def apply_order(graph: UnitigGraph, canonical: CanonicalOrder) -> UnitigGraph:
    """Return the graph with its unitigs renumbered, flipped and rotated into canonical order."""
    order, flip = canonical.order, canonical.is_flipped
    start = np.concatenate([[0], np.cumsum(graph.length[order])])
    bases = np.empty_like(graph.bases)
    old = graph.bases, graph.start, graph.is_circular
    run_chunks(_copy_bases, graph.n, *old, order, flip, canonical.rotation, graph.k, start, bases)
    new_of_old = np.empty(2 * graph.n, np.int64)
    new_of_old[2 * order] = 2 * np.arange(graph.n) + flip
    new_of_old[2 * order + 1] = new_of_old[2 * order] ^ 1
    rows = sorted_arcs(new_of_old[graph.arc_from], new_of_old[graph.arc_to], graph.arc_count, n_rows=2 * graph.n)
    return UnitigGraph(graph.k, bases, start, graph.count[order], graph.is_circular[order], *rows, graph.unit)


@signatures(
    "int64, int64, uint8[::1], int64[::1], boolean[::1], int64[::1], boolean[::1], int64[::1], int64, int64[::1], "
    "uint8[::1]"
)
@compiled()
def _copy_bases(first, last, old, old_start, is_circular, order, flip, rotation, k, start, bases):
    for u in range(first, last):
        o = order[u]
        begin, length, turn = old_start[o], old_start[o + 1] - old_start[o], rotation[u]
        if flip[u]:  # the new first window is the old window `turn`, reverse-complemented
            turn = turn if is_circular[o] else length - k
            copy_oriented(old, begin, turn + k, flip[u], bases, start[u])
            copy_oriented(old, begin + turn + 1, length - k - turn, flip[u], bases, start[u] + turn + k)
        else:
            copy_oriented(old, begin + turn, length - turn, flip[u], bases, start[u])
            copy_oriented(old, begin + k - 1, turn, flip[u], bases, start[u] + length - turn)


def order_walks(graph: UnitigGraph, walks: StrandWalks, *, n_in_order: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the canonical order of walks through unitigs of a graph, and which are then read on their other strand.

    They are (n,) int64 and, in that order, (n,) bool. The first ``n_in_order`` walks are single unitigs, in canonical
    form and order.
    """
    n, m = walks.start.size - 1, n_in_order
    place, is_reversed, is_flipped = np.empty(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    text, length = (graph.bases, graph.start, graph.k), np.zeros(n, np.int64)  # in k-mers
    place[:m], length[:m] = graph.start[walks.path[:m] >> 1], graph.n_kmers[walks.path[:m] >> 1]
    columns = place[m:], is_reversed[m:], is_flipped[m:], length[m:]
    run_chunks(_choose_walk_strands, n - m, walks.path, walks.start[m:], *text, *columns)
    known = length, graph.bases, place, is_reversed, graph.k
    if m:
        alone, joined = np.arange(m), np.arange(m, n)
    else:
        is_alone, is_in_order = np.diff(walks.start) == 1, np.ones(1, np.bool_)
        alone, joined = np.flatnonzero(is_alone), np.flatnonzero(~is_alone)
        run_chunks(_check_order, alone.size, alone, *known, is_in_order)
        if not is_in_order[0]:
            order = _order_by_text(graph.bases, place, is_reversed, graph.k, length)
            return order, is_flipped[order]
    joined = joined[_order_by_text(graph.bases, place[joined], is_reversed[joined], graph.k, length[joined])]
    insertion = np.empty(joined.size, np.int64)
    run_chunks(_find_insertion_places, joined.size, joined, alone, *known, insertion)
    order = np.insert(alone, insertion, joined)
    return order, is_flipped[order]


@signatures(
    "int64, int64, int32[::1], int64[::1], uint8[::1], int64[::1], int64, int64[::1], boolean[::1], boolean[::1], "
    "int64[::1]"
)
@compiled()
def _choose_walk_strands(first, last, path, walk_start, bases, start, k, place, is_reversed, is_flipped, length):
    """Find the first k-mer of each walk, on the strand on which it is the lesser text, and count its k-mers."""
    for walk in range(first, last):
        one, other = path[walk_start[walk]], path[walk_start[walk + 1] - 1] ^ 1
        here, there = _first_kmer(one, start, k), _first_kmer(other, start, k)
        is_flipped[walk] = _compare_kmers(bases, there, other & 1, here, one & 1, k) < 0
        place[walk] = there if is_flipped[walk] else here
        is_reversed[walk] = (other if is_flipped[walk] else one) & 1 == 1
        for oriented in path[walk_start[walk] : walk_start[walk + 1]]:
            length[walk] += start[(oriented >> 1) + 1] - start[oriented >> 1] - k + 1


@inlined()
def _first_kmer(oriented, start, k):
    """Return the place of the first k-mer of an oriented unitig."""
    return start[(oriented >> 1) + 1] - k if oriented & 1 else start[oriented >> 1]


@compiled()
def _is_before(one, other, length, bases, place, is_reversed, k):
    """Return whether a walk comes before another one."""
    if length[one] != length[other]:
        return length[one] > length[other]
    difference = _compare_kmers(bases, place[one], is_reversed[one], place[other], is_reversed[other], k)
    return difference < 0 or (difference == 0 and one < other)


@signatures("int64, int64, int64[::1], int64[::1], uint8[::1], int64[::1], boolean[::1], int64, boolean[::1]")
@compiled()
def _check_order(first, last, walks, length, bases, place, is_reversed, k, is_in_order):
    for i in range(max(first, 1), last):
        if not _is_before(walks[i - 1], walks[i], length, bases, place, is_reversed, k):
            is_in_order[0] = False  # all threads write the same value


@signatures("int64, int64, int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], boolean[::1], int64, int64[::1]")
@compiled()
def _find_insertion_places(first, last, walks, among, length, bases, place, is_reversed, k, insertion):
    """Count how many of the ordered walks come before each walk."""
    for i in range(first, last):
        low, high = 0, among.size
        while low < high:
            middle = (low + high) // 2
            if _is_before(among[middle], walks[i], length, bases, place, is_reversed, k):
                low = middle + 1
            else:
                high = middle
        insertion[i] = low


def _order_by_text(
    bases: np.ndarray, place: np.ndarray, is_reversed: np.ndarray, k: int, length: np.ndarray
) -> np.ndarray:
    """Order texts by descending length, then by their first k-mers, then by number: (n,) int64.

    The first k-mer of a text is at ``place`` in ``bases``; if ``is_reversed``, it is the reverse complement.
    """
    keys = np.zeros((-(-k // _BASES_PER_KEY), place.size), np.uint64)
    run_chunks(_write_keys, place.size, bases, place, is_reversed, k, keys)
    return np.lexsort((*keys[::-1], -length))


@signatures("int64, int64, uint8[::1], int64[::1], boolean[::1], int64, uint64[:, ::1]")
@compiled()
def _write_keys(first, last, bases, place, is_reversed, k, keys):
    for text in range(first, last):
        for i in range(k):
            key, base = i // _BASES_PER_KEY, _base_of_kmer(bases, place[text], is_reversed[text], i, k)
            keys[key, text] = (keys[key, text] << np.uint64(2)) | np.uint64(base)


@compiled()
def _compare_kmers(bases, one, one_is_reversed, other, other_is_reversed, k):
    """Compare two k-mers at places of ``bases``: negative if the first is less, 0 if they are equal."""
    for i in range(k):
        own = _base_of_kmer(bases, one, one_is_reversed, i, k)
        difference = own - _base_of_kmer(bases, other, other_is_reversed, i, k)
        if difference != 0:
            return difference
    return 0


@inlined()
def _base_of_kmer(bases, place, is_reversed, i, k):
    """Return base i (int64) of the k-mer at a place, or of its reverse complement."""
    return 3 - np.int64(bases[place + k - 1 - i]) if is_reversed else np.int64(bases[place + i])
