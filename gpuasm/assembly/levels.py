"""From the graph of one k to the next: cleaned unitigs are carried, and only reads that cross their junctions go on.

A read that lies within one unitig tells the next graph nothing that the unitig does not: what the next k resolves are
the junctions, and every window across one belongs to a read that leaves its unitig. So the unitigs go on as they are,
each with its depth, and the few reads that cross are counted exactly. To make both comparable, multiplicities are
turned into the depth of bases in reads: a window of k bases counts as many units as reads have bases for each window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.compaction import Pieces
from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.assembly.unitigs import Unitigs
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import compiled, for_each
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at, pack
from gpuasm.sequence.reads import Reads

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@dataclass(frozen=True)
class Level:
    """A cleaned graph whose k-mers are numbered along its unitigs.

    Attributes
    ----------
    graph : UnitigGraph
        On the host.
    dictionary : Dictionary
        k-mer j is window j of the unitigs, counted through all of them.
    strand : (n_kmers,) uint8
        Strand of each k-mer's key that its unitig reads.
    unitig_of : (n_kmers,) int32
        Unitig of each window.
    neighbour : (8 * n_kmers,) int32
        The vertex that follows each vertex by each base, along unitigs and arcs.
    """

    graph: UnitigGraph
    dictionary: Dictionary
    strand: Array
    unitig_of: Array
    neighbour: Array

    @classmethod
    def of(cls, graph: UnitigGraph, keys: Array, strand: Array, *, k0: int) -> Level:
        """Make a level of a graph, the (n_kmers,) keys of its windows and the strands on which it reads them."""
        xp = array_namespace(keys)
        unitig_of = to_namespace(xp, np.repeat(np.arange(graph.n, dtype=np.int32), graph.n_kmers))
        neighbour = to_namespace(xp, _neighbours_along(graph, to_host(strand)))
        return cls(graph, Dictionary.of(keys, k=graph.k, k0=k0), strand, unitig_of, neighbour)


def make_level(unitigs: Unitigs, tally: Tally, cleaned: tuple[UnitigGraph, Pieces], *, k0: int) -> Level:
    """Renumber the k-mers of a cleaned graph along its unitigs.

    Parameters
    ----------
    unitigs, tally
        The graph before clean-up, its vertices, and the k-mers they are.
    cleaned
        The cleaned graph and its pieces in terms of ``unitigs.graph``.
    k0
        Length of the k-mers that the keys are pairs of; 0 for plain keys.
    """
    graph, pieces = cleaned
    vertex = _vertices_along(unitigs, pieces)
    return Level.of(graph, tally.keys[vertex >> 1], (vertex & 1).astype(np.uint8), k0=k0)


def _vertices_along(unitigs: Unitigs, pieces: Pieces) -> Array:
    xp = array_namespace(unitigs.path)
    windows = unitigs.graph.n_kmers
    old_start = np.concatenate([[0], np.cumsum(windows)])
    size = windows[pieces.piece >> 1]
    new_start = to_namespace(xp, np.concatenate([[0], np.cumsum(size)]))
    first, oriented = to_namespace(xp, old_start[pieces.piece >> 1]), to_namespace(xp, pieces.piece)
    j = xp.arange(int(new_start[-1]), dtype=np.int64)
    at = xp.searchsorted(new_start[1:], j, side="right")
    i = j - new_start[at]
    backwards = (oriented[at] & 1) == 1
    source = first[at] + xp.where(backwards, new_start[at + 1] - new_start[at] - 1 - i, i)
    return unitigs.path[source] ^ backwards


def _neighbours_along(graph: UnitigGraph, strand: np.ndarray) -> np.ndarray:
    window_start = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    neighbour = np.full(8 * int(window_start[-1]), -1, np.int32)
    rows = (graph.arc_start, graph.arc_to)
    _link(graph.bases, graph.start, window_start, graph.is_circular, rows, graph.k, strand, neighbour)
    return neighbour


@compiled()
def _link(bases, start, window_start, is_circular, rows, k, strand, neighbour):
    arc_start, arc_to = rows
    for u in range(is_circular.size):
        first, last = window_start[u], window_start[u + 1] - 1
        for j in range(first, last + 1):
            if j == last and not is_circular[u]:
                continue
            after = first if j == last else j + 1
            position = start[u] + j - first
            here, there = 2 * j + np.int64(strand[j]), 2 * after + np.int64(strand[after])
            # A circle's text ends with its own beginning: the base after the last window is base k - 1 of the first.
            next_base = bases[start[u] + k - 1] if j == last else bases[position + k]
            neighbour[4 * here + next_base] = there
            neighbour[4 * (there ^ 1) + 3 - bases[position]] = here ^ 1
        for side in range(2):
            vertex = 2 * first + np.int64(strand[first] ^ 1) if side else 2 * last + np.int64(strand[last])
            for arc in range(arc_start[2 * u + side], arc_start[2 * u + side + 1]):
                w = arc_to[arc] >> 1
                if arc_to[arc] & 1:
                    at = window_start[w + 1] - 1
                    target = 2 * at + np.int64(strand[at] ^ 1)
                    base = 3 - bases[start[w + 1] - k]
                else:
                    at = window_start[w]
                    target = 2 * at + np.int64(strand[at])
                    base = bases[start[w] + k - 1]
                neighbour[4 * vertex + base] = target


@dataclass(frozen=True)
class Text:
    """What the next k is counted in.

    Attributes
    ----------
    reads : Reads
        Reads that cross junctions, then carried unitigs.
    names : (32 * n_words,) int32
        Oriented names of the previous level's k-mers at every position.
    n_reads : int
        The first so many pieces are reads, the others unitigs.
    carried_count : (n_carried,) int64
        What each k-mer of a carried unitig counts as: the unitig's depth, in units.
    """

    reads: Reads
    names: Array
    n_reads: int
    carried_count: Array


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


def next_text(reads: Reads, names: Array, level: Level, *, k: int) -> Text:
    """Put the crossing reads and the carried unitigs into one text for the next k.

    Parameters
    ----------
    reads, names
        Crossing reads and the names of their windows at the level's k.
    level
        The level they come from; its unitigs of at least ``k`` bases are carried.
    k
        The next k.
    """
    xp, graph = array_namespace(reads.words), level.graph
    carried = np.flatnonzero(np.where(graph.is_circular, graph.n_kmers, graph.length) >= k)
    bases, start, window = _spell_carried(graph, carried, k)
    words = to_namespace(xp, pack(bases))
    own = to_namespace(xp, window)
    own_names = xp.where(own >= 0, 2 * own + level.strand[xp.maximum(own, 0)], -1).astype(np.int32)
    padding = xp.full(32 * words.size - own_names.size, -1, np.int32)
    offset = 32 * reads.words.size
    length = np.diff(start).astype(np.int32)
    joined = Reads(
        words=xp.concatenate([reads.words, words]),
        start=xp.concatenate([reads.start, to_namespace(xp, start[:-1] + offset)]),
        length=xp.concatenate([reads.length, to_namespace(xp, length)]),
        read=xp.concatenate([reads.read, xp.full(carried.size, -1, np.int64)]),
        n_reads=reads.n_pieces + carried.size,
    )
    carried_count = to_namespace(xp, np.maximum(1, graph.count[carried] // graph.n_kmers[carried]))
    return Text(joined, xp.concatenate([names, own_names, padding]), reads.n_pieces, carried_count)


def _spell_carried(graph: UnitigGraph, carried: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bases of the carried unitigs, where each starts, and the level's window at each base (-1: none).

    A circle goes once round and k bases on, so that all its windows and all its edges of the next k are there.
    """
    n_kmers = graph.n_kmers[carried]
    length = np.where(graph.is_circular[carried], n_kmers + k, graph.length[carried])
    start = np.concatenate([[0], np.cumsum(length)])
    bases, window = np.empty(start[-1], np.uint8), np.full(start[-1], -1, np.int64)
    window_start = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    _spell(graph.bases, graph.start, window_start, carried, graph.is_circular, graph.k, start, bases, window)
    return bases, start, window


