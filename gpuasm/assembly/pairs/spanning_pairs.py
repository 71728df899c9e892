"""Pairs that may link unitigs, chosen from the alignments of their mates, and the insert sizes of all pairs."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments, repack
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.sequence.reads import Reads

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

    Parameters
    ----------
    reads
        All reads, paired.
    aligned
        Their alignments to the graph's unitigs.
    kmer_graph
        A k-mer graph of plain k.
    """
    if not reads.paired or reads.n_segments == 0:
        return None
    first, second = segments_of_mates(reads)
    here, there = aligned.oriented[first], aligned.oriented[second]
    faces, inserts = _facing(reads, aligned, kmer_graph, (first, second))
    if inserts is None:
        _warn_of_orientation(aligned, (first, second), n_facing=int(faces.sum()))
        return None
    xp = array_namespace(here)
    chosen = xp.flatnonzero(~faces & (here >= 0) & (there >= 0))
    segments = xp.stack([first[chosen], second[chosen]], axis=1).ravel()
    kept = repack(reads.select(segments))
    return SpanningPairs(kept, inserts, int(first.size))


def measure_inserts(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph) -> InsertSizes | None:
    """Measure insert sizes on the unitigs of a k-mer graph of plain k; None where pairs are of no use."""
    if not reads.paired or reads.n_segments == 0:
        return None
    return _facing(reads, aligned, kmer_graph, segments_of_mates(reads))[1]


def _facing(
    reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph, segments: tuple[Array, Array]
) -> tuple[Array, InsertSizes | None]:
    """Return which pairs face each other within one unitig, and the insert sizes of these."""
    first, second = segments
    here, there = aligned.oriented[first], aligned.oriented[second]
    within = _are_within_one(aligned, segments)
    xp = array_namespace(here)
    length = to_namespace(xp, kmer_graph.graph.length)[xp.maximum(here, 0) >> 1]
    insert = length - aligned.base[first] - aligned.base[second]
    faces = within & (here != there) & (insert > 0) & (insert <= FRAGMENTS.longest_insert)
    bases = int((reads.length[first] + reads.length[second]).sum(dtype=np.int64)) // max(1, int(first.size))
    inserts = _measure(to_host(insert[faces]), to_host(length[faces]), bases)
    if int(faces.sum()) < FRAGMENTS.facing_share * int(within.sum()):
        inserts = None
    return faces, inserts


def _are_within_one(aligned: UnitigAlignments, segments: tuple[Array, Array]) -> Array:
    """Return which pairs lie within one unitig."""
    first, second = segments
    here, there = aligned.oriented[first], aligned.oriented[second]
    contained = aligned.contained[first] & aligned.contained[second]
    return contained & (here >= 0) & (there >= 0) & (here >> 1 == there >> 1)


def _warn_of_orientation(aligned: UnitigAlignments, segments: tuple[Array, Array], *, n_facing: int) -> None:
    """Warn if most pairs within one unitig do not face each other."""
    within = _are_within_one(aligned, segments)
    n_within = int(within.sum())
    if n_within < FRAGMENTS.insert_least_pairs or n_facing >= FRAGMENTS.facing_share * n_within:
        return
    first, second = segments
    n_same = int((within & (aligned.oriented[first] == aligned.oriented[second])).sum())
    found = "are on one strand (FF)" if 2 * n_same > n_within else "look away from each other or are too long (RF)"
    _LOG.warning(
        "%s of %s pairs do not face each other (FR): most %s; their mates are used without each other: docs/reads.md",
        f"{n_within - n_facing:,}", f"{n_within:,}", found,
    )  # fmt: skip


def segments_of_mates(reads: Reads) -> tuple[Array, Array]:
    """Return the first segment of each mate of every pair whose mates both have one."""
    xp = array_namespace(reads.read)
    number = xp.arange(reads.n_reads // 2 * 2, dtype=np.int64)
    segment = xp.searchsorted(reads.read, number)
    has_one = (segment < reads.n_segments) & (reads.read[xp.minimum(segment, reads.n_segments - 1)] == number)
    both = has_one[::2] & has_one[1::2]
    return segment[::2][both], segment[1::2][both]


def _measure(insert: np.ndarray, length: np.ndarray, bases_per_pair: int) -> InsertSizes | None:
    """Measure insert sizes on long unitigs, or on all unitigs where the long ones contain too few pairs."""
    if insert.size == 0:
        return None
    is_long = length >= FRAGMENTS.insert_unitig_medians * np.median(insert)
    on_long = InsertSizes.of(np.bincount(insert[is_long], minlength=1), bases_per_pair=bases_per_pair)
    return on_long or InsertSizes.of(np.bincount(insert), bases_per_pair=bases_per_pair)
