"""Align reads to contigs and collect consensus sequences, support, and local reads at dead ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.base_votes import count_votes
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches
from gpuasm.assembly.alignment.seed_index import targets_of
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.coverage.contig_depth import Coverage
from gpuasm.assembly.ends.clipped_tails import LEFT, ClippedTails, find_clipped_tails, free_ends
from gpuasm.assembly.ends.end_sequences import EndSequences
from gpuasm.assembly.ends.local_reads import GapEnds, by_gap, find_local_reads
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class AlignedEnds:
    """Dead ends of unitigs with the reads that are aligned there.

    Attributes
    ----------
    texts : EndSequences
        The sequence of each end, outwards.
    depth, support : (total,) int32
        Uniquely aligned reads over each base of the unitigs, and those of them with this base; 0 beyond the unitig.
    tails : ClippedTails
        Of all reads, by oriented unitig.
    local_reads : dict of (int, int) to list of (bytes, int)
        Codes of the reads that may lie between two ends, in the direction from the first to the second, and where their
        mates begin (see `gpuasm.assembly.ends.local_reads.find_local_reads`); ascending.
    flank : int
        No local read is aligned to an end's unitig farther from the end than this (bases).
    """

    texts: EndSequences
    depth: np.ndarray
    support: np.ndarray
    tails: ClippedTails
    local_reads: dict[tuple[int, int], list[tuple[bytes, int]]] = field(default_factory=dict)
    flank: int = 0

    @cached_property
    def _tails_by_end(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = np.argsort(self.tails.end, kind="stable")
        return order, self.tails.end[order], np.cumsum(self.tails.length) - self.tails.length

    def tails_at(self, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the tails at an end, and where in all codes each one's begin."""
        order, ends, first = self._tails_by_end
        low, high = np.searchsorted(ends, [end, end + 1])
        return order[low:high], first[order[low:high]]

    def of(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return depth and support of each base of the sequence of an end."""
        own = slice(int(self.texts.start[i]), int(self.texts.start[i + 1]))
        return self.depth[own], self.support[own]


def align_to_ends(
    graph: UnitigGraph,
    ends: np.ndarray,
    contigs: Sequence[Contig],
    reads: Reads,
    *,
    of_gaps: Sequence[tuple[int, int]] = (),
    longest: int = 0,
) -> AlignedEnds:
    """Align reads to contigs, and collect what they contain at the ends of unitigs and beyond.

    Parameters
    ----------
    graph
        The graph of the unitigs.
    ends : (n,) int64
        Oriented unitigs without outgoing edges, ascending.
    contigs
        Its unitigs as contigs, and all other contigs, so that the reads of these are not aligned to the unitigs.
    reads
        All reads, on the host or on a device.
    of_gaps
        The two ends of each gap whose local reads are requested; each pair once.
    longest
        Bases of the longest fragments; 0 where reads have no mates.
    """
    xp = array_namespace(reads.packed)
    targets, index = targets_of(contigs, reads)
    unitig = np.array([contig.unitig for contig in contigs], np.int64)
    bounds = bounds_of(contigs)
    is_requested = np.zeros(2 * graph.n + 2, dtype=bool)
    is_requested[ends] = True
    is_free = is_requested[np.stack([2 * unitig, 2 * unitig + 1], axis=1)] & (unitig >= 0)[:, None]
    requested = free_ends(targets, bounds, is_free)
    sides = GapEnds.of(targets, (unitig, bounds), np.array(of_gaps, np.int64).reshape(-1), reads, longest=longest)
    local: list[tuple[int, bytes, int]] = []
    coverage, differing_bases, found = Coverage(targets, xp), [xp.empty(0, np.int64)], []
    for batch in batches(reads):
        first, second = align_reads(batch, targets, index)
        for aligned in (first.where(first.is_unique), second.where(second.is_unique)):
            coverage.add(aligned.target, aligned.begin, aligned.end)
            differing_bases.append(count_votes(batch, aligned, targets))
        found.append(find_clipped_tails(batch, (first, _folding(first, second)), targets, ends=requested))
        local += find_local_reads(batch, first, sides) if of_gaps else []
    tails = ClippedTails.joined(found)
    of_unitigs = replace(tails, end=2 * unitig[tails.end >> 1] + (tails.end & 1))
    texts = EndSequences.voted(graph, ends, of_unitigs, reach=int(reads.length.max()))
    at_ends = _with_reads(texts, of_unitigs, (unitig, bounds), (coverage.take(), xp.concatenate(differing_bases) >> 2))
    of_each = dict(zip(of_gaps, by_gap(local, len(of_gaps)), strict=True))
    return replace(at_ends, local_reads=of_each, flank=sides.flank)


def _folding(first: Alignments, second: Alignments) -> Alignments:
    """Return the second alignments of reads that may fold back; other reads may span the gap."""
    xp = array_namespace(first.at)
    if second.n == 0:
        return second
    before = first.where(xp.searchsorted(first.segment, second.segment))
    return second.where(xp.flatnonzero((before.target == second.target) & (before.is_reversed != second.is_reversed)))


def _with_reads(
    texts: EndSequences, tails: ClippedTails, where: tuple[np.ndarray, np.ndarray], reads: tuple[Array, Array]
) -> AlignedEnds:
    """Return sequences with depth and support of their bases, given all depths and the positions of all mismatches.

    A contig whose other end is trimmed has fewer bases than the sequence.
    """
    (unitig, bounds), (depth, differing_bases) = where, reads
    xp = array_namespace(depth)
    contig = np.full(int(texts.end.max(initial=0)) // 2 + 1, -1, np.int64)
    known = (unitig >= 0) & (unitig < contig.size)
    contig[unitig[known]] = np.flatnonzero(known)
    own = contig[texts.end >> 1]
    inside = np.diff(texts.start) - texts.beyond
    n_known = np.where(own >= 0, np.minimum(inside, bounds[own + 1] - bounds[own]), 0)
    is_left_end = (texts.end & 1) == LEFT
    edge = np.where(is_left_end, bounds[own], bounds[own + 1] - 1)
    columns = (to_namespace(xp, a) for a in (texts.start, inside, n_known, edge, is_left_end))
    against = xp.bincount(differing_bases, minlength=int(depth.size)).astype(np.int32)
    over, support = (xp.zeros(int(texts.start[-1]), np.int32) for _ in range(2))
    _copy_depth(texts.end.size, *columns, depth, against, over, support)
    return AlignedEnds(texts, to_host(over), to_host(support), tails)


@signatures(
    "int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1], int32[::1], int32[::1], int32[::1], int32[::1]"
)
@for_each
def _copy_depth(e, start, inside, n_known, edge, is_left_end, depth, against, over, support):
    """Write the reads over the last bases of each end, and those that agree."""
    for from_end in range(n_known[e]):
        place = edge[e] + from_end if is_left_end[e] else edge[e] - from_end
        row = start[e] + inside[e] - 1 - from_end
        over[row] = depth[place]
        support[row] = depth[place] - against[place]