@compiled()
def _spell(old, old_start, window_start, carried, is_circular, k, start, bases, window):
    for c in range(carried.size):
        u = carried[c]
        n = window_start[u + 1] - window_start[u]
        length = start[c + 1] - start[c]
        for i in range(length):
            at = i % n if is_circular[u] else i
            bases[start[c] + i] = old[old_start[u] + at]
            if i <= length - k:
                window[start[c] + i] = window_start[u] + at


def set_carried(text: Text, tally: Tally, dictionary: Dictionary) -> None:
    """Give the k-mers and edges of carried unitigs the counts they carry, in place of what the crossing reads gave."""
    xp = array_namespace(text.names)
    n_carried = text.reads.n_pieces - text.n_reads
    carried = text.reads.select(xp.arange(text.n_reads, text.reads.n_pieces))
    windows = xp.maximum(carried.length.astype(np.int64) - (tally.k - 1), 0)
    end = xp.cumsum(windows)
    total = int(end[-1]) if n_carried else 0
    piece = xp.searchsorted(end, xp.arange(total, dtype=np.int64), side="right")
    shift = tally.k - dictionary.k0
    first = end - windows
    index = (dictionary.keys, dictionary.slots, dictionary.mask)
    _set(
        total, piece, first, carried.start, carried.length, text.reads.words, text.names, tally.k, shift, *index,
        text.carried_count, tally.count, tally.followers,
    )  # fmt: skip


@for_each
def _set(w, piece, first, start, length, words, names, k, shift, keys, slots, mask, carried_count, count, followers):
    c = piece[w]
    offset = w - first[c]
    p = start[c] + offset
    a = np.uint64(names[p])
    b = np.uint64(names[p + shift])
    forward = (a << np.uint64(31)) | b
    backward = ((b ^ _ONE) << np.uint64(31)) | (a ^ _ONE)
    strand = 1 if backward < forward else 0
    number = find(min(forward, backward), keys, slots, mask)
    count[number] = carried_count[c]
    if offset < length[c] - k:
        followers[8 * number + 4 * strand + np.int64(base_at(words, p + k))] = carried_count[c]
    if offset > 0:
        followers[8 * number + 4 * (1 - strand) + 3 - np.int64(base_at(words, p - 1))] = carried_count[c]
