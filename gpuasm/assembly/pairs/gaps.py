"""Gaps: joins of unitigs whose length is estimated from pairs, but whose bases are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import FRAGMENTS


@dataclass(frozen=True)
class Gap:
    """A join of two unitigs whose bases are unknown.

    Attributes
    ----------
    source, target : int
        Oriented unitigs.
    size : int
        Bases between them as estimated from pairs; negative where they overlap.
    sd : float
        Standard error of the size.
    n_pairs : int
    """

    source: int
    target: int
    size: int
    sd: float
    n_pairs: int

    @property
    def spread(self) -> int:
        """Bases by which the size may be wrong."""
        return int(FRAGMENTS.gap_deviations * self.sd) + FRAGMENTS.gap_margin


def move_gaps(gaps: Sequence[Gap], graph: UnitigGraph, sources: SourceUnitigs) -> list[Gap]:
    """Return the gaps between the longer unitigs that unitigs have become; gaps that were joined are dropped."""
    if not gaps:
        return []
    ends = np.array([(gap.source, gap.target ^ 1) for gap in gaps], np.int64)
    ending = np.full(2 + max(int(sources.oriented.max(initial=0)), int(ends.max())) | 1, -1, np.int64)
    linear = np.flatnonzero(~graph.is_circular)
    ending[sources.oriented[sources.start[linear + 1] - 1]] = 2 * linear
    ending[sources.oriented[sources.start[linear]] ^ 1] = 2 * linear + 1
    moved = zip(gaps, ending[ends].tolist(), strict=True)
    return [
        Gap(one, other ^ 1, gap.size, gap.sd, gap.n_pairs) for gap, (one, other) in moved if one >= 0 and other >= 0
    ]


@dataclass(frozen=True)
class Resolved:
    """A graph with its certain joins made, and the joins that remain uncertain.

    Attributes
    ----------
    graph : UnitigGraph
    gaps : list of Gap
        At most one at each end of a unitig.
    weak_links : list of Gap
        Links between dead ends without another link; too few pairs support them for a join.
    ambiguous_overlaps : list of Gap
        Dead ends that overlap as pairs suggest; few pairs support it, so a unit of a tandem repeat may be missing.
    mismatching_overlaps : list of Gap
        Dead ends that overlap by as many pairs as expected, but whose bases differ.
    counts : dict
        For run.json: links, and joins by graph walks, by overlaps and by gaps.
    """

    graph: UnitigGraph
    gaps: list[Gap] = field(default_factory=list)
    weak_links: list[Gap] = field(default_factory=list)
    ambiguous_overlaps: list[Gap] = field(default_factory=list)
    mismatching_overlaps: list[Gap] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
