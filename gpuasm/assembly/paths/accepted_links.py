"""Accept links between single copies of the last graph as joins.

Mates are anchored by k-mers that occur once in the graph and once in the genome (`repeat_kmers`). Links are weighed
(`link_evidence`), and those that exclude all alternatives become joins (`link_acceptance`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import AnchorIndex
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.repeat_kmers import has_several_copies, leads_from_repeat, without_repeat_kmers
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, weigh_links
from gpuasm.assembly.pairs.links import Links, is_within, link_pairs, with_pairs
from gpuasm.assembly.pairs.spanning_pairs import SpanningPairs
from gpuasm.assembly.paths.link_acceptance import LinkTable, accept, single_copies


@dataclass(frozen=True)
class AcceptedLinks:
    """Links between single copies, and which of them are joins.

    Attributes
    ----------
    links : Links
    evidence : Evidence
        Of the pairs of each link.
    joins : (n_joins,) int64
        The links that are joins, ascending.
    is_single : (n_unitigs,) bool
        Which unitigs are single copies, on the host.
    all_reaches : Reaches
        Positions of all k-mers that occur once in the graph, repeat k-mers included.
    n_repeat_kmers : int
        How many of them are repeat k-mers.
    """

    links: Links
    evidence: Evidence
    joins: np.ndarray
    is_single: np.ndarray
    all_reaches: Reaches
    n_repeat_kmers: int


def accepted_links(
    graph: UnitigGraph, arrays: GraphArrays, pairs: SpanningPairs, *, repeat_kmers: Array | None, checks_anchors: bool
) -> AcceptedLinks:
    """Link the unitigs of the last graph by pairs, and accept the links that exclude all others.

    Parameters
    ----------
    graph, arrays
        The last graph.
    pairs
        The pairs that may join its unitigs.
    repeat_kmers : (n,) uint64
        k-mers that the reads' last graph contains twice; None where that is not known.
    checks_anchors
        As for `gpuasm.assembly.pairs.links.link_pairs`.
    """
    xp, inserts = array_namespace(pairs.reads.packed), pairs.inserts
    every_index, is_repeat = AnchorIndex.of(graph, xp), np.zeros(graph.n, bool)
    index = every_index
    all_reaches = reaches = Reaches.of(every_index)
    if repeat_kmers is not None:
        index, is_repeat = without_repeat_kmers(every_index, repeat_kmers)
        reaches = Reaches.of(index)
    n_repeat_kmers = int(all_reaches.count.sum() - reaches.count.sum())
    is_single = single_copies(graph, to_host(reaches.count)) & ~graph.is_circular

    def weighed(index: AnchorIndex, reaches: Reaches) -> tuple[Links, Evidence]:
        links = link_pairs(pairs.reads, index, arrays, checks_anchors=checks_anchors)
        links = _between(links, arrays, to_namespace(xp, is_single), inserts)
        return links, weigh_links(links, arrays, reaches, inserts)

    links, evidence = weighed(index, reaches)
    is_false = leads_from_repeat(links, graph, is_repeat)
    if n_repeat_kmers:
        is_false |= has_several_copies(links, *weighed(every_index, all_reaches))
    table = LinkTable.of(to_host(links.source), to_host(links.target), evidence, graph.n)
    table = replace(table, is_sound=table.is_sound & ~is_false[table.link])
    joins = accept(table, graph.length, k=graph.k, sd=inserts.sd)
    return AcceptedLinks(links, evidence, joins, is_single, all_reaches, n_repeat_kmers)


def _between(links: Links, graph: GraphArrays, is_single: Array, inserts: InsertSizes) -> Links:
    """Return the links between single copies, without the pairs within one unitig."""
    xp, link = array_namespace(links.source), links.of_pairs
    source, target = links.source[link], links.target[link]
    within = is_within(links, link, graph, inserts)
    possible = links.left.astype(np.int64) + links.right <= inserts.longest + graph.k - 1
    kept = ~within & possible & is_single[source >> 1] & is_single[target >> 1]
    return with_pairs(links, link, xp.flatnonzero(kept))
