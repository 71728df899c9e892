"""Carried unitigs and flanks as text, and at each base the name of the k-mer that begins there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.flanks import Flanks
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


def spell(level: Level, carried: np.ndarray, flanks: Flanks, *, k: int) -> Spelled:
    """Spell carried unitigs and, after them, flanks.

    A circle goes once round and k bases on, so that no window or edge of the next k is missing. A flank is the last k
    bases of its source and what the unitigs that it goes along add.

    Parameters
    ----------
    level
        The level of the unitigs.
    carried
        Numbers of unitigs.
    flanks
        Ways on from these.
    k
        The next k.
    """
    xp, graph = array_namespace(level.strand), level.graph
    length = np.where(graph.is_circular[carried], graph.n_kmers[carried] + k, graph.length[carried])
    start, spelled = np.concatenate([[0], np.cumsum(length)]).astype(np.int64), _spell_flanks(graph, flanks, k)
    n, n_of_flanks = int(start[-1]), int(spelled.start[-1])
    words = xp.zeros((n + n_of_flanks) // BASES_PER_WORD + 2, np.uint64)
    names = xp.full(BASES_PER_WORD * words.size, -1, np.int32)
    _spell_unitigs(level, carried, start, (words, names))
    slot, used = divmod(n, BASES_PER_WORD)
    words[slot:] |= to_namespace(xp, pack(np.concatenate([np.zeros(used, np.uint8), spelled.bases])))
    window, strand = to_namespace(xp, spelled.window), to_namespace(xp, spelled.strand)
    named = xp.where(window >= 0, 2 * window + (level.strand[xp.maximum(window, 0)] ^ strand), -1)
    names[n : n + n_of_flanks] = named.astype(np.int32)
    return Spelled(words, names, np.concatenate([start, spelled.start[1:] + n]))


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
class _SpelledFlanks:
    """Bases, where each flank starts, and at each base the level's window there (-1: none) and its strand."""

    bases: np.ndarray
    start: np.ndarray
    window: np.ndarray
    strand: np.ndarray


def _spell_flanks(graph: UnitigGraph, flanks: Flanks, k: int) -> _SpelledFlanks:
    """Spell the last k bases of each flank's source and what the unitigs that it goes along add."""
    start = np.concatenate([[0], np.cumsum(k + flanks.added)]).astype(np.int64)
    bases = np.empty(start[-1], np.uint8)
    window, strand = np.full(start[-1], -1, np.int64), np.zeros(start[-1], np.uint8)
    old = (graph.bases, graph.start, np.concatenate([[0], np.cumsum(graph.n_kmers)]), graph.k)
    along = (flanks.source, flanks.unitig, flanks.start)
    _copy_flanks(old, along, k, start, (bases, window, strand))
    return _SpelledFlanks(bases, start, window, strand)


@compiled()
def _copy_flanks(old, along, next_k, start, out):
    source, unitigs, first = along
    bases, _, _ = out
    k = old[3]
    for flank in range(source.size):
        begin, end = start[flank], start[flank + 1]
        n = _n_windows(old, source[flank])
        for i in range(next_k):
            bases[begin + i] = _oriented(old, source[flank], n - 1 + k - next_k + i)
        at = begin + next_k - k + 1
        _name(old, source[flank], n - 1 - (next_k - k), (begin, at, end), out)
        for unitig in unitigs[first[flank] : first[flank + 1]]:
            # One base more for each window, and no more of the last unitig than the flank goes on for.
            last = min(at + _n_windows(old, unitig), end - k + 1)
            _name(old, unitig, 0, (at, last, end), out)
            for i in range(at, last):
                bases[i + k - 1] = _oriented(old, unitig, i - at + k - 1)
            at = last


@compiled()
def _n_windows(old, unitig):
    return old[2][(unitig >> 1) + 1] - old[2][unitig >> 1]


@compiled()
def _name(old, unitig, first, place, out):
    """Write which windows of an oriented unitig, from a certain one on, begin at a range of places."""
    _, window, strand = out
    u, n = unitig >> 1, _n_windows(old, unitig)
    for i in range(place[0], min(place[1], place[2] - old[3] + 1)):
        w = first + i - place[0]
        window[i] = old[2][u] + (n - 1 - w if unitig & 1 else w)
        strand[i] = unitig & 1


@compiled()
def _oriented(old, unitig, i):
    u = unitig >> 1
    if unitig & 1:
        return 3 - old[0][old[1][u + 1] - 1 - i]
    return old[0][old[1][u] + i]
