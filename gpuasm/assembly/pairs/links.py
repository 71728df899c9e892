"""Links: the pairs whose mates begin on different unitigs, grouped by the two unitig ends that they link.

`spanning_pairs` chooses the pairs that may link unitigs, from the alignments of their mates to a graph of plain k.
`link_pairs` anchors and threads them in a graph of any k.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import AnchorIndex, anchor_reads
from gpuasm.assembly.alignment.read_threading import (
    MOST_UNITIGS,
    GraphArrays,
    thread_reads,
    without_alternative_placements,
    without_false_anchors,
)
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments, repack
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.primitives.counting import count_between
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.runs import run_bounds
from gpuasm.sequence.reads import Reads, first_of_mates

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpanningPairs:
    """The pairs that may link unitigs, and the insert sizes of all pairs.

    Attributes
    ----------
    reads : Reads
        Two segments a pair, the first of each mate where N cuts it, numbered as the reads of the sample.
    inserts : InsertSizes
    n_pairs : int
        Pairs in the sample.
    """

    reads: Reads
    inserts: InsertSizes
    n_pairs: int


def spanning_pairs(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph) -> SpanningPairs | None:
    """Choose the pairs whose mates do not face each other within one unitig; None where pairs are of no use.

    ``aligned`` are the alignments of all reads to the unitigs of a graph of plain k.
    """
    if not reads.paired or reads.n_segments == 0:
        return None
    first, second = first_of_mates(reads.read)
    here, there = aligned.oriented[first], aligned.oriented[second]
    within, faces, inserts = facing_pairs(reads, aligned, kmer_graph, (first, second))
    if inserts is None:
        n_within, n_apart = int(within.sum()), int((within & ~faces).sum())
        if n_within >= FRAGMENTS.insert_least_pairs and 2 * n_apart > n_within:
            is_same = 2 * int((within & (here == there)).sum()) > n_within
            found = "are on one strand (FF)" if is_same else "look away from each other or are too long (RF)"
            note = "do not face each other (FR): most %s; their mates are used without each other: docs/reads.md"
            _LOG.warning("%s of %s pairs " + note, f"{n_apart:,}", f"{n_within:,}", found)
        return None
    xp = array_namespace(here)
    chosen = xp.flatnonzero(~faces & (here >= 0) & (there >= 0))
    kept = repack(reads.select(xp.stack([first[chosen], second[chosen]], axis=1).ravel()))
    return SpanningPairs(kept, inserts, int(first.size))


def facing_pairs(
    reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph, segments: tuple[Array, Array]
) -> tuple[Array, Array, InsertSizes | None]:
    """Return which pairs lie within one unitig, which of them face each other, and the insert sizes of these.

    ``segments`` are those of `first_of_mates`. There are no insert sizes where pairs are of no use.
    """
    first, second = segments
    here, there = aligned.oriented[first], aligned.oriented[second]
    within = aligned.contained[first] & aligned.contained[second]
    within &= (here >= 0) & (there >= 0) & (here >> 1 == there >> 1)
    xp = array_namespace(here)
    length = to_namespace(xp, kmer_graph.graph.length)[xp.maximum(here, 0) >> 1]
    insert = length - aligned.base[first] - aligned.base[second]
    faces = within & (here != there) & (insert > 0) & (insert <= FRAGMENTS.longest_insert)
    of_facing, on = to_host(insert[faces]), to_host(length[faces])
    if of_facing.size == 0 or 2 * of_facing.size < int(within.sum()):
        return within, faces, None
    bases = int((reads.length[first] + reads.length[second]).sum(dtype=np.int64)) // max(1, int(first.size))
    # Insert sizes are measured on long unitigs, or on all unitigs where the long ones contain too few pairs.
    is_long = on >= FRAGMENTS.insert_unitig_medians * np.median(of_facing)
    on_long = InsertSizes.of(np.bincount(of_facing[is_long], minlength=1), bases_per_pair=bases)
    return within, faces, on_long or InsertSizes.of(np.bincount(of_facing), bases_per_pair=bases)


class Links(NamedTuple):
    """Pairs by link: a link leads from one oriented unitig to another, along the fragment.

    Attributes
    ----------
    source, target : (n_links,) int32
        Oriented unitigs; a link equals its mirror image, and the one with the lesser source is kept.
    first : (n_links + 1,) int64
        Index of the first pair of each link.
    pair : (n_pairs,) int64
        Number of each pair.
    left : (n_pairs,) int32
        Bases from the beginning of each fragment to the source's end.
    right : (n_pairs,) int32
        Bases from the target's beginning to the end of the fragment.
    left_thread, right_thread : (8 * n_pairs,) int32
        Oriented unitigs along the read at either end of the fragment, from the source on, and from the target's twin
        on; 8 entries a pair, -1 where there are no more.
    """

    source: Array
    target: Array
    first: Array
    pair: Array
    left: Array
    right: Array
    left_thread: Array
    right_thread: Array

    @property
    def n(self) -> int:
        return int(self.source.size)

    @property
    def of_pairs(self) -> Array:
        """The link of each pair: (n_pairs,) int64."""
        return row_of_edge(self.first, np.int64)

    def with_pairs(self, is_kept: Array) -> Links:
        """Return the links with the pairs of a mask only; links without one are dropped."""
        pair = array_namespace(self.source).flatnonzero(is_kept)
        own = self.of_pairs[pair]
        bounds = run_bounds(own)
        kept = own[bounds[:-1]]
        threads = (a.reshape(-1, MOST_UNITIGS)[pair].ravel() for a in (self.left_thread, self.right_thread))
        of_pairs = (a[pair] for a in (self.pair, self.left, self.right))
        return Links(self.source[kept], self.target[kept], bounds, *of_pairs, *threads)


def link_pairs(pairs: Reads, index: AnchorIndex, graph: GraphArrays, *, checks_anchors: bool = True) -> Links:
    """Anchor and thread the mates of pairs, and group the pairs by the unitigs that their mates begin on.

    ``pairs`` are two segments a pair, facing each other; those with a mate that has no anchor are left out. With
    ``checks_anchors`` no anchor is false: see `gpuasm.assembly.alignment.read_threading`.
    """
    anchored = anchor_reads(pairs, index)
    if checks_anchors:
        anchored = without_false_anchors(anchored, pairs, graph)
        anchored = without_alternative_placements(anchored, pairs, graph)
    threads, xp = thread_reads(pairs, anchored, graph), array_namespace(pairs.packed)
    o, base = anchored.oriented.reshape(-1, 2), anchored.base.reshape(-1, 2)
    pair = xp.flatnonzero((o >= 0).all(axis=1))
    oriented, thread = o[pair], threads.reshape(-1, 2, MOST_UNITIGS)[pair]
    length = graph.start[1:] - graph.start[:-1]
    rest = (length[oriented >> 1] - base[pair]).astype(np.int32)
    # Read from the other side a pair links the same two ends: both sides are oriented alike.
    key = [oriented[:, s].astype(np.int64) * (2 * length.size) + (oriented[:, 1 - s] ^ 1) for s in (0, 1)]
    near = (key[1] < key[0]).astype(np.int64)
    far, every, least = 1 - near, xp.arange(pair.size), xp.minimum(key[0], key[1])
    order = xp.argsort(least, kind="stable")
    bounds = run_bounds(least[order])
    starts = bounds[:-1]
    return Links(
        source=oriented[every, near][order][starts],
        target=oriented[every, far][order][starts] ^ 1,
        first=bounds,
        pair=pair[order],
        left=rest[every, near][order],
        right=rest[every, far][order],
        left_thread=thread[every, near][order].ravel(),
        right_thread=thread[every, far][order].ravel(),
    )


def is_within(links: Links, graph: GraphArrays, inserts: InsertSizes) -> Array:
    """Return which pairs fit within one unitig as a fragment: (n_pairs,) bool."""
    source, target = links.source[links.of_pairs], links.target[links.of_pairs]
    own = graph.start[(source >> 1) + 1] - graph.start[source >> 1]
    insert = links.left.astype(np.int64) + links.right - own
    return (source == target) & (insert >= inserts.shortest) & (insert <= inserts.longest)


def without_pairs_within(links: Links, graph: GraphArrays, inserts: InsertSizes) -> Links:
    """Return links without the pairs within one unitig, where other pairs lead from its end to its beginning.

    Both kinds link the unitig with itself. In a tandem repeat with long units the many pairs within a unit would
    support an empty path, and all units but two would be lost.
    """
    within = is_within(links, graph, inserts)
    has_others = count_between(~within, links.first) > 0
    return links.with_pairs(~(within & has_others[links.of_pairs]))
