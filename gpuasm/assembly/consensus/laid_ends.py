"""Ends that reads are laid on: their texts, and how many reads say each base of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.batches import batches
from gpuasm.assembly.consensus.coverage import Coverage
from gpuasm.assembly.consensus.end_texts import EndTexts
from gpuasm.assembly.consensus.laying import Laid, lay_reads
from gpuasm.assembly.consensus.local_reads import GapEnds, by_gap, find_local_reads
from gpuasm.assembly.consensus.overhangs import LEFT, Overhangs, find_overhangs, free_ends
from gpuasm.assembly.consensus.targets import targets_of
from gpuasm.assembly.consensus.votes import count_votes
from gpuasm.assembly.contigs import Contig, bounds_of
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class LaidEnds:
    """Ends of unitigs with what reads say.

    Attributes
    ----------
    texts : EndTexts
        The text of each, outwards.
    depth, told : (total,) int32
        Reads with a place of their own over each base of the unitigs, and those of them that say that base; 0 where
        reads voted.
    overhangs : Overhangs
        Of all reads, by oriented unitig.
    local_reads : dict of (int, int) to list of (bytes, int)
        Codes of the reads that may lie between two ends, as they run from the first to the second, and where their
        mates begin, as `gpuasm.assembly.consensus.local_reads.find_local_reads` tells; ascending.
    beside : int
        Bases from an end beyond which none of these lies on that end's unitig.
    """

    texts: EndTexts
    depth: np.ndarray
    told: np.ndarray
    overhangs: Overhangs
    local_reads: dict[tuple[int, int], list[tuple[bytes, int]]] = field(default_factory=dict)
    beside: int = 0

    def of(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what is known of each base of the text of an end."""
        own = slice(int(self.texts.start[i]), int(self.texts.start[i + 1]))
        return self.depth[own], self.told[own]


def lay_on_ends(
    graph: UnitigGraph,
    ends: np.ndarray,
    contigs: Sequence[Contig],
    reads: Reads,
    *,
    of_gaps: Sequence[tuple[int, int]] = (),
    longest: int = 0,
) -> LaidEnds:
    """Lay reads on contigs, and let them say what they hold at ends of unitigs and beyond.

    Parameters
    ----------
    graph
        The graph of the unitigs.
    ends : (n,) int64
        Oriented unitigs that end where nothing follows, ascending.
    contigs
        Its unitigs as contigs, and all others: reads that come from these must not be taken for theirs.
    reads
        All reads, on the host or on a device.
    of_gaps
        The two ends of each gap whose local reads are asked for; none stands twice.
    longest
        Bases of the longest fragments; 0 where reads have no mates.
    """
    xp = array_namespace(reads.words)
    targets, index = targets_of(contigs, reads)
    unitig = np.array([contig.unitig for contig in contigs], np.int64)
    bounds = bounds_of(contigs)
    is_wanted = np.zeros(2 * graph.n + 2, dtype=bool)
    is_wanted[ends] = True
    is_free = is_wanted[np.stack([2 * unitig, 2 * unitig + 1], axis=1)] & (unitig >= 0)[:, None]
    wanted = free_ends(targets, bounds, is_free)
    sides = GapEnds.of(targets, (unitig, bounds), np.array(of_gaps, np.int64).reshape(-1), reads, longest=longest)
    local: list[tuple[int, bytes, int]] = []
    coverage, differing, found = Coverage(targets, xp), [xp.empty(0, np.int64)], []
    for batch in batches(reads):
        first, second = lay_reads(batch, targets, index)
        for laid in (first.where(first.is_unique), second.where(second.is_unique)):
            coverage.add(laid.target, laid.begin, laid.end)
            differing.append(count_votes(batch, laid, targets))
        found.append(find_overhangs(batch, (first, _folding(first, second)), targets, ends=wanted))
        local += find_local_reads(batch, first, sides) if of_gaps else []
    hanging = Overhangs.joined(found)
    of_unitigs = replace(hanging, end=2 * unitig[hanging.end >> 1] + (hanging.end & 1))
    texts = EndTexts.voted(graph, ends, of_unitigs, reach=int(reads.length.max()))
    told = _with_reads(texts, of_unitigs, (unitig, bounds), (coverage.counts(), xp.concatenate(differing) >> 2))
    of_each = dict(zip(of_gaps, by_gap(local, len(of_gaps)), strict=True))
    return replace(told, local_reads=of_each, beside=sides.beside)


def _folding(first: Laid, second: Laid) -> Laid:
    """Return the second places of reads that may fold back: others may lie across the gap, as all of them shall."""
    xp = array_namespace(first.at)
    if second.n == 0:
        return second
    before = first.where(xp.searchsorted(first.piece, second.piece))
    return second.where(xp.flatnonzero((before.target == second.target) & (before.turned != second.turned)))


def _with_reads(
    texts: EndTexts, overhangs: Overhangs, where: tuple[np.ndarray, np.ndarray], reads: tuple[Array, Array]
) -> LaidEnds:
    """Return texts with the reads over their bases: how many, and the place of each base of a read that differs."""
    depth, differing = reads
    xp = array_namespace(depth)
    place, row = _places(texts, *where)
    at = to_namespace(xp, place)
    over = to_host(depth[at])
    against = to_host(xp.bincount(differing, minlength=int(depth.size))[at]).astype(np.int32)
    both = np.zeros((2, int(texts.start[-1])), np.int32)
    both[0, row], both[1, row] = over, over - against
    return LaidEnds(texts, both[0], both[1], overhangs)


def _places(texts: EndTexts, unitig: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the texts' bases among those of all contigs, and which of all bases of texts they are.

    Where the other end of a unitig is cut its contig has fewer bases than the text.
    """
    contig = np.full(int(texts.end.max(initial=0)) // 2 + 1, -1, np.int64)
    known = (unitig >= 0) & (unitig < contig.size)
    contig[unitig[known]] = np.flatnonzero(known)
    inside = np.diff(texts.start) - texts.beyond
    number = np.repeat(np.arange(inside.size), inside)
    within = np.arange(number.size) - np.repeat(np.cumsum(inside) - inside, inside)
    own, from_end = contig[texts.end[number] >> 1], inside[number] - 1 - within
    is_left = (texts.end[number] & 1) == LEFT
    place = np.where(is_left, bounds[own] + from_end, bounds[own + 1] - 1 - from_end)
    is_there = (own >= 0) & (from_end < bounds[own + 1] - bounds[own])
    return place[is_there], (texts.start[number] + within)[is_there]
