"""Reads that cross the junctions of a graph: all that the next k has to look at.

A read that lies within one unitig tells the next graph nothing that the unitig does not: what the next k resolves are
the junctions, and every window across one belongs to a read that leaves its unitig.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.levels import Level
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


def crossing_reads(reads: Reads, level: Level) -> Reads:
    """Return, packed anew, the reads that do not lie within one unitig of a level of plain k."""
    xp = array_namespace(reads.words)
    contained = xp.empty(reads.n_pieces, dtype=bool)
    d = level.dictionary
    unitigs = (level.strand, level.unitig_of)
    _contained_plain(
        reads.n_pieces, reads.start, reads.length, reads.words, d.k, d.keys, d.slots, d.mask, *unitigs, contained
    )
    return repack(reads.select(xp.flatnonzero(~contained)))


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


@for_each
def _contained_plain(r, start, length, words, k, keys, slots, mask, strand, unitig_of, contained):
    contained[r] = True
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    top = np.uint64(2 * (k - 1))
    end = start[r] + length[r]
    forward, backward = np.uint64(0), np.uint64(0)
    a = np.int64(-1)
    first = start[r]
    for p in range(start[r], end):
        base = base_at(words, p)
        forward = ((forward << _TWO) | base) & kmer_mask
        backward = (backward >> _TWO) | ((_THREE - base) << top)
        if p - start[r] >= k - 1:
            number = find(min(forward, backward), keys, slots, mask)
            if number >= 0:
                a = 2 * number + (1 if backward < forward else 0)
                first = p - k + 1
                break
    b = np.int64(-1)
    last = first
    if a >= 0:
        forward, backward = np.uint64(0), np.uint64(0)
        for i in range(end - first):
            p = end - 1 - i
            base = base_at(words, p)
            forward = (forward >> _TWO) | (base << top)
            backward = ((backward << _TWO) | (_THREE - base)) & kmer_mask
            if i >= k - 1:
                number = find(min(forward, backward), keys, slots, mask)
                if number >= 0:
                    b = 2 * number + (1 if backward < forward else 0)
                    last = p
                    break
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
