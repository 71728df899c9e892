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
from gpuasm.assembly.coverage.copy_number import are_surely_single, local_depth
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import link_pairs, without_pairs_within
from gpuasm.assembly.parameters import DepthModel
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.path_choice import ChosenWalks, choose_by_prefixes, choose_walks, fitting_pairs
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import pack
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
    counts : dict of str to int
        Pairs joined and segments; links, those with one certain walk, and those without any walk.
    whole_pairs : (n,) int64
        The pairs, by their numbers in the sample, whose fragment contains all bases of both reads.
    """

    reads: Reads
    names: Array
    counts: dict[str, int]
    whole_pairs: Array


def number_of_fragment(pair: Array) -> Array:
    """Return the read number of a pair's fragment; the function is its own inverse.

    It is below -1, which means no read.
    """
    return -2 - pair


def with_reads_counted(segments: Reads, times: int) -> Reads:
    """Return segments of fragments and reads with each read repeated, over the same packed bases."""
    if times == 1:
        return segments
    xp = array_namespace(segments.read)
    reads = xp.flatnonzero(segments.read >= 0)
    return segments.select(xp.concatenate([xp.arange(segments.n_segments), xp.tile(reads, times - 1)]))


def join_mates(
    pairs: Reads,
    inserts: InsertSizes,
    kmer_graph: KmerGraph,
    *,
    done: Array | None = None,
    mode: Mode = ISOLATE,
    without: Collection[str] = (),
) -> JoinedPairs:
    """Join mates, two segments a pair, through a k-mer graph.

    Pairs of the numbers ``done``, (n,) int64, are joined already. ``without`` are rules to leave out, of
    `gpuasm.assembly.options.RULES`.
    """
    xp, rules = array_namespace(pairs.packed), mode.rules(without)
    graph, model = GraphArrays.of(kmer_graph.graph, xp), mode.parameters.depth_model
    with_longer = "anchors" in rules and model is not DepthModel.NONE
    index = AnchorIndex.of(kmer_graph.graph, xp, with_longer=with_longer, reads=pairs)
    links = link_pairs(pairs, index, graph, checks_anchors="anchors" in rules)
    if "repeats" in rules and model is DepthModel.ONE:
        links = without_pairs_within(links, graph, inserts)
    chosen = choose_walks(links, graph, inserts)
    if "path-prefixes" in rules:
        copy = local_depth(kmer_graph.graph, model)
        is_single = are_surely_single(kmer_graph.graph, copy, bases_per_read=inserts.bases_per_pair / 2)
        chosen = choose_by_prefixes(links, chosen, graph, inserts, is_single=to_namespace(xp, is_single))
    number = pairs.read[::2] // 2
    fits = fitting_pairs(links, chosen, inserts)
    if done is not None:
        fits &= ~xp.isin(number[links.pair], done)
    fitting = xp.flatnonzero(fits)
    link, left, right, pair = (a[fitting] for a in (links.of_pairs, links.left, links.right, number[links.pair]))
    own, other = ((graph.start[1:] - graph.start[:-1])[end[link] >> 1] for end in (links.source, links.target))
    # Pairs within one unitig have no fragment sequence of their own.
    rows = xp.flatnonzero(chosen.size[link] > 1)
    begin = xp.maximum(own - left, 0)
    n_bases = own - begin + chosen.gap[link] + xp.minimum(right.astype(np.int64), other)
    reads, names = _write_fragments(chosen, (link[rows], begin[rows], n_bases[rows]), kmer_graph)
    reads = replace(reads, read=number_of_fragment(pair[rows]))
    counts = {"joined": int(fitting.size), "segments": reads.n_segments, "links": links.n}
    counts |= {"certain": int((chosen.size > 0).sum()), "without_path": int((chosen.n_walks == 0).sum())}
    return JoinedPairs(reads, names, counts, pair[(left <= own) & (right <= other)])


def _write_fragments(
    chosen: ChosenWalks, parts: tuple[Array, Array, Array], kmer_graph: KmerGraph
) -> tuple[Reads, Array]:
    """Write parts of walks as packed reads, each aligned to 32 bases, with the names of their windows.

    ``parts`` are the link of each, its begin on the first unitig, and its length.
    """
    link, _, length = parts
    xp, n, graph = array_namespace(link), int(link.size), kmer_graph.graph
    n_blocks = (length + 31) // 32
    after = xp.cumsum(n_blocks)
    start, total = 32 * (after - n_blocks), (int(after[-1]) if n else 0) + 1
    codes, names = xp.zeros(32 * total, np.uint8), xp.full(32 * total, -1, np.int32)
    unitigs = (to_namespace(xp, a) for a in (graph.bases, graph.start, graph.window_start))
    _write_fragment(n, *parts, chosen, *unitigs, graph.k, start, codes, names)
    packed = pack(codes)[:total]
    return Reads(packed, start, length.astype(np.int32), xp.arange(n, dtype=np.int64), n), names


@signatures(
    "int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], uint8[::1], int64[::1], "
    "int64[::1], int64, int64[::1], uint8[::1], int32[::1]"
)
@for_each
def _write_fragment(
    f, link_of, begin, length_of, chosen: ChosenWalks, bases, unitig_start, window_start, k, start, codes, names
):  # fmt: skip
    link, skipped, length = link_of[f], begin[f], length_of[f]
    done = np.int64(0)
    for j in range(chosen.size[link]):
        o = np.int64(chosen.unitigs[WALK_UNITIGS * link + j])
        u, is_reversed = o >> 1, o & 1
        n = unitig_start[u + 1] - unitig_start[u]
        for c in range(skipped, n):
            # The bases that the next unitig shares are written twice, identically; its windows begin after these.
            i = done + c - skipped
            if i < length:
                code = bases[unitig_start[u] + c]
                if is_reversed:
                    code = 3 - bases[unitig_start[u + 1] - 1 - c]
                codes[start[f] + i] = code
                if c <= n - k and i + k <= length:
                    w = window_start[u] + c
                    if is_reversed:
                        w = window_start[u + 1] - 1 - c
                    names[start[f] + i] = 2 * w + is_reversed
        # If the fragment begins within the shared bases, the first bases of the next unitig are skipped.
        done += n - (k - 1) - skipped
        skipped, done = max(np.int64(0), -done), max(np.int64(0), done)
