"""Anchor reads in a graph by k-mers that occur once in all of its unitigs.

Consecutive unitigs share k - 1 bases, so a k-mer that occurs once lies where one unitig differs from all others. The
anchor is the read's first unique 31-mer, or, if it has none, its first unique k-mer of the shortest longer k. Each
31-mer of a repeat copy may occur in some other copy too, while its longer k-mers do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import repack
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.rolling import rolled
from gpuasm.kmers.text_index import TEXT_ROW_TYPES, TextIndex, TextRows, find_place, next_minimizer
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import ReadArrays, Reads

ANCHOR_K = MAX_PLAIN_K
"""Bases of an anchor: the longest that fit into one key."""


class KmerTable(NamedTuple):
    """Longer k-mers of the unitigs of a graph, or of reads, for one k.

    Attributes
    ----------
    dictionary : Dictionary
        The k-mers.
    place : (n,) int64
        Text position << 1 | strand of each in the unitigs, strand 1 where the text has the reverse complement of the
        key; -1 where the k-mer does not occur exactly once.
    """

    dictionary: Dictionary
    place: Array


_BATCH = 1 << 24


def _unique_places(names: Array, n: int) -> Array:
    """Return the places of k-mers that a text has once, by the names of its windows: (n,) int64, -1 for the others."""
    xp = array_namespace(names)
    place, is_repeated = xp.full(n, -1, np.int64), xp.zeros(n, bool)
    for compares in (False, True):
        for first in range(0, names.size, _BATCH):
            name = names[first : first + _BATCH]
            row = xp.flatnonzero(name >= 0)
            number, own = name[row] >> 1, 2 * (first + row) + (name[row] & 1)
            if compares:
                is_repeated[number[place[number] != own]] = True
            else:
                place[number] = own  # of a k-mer that occurs several times, any
    place[is_repeated] = -1
    return place


def text_of_unitigs(graph: UnitigGraph, xp: Any, *, chosen: np.ndarray | None = None) -> Reads:
    """Return the unitigs of a graph, or those that an (n_unitigs,) bool array marks, as reads.

    A circular unitig has its first 30 bases, if its text has so many, behind its last one: each of its 31-mers once.
    """
    rows = np.arange(graph.n) if chosen is None else np.flatnonzero(chosen)
    once = np.minimum(graph.n_kmers + ANCHOR_K - 1, graph.length)
    length = np.where(graph.is_circular, once, graph.length)[rows]
    return Reads(pack(graph.bases), graph.start[rows], length.astype(np.int32), rows, graph.n).moved_to(xp)


@dataclass(frozen=True)
class AnchorIndex:
    """The k-mers that occur once in the unitigs of a graph.

    Attributes
    ----------
    kmers : TextIndex
        31-mers.
    longer : tuple of KmerTable
        Longer k-mers, of at most the graph's k: ascending.
    start : (n_unitigs + 1,) int64
        Where each unitig starts in the text.
    """

    kmers: TextIndex
    longer: tuple[KmerTable, ...]
    start: Array

    @classmethod
    def of(cls, graph: UnitigGraph, xp: Any, *, with_longer: bool = False, reads: Reads | None = None) -> AnchorIndex:
        """Index a graph by 31-mers alone or by longer k-mers too, with arrays in a namespace.

        ``reads`` are the only ones that will be anchored. Where they are shorter than the unitigs together, other
        longer k-mers are left out.
        """
        text, start = text_of_unitigs(graph, xp), to_namespace(xp, graph.start)
        index, lengths = TextIndex.of(text, ANCHOR_K), [k for k in ALIGNMENT.anchor_longer_k if k <= graph.k]
        return cls(index, _longer_tables(index, text, reads, lengths) if with_longer and lengths else (), start)


def _longer_tables(index: TextIndex, text: Reads, reads: Reads | None, lengths: Sequence[int]) -> tuple[KmerTable, ...]:
    """Index ascending lengths of k-mers of a text, all or only those of reads if these are shorter."""
    of_text = reads is None or reads.n_bases >= text.n_bases
    sources = (text,) if reads is None or of_text else (text, reads)
    names, tables = [index.name_windows(source) for source in sources], list[KmerTable]()
    for k in lengths:
        if tables:
            last = tables[-1].dictionary
            names = [name_windows(source, last, own) for source, own in zip(sources, names, strict=True)]
        k0 = tables[-1].dictionary.k if tables else index.k
        tally = tally_kmers(sources[-1], k, names[-1], k0=k0, with_followers=False)
        keys, place = tally.keys, tally.place
        if of_text:
            place[tally.count != 1] = -1
        del tally  # the index takes as much memory
        dictionary = Dictionary.of(keys, k=k, k0=k0)
        if not of_text:
            del place
            place = _unique_places(name_windows(text, dictionary, names[0]), keys.size)
        tables.append(KmerTable(dictionary, place))
    return tuple(tables)


class Anchored(NamedTuple):
    """The anchor of each read segment.

    Attributes
    ----------
    oriented : (n_segments,) int32
        The oriented unitig of the anchor, -1 where there is none.
    base : (n_segments,) int64
        Position of the segment's first base on that oriented unitig; below 0 where the unitig begins later.
    offset : (n_segments,) int32
        Where in the segment the anchor begins.
    """

    oriented: Array
    base: Array
    offset: Array


def anchor_reads(reads: Reads, index: AnchorIndex) -> Anchored:
    """Anchor segments of reads by their first unique 31-mer, or by their first longer unique k-mer."""
    xp, n = array_namespace(reads.packed), reads.n_segments
    place, offset, size = xp.full(n, -1, np.int64), xp.zeros(n, np.int32), xp.full(n, ANCHOR_K, np.int64)
    _anchor(n, reads.arrays, index.kmers.rows, place, offset)
    if index.longer:
        _anchor_by_longer_kmers(reads, index, (place, offset, size))
    position = xp.maximum(place, 0) >> 1
    unitig = xp.searchsorted(index.start, position, side="right") - 1
    is_reversed = place & 1
    first, last = index.start[unitig], index.start[unitig + 1]
    along = xp.where(is_reversed == 1, last - size - position, position - first)
    oriented = xp.where(place >= 0, 2 * unitig + is_reversed, -1).astype(np.int32)
    return Anchored(oriented, along - offset, offset)


def _anchor_by_longer_kmers(reads: Reads, index: AnchorIndex, out: tuple[Array, Array, Array]) -> None:
    """Find place, offset and length of the first longer unique k-mer of the segments that have no place yet."""
    place, offset, size = out
    xp = array_namespace(place)
    rest = xp.flatnonzero(place < 0)
    left = repack(reads.select(rest))  # so that only their windows are named
    names = index.kmers.name_windows(left)
    for table in index.longer:
        k = table.dictionary.k
        names = name_windows(left, table.dictionary, names)
        found, at = xp.full(rest.size, -1, np.int64), xp.zeros(rest.size, np.int32)
        _anchor_named(rest.size, left.start, left.length, names, k, table.place, found, at)
        place[rest], offset[rest], size[rest] = found, at, k
        unplaced = xp.flatnonzero(found < 0)
        rest, left = rest[unplaced], left.select(unplaced)


@signatures("int64[::1], int32[::1], int32[::1], int64, int64[::1], int64[::1], int32[::1]")
@for_each
def _anchor_named(r, start, length, names, k, place, found, offset):
    for i in range(length[r] - k + 1):
        name = np.int64(names[start[r] + i])
        if name >= 0 and place[name >> 1] >= 0:
            at = np.int64(place[name >> 1])
            found[r] = (at & ~np.int64(1)) | ((at & 1) ^ (name & 1))
            offset[r] = i
            break


@signatures("int64[::1], int32[::1], uint64[::1], " + TEXT_ROW_TYPES + "int64[::1], int32[::1]")
@for_each
def _anchor(r, reads: ReadArrays, text: TextRows, place, offset):
    k, forward, backward = text.k, np.uint64(0), np.uint64(0)
    least, at = np.uint64(0), np.int64(-1)
    for i in range(reads.length[r]):
        forward, backward = rolled(forward, backward, base_at(reads.packed, reads.start[r] + i), k)
        if i >= k - 1:
            least, at = next_minimizer(least, at, forward, backward, k, text.m)
            found, _ = find_place(forward, backward, least, at, 1, text)
            if found >= 0 and text.is_unique[found >> 1]:
                place[r] = found
                offset[r] = i - k + 1
                break
