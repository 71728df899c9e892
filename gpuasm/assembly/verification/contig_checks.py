"""Verify contigs by the reads: align all reads, correct and break contigs, and compute depth and copies.

1. Index the contigs' seeds and align every read (`contig_alignment`).
2. Sum up coverage, votes of mismatching bases, and breakpoints of clipped reads.
3. Correct bases (`polishing`). Break joins that reads or pairs contradict (`unsupported_joins`). Trim
   redundant ends (`redundant_ends`), and remove contigs without reads.
4. Extend free ends by clipped read tails (`end_extension`).
5. Choose the first base of circular contigs (`circular_start`).
6. Compute depth and copies of each contig from its aligned reads (`contig_depth`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.seed_index import targets_of
from gpuasm.assembly.alignment.self_alignment import find_contained_contigs
from gpuasm.assembly.contig import Contig, bounds_of, changed, copies_of, numbered, single_copy_depth
from gpuasm.assembly.coverage.contig_depth import DepthTable, core_of, summarise
from gpuasm.assembly.ends.clipped_tails import free_ends
from gpuasm.assembly.ends.end_extension import extend_ends, extended
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.verification.contig_splitting import Cuts, find_circular_starts, split_contigs
from gpuasm.assembly.verification.polishing import Voters, count_mixed, decide, least_votes
from gpuasm.assembly.verification.read_evidence import BreakEvidence, ReadEvidence, collect_evidence
from gpuasm.assembly.verification.redundant_ends import find_redundant_ends
from gpuasm.assembly.verification.unsupported_joins import find_breaks
from gpuasm.primitives.counting import sum_between
from gpuasm.primitives.runs import mark_ranges, occurrences
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
    """

    contigs: list[Contig]
    depth: np.ndarray
    table: DepthTable
    counts: dict[str, int]

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
    contigs: Sequence[Contig],
    reads: Reads,
    *,
    min_length: int,
    rules: Collection[str] = EVERY_RULE,
    breaks_by_pairs: bool = True,
) -> Checked:
    """Align reads to contigs, correct and break these, and compute depth and copies.

    Parameters
    ----------
    contigs
        Contigs, circular ones without overlap, gaps as code 4. Include those too short to be kept, so that their reads
        do not align elsewhere.
    reads
        All reads, on the host or on a device.
    min_length
        Shorter contigs are dropped in the end.
    rules
        The rules to use, of `gpuasm.assembly.options.RULES`.
    breaks_by_pairs
        Whether contigs are broken at discordant pairs as well.
    """
    bounds = bounds_of(contigs)
    codes = np.concatenate([np.empty(0, np.uint8), *(contig.codes for contig in contigs)])
    mean_read = reads.n_bases / max(1, reads.n_segments)
    targets, index = targets_of(contigs, reads)
    is_free = np.array([c.free_ends for c in contigs], bool).reshape(-1, 2) & ("end-extension" in rules)
    spans = BreakEvidence(read_length=int(mean_read)) if breaks_by_pairs and "breaks" in rules else None
    with_rescue = reads.paired and "polishing" in rules
    ends = free_ends(targets, bounds, is_free)
    evidence = collect_evidence(reads, targets, index, ends=ends, spans=spans, with_rescue=with_rescue)
    counts = {**evidence.counts, "bases_changed": 0}
    if "polishing" in rules:
        counts |= _polish(codes, evidence, bounds)
    depth = to_host(evidence.depth)
    breaks, n_discordant = np.empty(0, np.int64), 0
    if "breaks" in rules:
        breaks, n_discordant = find_breaks(evidence.breakpoints, spans, targets, read_length=round(mean_read))
    unneeded = dict.fromkeys(("redundant_ends", "contained_contigs"), np.empty((0, 2), np.int64))
    if "redundant-ends" in rules:
        own_depth = to_host(evidence.own_depth)
        unneeded["redundant_ends"] = find_redundant_ends(contigs, depth, own_depth, read_length=int(mean_read))
    else:
        unneeded["contained_contigs"] = find_contained_contigs(contigs)
    unneeded["unread_contigs"] = _find_unread_contigs(depth, codes, bounds, counts=counts)
    excluded = np.concatenate([*unneeded.values()])
    found = extend_ends(contigs, evidence.tails, index, depth=depth, error_rate=evidence.error_rate)
    cuts = Cuts.of(breaks, excluded)
    per_base = codes, depth, core_of(targets, index, bounds), mark_ranges(excluded[:, 0], excluded[:, 1], depth.size)
    longer, (codes, depth, is_core, is_excluded), moved = extended(contigs, found, per_base, cuts=cuts.place)
    first_base: dict[int, int] = {}
    if "circular-start" in rules:
        first_base = find_circular_starts(longer, reads)
    parts = split_contigs(
        longer, codes, replace(cuts, place=moved), is_excluded=is_excluded, first_base=first_base, min_length=min_length
    )
    codes, depth, is_core = parts.take(codes), parts.take(depth), parts.take(is_core)
    table = summarise(depth, codes < NOT_A_BASE, is_core, bounds_of(parts.contigs))
    counts |= {"bases_added": found.n_bases, "joins_broken": int(breaks.size), "discordant_pairs": n_discordant}
    counts |= {name: len(stretches) for name, stretches in unneeded.items()}
    return Checked(_with_depth(parts.contigs, table), depth, table, counts)


def _polish(codes: np.ndarray, evidence: ReadEvidence, bounds: np.ndarray) -> dict[str, int]:
    """Correct bases by the votes of the reads, in place, and return counts for run.json."""
    mismatches, n_aligned = evidence.error_rate
    counted, voters = occurrences(evidence.votes), Voters.of(evidence.voters, bounds)
    place, right = decide(counted, voters, least=least_votes(mismatches, n_aligned))
    codes[place] = right
    mixed = count_mixed(counted, voters, error_rate=mismatches / max(1, n_aligned))
    return {**mixed, "bases_changed": int(place.size)}


def _find_unread_contigs(
    depth: np.ndarray, codes: np.ndarray, bounds: np.ndarray, *, counts: Mapping[str, int]
) -> np.ndarray:
    """Return the begin and end, (n, 2) int64, of contigs with reads on less than half of their bases.

    All their reads align better elsewhere, so errors made them. If as few of all reads align, depth shows nothing.
    """
    if bounds.size == 1 or 2 * counts["reads_aligned"] <= counts["reads"]:
        return np.empty((0, 2), np.int64)
    is_base = codes < NOT_A_BASE
    bases, read = (sum_between(own, bounds) for own in (is_base, is_base & (depth > 0)))
    rows = np.flatnonzero(2 * read < bases)
    return np.stack([bounds[rows], bounds[rows + 1]], axis=1)


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
    copies = copies_of(depth, single_copy_depth(length, depth))
    rows = zip(numbered(contigs), depth.tolist(), copies.tolist(), strict=True)
    return [changed(contig, depth=own, copies=n) for contig, own, n in rows]
