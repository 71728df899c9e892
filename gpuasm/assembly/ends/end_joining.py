"""Join dead ends: by the reads at them, and unlinked ends at lost junctions by the exact overlap of their unitigs.

Where coverage is low, or a repeat lies within a read, the graph ends although reads continue. The clipped tails at each
end yield a consensus (`dead_ends`).

**First graph.** Two ends are joined if their sequences overlap by so many bases that any two of all ends would do so by
chance once in a thousand samples. Of paired reads, at least one pair must have mates on both sides, at the distance of
a fragment. If two pairs do, only linked ends are compared, and fewer bases suffice: one wrong join between true
neighbours in a hundred samples. An end that overlaps with two others is not joined.

**Last graph.** A gap is closed if the two sequences overlap at one length only, at the distance that pairs state, and
by so many bases that one gap in a hundred samples is closed wrongly. Units of a tandem repeat allow several lengths,
and stay a gap. Other gaps are closed by walks through their local reads, if reads or fragments support one walk only
(`local_walks`). Ends that few pairs link must overlap by more bases, and with no other end. If two unitigs overlap but
few pairs link them, a tandem unit may be missing: one read must span the overlap. If linked unitigs should overlap but
differ, the last bases of one may be of another copy: reads on both must show which bases are wrong.

**Lost junctions.** Fragments may resolve one copy of a repeat at some k while none spans another copy: its two flanks
then end in the repeat, each with all of it. They are joined without pairs if no alternative exists: no other unitig
ends in these bases, no circular contig contains them (it may hold tandem units that are missing between the two), and
both are single copies of one depth. A chance overlap of two ends that both lost another neighbour would need two lost
junctions at copies of one repeat. Where coverage is so low that lost junctions are common, nothing is joined.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments
from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.coverage.copy_number import nearby_depth
from gpuasm.assembly.ends.clipped_tails import ClippedTails
from gpuasm.assembly.ends.dead_ends import AlignedEnds, EndSequences, align_to_ends
from gpuasm.assembly.ends.end_overlaps import (
    Overlaps,
    distances_of_repeats,
    find_overlaps,
    overlap_lengths,
    unambiguous_overlaps,
)
from gpuasm.assembly.ends.local_walks import fill_gap
from gpuasm.assembly.graph.graph_edits import Fill, split
from gpuasm.assembly.graph.kmer_graph import KmerGraph
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, last_codes, oriented_codes
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import Gap, Resolved, move_gaps
from gpuasm.assembly.pairs.links import facing_pairs
from gpuasm.assembly.parameters import ALIGNMENT, COVERAGE, ENDS
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.sequence.encoding import pack, reverse_complement
from gpuasm.sequence.reads import Reads, first_of_mates
from gpuasm.stages import Stages
from gpuasm.threads import ordered_map


def least_bases(n_comparisons: int, bound: int, chance: float) -> int:
    """Return the least overlap, at least ``bound``, that occurs by chance in n comparisons with this probability."""
    return max(bound, int(np.ceil(np.log(max(1, n_comparisons) / chance) / np.log(4))))


def overlapping_end_segments(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph) -> Reads:
    """Return segments that join overlapping ends: from the last k-mer of one unitig to the first of the other.

    ``aligned`` are the alignments of all reads to the unitigs of the simplified graph of a plain k.
    """
    xp, texts = array_namespace(reads.packed), EndSequences.of(reads, aligned, kmer_graph.graph)
    n = texts.end.size
    least = least_bases(n * n, ENDS.dead_end_min_overlap, ENDS.unlinked_chance)
    of_linked = least_bases(n, ENDS.linked_dead_end_min_overlap, ENDS.linked_chance)
    found = find_overlaps(texts, of_linked if reads.paired else least, xp=xp)
    if reads.paired and found.n:
        n_pairs = _pairs_across(reads, aligned, kmer_graph, found)
        found = found.where((n_pairs >= ALIGNMENT.min_votes) | ((n_pairs > 0) & (found.score >= least)))
    found = unambiguous_overlaps(found)
    codes = [texts.between(*own) for own in zip(found.end, found.other, found.size, strict=True) if own[0] < own[1]]
    n, packed = len(codes), pack(np.concatenate([np.empty(0, np.uint8), *codes]))
    length = np.array([own.size for own in codes], np.int64)
    start, no_read = np.cumsum(length) - length, np.full(n, -1, np.int64)
    return Reads(packed, start, length.astype(np.int32), no_read, n).moved_to(xp)


def _pairs_across(reads: Reads, aligned: UnitigAlignments, kmer_graph: KmerGraph, found: Overlaps) -> np.ndarray:
    """Count for each overlap the pairs with a mate on either side, at the distance of a fragment."""
    xp, (first, second) = array_namespace(reads.packed), first_of_mates(reads.read)
    inserts = facing_pairs(reads, aligned, kmer_graph, (first, second))[2]
    if inserts is None:
        return np.zeros(found.n, np.int64)
    # Mates point towards each other: their ends are next to the gap.
    here, there = aligned.last_oriented[first].astype(np.int64), aligned.last_oriented[second].astype(np.int64)
    n_ends, length = 2 * kmer_graph.graph.n, to_namespace(xp, kmer_graph.graph.length)
    # The order of mates is arbitrary.
    link, requested = (
        np.minimum(one, other) * n_ends + np.maximum(one, other)
        for one, other in ((here, there), (found.end, found.other))
    )
    links = np.unique(requested)
    rows = xp.flatnonzero((here >= 0) & (there >= 0) & xp.isin(link, to_namespace(xp, links)))
    here, there = here[rows], there[rows]
    apart = length[here >> 1] - aligned.last_base[first[rows]] + length[there >> 1] - aligned.last_base[second[rows]]
    pairs = np.sort((np.searchsorted(links, to_host(link[rows])) << 32) + to_host(apart))
    own = np.searchsorted(links, requested) << 32
    low, high = np.maximum(0, inserts.shortest - found.gap), np.maximum(-1, inserts.longest - found.gap)
    return np.searchsorted(pairs, own + high, side="right") - np.searchsorted(pairs, own + low)


def find_unlinked_overlaps(graph: UnitigGraph, may_join: np.ndarray, *, xp: Any = np) -> list[tuple[int, int, int]]:
    """Return the dead ends that overlap with each other and with no other end, by fewer than k - 1 bases.

    Only the ends of the oriented unitigs that ``may_join``, (2n,) bool, marks are joined; every dead end counts as a
    competitor. Ends in which the shared bases occur again are left out: units of a tandem repeat may be missing.

    Returns
    -------
    list of (source, target, overlap): oriented unitigs, each pair from one side only, and the shared bases.
    """
    dead = np.flatnonzero(graph.is_dead_end)
    dead = dead[graph.length[dead >> 1] >= ALIGNMENT.contained_end_min_bases]
    if graph.k - 2 < ALIGNMENT.contained_end_min_bases or not may_join[dead].any():
        return []
    texts = EndSequences.voted(graph, dead, ClippedTails.joined([]), reach=graph.k - 2)
    overlaps = find_overlaps(texts, ALIGNMENT.contained_end_min_bases, xp=xp)
    overlaps = unambiguous_overlaps(overlaps.where(overlaps.score == overlaps.size))
    rows = zip(overlaps.end.tolist(), (overlaps.other ^ 1).tolist(), overlaps.size.tolist(), strict=True)
    # The join and its reverse complement are one.
    joins = [row for row in rows if row[:2] <= (row[1] ^ 1, row[0] ^ 1) and may_join[[row[0], row[1] ^ 1]].all()]
    return _without_third(graph, [join for join in joins if _is_sound(graph, *join)])


def are_densely_covered(graph: UnitigGraph, *, bases_per_read: float) -> np.ndarray:
    """Return at which unitigs coverage is so high that hardly any junction lacks reads: (n,) bool."""
    windows = graph.depth * max(0.0, 1 - ALIGNMENT.contained_end_min_bases / bases_per_read)
    return np.exp(-windows) <= ENDS.unlinked_max_uncovered


def _is_sound(graph: UnitigGraph, source: int, target: int, overlap: int) -> bool:
    """Return whether the ends are of different unitigs of one depth, and no tandem unit may be missing."""
    less, more = sorted(float(graph.depth[o >> 1]) for o in (source, target))
    is_one_depth = source >> 1 != target >> 1 and more <= COVERAGE.single_copy_ratio * less
    return is_one_depth and not distances_of_repeats(graph, source, target, overlap)


def _without_third(graph: UnitigGraph, joins: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Leave out the joins of which the end of a third unitig overlaps with one side, even if that unitig continues."""
    if not joins:
        return joins
    begins = sorted({o for source, target, _ in joins for o in (target, source ^ 1)})
    entering = _entering(graph, begins)
    return [(s, t, n) for s, t, n in joins if entering[t] <= {s} and entering[s ^ 1] <= {t ^ 1}]


