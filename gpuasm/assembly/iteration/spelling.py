"""Spelling: the flanks of passed contigs, and the packed bases near ends of contigs and of flanks.

A flank is the edge from a passed contig to a neighbour. A neighbour that is too short for the next k has no window of
its own there, but ends the flank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.encoding import BASES_PER_WORD, pack


@dataclass(frozen=True)
class Flanks:
    """Edges of passed contigs, all on the host.

    Attributes
    ----------
    source, target : (n,) int64
        The oriented unitig at which each begins, and the one at which it ends.
    added : (n,) int64
        Bases after the source: to the end of the target's first window, or of the target.
    reaches_passed : (n,) bool
        Whether the target is a passed contig, which then contains the last window of the flank.
    count, depth : (n,) int64 and float64
        Count of its arc, in units, and the lesser depth of its two unitigs.
    """

    source: np.ndarray
    target: np.ndarray
    added: np.ndarray
    reaches_passed: np.ndarray
    count: np.ndarray
    depth: np.ndarray

    def without(self, is_removed: np.ndarray) -> Flanks:
        """Return the flanks that are not removed; ``is_removed`` is (n,) bool."""
        return Flanks(**{name: column[~is_removed] for name, column in vars(self).items()})


def find_flanks(graph: UnitigGraph, is_passed: np.ndarray, *, k: int) -> Flanks:
    """Find the flanks of the (n,) unitigs that are passed to the next k, in the order of their arcs.

    Of a flank between two passed contigs and its mirror image one is returned.
    """
    arcs = np.flatnonzero(is_passed[graph.arc_from >> 1])
    arcs = arcs[~is_passed[graph.arc_to[arcs] >> 1] | (graph.arc_from[arcs] <= graph.arc_to[arcs] ^ 1)]
    source, target = (own[arcs].astype(np.int64) for own in (graph.arc_from, graph.arc_to))
    reaches_passed = is_passed[target >> 1]
    return Flanks(
        source=source,
        target=target,
        added=np.where(reaches_passed, k - graph.k + 1, graph.n_kmers[target >> 1]),
        reaches_passed=reaches_passed,
        count=graph.arc_count[arcs],
        depth=np.minimum(graph.depth[source >> 1], graph.depth[target >> 1]),
    )


@dataclass(frozen=True)
class SpelledSegments:
    """Packed bases of several segments, end to end.

    Attributes
    ----------
    packed : (n // 32 + 2,) uint64
        n bases, then zeros.
    names : (32 * packed.size,) int32
        Oriented names of the graph's k-mers at every base, -1 where none begins.
    start : (n_segments + 1,) int64
        Where each segment begins, on the host.
    contig : (n_ends,) int64
        Of each end of a contig, which come before the flanks: the index of its contig among the passed ones.
    """

    packed: Array
    names: Array
    start: np.ndarray
    contig: np.ndarray


def spell_passed(kmer_graph: KmerGraph, passed: np.ndarray, flanks: Flanks, *, k: int) -> SpelledSegments:
    """Spell the first and the last window of passed contigs and, after them, flanks.

    Of a contig of one window there is one segment, of the others two. The last window of a circular contig is followed
    by one base, so that the edge to its first window is present. A flank is the last k bases of its source and the
    bases that its target adds.

    Parameters
    ----------
    kmer_graph
        The k-mer graph of the unitigs.
    passed
        Numbers of the unitigs that are passed.
    flanks
        Their continuations.
    k
        The next k.
    """
    xp, graph = array_namespace(kmer_graph.rows.blocks), kmer_graph.graph
    contig = np.repeat(np.arange(passed.size), np.minimum(n_next_windows(graph, k)[passed], 2))
    ends, spelled = _spell_ends(graph, passed[contig], k), _spell_flanks(graph, flanks, k)
    bases, window, strand = (np.concatenate(pair) for pair in zip(ends[1:], spelled[1:], strict=True))
    packed = to_namespace(xp, pack(bases))
    names = xp.full(BASES_PER_WORD * packed.size, -1, np.int32)
    window, strand = to_namespace(xp, window), to_namespace(xp, strand)
    named = xp.where(window >= 0, 2 * window + strand, -1)
    names[: bases.size] = named.astype(np.int32)
    return SpelledSegments(packed, names, np.concatenate([ends[0], spelled[0][1:] + ends[0][-1]]), contig)


def n_next_windows(graph: UnitigGraph, k: int) -> np.ndarray:
    """Return how many windows of the next k each unitig has, (n,) int64; 0 for unitigs that are too short."""
    n = np.where(graph.is_circular, graph.n_kmers, graph.length - (k - 1))
    return np.where(np.where(graph.is_circular, graph.n_kmers, graph.length) >= k, n, 0)


_Spelled = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Where each segment starts, the bases, and at each base the number of the window there (-1: none) and its strand."""


def _spell_ends(graph: UnitigGraph, unitig: np.ndarray, k: int) -> _Spelled:
    """Spell one window of each unitig, its first; where a unitig is repeated, its last at the second time."""
    is_last = np.diff(unitig, prepend=-1) == 0
    start = np.concatenate([[0], np.cumsum(k + (is_last & graph.is_circular[unitig]))]).astype(np.int64)
    out = np.empty(start[-1], np.uint8), np.full(start[-1], -1, np.int64), np.zeros(start[-1], np.uint8)
    begin = np.where(is_last, n_next_windows(graph, k)[unitig] - 1, 0)
    _copy_ends(_old(graph), unitig, begin, start, out[:2])
    return start, *out


def _spell_flanks(graph: UnitigGraph, flanks: Flanks, k: int) -> _Spelled:
    """Spell the last k bases of each flank's source and the bases that its target adds."""
    start = np.concatenate([[0], np.cumsum(k + flanks.added)]).astype(np.int64)
    out = np.empty(start[-1], np.uint8), np.full(start[-1], -1, np.int64), np.zeros(start[-1], np.uint8)
    _copy_flanks(_old(graph), (flanks.source, flanks.target), k, start, out)
    return start, *out


def _old(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    return graph.bases, graph.start, graph.window_start, graph.k


@signatures(
    "Tuple((uint8[::1], int64[::1], int64[::1], int64, )), int64[::1], int64[::1], int64[::1], "
    "Tuple((uint8[::1], int64[::1], ))"
)
@compiled()
def _copy_ends(old, unitig, begin, start, out):
    """Copy bases from one position of each unitig on; a circular unitig continues with its first window."""
    old_bases, old_start, old_windows, k = old
    bases, window = out
    for i in range(unitig.size):
        u, n = unitig[i], start[i + 1] - start[i]
        n_windows = old_windows[u + 1] - old_windows[u]
        for j in range(n):
            at = begin[i] + j
            if at >= old_start[u + 1] - old_start[u]:
                at -= n_windows
            bases[start[i] + j] = old_bases[old_start[u] + at]
            if j <= n - k:
                window[start[i] + j] = old_windows[u] + (begin[i] + j) % n_windows


@signatures(
    "Tuple((uint8[::1], int64[::1], int64[::1], int64, )), Tuple((int64[::1], int64[::1], )), int64, "
    "int64[::1], Tuple((uint8[::1], int64[::1], uint8[::1], ))"
)
@compiled()
def _copy_flanks(old, flanks, next_k, start, out):
    source, target = flanks
    bases, _, _ = out
    k = old[3]
    for flank in range(source.size):
        begin, end = start[flank], start[flank + 1]
        n = _n_windows(old, source[flank])
        for i in range(next_k):
            bases[begin + i] = _oriented_base(old, source[flank], n - 1 + k - next_k + i)
        at = begin + next_k - k + 1
        _name_windows(old, source[flank], n - 1 - (next_k - k), (begin, at, end), out)
        # Each window adds one base; of the target only the bases within the flank are copied.
        last = min(at + _n_windows(old, target[flank]), end - k + 1)
        _name_windows(old, target[flank], 0, (at, last, end), out)
        for i in range(at, last):
            bases[i + k - 1] = _oriented_base(old, target[flank], i - at + k - 1)


@compiled()
def _n_windows(old, unitig):
    return old[2][(unitig >> 1) + 1] - old[2][unitig >> 1]


@compiled()
def _name_windows(old, unitig, first, place, out):
    """Write the windows of an oriented unitig, from window ``first`` on, that begin at a range of positions."""
    _, window, strand = out
    u, n = unitig >> 1, _n_windows(old, unitig)
    for i in range(place[0], min(place[1], place[2] - old[3] + 1)):
        w = first + i - place[0]
        window[i] = old[2][u] + (n - 1 - w if unitig & 1 else w)
        strand[i] = unitig & 1


@compiled()
def _oriented_base(old, unitig, i):
    u = unitig >> 1
    if unitig & 1:
        return 3 - old[0][old[1][u + 1] - 1 - i]
    return old[0][old[1][u] + i]
