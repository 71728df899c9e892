"""Trim redundant contig ends: sequence that other contigs also contain, where read depth supports one copy fewer.

A wrong path may give a contig that begins in one place of a genome and ends in another, or that mixes two copies of a
repeat. The correct sequences are on other contigs, and no read contradicts the wrong one, as each aligns elsewhere as
well. But if the genome had all these sequences, it would give more reads.

So an end is examined as far as no read aligns uniquely there. Other contigs have m alignments to it at a base
(`self_alignment`), each of the depth of its own contig. The reads on all of them are of m copies or of m + 1
(`copy_number`). The bases with the highest odds of m are removed if these are at least `copy_min_odds`, together
with a rest shorter than a read. Where depth varies more than Poisson's distribution, the log odds are divided by the
overdispersion and must still reach `redundant_min_odds_dispersed`. Ends are removed in the order of their odds, since a
removed one is no copy of the others any more. A contig without a unique read may be removed whole. Nothing is removed
where molecules end: depth falls there for another reason.

Where depth shows no copy number, as in a community, contigs are removed that another one contains whole
(`self_alignment`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from gpuasm.assembly.alignment.self_alignment import SelfAlignment, best_run, find_self_alignments
from gpuasm.assembly.contig import Contig, bounds_of, single_copy_depth
from gpuasm.assembly.coverage.copy_number import log_odds_of_one, overdispersion
from gpuasm.assembly.parameters import COVERAGE, VERIFICATION

_LOG_ODDS = log(COVERAGE.copy_min_odds)
_LOG_ODDS_DISPERSED = log(VERIFICATION.redundant_min_odds_dispersed)
_OUTER = VERIFICATION.redundant_outer_bases


def find_redundant_ends(
    contigs: Sequence[Contig], depth: np.ndarray, own_depth: np.ndarray, *, read_length: int
) -> np.ndarray:
    """Find the stretches at contig ends that other contigs contain and that are one copy too many.

    ``depth`` and ``own_depth``, (n_places,) int32, are the reads over each base of all contigs, each read in one place,
    and the uniquely aligned ones among them. Stretches shorter than a typical read are kept.

    Returns
    -------
    (n, 2) int64: begin and end of each stretch among the bases of all contigs.
    """
    bounds = bounds_of(contigs)
    ends = _without_unique_reads(contigs, own_depth, bounds, read_length)
    if not ends or read_length == 0:
        return np.empty((0, 2), np.int64)
    spread = overdispersion(depth, bounds, read_length=read_length)
    codes = np.concatenate([contig.codes for contig in contigs])
    copy_depth = _copy_depths(depth, bounds, read_length)
    copies = EndCopies(depth, np.ones(depth.size, bool), bounds, copy_depth, read_length * spread)
    alignments = find_self_alignments(codes, bounds, ends)
    owner = np.searchsorted(bounds, [low for low, _ in ends], side="right") - 1
    contigs_of_row = [{n, *(other.contig for other in own)} for n, own in zip(owner.tolist(), alignments, strict=True)]
    odds = [copies.least_likely_part(stretch, own) for stretch, own in zip(ends, alignments, strict=True)]
    found: list[tuple[int, int]] = []
    while True:
        best, low, high = max(odds)
        if best < max(_LOG_ODDS / spread, _LOG_ODDS_DISPERSED):
            return np.array(sorted(found), np.int64).reshape(-1, 2)
        row = odds.index((best, low, high))
        if high - low < read_length:
            odds[row] = (0.0, 0, 0)
            continue
        begin, end = ends[row]
        low, high = begin if low - begin < read_length else low, end if end - high < read_length else high
        found.append((low, high))
        copies.is_copy[low:high] = False
        for i in (i for i, others in enumerate(contigs_of_row) if owner[row] in others):
            odds[i] = copies.least_likely_part(ends[i], alignments[i])


def _without_unique_reads(
    contigs: Sequence[Contig], own_depth: np.ndarray, bounds: np.ndarray, read_length: int
) -> list[tuple[int, int]]:
    """Return the stretches from contig ends on, of at least a read's length, without a uniquely aligned read."""
    found: set[tuple[int, int]] = set()
    for contig, (low, high) in zip(contigs, pairwise(bounds.tolist()), strict=True):
        if contig.is_circular or contig.length < read_length:
            continue
        own = np.flatnonzero(own_depth[low:high])
        first, last = (int(own[0]), int(own[-1]) + 1) if own.size else (contig.length, 0)
        found |= {(low, low + first)} if first >= read_length else set()
        found |= {(low + last, high)} if contig.length - last >= read_length else set()
    return sorted(found)


def _copy_depths(depth: np.ndarray, bounds: np.ndarray, read_length: int) -> np.ndarray:
    """Return the median depth of each contig if it is long enough, else the depth of one copy: (n,) float64."""
    length = np.diff(bounds)
    middle = np.array([np.median(depth[low:high]) for low, high in pairwise(bounds.tolist())])
    is_long = length >= VERIFICATION.redundant_depth_min_reads * read_length
    return np.where(is_long, middle, single_copy_depth(length, middle))


@dataclass(frozen=True)
class EndCopies:
    """Depth of contigs, and which of their bases still count as a copy."""

    depth: np.ndarray
    is_copy: np.ndarray
    bounds: np.ndarray
    copy_depth: np.ndarray
    per_read: float
    """Bases of depth that count as one Poisson read: those of a read times the overdispersion."""

    def least_likely_part(
        self, stretch: tuple[int, int], alignments: Sequence[SelfAlignment]
    ) -> tuple[float, int, int]:
        """Return the log odds against being a copy, and begin and end, of the part of a stretch with the highest."""
        low, high = stretch
        reads = self.depth[low:high].astype(np.int64)
        others = np.zeros(high - low)
        for own in alignments:
            step = -1 if own.is_reversed else 1
            reads[own.low : own.high] += self.depth[own.begin : own.end][::step]
            others[own.low : own.high] += self.is_copy[own.begin : own.end][::step] * float(self.copy_depth[own.contig])
        contig = int(np.searchsorted(self.bounds, low, side="right")) - 1
        odds = log_odds_of_one(reads, others, float(self.copy_depth[contig]))
        odds = np.where((others > 0) & self.is_copy[low:high], odds, VERIFICATION.redundant_excluded_odds)
        best, begin, end = best_run(odds / self.per_read)
        outer = {low + begin: reads[:_OUTER], low + end: reads[-_OUTER:]}
        mean = float(reads[begin:end].mean()) if end > begin else 0.0
        ratio = VERIFICATION.redundant_outer_depth_ratio
        if any(at in self.bounds and ratio * own.mean() < mean for at, own in outer.items()):
            return 0.0, low, low
        return best, low + begin, low + end