def _entering(graph: UnitigGraph, begins: list[int]) -> dict[int, set[int]]:
    """Return which oriented unitigs end in the first bases of each given oriented unitig, by fewer than k - 1 bases.

    A unitig shorter than the rest of the other counts with its whole length. A circular unitig has no end: it counts
    if it contains the least number of shared bases.
    """
    forward, backward = kmers_of(np.stack([oriented_codes(graph, o)[:ANCHOR_K] for o in begins]).ravel())
    forward, backward = forward[::ANCHOR_K], backward[::ANCHOR_K]
    key, entering = np.minimum(forward, backward), {o: set[int]() for o in begins}
    position, found, is_key = places_of(graph.bases, key)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    for at, u, kmer, reads_key in zip(position.tolist(), unitig.tolist(), found, is_key.tolist(), strict=True):
        for i in np.flatnonzero(key == kmer).tolist():
            is_reversed = reads_key != bool(forward[i] < backward[i])
            rest = at + ANCHOR_K - int(graph.start[u]) if is_reversed else int(graph.start[u + 1]) - at
            n = ALIGNMENT.contained_end_min_bases if graph.is_circular[u] else rest
            if ALIGNMENT.contained_end_min_bases <= n <= min(rest, graph.k - 2):
                own, along = oriented_codes(graph, begins[i])[:n], oriented_codes(graph, 2 * u + is_reversed)[-rest:]
                if np.array_equal(own, along[: own.size]):
                    entering[begins[i]].add(2 * u + is_reversed)
    return entering


