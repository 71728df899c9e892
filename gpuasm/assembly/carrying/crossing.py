"""Reads that cross the junctions of a graph: all that the next k has to look at.

A read that lies within one unitig tells the next graph nothing that the unitig does not: what the next k resolves are
the junctions, and every window across one belongs to a read that leaves its unitig.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.levels import Level
from gpuasm.kmers.rolling import rolled
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE, _THREE = np.uint64(1), np.uint64(3)


@dataclass(frozen=True)
class OnUnitigs:
    """Where reads lie on the unitigs of a level.

    Attributes
    ----------
    contained : (n_pieces,) bool
        Whether the piece lies within one unitig; also where none of its k-mers is in the graph.
    oriented : (n_pieces,) int32
        The oriented unitig along which the piece begins, -1 where none of its k-mers is in the graph.
    base : (n_pieces,) int64
        Where its first base lies on that oriented unitig; before 0 where the unitig begins later.
    last_oriented, last_base : (n_pieces,) int32 and int64
        The same for the unitig along which the piece ends, as its last k-mer in the graph tells.
    """

    contained: Array
    oriented: Array
    base: Array
    last_oriented: Array
    last_base: Array


def find_on_unitigs(reads: Reads, level: Level) -> OnUnitigs:
    """Find where reads lie on the unitigs of a level of plain k, by their first and last k-mer in the graph."""
    xp, n = array_namespace(reads.words), reads.n_pieces
    places = (xp.empty(n, np.int32), xp.empty(n, np.int64), xp.empty(n, np.int32), xp.empty(n, np.int64))
    laid = OnUnitigs(xp.empty(n, dtype=bool), *places)
    d, out = level.dictionary, (laid.contained, *places)
    window_start = to_namespace(xp, np.concatenate([[0], np.cumsum(level.graph.n_kmers)]))
    unitigs = (level.strand, level.unitig_of, window_start)
    _lay(n, reads.start, reads.length, reads.words, d.k, d.keys, d.slots, d.mask, *unitigs, *out)
    return laid


def crossing_reads(reads: Reads, laid: OnUnitigs) -> Reads:
    """Return, packed anew, the reads that do not lie within one unitig."""
    return repack(reads.select(array_namespace(reads.words).flatnonzero(~laid.contained)))


def crossing_named_reads(reads: Reads, names: Array, level: Level) -> Reads:
    """Return the reads, their windows named, that do not lie within one unitig of a level."""
    xp = array_namespace(reads.words)
    contained = xp.empty(reads.n_pieces, dtype=bool)
    k = level.dictionary.k
    _contained_named(reads.n_pieces, reads.start, reads.length, k, names, level.strand, level.unitig_of, contained)
    return reads.select(xp.flatnonzero(~contained))


@for_each
def _contained_named(r, start, length, k, names, strand, unitig_of, contained):
    first = start[r]
    last = start[r] + length[r] - k
    while first <= last and names[first] < 0:
        first += 1
    while first <= last and names[last] < 0:
        last -= 1
    contained[r] = True
    if first < last:
        a, b = np.int64(names[first]), np.int64(names[last])
        a_turned, b_turned = (a & 1) ^ np.int64(strand[a >> 1]), (b & 1) ^ np.int64(strand[b >> 1])
        distance = (a >> 1) - (b >> 1) if a_turned else (b >> 1) - (a >> 1)
        same = unitig_of[a >> 1] == unitig_of[b >> 1] and a_turned == b_turned
        contained[r] = same and distance == last - first


@inlined()
def _on_unitig(name, unitig_of, strand, window_start):
    """Return the oriented unitig that an oriented k-mer lies on, and which of its k-mers it is."""
    number = name >> 1
    unitig = np.int64(unitig_of[number])
    turned = (name & 1) ^ np.int64(strand[number])
    along = number - window_start[unitig]
    if turned:
        along = window_start[unitig + 1] - 1 - number
    return 2 * unitig + turned, along


@for_each
def _lay(
    r,
    start,
    length,
    words,
    k,
    keys,
    slots,
    mask,
    strand,
    unitig_of,
    window_start,
    contained,
    oriented,
    base,
    last_oriented,
    last_base,
):
    contained[r] = True
    oriented[r] = -1
    base[r] = 0
    end = start[r] + length[r]
    forward, backward = np.uint64(0), np.uint64(0)
    a = np.int64(-1)
    first = start[r]
    for p in range(start[r], end):
        forward, backward = rolled(forward, backward, base_at(words, p), k)
        if p - start[r] >= k - 1:
            number = find(min(forward, backward), keys, slots, mask)
            if number >= 0:
                a = 2 * number + (1 if backward < forward else 0)
                first = p - k + 1
                break
    b = np.int64(-1)
    last = first
    if a >= 0:
        oriented[r], along = _on_unitig(a, unitig_of, strand, window_start)
        base[r] = along - (first - start[r])
        forward, backward = np.uint64(0), np.uint64(0)
        for i in range(end - first):
            p = end - 1 - i
            backward, forward = rolled(backward, forward, _THREE - base_at(words, p), k)
            if i >= k - 1:
                number = find(min(forward, backward), keys, slots, mask)
                if number >= 0:
                    b = 2 * number + (1 if backward < forward else 0)
                    last = p
                    break
    last_oriented[r] = oriented[r]
    last_base[r] = base[r]
    if b >= 0:
        last_oriented[r], along = _on_unitig(b, unitig_of, strand, window_start)
        last_base[r] = along - (last - start[r])
    if b >= 0 and last > first:
        a_turned, b_turned = (a & 1) ^ np.int64(strand[a >> 1]), (b & 1) ^ np.int64(strand[b >> 1])
        distance = (a >> 1) - (b >> 1) if a_turned else (b >> 1) - (a >> 1)
        same = unitig_of[a >> 1] == unitig_of[b >> 1] and a_turned == b_turned
        contained[r] = same and distance == last - first


def repack(reads: Reads) -> Reads:
    """Copy the pieces into words of their own, each from a fresh word on, so that the other reads' words can go."""
    xp = array_namespace(reads.words)
    n_words = (reads.length.astype(np.int64) + 31) // 32
    end = xp.cumsum(n_words)
    total = int(end[-1]) if reads.n_pieces else 0
    words = xp.zeros(total + 1, np.uint64)
    word_piece = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
    first_word = end - n_words
    _copy_word(total, word_piece, first_word, reads.start, reads.length, reads.words, words)
    return replace(reads, words=words, start=32 * first_word)


@for_each
def _copy_word(w, word_piece, first_word, start, length, old, words):
    piece = word_piece[w]
    offset = 32 * (w - first_word[piece])
    position = start[piece] + offset
    shift = np.uint64(2 * (position & 31))
    word = old[position >> 5] << shift
    if shift > np.uint64(0):
        word |= old[(position >> 5) + 1] >> (np.uint64(64) - shift)
    left = length[piece] - offset
    if left < 32:
        word &= ~((_ONE << np.uint64(64 - 2 * left)) - _ONE)
    words[w] = word
