"""Certain joins: of which accepted joins the bases are certain, and what is known of the others.

One walk through the graph may be certain, or the texts of two dead ends overlap as their pairs say. Of the others the
distance is known, but not the bases. Where two unitigs should overlap by their pairs, by more than what chance might
make, but neither a walk nor their bases say so, pairs are wrong: they come from a variant of a repeat that the graph
does not hold. Unless the last bases of one end are another copy's, as reads may tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.anchors import ANCHOR_K
from gpuasm.assembly.pairs.choosing import Chosen
from gpuasm.assembly.pairs.gaps import Gap
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.overlaps import LEAST_OVERLAP, find_overlaps, oriented_codes
from gpuasm.assembly.pairs.splitting import Fill
from gpuasm.assembly.pairs.walks import MOST_STEPS
from gpuasm.kmers.words import places_of, words_of

_LEAST_OVERLAP_SHARE = 50
"""Hundredths of the expected pairs that an overlap of dead ends must have: true neighbours have 56 to 114."""
_LEAST_GAP_SHARE = 35
"""And that a gap must have if its ends stand elsewhere: 48 true ones of three samples of 15-fold have 64 and more; a
false one had 20, of pairs that came from a third copy of what stands at both ends. Beside ends that are unique reads
may be rare where a sample is uneven."""


@dataclass(frozen=True)
class Told:
    """What becomes of each join.

    Attributes
    ----------
    fills : list of Fill
        Those whose bases are certain.
    gaps, doubtful, differing : list of Gap
        The others, as `gpuasm.assembly.pairs.resolving.Resolved` has them.
    """

    fills: list[Fill]
    gaps: list[Gap]
    doubtful: list[Gap]
    differing: list[Gap]


def tell_joins(
    graph: UnitigGraph,
    links: Links,
    chosen: Chosen,
    *,
    evidence: Evidence,
    inserts: InsertSizes,
    is_single: np.ndarray,
    overlaps: bool,
) -> Told:
    """Tell joins whose bases are certain from the others.

    Parameters
    ----------
    graph
        The last graph.
    links, chosen, evidence
        The links that are joins, the walk of each, and what its pairs say.
    inserts
        How long fragments are.
    is_single : (n_unitigs,) bool
        Which unitigs are single copies.
    overlaps
        Whether dead ends may be joined by their texts.
    """
    return _Joins(graph, links, chosen, evidence, inserts, overlaps=overlaps).told(is_single)


def _with_unique_ends(graph: UnitigGraph, gaps: list[Gap]) -> list[Gap]:
    """Return the gaps the last bases of neither end of which stand in another place of the graph."""
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
    forward, backward = words_of(np.concatenate(tails))
    return np.unique(np.minimum(forward, backward)[[0, -1]])


class _Joins:
    """The joins that were accepted, and what tells of each."""

    def __init__(
        self,
        graph: UnitigGraph,
        links: Links,
        chosen: Chosen,
        evidence: Evidence,
        inserts: InsertSizes,
        *,
        overlaps: bool,
    ) -> None:
        self.graph, self.evidence, self.inserts, self.may_overlap = graph, evidence, inserts, overlaps
        self.source, self.target = to_host(links.source).tolist(), to_host(links.target).tolist()
        self.size, self.n_walks = to_host(chosen.size).tolist(), to_host(chosen.n_walks).tolist()
        self.unitigs = to_host(chosen.unitigs).reshape(-1, MOST_STEPS)

    def told(self, is_single: np.ndarray) -> Told:
        fills: list[Fill] = []
        gaps: list[Gap] = []
        doubtful: list[Gap] = []
        differing: list[Gap] = []
        few: list[Gap] = []
        is_end = np.zeros(self.graph.n, dtype=bool)
        is_end[[o >> 1 for o in (*self.source, *self.target)]] = True
        uses = np.zeros(self.graph.n, np.int64)
        walks = [self._walk(i) for i in range(len(self.source))]
        for walk in walks:
            np.add.at(uses, [o >> 1 for o in walk[1:-1]], 1)
        for i, walk in enumerate(walks):
            inner = np.array([o >> 1 for o in walk[1:-1]], np.int64)
            # A single copy cannot lie in two places.
            if len(walk) > 1 and not (is_single[inner] & (is_end[inner] | (uses[inner] > 1))).any():
                fills.append(Fill(walk))
                continue
            gap, overlaps = self._gap(i), self._overlaps(i)
            if len(overlaps) == 1 and not self._has_its_pairs(i):
                (gaps if self._would_show_twice(overlaps[0]) else doubtful).append(gap)
                continue
            if len(overlaps) == 1:
                fills.append(Fill((self.source[i], self.target[i]), overlaps[0]))
            elif len(overlaps) > 1 or self.n_walks[i] > 0 or gap.size + gap.spread > -LEAST_OVERLAP:
                (gaps if self._has_its_pairs(i, _LEAST_GAP_SHARE) else few).append(gap)
            elif self.may_overlap and self._are_dead(i) and self._has_its_pairs(i):
                differing.append(gap)
        gaps += _with_unique_ends(self.graph, few)
        return Told(fills, gaps, doubtful, differing)

    def _walk(self, i: int) -> tuple[int, ...]:
        return tuple(self.unitigs[i, : self.size[i]].tolist())

    def _overlaps(self, i: int) -> list[int]:
        if not self.may_overlap or self.n_walks[i] > 0 or not self._are_dead(i):
            return []
        gap = self._gap(i)
        return find_overlaps(self.graph, gap.source, gap.target, gap=gap.size, spread=gap.spread)

    def _are_dead(self, i: int) -> bool:
        """Tell whether no arc leads on from either end."""
        is_dead = self.graph.arc_start[1:] == self.graph.arc_start[:-1]
        return bool(is_dead[self.source[i]] and is_dead[self.target[i] ^ 1])

    def _has_its_pairs(self, i: int, share: int = _LEAST_OVERLAP_SHARE) -> bool:
        """Tell whether so many pairs link the ends as should, or that share of them in hundredths.

        Where a unit of a tandem repeat is missing between them, the longest fragments only reach across, and look like
        short ones of a place where the ends share that unit.
        """
        n, expected = int(self.evidence.n_pairs[i]), int(self.evidence.expected[i])
        return 100 * SIXTEENTHS * n >= share * expected

    def _would_show_twice(self, overlap: int) -> bool:
        """Tell whether reads hold two units of what ends share: then those that hang over them tell whether it is one.

        Where none does coverage is thin, and pairs are missing for that.
        """
        return 2 * overlap <= self.inserts.bases_per_pair / 2

    def _gap(self, i: int) -> Gap:
        n = int(self.evidence.n_pairs[i])
        sd = self.inserts.sd / float(np.sqrt(n))
        return Gap(self.source[i], self.target[i], int(self.evidence.gap[i]), sd, n)
