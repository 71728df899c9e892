"""Anchors: where reads lie on any graph, by the 31-mers that occur once in all of its unitigs.

Consecutive unitigs share k - 1 bases, so what is unique in the text of the unitigs lies where one unitig differs from
all others: just what tells which way a read came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.rolling import rolled
from gpuasm.kmers.tally import tally_kmers
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import Reads

ANCHOR_K = 31
"""Bases of an anchor: the longest that fit into one key."""


@dataclass(frozen=True)
class AnchorIndex:
    """The 31-mers that occur once in the unitigs of a graph.

    Attributes
    ----------
    dictionary : Dictionary
    place : (n,) int64
        Text position << 1 | strand of each, strand 1 where the text reads the reverse complement of the key.
    start : (n_unitigs + 1,) int64
        Where each unitig starts in the text.
    """

    dictionary: Dictionary
    place: Array
    start: Array

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any) -> AnchorIndex:
        """Index a graph, where namespace ``xp`` keeps its arrays.

        A circle's text is taken once round and 30 bases on, so that each of its windows is there once.
        """
        length = np.where(graph.is_circular, graph.n_kmers + ANCHOR_K - 1, graph.length)
        text = Reads(
            words=to_namespace(xp, pack(graph.bases)),
            start=to_namespace(xp, graph.start[:-1]),
            length=to_namespace(xp, length.astype(np.int32)),
            read=to_namespace(xp, np.arange(graph.n, dtype=np.int64)),
            n_reads=graph.n,
        )
        tally = tally_kmers(text, ANCHOR_K, with_followers=False)
        tally = tally.where(tally.count == 1)
        dictionary = Dictionary.of(tally.keys, k=ANCHOR_K, k0=0)
        return cls(dictionary, tally.place, to_namespace(xp, graph.start))


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
    """Anchor pieces of reads by their first unique 31-mer."""
    xp, n = array_namespace(reads.words), reads.n_pieces
    place, offset = xp.full(n, -1, np.int64), xp.zeros(n, np.int32)
    d = index.dictionary
    _anchor(n, reads.start, reads.length, reads.words, d.k, d.keys, d.slots, d.mask, index.place, place, offset)
    position = xp.maximum(place, 0) >> 1
    unitig = xp.searchsorted(index.start, position, side="right") - 1
    turned = place & 1
    first, last = index.start[unitig], index.start[unitig + 1]
    along = xp.where(turned == 1, last - ANCHOR_K - position, position - first)
    oriented = xp.where(place >= 0, 2 * unitig + turned, -1).astype(np.int32)
    return Anchored(oriented, along - offset, offset)


@for_each
def _anchor(r, start, length, words, k, keys, slots, mask, place, found, offset):
    forward, backward = np.uint64(0), np.uint64(0)
    for i in range(length[r]):
        forward, backward = rolled(forward, backward, base_at(words, start[r] + i), k)
        if i >= k - 1:
            number = find(min(forward, backward), keys, slots, mask)
            if number >= 0:
                strand = np.int64(1) if backward < forward else np.int64(0)
                found[r] = (place[number] & ~np.int64(1)) | ((place[number] & 1) ^ strand)
                offset[r] = i - k + 1
                break