def close_gaps(
    resolved: Resolved,
    reads: Reads,
    *,
    isolated: Sequence[UnitigGraph] = (),
    stages: Stages,
    inserts: InsertSizes | None = None,
    rules: Collection[str] = EVERY_RULE,
) -> tuple[UnitigGraph, list[Gap]]:
    """Join linked ends whose intermediate bases reads determine; return the graph, and the remaining gaps.

    The unitigs of ``isolated`` are contigs too, so that their reads are not aligned to others. Where reads have no
    mates, ``inserts`` is None. "local-reads" is one of the ``rules``: see `gpuasm.assembly.options.RULES`.
    """
    graph = resolved.graph
    is_dead = graph.is_dead_end
    free, ambiguous, mismatching = (
        [gap for gap in some if is_dead[list(gap.ends)].all()]
        for some in (resolved.gaps, resolved.ambiguous_overlaps, resolved.mismatching_overlaps)
    )
    if not (free or resolved.weak_links or ambiguous or mismatching):
        return graph, resolved.gaps
    with stages.stage("close gaps") as stage:
        ends = np.flatnonzero(is_dead)
        linked = [] if "local-reads" not in rules else [gap for gap in free if gap.n_pairs >= ENDS.gap_walk_min_pairs]
        aligned = align_to_ends(
            graph, ends, make_contigs(graph, isolated, min_length=1), reads,
            gaps=linked, longest=inserts.longest if inserts else 0,
        )  # fmt: skip

        def filled(some: Sequence[Gap]) -> dict[Gap, Fill]:
            return _fills(aligned, some, least_bases(len(some), ENDS.gap_min_overlap, ENDS.linked_chance))

        fills = filled(free)
        density = inserts.log2_density() if inserts else None
        read_length = reads.n_bases // max(1, reads.n_segments)
        open_ = [gap for gap in linked if gap not in fills]
        walked = _walked(graph, aligned, open_, read_length=read_length, density=density)
        least = least_bases(len(resolved.weak_links), ENDS.dead_end_min_overlap, ENDS.unlinked_chance)
        weak = _fills(aligned, _unambiguous(aligned, resolved.weak_links, least, array_namespace(reads.packed)), least)
        # Of these two the unitigs themselves overlap.
        spanned, corrected = (
            {gap: fill for gap, fill in filled(some).items() if fill.overlap} for some in (ambiguous, mismatching)
        )
        spanned = {gap: fill for gap, fill in spanned.items() if _has_read_across(graph, aligned, fill)}
        left = [gap for gap in resolved.gaps if gap not in fills and gap not in walked]
        made = [fill for some in (fills, walked, weak, spanned, corrected) for fill in some.values()]
        if made:
            # Dead ends lose no edges, so no unitig between them is dropped.
            graph, sources = split(graph, made, nearby_depth(graph), longest=0)
            left = move_gaps(left, graph, sources)
        stage.note(gaps=len(resolved.gaps), closed=len(fills), walked=len(walked))
        stage.note(weak_links=len(resolved.weak_links), weak_links_closed=len(weak))
        stage.note(ambiguous_overlaps=len(ambiguous), ambiguous_closed=len(spanned))
        stage.note(mismatching_overlaps=len(mismatching), mismatching_closed=len(corrected))
    return graph, left


