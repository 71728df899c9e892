"""Joining: pairs whose fragment is certain become long reads.

Where the two ends of a fragment are anchored, the graph knows what may lie between, and the pairs of a link which of
it does. Then the fragment is known base for base, and larger k than any read has can be counted on it (Souvorov,
Agarwala and Lipman 2018, doi:10.1186/s13059-018-1540-z, connect mates likewise, where one way only is possible).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.graph.levels import Level
from gpuasm.assembly.graph.local_depth import SINGLE, local_depth
from gpuasm.assembly.modes import ISOLATE, Mode
from gpuasm.assembly.pairs.anchors import AnchorIndex
from gpuasm.assembly.pairs.beginnings import are_surely_single, choose_from_beginnings
from gpuasm.assembly.pairs.choosing import Chosen, choose_walks
from gpuasm.assembly.pairs.fitting import fitting_pairs, without_mixed
from gpuasm.assembly.pairs.links import Links, going_round, link_pairs
from gpuasm.assembly.pairs.threading import GraphArrays
from gpuasm.assembly.pairs.walks import MOST_STEPS
from gpuasm.parallel import for_each
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class JoinedPairs:
    """Pairs joined into long reads.

    Attributes
    ----------
    reads : Reads
        One piece a fragment that goes through more than one unitig, numbered by its pair: see `number_of_fragment`.
    names : (32 * n_words,) int32
        Oriented names of the level's k-mers at every position.
    n_joined, n_links, n_certain, n_without, n_mixed : int
        Pairs joined; links, those with one certain walk, those with none at all, and those between two repeats whose
        pairs do not all go one way.
    told : (n,) int64
        The pairs, by their numbers in the sample, that are joined and of whose reads no base is left out.
    """

    reads: Reads
    names: Array
    n_joined: int
    n_links: int
    n_certain: int
    n_without: int
    n_mixed: int
    told: Array


def number_of_fragment(pair: Array) -> Array:
    """Return what stands for a read's number where a piece is the fragment of a pair; the same function turns it back.

    It is below -1, which stands for no read at all.
    """
    return -2 - pair


def with_reads_counted(pieces: Reads, times: int) -> Reads:
    """Return pieces of fragments and reads with each read so many times, over the same words."""
    xp = array_namespace(pieces.read)
    reads = xp.flatnonzero(pieces.read >= 0)
    return (
        pieces.select(xp.concatenate([xp.arange(pieces.n_pieces), xp.tile(reads, times - 1)])) if times > 1 else pieces
    )


def join_mates(
    pairs: Reads,
    inserts: InsertSizes,
    level: Level,
    *,
    done: Array | None = None,
    mode: Mode = ISOLATE,
    without: Collection[str] = (),
) -> JoinedPairs:
    """Join mates through the graph of a level.

    Parameters
    ----------
    pairs
        Two pieces a pair.
    inserts
        Which lengths a fragment can have.
    level
        The level whose graph is walked and whose k-mers are named.
    done : (n,) int64
        Pairs, by their numbers in the sample, that are joined already.
    mode
        What the sample is: longer anchors, and what depth tells of repeats, are for all but populations.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    """
    xp = array_namespace(pairs.words)
    graph = GraphArrays.of(level.graph, xp)
    with_longer = mode.tells_copies and "long-anchors" not in without
    index = AnchorIndex.of(level.graph, xp, with_longer=with_longer)
    links = link_pairs(pairs, index, graph, checks_anchors="anchor-checks" not in without)
    if mode.is_isolate and "tandem-repeats" not in without:
        links = going_round(links, graph, inserts)
    chosen, n_mixed = choose_walks(links, graph, inserts), 0
    copy = local_depth(level.graph, is_isolate=mode.is_isolate) if mode.tells_copies else np.empty(0)
    if mode.is_isolate and "beginnings" not in without:
        is_single = to_namespace(xp, are_surely_single(level.graph, copy, bases_per_read=inserts.bases_per_pair / 2))
        chosen = choose_from_beginnings(links, chosen, graph, inserts, is_single=is_single)
    if mode.tells_copies and "mixed-links" not in without:
        is_repeat = to_namespace(xp, level.graph.depth > SINGLE * copy)
        chosen, n_mixed = without_mixed(links, chosen, is_repeat, inserts)
    number = pairs.read[::2] // 2
    wanted = xp.ones(links.pair.size, dtype=bool) if done is None else ~xp.isin(number[links.pair], done)
    spans, joined, is_whole = _joined(links, chosen, graph, inserts, wanted=wanted)
    reads, names = _spell(spans, graph, level)
    reads = replace(reads, read=number_of_fragment(number[spans.pair]))
    counts = int((chosen.size > 0).sum()), int((chosen.n_walks == 0).sum()), n_mixed
    return JoinedPairs(reads, names, int(joined.size), links.n, *counts, number[joined[is_whole]])


@dataclass(frozen=True)
class _Spans:
    """Stretches of walks: pair, walk (a row of ``unitigs``), where it begins on its first unitig, and its length."""

    unitigs: Array
    size: Array
    pair: Array
    row: Array
    begin: Array
    length: Array


def _joined(
    links: Links, chosen: Chosen, graph: GraphArrays, inserts: InsertSizes, *, wanted: Array
) -> tuple[_Spans, Array, Array]:
    """Return the wanted pairs that fit the certain walk of their link, and which of them begin and end on it.

    Those within one unitig have no text of their own.
    """
    xp = array_namespace(links.source)
    fits, link = fitting_pairs(links, chosen, inserts)
    fitting = xp.flatnonzero(wanted & fits)
    pair = fitting[chosen.size[link[fitting]] > 1]
    row = link[pair]
    length = graph.start[1:] - graph.start[:-1]
    own, other = length[links.source[row] >> 1], length[links.target[row] >> 1]
    begin = xp.maximum(own - links.left[pair], 0)
    end = xp.minimum(links.right[pair].astype(np.int64), other)
    spans = _Spans(chosen.unitigs, chosen.size, links.pair[pair], row, begin, own - begin + chosen.gap[row] + end)
    at = link[fitting]
    is_whole = links.left[fitting] <= length[links.source[at] >> 1]
    is_whole &= links.right[fitting] <= length[links.target[at] >> 1]
    return spans, links.pair[fitting], is_whole


def _spell(spans: _Spans, graph: GraphArrays, level: Level) -> tuple[Reads, Array]:
    """Write the fragments as packed reads, each from a fresh word on, with the names of their windows."""
    xp, n = array_namespace(spans.row), int(spans.row.size)
    n_words = (spans.length + 31) // 32
    after = xp.cumsum(n_words)
    start, total = 32 * (after - n_words), (int(after[-1]) if n else 0) + 1
    codes, names = xp.zeros(32 * total, np.uint8), xp.full(32 * total, -1, np.int32)
    window_start = to_namespace(xp, np.concatenate([[0], np.cumsum(level.graph.n_kmers)]))
    bases = to_namespace(xp, level.graph.bases)
    _spell_fragment(
        n, spans.row, spans.unitigs, spans.size, spans.begin, start, spans.length, MOST_STEPS, graph.k, bases,
        graph.start, window_start, level.strand, codes, names,
    )  # fmt: skip
    words = xp.empty(total, np.uint64)
    _pack_word(total, codes, words)
    return Reads(words, start, spans.length.astype(np.int32), xp.arange(n, dtype=np.int64), n), names


@for_each
def _spell_fragment(
    f, row, unitigs, size, begin, start, length, most, k, bases, unitig_start, window_start, strand, codes, names
):
    skipped = begin[f]
    done = np.int64(0)
    for j in range(size[row[f]]):
        o = np.int64(unitigs[most * row[f] + j])
        u, turned = o >> 1, o & 1
        n = unitig_start[u + 1] - unitig_start[u]
        for c in range(skipped, n):
            # What the next unitig shares is spelled twice, alike; its windows begin where this one's end.
            i = done + c - skipped
            if i < length[f]:
                code = bases[unitig_start[u] + c]
                if turned:
                    code = 3 - bases[unitig_start[u + 1] - 1 - c]
                codes[start[f] + i] = code
                if c <= n - k and i + k <= length[f]:
                    w = window_start[u] + c
                    if turned:
                        w = window_start[u + 1] - 1 - c
                    names[start[f] + i] = 2 * w + (np.int64(strand[w]) ^ turned)
        # A source that begins within what it shares leaves bases of the next to skip.
        done += n - (k - 1) - skipped
        skipped = np.int64(0)
        if done < 0:
            skipped = -done
            done = np.int64(0)


@for_each
def _pack_word(w, codes, words):
    word = np.uint64(0)
    for i in range(32):
        word = (word << np.uint64(2)) | np.uint64(codes[32 * w + i])
    words[w] = word
