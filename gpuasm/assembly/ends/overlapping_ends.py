"""Overlapping dead ends: join dead ends whose reads overlap by fewer than k bases.

Where coverage is low, reads at two dead ends may overlap by too little to share a k-mer. The clipped tails at each end
yield a consensus (`end_sequences`). Two ends are joined if their sequences overlap by so many bases that any two of all
ends would do so by chance once in a thousand samples. Of paired reads, at least one pair must have mates on both
sides, at the distance of a fragment. If two pairs do, only linked ends are compared, and fewer bases suffice: one wrong
join between true neighbours in a hundred samples. An end that overlaps with two others is not joined.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments
from gpuasm.assembly.ends.end_overlaps import Overlaps, find_overlaps
from gpuasm.assembly.ends.end_sequences import EndSequences
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.pairs.spanning_pairs import measure_inserts, segments_of_mates
from gpuasm.assembly.parameters import ENDS
from gpuasm.sequence.encoding import pack
from gpuasm.sequence.reads import Reads


def overlapping_end_segments(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph) -> Reads:
    """Return segments that join overlapping ends: from the last k-mer of one unitig to the first of the other.

    Parameters
    ----------
    reads
        All reads.
    aligned
        Their alignments to the graph's unitigs.
    kmer_graph
        The simplified graph of a plain k.
    """
    texts = EndSequences.of(reads, aligned, kmer_graph.graph)
    n = texts.end.size
    least, of_linked = (
        least_bases(n * n, ENDS.dead_end_min_overlap, ENDS.unlinked_chance),
        least_bases(n, ENDS.linked_dead_end_min_overlap, ENDS.linked_chance),
    )
    found = find_overlaps(texts, of_linked if reads.paired else least, xp=array_namespace(reads.packed))
    if reads.paired and found.n:
        n_pairs = _pairs_across(reads, aligned, kmer_graph, found)
        found = found.where((n_pairs >= ENDS.linked_dead_end_min_pairs) | ((n_pairs > 0) & (found.score >= least)))
    found = unambiguous_overlaps(found)
    codes = [texts.between(*own) for own in zip(found.end, found.other, found.size, strict=True) if own[0] < own[1]]
    length = np.array([own.size for own in codes], np.int64)
    start, number = np.cumsum(length) - length, np.full(length.size, -1, np.int64)
    xp, joined = array_namespace(reads.packed), np.concatenate(codes) if codes else np.empty(0, np.uint8)
    packed, start, length, number = (to_namespace(xp, own) for own in (pack(joined), start, length, number))
    return Reads(packed, start, length.astype(np.int32), number, number.size)


def least_bases(n_comparisons: int, bound: int, chance: float) -> int:
    """Return the least overlap, at least ``bound``, that occurs by chance in n comparisons with this probability."""
    return max(bound, int(np.ceil(np.log(max(1, n_comparisons) / chance) / np.log(4))))


def unambiguous_overlaps(found: Overlaps) -> Overlaps:
    """Return the overlaps of ends that overlap with no other end."""
    rows, times = np.unique(np.concatenate([found.end, found.other]), return_counts=True)
    several = rows[times > 2]  # every overlap is listed from both sides
    return found.where(~np.isin(found.end, several) & ~np.isin(found.other, several))


def _pairs_across(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph, found: Overlaps) -> np.ndarray:
    """Count for each overlap the pairs with a mate on either side, at the distance of a fragment."""
    inserts = measure_inserts(reads, aligned, kmer_graph)
    if inserts is None:
        return np.zeros(found.n, np.int64)
    xp = array_namespace(reads.packed)
    first, second = segments_of_mates(reads)
    # Mates point towards each other: their ends are next to the gap.
    here, there = aligned.last_oriented[first].astype(np.int64), aligned.last_oriented[second].astype(np.int64)
    n_ends, length = 2 * kmer_graph.graph.n, to_namespace(xp, kmer_graph.graph.length)
    requested = np.unique(found.end * n_ends + found.other)
    link = here * n_ends + there
    rows = xp.flatnonzero((here >= 0) & (there >= 0) & xp.isin(link, to_namespace(xp, requested)))
    here, there = here[rows], there[rows]
    apart = length[here >> 1] - aligned.last_base[first[rows]] + length[there >> 1] - aligned.last_base[second[rows]]
    # The order of mates is arbitrary.
    link = np.concatenate([to_host(link[rows]), to_host(there * n_ends + here)])
    apart, order = np.tile(to_host(apart), 2), np.argsort(link, kind="stable")
    low, high = (
        np.searchsorted(link[order], found.end * n_ends + found.other, side=side) for side in ("left", "right")
    )
    row = np.repeat(np.arange(found.n), high - low)
    within = np.arange(row.size) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    insert = apart[order[low[row] + within]] + found.gap[row]
    fits = (insert >= inserts.shortest) & (insert <= inserts.longest)
    return np.bincount(row[fits], minlength=found.n)
