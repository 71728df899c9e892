"""Accepted links: the links between single copies of the last graph, and which of them are joins.

Mates are anchored by words that occur once in the graph and are not copied (`copied_words`), links are weighed
(`link_evidence`), and those that exclude every other become joins (`accepting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.accepting import Table, accept, single_copies
from gpuasm.assembly.pairs.anchors import AnchorIndex
from gpuasm.assembly.pairs.copied_words import leave_repeats, of_several_copies, without_copied
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, weigh_links
from gpuasm.assembly.pairs.links import Links, is_within, link_pairs, with_pairs
from gpuasm.assembly.pairs.threading import GraphArrays


@dataclass(frozen=True)
class Accepted:
    """Links between single copies, and which of them are joins.

    Attributes
    ----------
    links : Links
    evidence : Evidence
        What the pairs of each say.
    joins : (n_joins,) int64
        The links that are joins, ascending.
    is_single : (n_unitigs,) bool
        Which unitigs are single copies, on the host.
    of_every_word : Reaches
        Where all words stand that occur once, copied or not.
    n_copied : int
        How many of them are copied.
    """

    links: Links
    evidence: Evidence
    joins: np.ndarray
    is_single: np.ndarray
    of_every_word: Reaches
    n_copied: int


def accepted_links(
    graph: UnitigGraph, arrays: GraphArrays, pairs: SpanningPairs, *, copied: Array | None, checks_anchors: bool
) -> Accepted:
    """Link the unitigs of the last graph by pairs, and accept what excludes every other.

    Parameters
    ----------
    graph, arrays
        The last graph.
    pairs
        The pairs that may join its unitigs.
    copied : (n,) uint64
        Words of what is there twice by the reads' last graph; None where that is not known.
    checks_anchors
        As for `gpuasm.assembly.pairs.links.link_pairs`.
    """
    xp, inserts = array_namespace(pairs.reads.words), pairs.inserts
    every_index, is_repeat = AnchorIndex.of(graph, xp), np.zeros(graph.n, bool)
    index = every_index
    of_every_word = reaches = Reaches.of(every_index)
    if copied is not None:
        index, is_repeat = without_copied(every_index, copied)
        reaches = Reaches.of(index)
    n_copied = int(of_every_word.count.sum() - reaches.count.sum())
    is_single = single_copies(graph, to_host(reaches.count)) & ~graph.is_circular

    def weighed(index: AnchorIndex, reaches: Reaches) -> tuple[Links, Evidence]:
        links = link_pairs(pairs.reads, index, arrays, checks_anchors=checks_anchors)
        links = _between(links, arrays, to_namespace(xp, is_single), inserts)
        return links, weigh_links(links, arrays, reaches, inserts)

    links, evidence = weighed(index, reaches)
    is_false = leave_repeats(links, graph, is_repeat)
    if n_copied:
        is_false |= of_several_copies(links, *weighed(every_index, of_every_word))
    table = Table.of(to_host(links.source), to_host(links.target), evidence, graph.n)
    table = replace(table, is_sound=table.is_sound & ~is_false[table.link])
    joins = accept(table, graph.length, k=graph.k, sd=inserts.sd)
    return Accepted(links, evidence, joins, is_single, of_every_word, n_copied)


def _between(links: Links, graph: GraphArrays, is_single: Array, inserts: InsertSizes) -> Links:
    """Return the links between single copies, without the pairs that lie within one unitig."""
    xp, link = array_namespace(links.source), links.of_pairs
    source, target = links.source[link], links.target[link]
    within = is_within(links, link, graph, inserts)
    possible = links.left.astype(np.int64) + links.right <= inserts.longest + graph.k - 1
    kept = ~within & possible & is_single[source >> 1] & is_single[target >> 1]
    return with_pairs(links, link, xp.flatnonzero(kept))
