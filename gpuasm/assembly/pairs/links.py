"""Links: the pairs whose mates begin on different unitigs, grouped by the two unitig ends that they link."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.alternative_placements import without_alternative_placements, without_false_anchors
from gpuasm.assembly.alignment.graph_anchors import AnchorIndex, anchor_reads
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays, ReadPaths, thread_reads
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Links:
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
        xp = array_namespace(self.source)
        return xp.searchsorted(self.first[1:], xp.arange(self.left.size, dtype=np.int64), side="right")


def link_pairs(pairs: Reads, index: AnchorIndex, graph: GraphArrays, *, checks_anchors: bool = True) -> Links:
    """Anchor and thread the mates of pairs, and group the pairs by the unitigs that their mates begin on.

    Parameters
    ----------
    pairs
        Two pieces a pair, facing each other.
    index, graph
        The graph to anchor them in. Pairs with a mate that has no anchor are left out.
    checks_anchors
        Whether an anchor must not be false: see `gpuasm.assembly.alignment.alternative_placements`.
    """
    anchored = anchor_reads(pairs, index)
    if checks_anchors:
        anchored = without_false_anchors(anchored, pairs, graph)
        anchored = without_alternative_placements(anchored, pairs, graph)
    return link_threads(thread_reads(pairs, anchored, graph), graph)


def link_threads(threads: ReadPaths, graph: GraphArrays) -> Links:
    """Group pairs, their mates threaded, by the unitigs that their mates begin on; see `link_pairs`."""
    xp = array_namespace(threads.size)
    o, base = threads.anchored.oriented.reshape(-1, 2), threads.anchored.base.reshape(-1, 2)
    pair = xp.flatnonzero((o >= 0).all(axis=1))
    oriented, thread = o[pair], threads.unitigs.reshape(-1, 2, MOST_UNITIGS)[pair]
    length = graph.start[1:] - graph.start[:-1]
    rest = (length[oriented >> 1] - base[pair]).astype(np.int32)
    # Read from the other side a pair links the same two ends: both sides are oriented alike.
    key = [oriented[:, s].astype(np.int64) * (2 * length.size) + (oriented[:, 1 - s] ^ 1) for s in (0, 1)]
    near = (key[1] < key[0]).astype(np.int64)
    far, every, least = 1 - near, xp.arange(pair.size), xp.minimum(key[0], key[1])
    order = xp.argsort(least, kind="stable")
    key_sorted = least[order]
    is_first = xp.concatenate([xp.ones(min(1, key_sorted.size), bool), key_sorted[1:] != key_sorted[:-1]])
    starts = xp.flatnonzero(is_first)
    return Links(
        source=oriented[every, near][order][starts],
        target=oriented[every, far][order][starts] ^ 1,
        first=xp.concatenate([starts, xp.full(1, key_sorted.size, starts.dtype)]).astype(np.int64),
        pair=pair[order],
        left=rest[every, near][order],
        right=rest[every, far][order],
        left_thread=thread[every, near][order].ravel(),
        right_thread=thread[every, far][order].ravel(),
    )


def is_within(links: Links, link: Array, graph: GraphArrays, inserts: InsertSizes) -> Array:
    """Return which pairs fit within one unitig as a fragment: (n_pairs,) bool; ``link`` is the link of each pair."""
    source, target = links.source[link], links.target[link]
    own = graph.start[(source >> 1) + 1] - graph.start[source >> 1]
    insert = links.left.astype(np.int64) + links.right - own
    return (source == target) & (insert >= inserts.shortest) & (insert <= inserts.longest)


def without_pairs_within(links: Links, graph: GraphArrays, inserts: InsertSizes) -> Links:
    """Return links without the pairs within one unitig, where other pairs lead from its end to its beginning.

    Both kinds link the unitig with itself. In a tandem repeat with long units the many pairs within a unit would
    support an empty path, and all units but two would be lost.
    """
    xp = array_namespace(links.source)
    link = links.of_pairs
    within = is_within(links, link, graph, inserts)
    n_others = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum((~within).astype(np.int64))])
    has_others = n_others[links.first[1:]] > n_others[links.first[:-1]]
    return with_pairs(links, link, xp.flatnonzero(~(within & has_others[link])))


def with_pairs(links: Links, link: Array, pair: Array) -> Links:
    """Return the links of the chosen pairs, in order; ``link`` is the link of every pair."""
    xp = array_namespace(links.source)
    own = link[pair]
    starts = xp.flatnonzero(xp.concatenate([xp.ones(min(1, own.size), bool), own[1:] != own[:-1]]))
    threads = (a.reshape(-1, MOST_UNITIGS)[pair].ravel() for a in (links.left_thread, links.right_thread))
    return replace(
        links,
        source=links.source[own[starts]],
        target=links.target[own[starts]],
        first=xp.concatenate([starts, xp.full(1, own.size, starts.dtype)]).astype(np.int64),
        pair=links.pair[pair],
        left=links.left[pair],
        right=links.right[pair],
        **dict(zip(("left_thread", "right_thread"), threads, strict=True)),
    )
