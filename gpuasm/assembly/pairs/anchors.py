"""Anchors: where reads lie on any graph, by words that occur once in all of its unitigs.

Consecutive unitigs share k - 1 bases, so what is unique in the text of the unitigs lies where one unitig differs from
all others: just what tells which way a read came. The word is a 31-mer where the read has such a one, else the shortest
longer one: a copy of a repeat may share each 31-mer of hundreds of bases with one or another copy, but no longer word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.crossing import repack
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.rolling import rolled
from gpuasm.kmers.tally import tally_kmers
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import Reads

ANCHOR_K = 31
"""Bases of an anchor: the longest that fit into one key."""

LONGER = (61, 121)
"""Lengths of the longer words: each at most twice the one before, less one, as pairs of names reach."""


@dataclass(frozen=True)
class Words:
    """All words of one length in the unitigs of a graph.

    Attributes
    ----------
    dictionary : Dictionary
    place : (n,) int64
        Text position << 1 | strand of each, strand 1 where the text reads the reverse complement of the key; -1 where
        the word occurs more than once.
    """

    dictionary: Dictionary
    place: Array

    def at(self, keys: Array) -> Array:
        """Return the place of each of some 31-mers by their keys: (n,) int64, -1 where it is none that occurs once."""
        xp, d = array_namespace(keys), self.dictionary
        place = xp.empty(keys.size, np.int64)
        _look_up(keys.size, keys, d.keys, d.slots, d.mask, self.place, place)
        return place

    @classmethod
    def of(cls, text: Reads, k: int, *, names: Array | None = None, k0: int = 0) -> Words:
        """Index a text; see `gpuasm.kmers.tally.tally_kmers` for the names of shorter words that longer ones need."""
        xp = array_namespace(text.words)
        tally = tally_kmers(text, k, names, k0=k0, with_followers=False)
        return cls(Dictionary.of(tally.keys, k=k, k0=k0), xp.where(tally.count == 1, tally.place, -1))


@dataclass(frozen=True)
class AnchorIndex:
    """The words that occur once in the unitigs of a graph.

    Attributes
    ----------
    words : Words
        31-mers.
    longer : tuple of Words
        Longer words, of at most the graph's k: ascending.
    start : (n_unitigs + 1,) int64
        Where each unitig starts in the text.
    """

    words: Words
    longer: tuple[Words, ...]
    start: Array

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any, *, with_longer: bool = False) -> AnchorIndex:
        """Index a graph, where namespace ``xp`` keeps its arrays, by 31-mers alone or by longer words as well.

        A circle's text is taken once round and 30 bases on, so that each of its 31-mers is there once.
        """
        length = np.where(graph.is_circular, graph.n_kmers + ANCHOR_K - 1, graph.length)
        text = Reads(
            words=to_namespace(xp, pack(graph.bases)),
            start=to_namespace(xp, graph.start[:-1]),
            length=to_namespace(xp, length.astype(np.int32)),
            read=to_namespace(xp, np.arange(graph.n, dtype=np.int64)),
            n_reads=graph.n,
        )
        words, longer = Words.of(text, ANCHOR_K), []
        last, names = words.dictionary, None
        for k in (k for k in LONGER if with_longer and k <= graph.k):
            names = name_windows(text, last, names)
            longer.append(Words.of(text, k, names=names, k0=last.k))
            last = longer[-1].dictionary
        return cls(words, tuple(longer), to_namespace(xp, graph.start))


@dataclass(frozen=True)
class Anchored:
    """Where each piece of reads is anchored.

    Attributes
    ----------
    oriented : (n_pieces,) int32
        The oriented unitig of its first anchor, -1 where it has none.
    base : (n_pieces,) int64
        Where its first base would lie on that oriented unitig: before 0 where the unitig begins later.
    offset : (n_pieces,) int32
        Where in the piece the first anchor begins.
    """

    oriented: Array
    base: Array
    offset: Array


def anchor_reads(reads: Reads, index: AnchorIndex) -> Anchored:
    """Anchor pieces of reads by their first unique 31-mer, or where there is none by their first longer unique word."""
    xp, n = array_namespace(reads.words), reads.n_pieces
    place, offset, size = xp.full(n, -1, np.int64), xp.zeros(n, np.int32), xp.full(n, ANCHOR_K, np.int64)
    d = index.words.dictionary
    _anchor(n, reads.start, reads.length, reads.words, d.k, d.keys, d.slots, d.mask, index.words.place, place, offset)
    if index.longer:
        _anchor_by_longer(reads, index, (place, offset, size))
    position = xp.maximum(place, 0) >> 1
    unitig = xp.searchsorted(index.start, position, side="right") - 1
    turned = place & 1
    first, last = index.start[unitig], index.start[unitig + 1]
    along = xp.where(turned == 1, last - size - position, position - first)
    oriented = xp.where(place >= 0, 2 * unitig + turned, -1).astype(np.int32)
    return Anchored(oriented, along - offset, offset)


def _anchor_by_longer(reads: Reads, index: AnchorIndex, out: tuple[Array, Array, Array]) -> None:
    """Write place and offset of the first longer word, and its length, for pieces that have no place yet."""
    place, offset, size = out
    xp = array_namespace(place)
    rest = xp.flatnonzero(place < 0)
    left = repack(reads.select(rest))  # few of all: only their windows are to be named
    names = name_windows(left, index.words.dictionary)
    for words in index.longer:
        k = words.dictionary.k
        names = name_windows(left, words.dictionary, names)
        found, at = xp.full(rest.size, -1, np.int64), xp.zeros(rest.size, np.int32)
        _anchor_named(rest.size, left.start, left.length, names, k, words.place, found, at)
        place[rest], offset[rest], size[rest] = found, at, k
        without = xp.flatnonzero(found < 0)
        rest, left = rest[without], left.select(without)


@for_each
def _look_up(i, wanted, keys, slots, mask, place, found):
    number = find(wanted[i], keys, slots, mask)
    found[i] = place[number] if number >= 0 else -1


@for_each
def _anchor_named(r, start, length, names, k, place, found, offset):
    for i in range(length[r] - k + 1):
        name = np.int64(names[start[r] + i])
        if name >= 0 and place[name >> 1] >= 0:
            at = np.int64(place[name >> 1])
            found[r] = (at & ~np.int64(1)) | ((at & 1) ^ (name & 1))
            offset[r] = i
            break


@for_each
def _anchor(r, start, length, words, k, keys, slots, mask, place, found, offset):
    forward, backward = np.uint64(0), np.uint64(0)
    for i in range(length[r]):
        forward, backward = rolled(forward, backward, base_at(words, start[r] + i), k)
        if i >= k - 1:
            number = find(min(forward, backward), keys, slots, mask)
            if number >= 0 and place[number] >= 0:
                strand = np.int64(1) if backward < forward else np.int64(0)
                found[r] = (place[number] & ~np.int64(1)) | ((place[number] & 1) ^ strand)
                offset[r] = i - k + 1
                break
