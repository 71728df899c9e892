"""The sequence at each dead end: last bases of its unitig, and the consensus of the reads beyond it.

In the first graph the reads are aligned to the unitigs (`EndSequences.of`). In the last one they are aligned to
contigs, and their depth and support, and the local reads of gaps, are collected as well (`align_to_ends`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches, list_differing_bases
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments
from gpuasm.assembly.alignment.seed_index import Targets, targets_of
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.coverage.contig_depth import Coverage
from gpuasm.assembly.ends.clipped_tails import (
    LEFT,
    RIGHT,
    ClippedTails,
    find_clipped_tails,
    free_ends,
    vote,
)
from gpuasm.assembly.ends.local_reads import GapEnds, find_local_reads
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.runs import occurrences
from gpuasm.sequence.encoding import reverse_complement
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class EndSequences:
    """The sequence at each dead end: last bases of its unitig, and the consensus beyond it.

    Attributes
    ----------
    end : (n,) int64
        Oriented unitigs, ascending.
    codes : (total,) uint8
        The concatenated sequences, each outwards.
    start : (n + 1,) int64
        Where each begins.
    beyond : (n,) int64
        Bases of the consensus beyond the unitig.
    k : int
        The graph's k.
    """

    end: np.ndarray
    codes: np.ndarray
    start: np.ndarray
    beyond: np.ndarray
    k: int

    @classmethod
    def of(cls, reads: Reads, on_unitigs: UnitigAlignments, graph: UnitigGraph) -> EndSequences:
        """Compute the consensus beyond every dead end; take as many bases of the unitig as the longest read has."""
        tails = [_clipped_tails(reads, on_unitigs, graph, side=side) for side in (RIGHT, LEFT)]
        reach = int(reads.length.max()) if reads.n_segments else 0
        return cls.voted(graph, np.flatnonzero(graph.is_dead_end), ClippedTails.joined(tails), reach=reach)

    @classmethod
    def voted(cls, graph: UnitigGraph, end: np.ndarray, tails: ClippedTails, *, reach: int) -> EndSequences:
        """Compute the consensus of tails beyond the given ends; take ``reach`` bases of the unitig."""
        found = vote(tails, n_single=reach)
        beyond = np.zeros(end.size, np.int64)
        beyond[np.searchsorted(end, found.end)] = [own.size for own in found.codes]
        size = np.minimum(graph.length[end >> 1], reach) + beyond
        start = np.concatenate([[0], np.cumsum(size)])
        codes = np.empty(int(start[-1]), np.uint8)
        copy_unitig_ends(end, (graph.bases, graph.start), start, beyond, codes)
        last = np.repeat(np.cumsum(beyond) - start[1:], beyond)
        codes[np.arange(last.size) - last] = np.concatenate([np.empty(0, np.uint8), *found.codes])
        return cls(end, codes, start, beyond, graph.k)

    def text(self, i: int) -> np.ndarray:
        return self.codes[self.start[i] : self.start[i + 1]]

    def between(self, end: int, other: int, overlap: int) -> np.ndarray:
        """Return the sequence from the last k bases of one unitig to the first k of the other."""
        a, b = np.searchsorted(self.end, [end, other]).tolist()
        own, towards = self.text(a), reverse_complement(self.text(b))
        begin, end, middle = own.size - self.beyond[a] - self.k, self.beyond[b] + self.k, (overlap + 1) // 2
        return np.concatenate([own[begin : own.size - overlap + middle], towards[middle:end]])


@signatures("int64[::1], Tuple((uint8[::1], int64[::1], )), int64[::1], int64[::1], uint8[::1]")
@compiled()
def copy_unitig_ends(end, bases_of, text_start, beyond, codes):
    """Copy the last bases of each end's unitig to the front of its sequence, outwards."""
    bases, start = bases_of
    for i in range(end.size):
        unitig, is_left_end = end[i] >> 1, end[i] & 1 == 1
        n = text_start[i + 1] - text_start[i] - beyond[i]
        first = start[unitig] if is_left_end else start[unitig + 1] - n
        copy_oriented(bases, first, n, is_left_end, codes, text_start[i])


def _clipped_tails(reads: Reads, on_unitigs: UnitigAlignments, graph: UnitigGraph, *, side: int) -> ClippedTails:
    """Return clipped tails at dead ends, at the end of reads (RIGHT) or at their beginning.

    They are those of reads that match the last k bases of the unitig.
    """
    xp, k = array_namespace(reads.packed), graph.k
    length = to_namespace(xp, graph.length)
    oriented = xp.maximum(on_unitigs.oriented if side else on_unitigs.last_oriented, 0)
    beyond = -on_unitigs.base if side else on_unitigs.last_base + reads.length - length[oriented >> 1]
    dead = to_namespace(xp, graph.is_dead_end)[oriented ^ side]
    rows = xp.flatnonzero((on_unitigs.oriented >= 0) & (beyond > 0) & (beyond <= reads.length - k) & dead)
    end, beyond, inside = to_host(oriented[rows] ^ side).astype(np.int64), beyond[rows], (reads.length - beyond)[rows]
    is_reversed, size = xp.full(rows.size, side == LEFT), xp.full(rows.size, k)
    codes = reads.codes_of(rows, inside - k, size, is_reversed=is_reversed).reshape(-1, k)
    last_bases, nothing = np.empty_like(codes), np.zeros(end.size, np.int64)
    copy_unitig_ends(end, (graph.bases, graph.start), k * np.arange(end.size + 1), nothing, last_bases.reshape(-1))
    agreeing = np.flatnonzero((codes == last_bases).all(axis=1))
    rows, beyond, inside, is_reversed = (a[to_namespace(xp, agreeing)] for a in (rows, beyond, inside, is_reversed))
    codes = reads.codes_of(rows, inside, beyond, is_reversed=is_reversed)
    return ClippedTails(end[agreeing], to_host(beyond), to_host(inside), codes)


