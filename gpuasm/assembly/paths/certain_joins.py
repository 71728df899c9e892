"""Classify accepted joins by whether their bases are known.

The bases are certain if one walk through the graph is, or if two dead ends overlap exactly as their pairs state. Of the
other joins only the distance is known. If two unitigs should overlap by their pairs, by more bases than chance
explains, but neither a walk nor their bases agree, the pairs come from a variant of a repeat that the graph lacks; or
the last bases of one end are of another copy, which reads may show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.ends.unlinked_overlaps import find_linked_overlaps
from gpuasm.assembly.graph.graph_edits import Fill
from gpuasm.assembly.graph.oriented_sequence import oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.gaps import Gap
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import ENDS, PATHS
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.path_choice import ChosenWalks
from gpuasm.kmers.text_kmers import kmers_of, places_of


@dataclass(frozen=True)
class ClassifiedJoins:
    """Joins by what is known of them.

    Attributes
    ----------
    fills : list of Fill
        Joins whose bases are certain.
    gaps, ambiguous_overlaps, mismatching_overlaps : list of Gap
        The others, as in `gpuasm.assembly.pairs.gaps.Resolved`.
    """

    fills: list[Fill]
    gaps: list[Gap]
    ambiguous_overlaps: list[Gap]
    mismatching_overlaps: list[Gap]


def classify_joins(
    graph: UnitigGraph,
    links: Links,
    chosen: ChosenWalks,
    *,
    evidence: Evidence,
    inserts: InsertSizes,
    is_single: np.ndarray,
    overlaps: bool,
) -> ClassifiedJoins:
    """Separate joins whose bases are certain from the others.

    Parameters
    ----------
    graph
        The last graph.
    links, chosen, evidence
        The links that are joins, the walk of each, and the evidence of its pairs.
    inserts
        Insert sizes.
    is_single : (n_unitigs,) bool
        Which unitigs are single copies.
    overlaps
        Whether dead ends may be joined by their overlap.
    """
    return _Joins(graph, links, chosen, evidence, inserts, overlaps=overlaps).classified(is_single)


def _with_unique_ends(graph: UnitigGraph, gaps: list[Gap]) -> list[Gap]:
    """Return the gaps whose last bases on both sides occur nowhere else in the graph."""
    keys = [_end_keys(graph, gap) for gap in gaps]
    if not any(own.size for own in keys):
        return gaps
    key, times = np.unique(places_of(graph.bases, np.concatenate(keys))[1], return_counts=True)
    n_places = dict(zip(key.tolist(), times.tolist(), strict=True))
    return [gap for gap, own in zip(gaps, keys, strict=True) if all(n_places[one] == 1 for one in own.tolist())]


def _end_keys(graph: UnitigGraph, gap: Gap) -> np.ndarray:
    """Return the keys of the last bases of either end of a gap; none where one of them is too short."""
    tails = [oriented_codes(graph, end)[-ANCHOR_K:] for end in (gap.source, gap.target ^ 1)]
    if min(tail.size for tail in tails) < ANCHOR_K:
        return np.empty(0, np.uint64)
    forward, backward = kmers_of(np.concatenate(tails))
    return np.unique(np.minimum(forward, backward)[[0, -1]])


class _Joins:
    """The accepted joins with their evidence."""

    def __init__(
        self,
        graph: UnitigGraph,
        links: Links,
        chosen: ChosenWalks,
        evidence: Evidence,
        inserts: InsertSizes,
        *,
        overlaps: bool,
    ) -> None:
        self.graph, self.evidence, self.inserts, self.may_overlap = graph, evidence, inserts, overlaps
        self.source, self.target = to_host(links.source).tolist(), to_host(links.target).tolist()
        self.size, self.n_walks = to_host(chosen.size).tolist(), to_host(chosen.n_walks).tolist()
        self.unitigs = to_host(chosen.unitigs).reshape(-1, WALK_UNITIGS)
        self.is_dead, self.sd = graph.arc_start[1:] == graph.arc_start[:-1], inserts.sd

    def classified(self, is_single: np.ndarray) -> ClassifiedJoins:
        fills: list[Fill] = []
        gaps: list[Gap] = []
        ambiguous_overlaps: list[Gap] = []
        mismatching_overlaps: list[Gap] = []
        few: list[Gap] = []
        is_end = np.zeros(self.graph.n, dtype=bool)
        is_end[[o >> 1 for o in (*self.source, *self.target)]] = True
        uses = np.zeros(self.graph.n, np.int64)
        walks = [self._walk(i) for i in range(len(self.source))]
        for walk in walks:
            np.add.at(uses, [o >> 1 for o in walk[1:-1]], 1)
        for i, walk in enumerate(walks):
            inner = np.array([o >> 1 for o in walk[1:-1]], np.int64)
            # A single copy cannot be in two walks.
            if len(walk) > 1 and not (is_single[inner] & (is_end[inner] | (uses[inner] > 1))).any():
                fills.append(Fill(walk))
                continue
            gap, overlaps = self._gap(i), self._overlaps(i)
            if len(overlaps) == 1 and not self._has_its_pairs(i):
                (gaps if self._reads_show_two_units(overlaps[0]) else ambiguous_overlaps).append(gap)
                continue
            if len(overlaps) == 1:
                fills.append(Fill((self.source[i], self.target[i]), overlaps[0]))
            elif len(overlaps) > 1 or self.n_walks[i] > 0 or gap.size + gap.spread > -ENDS.linked_min_overlap:
                (gaps if self._has_its_pairs(i, PATHS.join_gap_min_percent) else few).append(gap)
            elif self.may_overlap and self._are_dead(i) and self._has_its_pairs(i):
                mismatching_overlaps.append(gap)
        gaps += _with_unique_ends(self.graph, few)
        return ClassifiedJoins(fills, gaps, ambiguous_overlaps, mismatching_overlaps)

    def _walk(self, i: int) -> tuple[int, ...]:
        return tuple(self.unitigs[i, : self.size[i]].tolist())

    def _overlaps(self, i: int) -> list[int]:
        if not self.may_overlap or self.n_walks[i] > 0 or not self._are_dead(i):
            return []
        gap = self._gap(i)
        return find_linked_overlaps(self.graph, gap.source, gap.target, gap=gap.size, spread=gap.spread)

    def _are_dead(self, i: int) -> bool:
        """Return whether both ends are dead ends."""
        return bool(self.is_dead[self.source[i]] and self.is_dead[self.target[i] ^ 1])

    def _has_its_pairs(self, i: int, percent: int = PATHS.join_overlap_min_percent) -> bool:
        """Return whether as many pairs link the ends as expected, or at least a percentage of them.

        If a tandem unit is missing between them, only the longest fragments reach across, and appear as short
        fragments of an overlap by that unit.
        """
        n, expected = int(self.evidence.n_pairs[i]), int(self.evidence.expected[i])
        return 100 * SIXTEENTHS * n >= percent * expected

    def _reads_show_two_units(self, overlap: int) -> bool:
        """Return whether reads contain two units of the overlap: then clipped tails show whether there is one.

        If there are no such reads, coverage is low, which explains the missing pairs.
        """
        return 2 * overlap <= self.inserts.bases_per_pair / 2

    def _gap(self, i: int) -> Gap:
        n = int(self.evidence.n_pairs[i])
        sd = self.sd / float(np.sqrt(n))
        return Gap(self.source[i], self.target[i], int(self.evidence.gap[i]), sd, n)
