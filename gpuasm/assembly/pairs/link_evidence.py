"""Link evidence: the likeliest distance of two linked unitigs, and the pairs found and expected at that distance.

The distance maximises the likelihood of the insert sizes of all pairs of a link, given which fragments can link the two
unitigs at that distance. A mean of the pairs would be too small, as long fragments only link distant unitigs. Pairs
whose fragment has no usual length at any distance are chimeric and are excluded.

Gaps are joins of unitigs of which only this distance is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.graph_edits import Fill
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import (
    FragmentModel,
    InsertSizes,
    is_usual,
    log2_256,
    log2_likelihood,
    n_placements,
)
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.parallel import compiled, for_each, signatures
from gpuasm.primitives.counting import count_between

_PERCENT, _AGREEMENT = 100, FRAGMENTS.link_agreement


@dataclass(frozen=True)
class Reaches:
    """Where the 31-mers that occur once in the graph lie on each unitig.

    Attributes
    ----------
    dead : (2n,) int64
        Bases from the end of the last such 31-mer to the end of each oriented unitig: mates there have no anchor. The
        length of a unitig without such 31-mers.
    count : (n,) int64
        Number of such 31-mers.
    """

    dead: Array
    count: Array

    @classmethod
    def of(cls, index: AnchorIndex) -> Reaches:
        """Measure the unitigs of an index."""
        is_unique = index.kmers.is_unique
        count = count_between(is_unique, index.start)
        dead = array_namespace(count).empty(2 * count.size, np.int64)
        _measure_dead_ends(dead.size, index.start, count, is_unique, ANCHOR_K, dead)
        return cls(dead, count)


@signatures("int64[::1], int64[::1], boolean[::1], int64, int64[::1]")
@for_each
def _measure_dead_ends(v, start, count, is_unique, k, dead):
    first, last = start[v >> 1], start[(v >> 1) + 1]
    dead[v] = last - first
    if count[v >> 1] > 0:
        at = first if v & 1 else last - 1
        while not is_unique[at]:
            at += 1 if v & 1 else -1
        dead[v] = at - first if v & 1 else last - (at + k)


class Evidence(NamedTuple):
    """The distance that the pairs of each link support, and their numbers.

    Attributes
    ----------
    gap : (n_links,) int64
        The likeliest distance from the source's end to the target's beginning; negative where they overlap.
    n_pairs : (n_links,) int64
        Pairs whose fragment has a usual length at that distance.
    n_possible : (n_links,) int64
        Pairs whose fragment has a usual length at some distance.
    expected : (n_links,) int64
        Pairs expected at that distance from the depth of the unitigs, in sixteenths.
    beyond : (n_links,) int64
        Expected pairs, in sixteenths, that reach farther into one of the unitigs than any pair found; neither mate
        crosses the end of its unitig.
    """

    gap: np.ndarray
    n_pairs: np.ndarray
    n_possible: np.ndarray
    expected: np.ndarray
    beyond: np.ndarray


def weigh_links(links: Links, graph: GraphArrays, reaches: Reaches, inserts: InsertSizes) -> Evidence:
    """Find the likeliest distance of each link, and count the pairs for it; on the host."""
    xp = array_namespace(links.source)
    reach = reaches.dead + ANCHOR_K
    # Where no read crosses an end, as in sequence that is hard to read, pairs are expected next to it only.
    reach_uncrossed = xp.maximum(reach, inserts.bases_per_pair // 2)
    found = Evidence(*(xp.zeros(links.n, np.int64) for _ in Evidence._fields))
    _weigh(links.n, links, graph, reach, reach_uncrossed, inserts.model(xp), found)
    return Evidence(*map(to_host, found))


def expected_pairs(
    joins: list[tuple[int, int, int]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes
) -> list[int]:
    """Return how many pairs are expected to link unitigs, given as source, target and gap, in sixteenths."""
    rows, n = np.array(joins, np.int64).reshape(-1, 3), np.empty(len(joins), np.int64)
    start, depth = to_host(graph.start), to_host(graph.depth)
    _count_expected(rows, tuple(inserts.model()), to_host(reaches.dead) + ANCHOR_K, start, depth, n)
    return n.tolist()


@signatures(
    "int64[:, ::1], Tuple((int32[::1], int64[::1], int64, int64, int64, )), int64[::1], int64[::1], int64[::1], "
    "int64[::1]"
)
@compiled()
def _count_expected(joins, lengths, reach, start, depth, expected):
    model = FragmentModel(*lengths)
    for i in range(expected.size):
        x, y = joins[i, 0], joins[i, 1]
        far_x = max(reach[x], start[(x >> 1) + 1] - start[x >> 1])
        far_y = max(reach[y ^ 1], start[(y >> 1) + 1] - start[y >> 1])
        placements = n_placements(model, joins[i, 2], reach[x], far_x, reach[y ^ 1], far_y)
        expected[i] = min(depth[x >> 1], depth[y >> 1]) * placements // model.per_pair


@signatures(
    "int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64, "
    "uint64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], "
    "int64, int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1]"
)
@for_each
def _weigh(i, links: Links, graph: GraphArrays, reach, reach_uncrossed, model: FragmentModel, found: Evidence):
    x, y = np.int64(links.source[i]), np.int64(links.target[i])
    own, other = graph.start[(x >> 1) + 1] - graph.start[x >> 1], graph.start[(y >> 1) + 1] - graph.start[y >> 1]
    near_x, near_y = reach[x], reach[y ^ 1]
    far_x, far_y = max(own, near_x), max(other, near_y)
    least_depth = min(graph.depth[x >> 1], graph.depth[y >> 1])
    nearest, farthest, possible = np.int64(model.longest), np.int64(-model.longest), np.int64(0)
    for p in range(links.first[i], links.first[i + 1]):
        rest = np.int64(links.left[p]) + links.right[p]
        if rest <= model.longest + graph.k - 1:
            possible += 1
            nearest = min(nearest, max(np.int64(1 - graph.k), model.shortest - rest))
            farthest = max(farthest, model.longest - rest)
    found.n_possible[i] = possible
    best, most_fitting, agreed = np.int64(-(1 << 62)), np.int64(0), False
    for d in range(nearest, farthest + 1):
        placements = n_placements(model, d, near_x, far_x, near_y, far_y)
        score = -possible * np.int64(log2_256(placements))
        fitting = np.int64(0)
        for p in range(links.first[i], links.first[i + 1]):
            rest = np.int64(links.left[p]) + links.right[p]
            if rest <= model.longest + graph.k - 1:
                score += log2_likelihood(model, rest + d)
                fitting += 1 if is_usual(model, rest + d) else 0
        # With few placements, few fitting pairs would have a high likelihood: most pairs must fit in the first place.
        agreeing = bool(_PERCENT * fitting >= _AGREEMENT * possible)
        if fitting > 0 and ((agreeing and (score > best or not agreed)) or (not agreed and fitting > most_fitting)):
            best, most_fitting, agreed = score, fitting, agreeing
            found.gap[i], found.n_pairs[i] = d, fitting
            found.expected[i] = least_depth * placements // model.per_pair
    most_x, most_y = np.int64(0), np.int64(0)
    for p in range(links.first[i], links.first[i + 1]):
        if is_usual(model, found.gap[i] + links.left[p] + links.right[p]):
            most_x, most_y = max(most_x, np.int64(links.left[p])), max(most_y, np.int64(links.right[p]))
    if found.n_pairs[i] > 0:
        near_x, near_y = reach_uncrossed[x], reach_uncrossed[y ^ 1]
        far_x, far_y = max(own, near_x), max(other, near_y)
        after_x, after_y = max(near_x, min(most_x, far_x) + 1), max(near_y, min(most_y, far_y) + 1)
        placements = max(
            n_placements(model, found.gap[i], after_x, far_x, near_y, far_y),
            n_placements(model, found.gap[i], near_x, far_x, after_y, far_y),
        )
        found.beyond[i] = least_depth * placements // model.per_pair


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
    def ends(self) -> tuple[int, int]:
        """The oriented unitigs that end at it: the source, and the twin of the target."""
        return self.source, self.target ^ 1

    @property
    def spread(self) -> int:
        """Bases by which the size may be wrong."""
        return int(FRAGMENTS.gap_deviations * self.sd) + FRAGMENTS.gap_margin

    def fits(self, size: int) -> bool:
        """Return whether the gap may have this size."""
        return abs(size - self.size) <= self.spread

    def filled(self, size: int, between: bytes, *, k: int) -> Fill | None:
        """Return the join with bases of this size, negative for an overlap; None if the gap cannot have it."""
        if not self.fits(size) or -size > k - 2:
            return None
        return Fill((self.source, self.target), overlap=max(0, -size), between=between if size >= 0 else None)


def gaps_of(links: Links, evidence: Evidence, chosen: np.ndarray, *, sd: float) -> list[Gap]:
    """Return chosen links as gaps, given the standard deviation of insert sizes."""
    columns = to_host(links.source), to_host(links.target), evidence.gap, evidence.n_pairs
    rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
    return [Gap(x, y, size, sd / float(np.sqrt(n)), n) for x, y, size, n in rows]


def move_gaps(gaps: Sequence[Gap], graph: UnitigGraph, sources: SourceUnitigs) -> list[Gap]:
    """Return the gaps between the longer unitigs that unitigs have become; gaps that were joined are dropped."""
    if not gaps:
        return []
    ends = np.array([gap.ends for gap in gaps], np.int64)
    ending = np.full(2 + max(int(sources.oriented.max(initial=0)), int(ends.max())) | 1, -1, np.int64)
    linear = np.flatnonzero(np.repeat(~graph.is_circular, 2))
    ending[sources.ends[linear]] = linear
    moved = zip(gaps, ending[ends].tolist(), strict=True)
    return [replace(gap, source=one, target=other ^ 1) for gap, (one, other) in moved if min(one, other) >= 0]


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

    def moved(self, graph: UnitigGraph, sources: SourceUnitigs) -> Resolved:
        """Return the result in a later graph, whose unitigs are made of those of this one."""
        gaps, weak_links, ambiguous, mismatching = (
            move_gaps(some, graph, sources)
            for some in (self.gaps, self.weak_links, self.ambiguous_overlaps, self.mismatching_overlaps)
        )
        return Resolved(graph, gaps, weak_links, ambiguous, mismatching, self.counts)