@dataclass(frozen=True)
class AlignedEnds:
    """Dead ends of unitigs with the reads that are aligned there.

    Attributes
    ----------
    texts : EndSequences
        The sequence of each end, outwards.
    places : (n, 2) int64
        Begin and end of the contig of each end, among the bases of all contigs; in descending order if it has none.
    depth, support : (n_places,) int32
        Uniquely aligned reads over each base of all contigs, and those of them with this base.
    tails : ClippedTails
        Of all reads, by oriented unitig.
    local_reads : dict of Gap to list of (bytes, int)
        Codes of the reads that may lie in a gap, in its direction, and where their mates begin (see
        `gpuasm.assembly.ends.local_reads.find_local_reads`).
    flank : int
        No local read is aligned to an end's unitig farther from the end than this (bases).
    """

    texts: EndSequences
    places: np.ndarray
    depth: Array
    support: Array
    tails: ClippedTails
    local_reads: dict[Gap, list[tuple[bytes, int]]]
    flank: int

    @cached_property
    def _tails_by_end(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = np.argsort(self.tails.end, kind="stable")
        return order, self.tails.end[order], self.tails.start

    def tails_at(self, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the tails at an end, and where in all codes each one's begin: (n,) int64 each."""
        order, ends, first = self._tails_by_end
        rows = order[slice(*np.searchsorted(ends, [end, end + 1]))]
        return rows, first[rows]

    def of(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return depth and support of each base of the sequence of an end: (n,) int32; 0 beyond the unitig.

        A contig whose other end is trimmed has fewer bases than the sequence.
        """
        size, (begin, end) = self.texts.text(i).size, self.places[i].tolist()
        inside, is_left_end = size - int(self.texts.beyond[i]), self.texts.end[i] & 1 == LEFT
        n, found = max(0, min(inside, end - begin)), np.zeros((2, size), np.int32)
        own = slice(begin, begin + n) if is_left_end else slice(end - n, end)
        for row, values in zip(found, (self.depth, self.support), strict=True):
            row[inside - n : inside] = to_host(values[own])[:: -1 if is_left_end else 1]
        return found[0], found[1]


def align_to_ends(
    graph: UnitigGraph,
    ends: np.ndarray,
    contigs: Sequence[Contig],
    reads: Reads,
    *,
    gaps: Sequence[Gap] = (),
    longest: int = 0,
) -> AlignedEnds:
    """Align reads to contigs, and collect what they contain at the ends of unitigs and beyond.

    ``ends``, (n,) int64, are oriented unitigs of the graph without outgoing edges, ascending. ``contigs`` are its
    unitigs and all other contigs, so that the reads of these are not aligned to the unitigs. The local reads of
    ``gaps`` are requested. The longest fragments have ``longest`` bases.
    """
    xp = array_namespace(reads.packed)
    targets, index = targets_of(contigs, reads)
    unitig = np.array([contig.unitig for contig in contigs], np.int64)
    at_end = unitig_ends(contigs, targets, ends)
    of_gaps = np.array([end for gap in gaps for end in gap.ends], np.int64)
    sides = GapEnds.of(targets, at_end, of_gaps, reads, longest=longest)
    local_reads: dict[Gap, list[tuple[bytes, int]]] = {gap: [] for gap in gaps}
    coverage, differing_bases, found = Coverage(targets, xp), [xp.empty(0, np.int64)], []
    for batch in batches(reads):
        first, second = align_reads(batch, targets, index)
        for aligned in (first.where(first.is_unique), second.where(second.is_unique)):
            coverage.add(aligned.target, aligned.begin, aligned.end)
            differing_bases.append(list_differing_bases(batch, aligned, targets))
        found.append(find_clipped_tails(batch, (first, _folding(first, second)), targets, ends=at_end))
        for number, text, before in find_local_reads(batch, first, sides) if gaps else ():
            local_reads[gaps[number]].append((text, before))
    tails = ClippedTails.joined(found)
    texts = EndSequences.voted(graph, ends, tails, reach=int(reads.length.max()))
    contig = np.full(graph.n + 1, -1, np.int64)  # the last place is that of contigs that are no unitig
    contig[unitig] = np.arange(unitig.size)
    places = bounds_of(contigs)[contig[ends >> 1][:, None] + np.array([0, 1])]
    depth, (against, n_against) = coverage.take(), occurrences(xp.concatenate(differing_bases) >> 2)
    support = depth.copy()
    support[against] -= n_against.astype(np.int32)
    return AlignedEnds(texts, places, depth, support, tails, local_reads, sides.flank)


def unitig_ends(contigs: Sequence[Contig], targets: Targets, ends: np.ndarray) -> np.ndarray:
    """Return the oriented unitig that ends at the right and at the left end of each target: (2, n_targets) int64.

    It is -1 where there is none of the given ``ends``, (n,) int64.
    """
    oriented = 2 * np.array([contig.unitig for contig in contigs], np.int64)[:, None] + np.array([RIGHT, LEFT])
    found = free_ends(targets, bounds_of(contigs), np.isin(oriented, ends))
    return np.where(found >= 0, oriented.ravel()[found], -1)


def _folding(first: Alignments, second: Alignments) -> Alignments:
    """Return the second alignments of reads that may fold back; other reads may span the gap."""
    xp = array_namespace(first.at)
    if second.n == 0:
        return second
    before = first.where(xp.searchsorted(first.segment, second.segment))
    return second.where(xp.flatnonzero((before.target == second.target) & (before.is_reversed != second.is_reversed)))
