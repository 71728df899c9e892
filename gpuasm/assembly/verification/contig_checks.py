"""Verify contigs by the reads: align all reads, correct and break contigs, and compute depth and copies.

1. Index the contigs' seeds and align every read (`contig_alignment`).
2. Sum up coverage, votes of mismatching bases, and breakpoints of clipped reads.
3. Correct bases (`polishing`). Break joins that reads and fragments do not support (`unsupported_joins`). Trim
   redundant ends (`redundant_ends`), and remove contigs without reads.
4. Extend free ends by clipped read tails (`end_extension`).
5. Choose the first base of circular contigs (`circular_start`).
6. Compute depth and copies of each contig from its aligned reads (`contig_depth`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.alignment.base_votes import count_votes
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches
from gpuasm.assembly.alignment.mate_rescue import rescue_mates
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets, targets_of
from gpuasm.assembly.contig import Contig, bounds_of, changed, numbered, single_copy_depth
from gpuasm.assembly.coverage.contig_depth import Coverage, DepthTable, core_of, summarise
from gpuasm.assembly.ends.clipped_tails import ClippedTails, find_clipped_tails, free_ends
from gpuasm.assembly.ends.end_extension import extend_ends, extended
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.pairs.fragments import Fragments, find_discordant_pairs, find_fragments, longest_insert
from gpuasm.assembly.pairs.spanning_fragments import BreakEvidence
from gpuasm.assembly.parameters import ALIGNMENT, VERIFICATION
from gpuasm.assembly.verification.circular_start import find_circular_starts
from gpuasm.assembly.verification.clipping_breaks import ClippingBreakpoints
from gpuasm.assembly.verification.contig_splitting import Cuts, Join, split_contigs
from gpuasm.assembly.verification.polishing import VoteCounts, count_mixed, decide, least_votes
from gpuasm.assembly.verification.redundant_ends import find_contained_contigs, find_redundant_ends
from gpuasm.assembly.verification.unsupported_joins import (
    UNSUPPORTED_JOIN_RULES,
    ContigEvidence,
    find_breaks,
)
from gpuasm.kmers.tally import joined
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Checked:
    """Contigs that the reads have verified.

    Attributes
    ----------
    contigs : list of Contig
        Longest first, with the depth and the copies by aligned reads.
    depth : (n_places,) int32
        Reads over each base of all contigs, one contig after the other.
    table : DepthTable
        A row for each contig.
    counts : dict
        Reads aligned, bases changed and added, joins broken: for run.json.
    joins : list of Join
        Between parts of one contig, with the number of bases missing there.
    """

    contigs: list[Contig]
    depth: np.ndarray
    table: DepthTable
    counts: dict[str, int]
    joins: list[Join] = field(default_factory=list)

    @classmethod
    def empty(cls) -> Checked:
        """Return the result for no contigs."""
        nothing = np.empty(0, np.int32)
        return cls([], nothing, summarise(nothing, nothing > 0, nothing > 0, np.zeros(1, np.int64)), {})

    @classmethod
    def by_kmers(cls, contigs: Sequence[Contig], *, min_length: int) -> Checked:
        """Return contigs of at least ``min_length`` bases unverified, with the depth of their k-mers."""
        kept = [contig for contig in contigs if contig.length >= min_length]
        bounds = bounds_of(kept)
        depth = np.repeat(np.rint([contig.depth for contig in kept]).astype(np.int32), np.diff(bounds))
        anywhere = np.ones(depth.size, dtype=bool)
        return cls(numbered(kept), depth, summarise(depth, anywhere, anywhere, bounds), {})

    @property
    def bounds(self) -> np.ndarray:
        """(n + 1,) int64: the places where each contig begins, and the end."""
        return bounds_of(self.contigs)


def check_contigs(
    contigs: Sequence[Contig], reads: Reads, *, min_length: int, rules: Collection[str] = EVERY_RULE
) -> Checked:
    """Align reads to contigs, correct and break these, and compute depth and copies.

    Parameters
    ----------
    contigs
        Contigs, circular ones without overlap, gaps as code 4. Include those too short to be kept, so that their reads
        do not align elsewhere.
    reads
        All reads, on the host or on a device; mates are reads 2i and 2i + 1 where they are paired.
    min_length
        Shorter contigs are dropped in the end.
    rules
        The rules to use, of `gpuasm.assembly.options.RULES`.
    """
    bounds = bounds_of(contigs)
    codes = np.concatenate([contig.codes for contig in contigs]) if contigs else np.empty(0, np.uint8)
    reach = int(reads.length.max()) if reads.n_segments else 0
    typical = reads.n_bases // max(1, reads.n_segments)
    xp = array_namespace(reads.packed)
    targets, index = targets_of(contigs, reads)
    is_free = np.array([c.free_ends for c in contigs], bool).reshape(-1, 2) & ("end-extension" in rules)
    ends = free_ends(targets, bounds, is_free)
    spans = BreakEvidence(read_length=typical) if set(UNSUPPORTED_JOIN_RULES) & set(rules) else None
    with_rescue = reads.paired and {"polishing", "mate-rescue"} <= set(rules)
    evidence = _collect_evidence(reads, targets, index, ends=ends, spans=spans, with_rescue=with_rescue)
    counted = VoteCounts.of(evidence.votes[: 0 if "polishing" not in rules else None])
    fixes = decide(counted, evidence.voters, bounds, least=least_votes(*evidence.error_rate))
    mismatches, n_aligned = evidence.error_rate
    mixed = {}
    if "polishing" in rules:
        mixed = count_mixed(counted, evidence.voters, bounds, error_rate=mismatches / max(1, n_aligned))
    del counted
    codes[fixes.place] = fixes.code
    depth, mean_read = to_host(evidence.depth), reads.n_bases / max(1, reads.n_segments)
    known = ContigEvidence(contigs, bounds, depth, targets, mean_read, evidence.breakpoints, spans or BreakEvidence())
    broken = find_breaks(known, rules=rules)
    redundant = contained = np.empty((0, 2), np.int64)
    if "redundant-ends" in rules:
        own_depth = to_host(evidence.own_depth)
        redundant = find_redundant_ends(contigs, depth, own_depth, read_length=typical, spread=known.spread)
    else:
        contained = find_contained_contigs(contigs)
    unread = _find_unread_contigs(depth, codes, bounds, counts=evidence.counts)
    excluded = np.concatenate([redundant, contained, unread])
    is_excluded = _mark_within(excluded, depth.size)
    is_core = core_of(targets, index, bounds)
    found = extend_ends(contigs, evidence.tails, index, depth=depth, error_rate=evidence.error_rate)
    cuts = Cuts.of(broken.place, excluded, broken.missing)
    extended_contigs, (codes, depth, is_core, is_excluded), moved = extended(
        contigs, found, (codes, depth, is_core, is_excluded), cuts=np.array(cuts.place, np.int64)
    )
    sets_start = "circular-start" in rules
    first_base = (
        find_circular_starts(extended_contigs, batches(reads), typical=typical, reach=reach, xp=xp)
        if sets_start
        else {}
    )
    parts = split_contigs(
        extended_contigs,
        codes,
        cuts.moved(moved),
        is_excluded=is_excluded,
        first_base=first_base,
        min_length=min_length,
    )
    codes, depth, is_core = codes[parts.places], depth[parts.places], is_core[parts.places]
    table = summarise(depth, codes < NOT_A_BASE, is_core, bounds_of(parts.contigs))
    counts = {**evidence.counts, **mixed, "bases_changed": int(fixes.place.size), "bases_added": found.n_bases}
    counts |= {"joins_broken": int(broken.place.size), **broken.counts, "redundant_ends": len(redundant)}
    counts |= {"contained_contigs": len(contained), "unread_contigs": len(unread)}
    return Checked(_with_depth(parts.contigs, table), depth, table, counts, parts.joins)


def _find_unread_contigs(
    depth: np.ndarray, codes: np.ndarray, bounds: np.ndarray, *, counts: Mapping[str, int]
) -> np.ndarray:
    """Return the begin and end, (n, 2) int64, of contigs with reads on less than half of their bases.

    All their reads align better elsewhere, so errors made them. If half of the reads do not align, depth shows nothing.
    """
    if bounds.size == 1 or 2 * counts["reads_aligned"] <= counts["reads"]:
        return np.empty((0, 2), np.int64)
    is_base = codes < NOT_A_BASE
    bases, read = (np.add.reduceat(own, bounds[:-1], dtype=np.int64) for own in (is_base, is_base & (depth > 0)))
    rows = np.flatnonzero(2 * read < bases)
    return np.stack([bounds[rows], bounds[rows + 1]], axis=1)


def _mark_within(stretches: np.ndarray, size: int) -> np.ndarray:
    """Mark the places that lie in one of the stretches: (size,) bool."""
    steps = np.bincount(stretches[:, 0], minlength=size + 1) - np.bincount(stretches[:, 1], minlength=size + 1)
    return np.cumsum(steps[:-1]) > 0


@dataclass(frozen=True)
class _ReadEvidence:
    """Sums over all aligned reads."""

    depth: Array
    own_depth: Array
    voters: Array
    votes: Array
    counts: dict[str, int]
    tails: ClippedTails
    breakpoints: ClippingBreakpoints
    error_rate: tuple[int, int]


def _collect_evidence(
    reads: Reads,
    targets: Targets,
    index: SeedIndex,
    *,
    ends: np.ndarray,
    spans: BreakEvidence | None,
    with_rescue: bool,
) -> _ReadEvidence:
    """Align all reads, batch by batch, and sum up what they show."""
    xp = array_namespace(reads.packed)
    own, shared, voting = (Coverage(targets, xp) for _ in range(3))
    votes, counts, longest = [xp.empty(0, np.int64)], dict.fromkeys(_COUNTS, 0), None
    tails, breakpoints, bases, mismatches = [], ClippingBreakpoints(), 0, 0
    for batch in batches(reads):
        first, second = align_reads(batch, targets, index)
        pairs = find_fragments(batch, first, targets) if reads.paired else None
        if longest is None:
            longest = longest_insert(pairs) if pairs is not None else 0
        for aligned in (first, second):
            for coverage, chosen in ((own, aligned.is_unique), (shared, ~aligned.is_unique)):
                counted = aligned.where(chosen)
                coverage.add(counted.target, counted.begin, counted.end)
            votes.append(count_votes(batch, aligned, targets))
            breakpoints.add(batch, aligned, targets)
            breakpoints.cover(aligned.begin, aligned.end)
        breakpoints.cover(*_with_gaps(first, second))
        if pairs is not None and longest:
            pairs = pairs.no_longer_than(longest)
            breakpoints.cover(pairs.begin, pairs.end)
            discordant = find_discordant_pairs(batch, first, targets, longest=longest) if spans is not None else None
            if with_rescue:
                found = rescue_mates(
                    batch, first, targets, longest=longest, discordant=discordant and discordant.segment
                )
                voting.add(found.target, found.begin, found.end)
                votes.append(count_votes(batch, found, targets))
                same = found.segment[_BASES_PER_MISMATCH * found.mismatches <= found.end - found.begin]
                discordant = discordant and discordant.without_pairs(batch.read[same] >> 1)
            if spans is not None and discordant is not None:
                spans.add(first, pairs, discordant, targets)
        tails.append(find_clipped_tails(batch, (first, second), targets, ends=ends))
        bases, mismatches = bases + int((first.end - first.begin).sum()), mismatches + int(first.mismatches.sum())
        _count_reads(counts, batch, first, pairs)
    all_votes, all_tails = joined(votes), ClippedTails.joined(tails)
    own_depth, depth, voters = own.take(), shared.take(), voting.take()
    depth += own_depth
    voters += own_depth
    return _ReadEvidence(depth, own_depth, voters, all_votes, counts, all_tails, breakpoints, (mismatches, bases))


_BASES_PER_MISMATCH = VERIFICATION.discordant_bases_per_mismatch
"""A discordant read that nearly fits near its mate is concordant: the contig has wrong bases there."""
_COUNTS = ("reads", "reads_aligned", "reads_multi_mapped", "pairs_aligned")


def _count_reads(counts: dict[str, int], batch: Reads, first: Alignments, pairs: Fragments | None) -> None:
    """Add up segments, aligned ones, those that are multi-mapping, and concordant pairs."""
    unique = int(first.is_unique.sum())
    found = batch.n_segments, first.n, first.n - unique, 0 if pairs is None else int(pairs.insert.size)
    for name, number in zip(_COUNTS, found, strict=True):
        counts[name] += number


def _with_gaps(first: Alignments, second: Alignments) -> tuple[Array, Array]:
    """Return begin and end of the reads whose two alignments are one with a small gap."""
    xp = array_namespace(first.at)
    if first.n == 0:
        return first.begin, first.end
    before = first.where(xp.searchsorted(first.segment, second.segment))
    same = (before.target == second.target) & (before.is_reversed == second.is_reversed)
    rows = xp.flatnonzero(same & (abs(before.at - second.at) <= ALIGNMENT.alignment_max_shift))
    return xp.minimum(before.begin, second.begin)[rows], xp.maximum(before.end, second.end)[rows]


def _with_depth(contigs: list[Contig], table: DepthTable) -> list[Contig]:
    """Name contigs in their order, and set their depth and copies by the table.

    A contig without a core keeps the depth of its k-mers, scaled by the ratio of read depth to k-mer depth of the
    others: k-mers lose depth to errors.
    """
    length, kmer_depth = np.diff(bounds_of(contigs)), np.array([contig.depth for contig in contigs])
    has_both = table.has_core & (kmer_depth > 0)
    bases = float((length * kmer_depth)[has_both].sum())
    raised = float((length * table.mean)[has_both].sum()) / bases if bases else 1.0
    depth = np.where(table.has_core, table.mean, raised * kmer_depth)
    single = single_copy_depth(length, depth)
    n_copies = np.maximum(1, np.rint(depth / single)) if single > 0 else np.ones(len(contigs))
    copies = n_copies.astype(np.int64).tolist()
    return [
        changed(contig, name=f"contig_{number:06d}", depth=d, copies=c)
        for number, (contig, d, c) in enumerate(zip(contigs, depth.tolist(), copies, strict=True), start=1)
    ]