def _unambiguous(ends: AlignedEnds, weak_links: Sequence[Gap], least: int, xp: Any) -> list[Gap]:
    """Return the weak links whose end sequences overlap with each other and with no third one."""
    found = unambiguous_overlaps(find_overlaps(ends.texts, least, xp=xp))
    overlapping = set(zip(found.end.tolist(), found.other.tolist(), strict=True))
    return [link for link in weak_links if link.ends in overlapping]


def _walked(
    graph: UnitigGraph, ends: AlignedEnds, gaps: Sequence[Gap], *, read_length: int, density: np.ndarray | None
) -> dict[Gap, Fill]:
    """Return the fills of gaps that a walk through local reads closes."""

    def filled(gap: Gap) -> Fill | None:
        own = ends.local_reads[gap]
        return fill_gap(graph, gap, own, read_length=read_length, density=density, flank=ends.flank) if own else None

    return {gap: fill for gap, fill in zip(gaps, ordered_map(filled, gaps), strict=True) if fill}


def _fills(ends: AlignedEnds, gaps: Sequence[Gap], least: int) -> dict[Gap, Fill]:
    """Return the fills of gaps whose end sequences overlap at the distance that pairs state."""
    return {gap: fill for gap in gaps if (fill := overlap_ends(ends, gap, least=least))}


def overlap_ends(ends: AlignedEnds, gap: Gap, *, least: int) -> Fill | None:
    """Return the fill of a gap by the overlap of its ends, or None unless exactly one overlap length scores enough."""
    texts = ends.texts
    a, b = np.searchsorted(texts.end, gap.ends).tolist()
    own, towards = texts.text(a), reverse_complement(texts.text(b))
    overlaps = overlap_lengths(own, towards, least=least)
    if overlaps.size != 1:
        return None
    n, beyond = int(overlaps[0]), (int(texts.beyond[a]), int(texts.beyond[b]))
    differs = np.flatnonzero(own[own.size - n :] != towards[:n])
    if ALIGNMENT.alignment_bases_per_mismatch * differs.size > n:
        return None
    of_both = differs[(differs >= beyond[1]) & (differs < n - beyond[0])]
    (depth, support), (its_depth, its_support) = ends.of(a), (values[::-1] for values in ends.of(b))
    here, least = own.size - n + of_both, ALIGNMENT.min_votes
    is_wrong = (depth[here] > 0) & (support[here] < least) & (its_support[of_both] >= least)
    is_wrong |= (its_depth[of_both] > 0) & (its_support[of_both] < least) & (support[here] >= least)
    size = sum(beyond) - n
    return gap.filled(size, _between(own, towards, beyond, size), k=texts.k) if is_wrong.all() else None


def _between(own: np.ndarray, towards: np.ndarray, beyond: tuple[int, int], size: int) -> bytes:
    """Return the bases of a gap: each from the nearer end, as far as its reads extend."""
    if size <= 0:
        return b""
    first, second = own[own.size - beyond[0] :][:size], towards[: beyond[1]][-size:]
    n = min(first.size, max(size - second.size, (size + 1) // 2))
    return np.concatenate([first[:n], second[second.size - (size - n) :]]).tobytes()


def _has_read_across(graph: UnitigGraph, ends: AlignedEnds, fill: Fill) -> bool:
    """Return whether a read contains the overlap of two unitigs, and some bases of either next to it."""
    tails, flank, shared = ends.tails, ENDS.dead_end_min_overlap, fill.overlap
    for end, into in ((fill.walk[0], fill.walk[1] ^ 1), (fill.walk[1] ^ 1, fill.walk[0])):
        follows = reverse_complement(last_codes(graph, into, shared + flank))[shared:]
        rows, first = ends.tails_at(end)
        first = first[(tails.inside[rows] >= shared + flank) & (tails.length[rows] >= flank)]
        bases = tails.codes[first[:, None] + np.arange(flank)]
        if follows.size == flank and (bases == follows).all(axis=1).any():
            return True
    return False
