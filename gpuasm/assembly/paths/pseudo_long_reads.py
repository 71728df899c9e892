"""Pseudo-long reads: spell the fragments of pairs whose walk through the graph is certain.

If both ends of a fragment are anchored and its link has one certain walk, all its bases are known. k-mers longer than
any read are then counted in these fragments. Souvorov, Agarwala and Lipman (2018), doi:10.1186/s13059-018-1540-z,
connect mates where one path only is possible.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.graph_anchors import AnchorIndex
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.local_depth import local_depth
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links, link_pairs, without_pairs_within
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.pair_consistency import fitting_pairs, without_inconsistent
from gpuasm.assembly.paths.path_choice import ChosenWalks, choose_walks
from gpuasm.assembly.paths.path_prefixes import are_surely_single, choose_by_prefixes
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class JoinedPairs:
    """Pairs joined into long reads.

    Attributes
    ----------
    reads : Reads
        One segment for each fragment that spans several unitigs, numbered by its pair: see `number_of_fragment`.
    names : (32 * n_blocks,) int32
        Oriented names of the graph's k-mers at every position.
    n_joined, n_links, n_certain, n_without, n_inconsistent : int
        Pairs joined; links, those with one certain walk, those without any walk, and those between two repeats whose
        pairs do not all agree.
    whole_pairs : (n,) int64
        The pairs, by their numbers in the sample, whose fragment contains all bases of both reads.
    """

    reads: Reads
    names: Array
    n_joined: int
    n_links: int
    n_certain: int
    n_without: int
    n_inconsistent: int
    whole_pairs: Array


def number_of_fragment(pair: Array) -> Array:
    """Return the read number of a pair's fragment; the function is its own inverse.

    It is below -1, which means no read.
    """
    return -2 - pair


def with_reads_counted(segments: Reads, times: int) -> Reads:
    """Return segments of fragments and reads with each read repeated, over the same packed bases."""
    xp = array_namespace(segments.read)
    reads = xp.flatnonzero(segments.read >= 0)
    return (
        segments.select(xp.concatenate([xp.arange(segments.n_segments), xp.tile(reads, times - 1)]))
        if times > 1
        else segments
    )


def join_mates(
    pairs: Reads,
    inserts: InsertSizes,
    kmer_graph: KmerGraph,
    *,
    done: Array | None = None,
    mode: Mode = ISOLATE,
    without: Collection[str] = (),
) -> JoinedPairs:
    """Join mates through a k-mer graph.

    Parameters
    ----------
    pairs
        Two segments a pair.
    inserts
        The possible lengths of fragments.
    kmer_graph
        The graph to walk, and the names of its k-mers.
    done : (n,) int64
        Pairs, by their numbers in the sample, that are joined already.
    mode
        What the sample is, with its parameters.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    """
    xp, rules = array_namespace(pairs.packed), mode.rules(without)
    graph = GraphArrays.of(kmer_graph.graph, xp)
    with_longer = "long-anchors" in rules
    index = AnchorIndex.of(kmer_graph.graph, xp, with_longer=with_longer, reads=pairs)
    links = link_pairs(pairs, index, graph, checks_anchors="anchor-checks" in rules)
    if "tandem-repeats" in rules:
        links = without_pairs_within(links, graph, inserts)
    chosen, n_inconsistent = choose_walks(links, graph, inserts), 0
    copy = local_depth(kmer_graph.graph, mode.parameters.depth_model)
    if "path-prefixes" in rules:
        is_single = to_namespace(
            xp, are_surely_single(kmer_graph.graph, copy, bases_per_read=inserts.bases_per_pair / 2)
        )
        chosen = choose_by_prefixes(links, chosen, graph, inserts, is_single=is_single)
    if "pair-consistency" in rules:
        is_repeat = to_namespace(xp, kmer_graph.graph.depth > COVERAGE.single_copy_ratio * copy)
        chosen, n_inconsistent = without_inconsistent(links, chosen, is_repeat, inserts)
    number = pairs.read[::2] // 2
    is_requested = xp.ones(links.pair.size, dtype=bool) if done is None else ~xp.isin(number[links.pair], done)
    segments, joined, is_whole = _joined(links, chosen, graph, inserts, is_requested=is_requested)
    reads, names = _write_fragments(segments, graph, kmer_graph)
    reads = replace(reads, read=number_of_fragment(number[segments.pair]))
    counts = int((chosen.size > 0).sum()), int((chosen.n_walks == 0).sum()), n_inconsistent
    return JoinedPairs(reads, names, int(joined.size), links.n, *counts, number[joined[is_whole]])


@dataclass(frozen=True)
class _WalkSegments:
    """Parts of walks: pair, walk (a row of ``unitigs``), its begin on the first unitig, and its length."""

    unitigs: Array
    size: Array
    pair: Array
    row: Array
    begin: Array
    length: Array


def _joined(
    links: Links, chosen: ChosenWalks, graph: GraphArrays, inserts: InsertSizes, *, is_requested: Array
) -> tuple[_WalkSegments, Array, Array]:
    """Return the requested pairs that agree with the certain walk of their link, and which begin and end on it.

    Pairs within one unitig have no fragment sequence of their own.
    """
    xp = array_namespace(links.source)
    fits, link = fitting_pairs(links, chosen, inserts)
    fitting = xp.flatnonzero(is_requested & fits)
    pair = fitting[chosen.size[link[fitting]] > 1]
    row = link[pair]
    length = graph.start[1:] - graph.start[:-1]
    own, other = length[links.source[row] >> 1], length[links.target[row] >> 1]
    begin = xp.maximum(own - links.left[pair], 0)
    end = xp.minimum(links.right[pair].astype(np.int64), other)
    segments = _WalkSegments(
        chosen.unitigs, chosen.size, links.pair[pair], row, begin, own - begin + chosen.gap[row] + end
    )
    at = link[fitting]
    is_whole = links.left[fitting] <= length[links.source[at] >> 1]
    is_whole &= links.right[fitting] <= length[links.target[at] >> 1]
    return segments, links.pair[fitting], is_whole


def _write_fragments(segments: _WalkSegments, graph: GraphArrays, kmer_graph: KmerGraph) -> tuple[Reads, Array]:
    """Write the fragments as packed reads, each aligned to 32 bases, with the names of their windows."""
    xp, n = array_namespace(segments.row), int(segments.row.size)
    n_blocks = (segments.length + 31) // 32
    after = xp.cumsum(n_blocks)
    start, total = 32 * (after - n_blocks), (int(after[-1]) if n else 0) + 1
    codes, names = xp.zeros(32 * total, np.uint8), xp.full(32 * total, -1, np.int32)
    window_start = to_namespace(xp, np.concatenate([[0], np.cumsum(kmer_graph.graph.n_kmers)]))
    bases = to_namespace(xp, kmer_graph.graph.bases)
    _write_fragment(
        n, segments.row, segments.unitigs, segments.size, segments.begin, start, segments.length, WALK_UNITIGS, graph.k,
        bases, graph.start, window_start, kmer_graph.strand, codes, names,
    )  # fmt: skip
    packed = xp.empty(total, np.uint64)
    _pack_bases(total, codes, packed)
    return Reads(packed, start, segments.length.astype(np.int32), xp.arange(n, dtype=np.int64), n), names


@signatures(
    "int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64, int64, uint8[::1], int64[::1], "
    "int64[::1], uint8[::1], uint8[::1], int32[::1]"
)
@for_each
def _write_fragment(
    f, row, unitigs, size, begin, start, length, most, k, bases, unitig_start, window_start, strand, codes, names
):
    skipped = begin[f]
    done = np.int64(0)
    for j in range(size[row[f]]):
        o = np.int64(unitigs[most * row[f] + j])
        u, is_reversed = o >> 1, o & 1
        n = unitig_start[u + 1] - unitig_start[u]
        for c in range(skipped, n):
            # The bases that the next unitig shares are written twice, identically; its windows begin after these.
            i = done + c - skipped
            if i < length[f]:
                code = bases[unitig_start[u] + c]
                if is_reversed:
                    code = 3 - bases[unitig_start[u + 1] - 1 - c]
                codes[start[f] + i] = code
                if c <= n - k and i + k <= length[f]:
                    w = window_start[u] + c
                    if is_reversed:
                        w = window_start[u + 1] - 1 - c
                    names[start[f] + i] = 2 * w + (np.int64(strand[w]) ^ is_reversed)
        # If the fragment begins within the shared bases, the first bases of the next unitig are skipped.
        done += n - (k - 1) - skipped
        skipped = np.int64(0)
        if done < 0:
            skipped = -done
            done = np.int64(0)


@signatures("uint8[::1], uint64[::1]")
@for_each
def _pack_bases(w, codes, packed):
    block = np.uint64(0)
    for i in range(32):
        block = (block << np.uint64(2)) | np.uint64(codes[32 * w + i])
    packed[w] = block
