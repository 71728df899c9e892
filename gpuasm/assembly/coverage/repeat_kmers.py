"""Repeat-derived k-mers: 31-mers that occur once in the last graph, but that read depth shows to be of a repeat.

At a large k the graph may have lost one copy of a repeat, whose continuation too few fragments cover. Its k-mers then
occur once in the graph, on the unitig of the other copy, and would anchor the mates of both copies there: pairs would
join unitigs that are not adjacent. In the last graph of reads these k-mers have twice the depth of one copy, by
Poisson's distribution; they anchor no mates.

A unitig that consists of such k-mers may be a plasmid of several copies, and keeps them. Its links count only if both
its ends are repeats or the depths agree. By chance some repeat k-mers have the depth of one copy: a link is also
rejected if, with the pairs on repeat k-mers, it has far more pairs than one copy explains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, AnchorIndex, text_of_unitigs
from gpuasm.assembly.coverage.copy_number import bits_for_single_copy
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import SIXTEENTHS
from gpuasm.assembly.pairs.link_evidence import Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import COVERAGE, PATHS
from gpuasm.kmers.counting import tally_kmers
from gpuasm.primitives.counting import count_between


def find_repeat_kmers(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float, xp: Any = np) -> Array:
    """Return the 31-mers of unitigs that occur twice or more often, by Poisson's distribution of their reads.

    Parameters
    ----------
    graph, copy, bases_per_read
        The last graph of reads, and what `gpuasm.assembly.coverage.copy_number.bits_for_single_copy` takes.
    xp
        Namespace of the keys.

    Returns
    -------
    (n,) uint64: keys of 31-mers, ascending.
    """
    bits = bits_for_single_copy(graph, copy, bases_per_read=bases_per_read)
    is_repeat = bits <= -COVERAGE.repeat_kmer_bits
    keys = tally_kmers(text_of_unitigs(graph, xp, chosen=is_repeat), ANCHOR_K, with_followers=False).keys
    return xp.sort(keys)


def without_repeat_kmers(index: AnchorIndex, repeat_kmers: Array) -> tuple[AnchorIndex, np.ndarray]:
    """Remove repeat-derived k-mers from an index, except those of unitigs that consist of them.

    Parameters
    ----------
    index
        Index of the last graph.
    repeat_kmers : (n,) uint64
        As `find_repeat_kmers` returns them.

    Returns
    -------
    AnchorIndex, and (n_unitigs,) bool, on the host: unitigs all of whose unique k-mers are repeat-derived.
    """
    xp, is_unique = array_namespace(repeat_kmers), index.kmers.is_unique
    found = index.kmers.unique_positions(repeat_kmers)
    found = found[found >= 0]
    is_found = xp.zeros(is_unique.size, bool)
    is_found[found] = True
    is_repeat = count_between(is_found, index.start) == count_between(is_unique, index.start)
    unitig = xp.searchsorted(index.start, found, side="right") - 1
    is_found[found[is_repeat[unitig]]] = False
    return replace(index, kmers=replace(index.kmers, is_unique=is_unique & ~is_found)), to_host(is_repeat)


def leads_from_repeat(links: Links, graph: UnitigGraph, is_repeat: np.ndarray) -> np.ndarray:
    """Mark the links between a repeat unitig and a unitig of lower depth that is none: (n_links,) bool, on the host.

    Parameters
    ----------
    links
        Links of single copies.
    graph, is_repeat
        The last graph, and which of its unitigs are repeats, as `without_repeat_kmers` returns them.
    """
    source, target = to_host(links.source) >> 1, to_host(links.target) >> 1
    from_repeat = is_repeat[source]
    repeat, once = np.where(from_repeat, source, target), np.where(from_repeat, target, source)
    has_more_depth = graph.depth[repeat] >= COVERAGE.single_copy_ratio * graph.depth[once]
    return (from_repeat != is_repeat[target]) & has_more_depth


def has_several_copies(links: Links, every: Links, evidence: Evidence) -> np.ndarray:
    """Mark the links that have, with the pairs on repeat k-mers, far more pairs than one copy explains.

    Parameters
    ----------
    links
        Links of k-mers that are not repeat-derived.
    every, evidence
        Links of all k-mers, and the evidence of their pairs.

    Returns
    -------
    (n_links,) bool, on the host: links with pairs on repeat k-mers, with twice the expected pairs in all, and with so
    many that two copies are 2^10 times as likely as one, by Poisson's distribution.
    """
    number = {ends: i for i, ends in enumerate(_end_pairs(every))}
    row = np.array([number.get(ends, -1) for ends in _end_pairs(links)], np.int64)
    if row.size == 0 or evidence.n_pairs.size == 0:
        return np.zeros(row.size, bool)
    n, expected = evidence.n_pairs[row], evidence.expected[row] / SIXTEENTHS
    has_more = n > to_host(links.first[1:] - links.first[:-1])
    is_likely = n - expected / np.log(2) >= PATHS.walk_lead_bits
    return (row >= 0) & has_more & (n >= COVERAGE.two_copies_ratio * expected) & is_likely


def _end_pairs(links: Links) -> list[tuple[int, int]]:
    return list(zip(to_host(links.source).tolist(), to_host(links.target).tolist(), strict=True))
