"""Carried unitigs and flanks as text, and at each base the name of the k-mer that begins there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.levels import Level
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled, for_each
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import BASES_PER_WORD, pack


@dataclass(frozen=True)
class Spelled:
    """Packed text of several pieces, end to end.

    Attributes
    ----------
    words : (n // 32 + 2,) uint64
        n bases, then zeros.
    names : (32 * n_words,) int32
        Oriented names of the level's k-mers at every base, -1 where none begins.
    start : (n_pieces + 1,) int64
        Where each piece begins, on the host.
    """

    words: Array
    names: Array
    start: np.ndarray


def spell(level: Level, carried: np.ndarray, arcs: np.ndarray, *, k: int) -> Spelled:
    """Spell carried unitigs and, after them, flanks.

    A circle goes once round and k bases on, so that no window or edge of the next k is missing. A flank is the last k
    bases of its arc's source and what its target adds up to its own k-th base, or to its end.

    Parameters
    ----------
    level
        The level of the unitigs and arcs.
    carried, arcs
        Numbers of unitigs and arcs.
    k
        The next k.
    """
    xp, graph = array_namespace(level.strand), level.graph
    length = np.where(graph.is_circular[carried], graph.n_kmers[carried] + k, graph.length[carried])
    start, flanks = np.concatenate([[0], np.cumsum(length)]).astype(np.int64), _spell_flanks(graph, arcs, k)
    n, n_of_flanks = int(start[-1]), int(flanks.start[-1])
    words = xp.zeros((n + n_of_flanks) // BASES_PER_WORD + 2, np.uint64)
    names = xp.full(BASES_PER_WORD * words.size, -1, np.int32)
    _spell_unitigs(level, carried, start, (words, names))
    slot, used = divmod(n, BASES_PER_WORD)
    words[slot:] |= to_namespace(xp, pack(np.concatenate([np.zeros(used, np.uint8), flanks.bases])))
    window, strand = to_namespace(xp, flanks.window), to_namespace(xp, flanks.strand)
    named = xp.where(window >= 0, 2 * window + (level.strand[xp.maximum(window, 0)] ^ strand), -1)
    names[n : n + n_of_flanks] = named.astype(np.int32)
    return Spelled(words, names, np.concatenate([start, flanks.start[1:] + n]))


def _spell_unitigs(level: Level, carried: np.ndarray, start: np.ndarray, out: tuple[Array, Array]) -> None:
    xp, graph, n = array_namespace(level.strand), level.graph, int(start[-1])
    windows = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    rows = (start, carried, graph.bases, graph.start, windows, graph.is_circular)
    n_words = -(-n // BASES_PER_WORD)
    _spell(n_words, *(to_namespace(xp, row) for row in rows), graph.k, level.strand, carried.size, n, *out)


@for_each
def _spell(
    word, start, carried, old_bases, old_start, window_start, is_circular, k, strand, n_carried, n, words, names
):  # fmt: skip
    first = BASES_PER_WORD * np.int64(word)
    last = min(first + BASES_PER_WORD, n)
    c, bases = run_of(first, start, n_carried), np.uint64(0)
    for i in range(first, last):
        while i >= start[c + 1]:
            c += 1
        u, offset = carried[c], i - start[c]
        n_windows = window_start[u + 1] - window_start[u]
        at = offset % n_windows if is_circular[u] else offset
        bases |= np.uint64(old_bases[old_start[u] + at]) << np.uint64(62 - 2 * (i - first))
        if i <= start[c + 1] - k:
            window = window_start[u] + at
            names[i] = 2 * window + strand[window]
    words[word] = bases


@dataclass(frozen=True)
class _Flanks:
    """Bases, where each flank starts, and at each base the level's window there (-1: none) and its strand."""

    bases: np.ndarray
    start: np.ndarray
    window: np.ndarray
    strand: np.ndarray


def _spell_flanks(graph: UnitigGraph, arcs: np.ndarray, k: int) -> _Flanks:
    """Spell the last k bases of each arc's source and what its target adds up to its own k-th base, or to its end."""
    added = np.minimum(graph.n_kmers[graph.arc_to[arcs] >> 1], k - graph.k + 1)
    start = np.concatenate([[0], np.cumsum(k + added)]).astype(np.int64)
    bases = np.empty(start[-1], np.uint8)
    window, strand = np.full(start[-1], -1, np.int64), np.zeros(start[-1], np.uint8)
    old = (graph.bases, graph.start, np.concatenate([[0], np.cumsum(graph.n_kmers)]), graph.k)
    _copy_flanks(old, (graph.arc_from[arcs], graph.arc_to[arcs]), k, start, (bases, window, strand))
    return _Flanks(bases, start, window, strand)


@compiled()
def _copy_flanks(old, arcs, next_k, start, out):
    bases, window, strand = out
    k = old[3]
    for arc in range(arcs[0].size):
        source, target = arcs[0][arc], arcs[1][arc]
        source_windows = old[2][(source >> 1) + 1] - old[2][source >> 1]
        length = start[arc + 1] - start[arc]
        for i in range(length):
            # Up to window next_k - k the flank runs along the source's end, then along the target's beginning.
            along_source = i <= next_k - k
            unitig = source if along_source else target
            w = source_windows - 1 - (next_k - k) + i if along_source else i - (next_k - k) - 1
            u = unitig >> 1
            n = old[2][u + 1] - old[2][u]
            at = start[arc] + i
            if i <= length - k:
                window[at] = old[2][u] + (n - 1 - w if unitig & 1 else w)
                strand[at] = unitig & 1
            if i < next_k:
                bases[at] = _oriented(old, source, source_windows - 1 + k - next_k + i)
            else:
                bases[at] = _oriented(old, target, i - next_k + k - 1)


@compiled()
def _oriented(old, unitig, i):
    u = unitig >> 1
    if unitig & 1:
        return 3 - old[0][old[1][u + 1] - 1 - i]
    return old[0][old[1][u] + i]
