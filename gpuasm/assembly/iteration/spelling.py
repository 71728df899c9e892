"""Spelling: pack the bases of passed contigs and flanks, with the name of the k-mer that begins at each base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.iteration.flanks import Flanks
from gpuasm.parallel import compiled, for_each, signatures
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import BASES_PER_WORD, pack


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
    """

    packed: Array
    names: Array
    start: np.ndarray


def spell_passed(kmer_graph: KmerGraph, passed: np.ndarray, flanks: Flanks, *, k: int) -> SpelledSegments:
    """Spell passed contigs and, after them, flanks.

    A circular contig is spelled once, and then its first k bases again, so that each window and edge of the next k is
    present. A flank is the last k bases of its source and the bases that the unitigs along it add.

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
    xp, graph = array_namespace(kmer_graph.strand), kmer_graph.graph
    length = np.where(graph.is_circular[passed], graph.n_kmers[passed] + k, graph.length[passed])
    start, spelled = np.concatenate([[0], np.cumsum(length)]).astype(np.int64), _spell_flanks(graph, flanks, k)
    n, n_of_flanks = int(start[-1]), int(spelled.start[-1])
    packed = xp.zeros((n + n_of_flanks) // BASES_PER_WORD + 2, np.uint64)
    names = xp.full(BASES_PER_WORD * packed.size, -1, np.int32)
    _spell_unitigs(kmer_graph, passed, start, (packed, names))
    slot, used = divmod(n, BASES_PER_WORD)
    packed[slot:] |= to_namespace(xp, pack(np.concatenate([np.zeros(used, np.uint8), spelled.bases])))
    window, strand = to_namespace(xp, spelled.window), to_namespace(xp, spelled.strand)
    named = xp.where(window >= 0, 2 * window + (kmer_graph.strand[xp.maximum(window, 0)] ^ strand), -1)
    names[n : n + n_of_flanks] = named.astype(np.int32)
    return SpelledSegments(packed, names, np.concatenate([start, spelled.start[1:] + n]))


def _spell_unitigs(kmer_graph: KmerGraph, passed: np.ndarray, start: np.ndarray, out: tuple[Array, Array]) -> None:
    xp, graph, n = array_namespace(kmer_graph.strand), kmer_graph.graph, int(start[-1])
    windows = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    rows = (start, passed, graph.bases, graph.start, windows, graph.is_circular)
    n_blocks = -(-n // BASES_PER_WORD)
    _pack_unitigs(n_blocks, *(to_namespace(xp, row) for row in rows), graph.k, kmer_graph.strand, passed.size, n, *out)


@signatures(
    "int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], boolean[::1], int64, uint8[::1], int64, int64, "
    "uint64[::1], int32[::1]"
)
@for_each
def _pack_unitigs(
    block, start, passed, old_bases, old_start, window_start, is_circular, k, strand, n_passed, n, packed, names
):  # fmt: skip
    first = BASES_PER_WORD * np.int64(block)
    last = min(first + BASES_PER_WORD, n)
    c, bases = run_of(first, start, n_passed), np.uint64(0)
    for i in range(first, last):
        while i >= start[c + 1]:
            c += 1
        u, offset = passed[c], i - start[c]
        n_windows = window_start[u + 1] - window_start[u]
        at = offset % n_windows if is_circular[u] else offset
        bases |= np.uint64(old_bases[old_start[u] + at]) << np.uint64(62 - 2 * (i - first))
        if i <= start[c + 1] - k:
            window = window_start[u] + at
            names[i] = 2 * window + strand[window]
    packed[block] = bases


@dataclass(frozen=True)
class _SpelledFlanks:
    """Bases, where each flank starts, and at each base the number of the window there (-1: none) and its strand."""

    bases: np.ndarray
    start: np.ndarray
    window: np.ndarray
    strand: np.ndarray


def _spell_flanks(graph: UnitigGraph, flanks: Flanks, k: int) -> _SpelledFlanks:
    """Spell the last k bases of each flank's source and the bases that the unitigs along it add."""
    start = np.concatenate([[0], np.cumsum(k + flanks.added)]).astype(np.int64)
    bases = np.empty(start[-1], np.uint8)
    window, strand = np.full(start[-1], -1, np.int64), np.zeros(start[-1], np.uint8)
    old = (graph.bases, graph.start, np.concatenate([[0], np.cumsum(graph.n_kmers)]), graph.k)
    along = (flanks.source, flanks.unitig, flanks.start)
    _copy_flanks(old, along, k, start, (bases, window, strand))
    return _SpelledFlanks(bases, start, window, strand)


@signatures(
    "Tuple((uint8[::1], int64[::1], int64[::1], int64, )), Tuple((int64[::1], int64[::1], int64[::1], )), int64, "
    "int64[::1], Tuple((uint8[::1], int64[::1], uint8[::1], ))"
)
@compiled()
def _copy_flanks(old, along, next_k, start, out):
    source, unitigs, first = along
    bases, _, _ = out
    k = old[3]
    for flank in range(source.size):
        begin, end = start[flank], start[flank + 1]
        n = _n_windows(old, source[flank])
        for i in range(next_k):
            bases[begin + i] = _oriented_base(old, source[flank], n - 1 + k - next_k + i)
        at = begin + next_k - k + 1
        _name_windows(old, source[flank], n - 1 - (next_k - k), (begin, at, end), out)
        for unitig in unitigs[first[flank] : first[flank + 1]]:
            # Each window adds one base; of the last unitig only the bases within the flank are copied.
            last = min(at + _n_windows(old, unitig), end - k + 1)
            _name_windows(old, unitig, 0, (at, last, end), out)
            for i in range(at, last):
                bases[i + k - 1] = _oriented_base(old, unitig, i - at + k - 1)
            at = last


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
