"""Resolving: what pairs say of the last graph, beyond what its k can tell.

Links of pairs between single copies become joins where they exclude every other (`accepting`). A join's bases are
certain where one walk through the graph is, or where dead ends read on into each other (`overlaps`): such joins are
made in the graph (`splitting`). Of the others the distance is known, but not the bases: they make scaffolds.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.carrying.mates import SpanningPairs
from gpuasm.assembly.graph.local_depth import depth_near_by
from gpuasm.assembly.graph.terminal_repeats import tell_each_end
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.accepting import LEAST_PAIRS, SIXTEENTHS, Table, accept, single_copies
from gpuasm.assembly.pairs.anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.pairs.choosing import Chosen, choose_walks
from gpuasm.assembly.pairs.copied_words import leave_repeats, without_copied
from gpuasm.assembly.pairs.direct_repeats import find_direct_repeats
from gpuasm.assembly.pairs.gaps import Gap, moved
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, expected_pairs, weigh_links
from gpuasm.assembly.pairs.links import Links, is_within, link_pairs, with_pairs
from gpuasm.assembly.pairs.lost_junctions import find_lost_junctions, has_hardly_holes
from gpuasm.assembly.pairs.overlaps import LEAST_OVERLAP, find_overlaps, oriented_codes
from gpuasm.assembly.pairs.splitting import Fill, split
from gpuasm.assembly.pairs.tandem_repeats import find_tandem_repeats, unevenness
from gpuasm.assembly.pairs.threading import GraphArrays
from gpuasm.assembly.pairs.walks import MOST_STEPS
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.words import places_of, words_of
from gpuasm.stages import Stages

_MANY_PAIRS = 8
"""Where so many pairs are expected, pairs decide on a join: among so many hardly ever one or none is there."""
_LEAST_OVERLAP_SHARE = 50
"""Hundredths of the expected pairs that an overlap of dead ends must have: true neighbours have 56 to 114."""
_LEAST_GAP_SHARE = 35
"""And that a gap must have if its ends stand elsewhere: 48 true ones of three samples of 15-fold have 64 and more; a
false one had 20, of pairs that came from a third copy of what stands at both ends. Beside ends that are unique reads
may be rare where a sample is uneven."""


@dataclass(frozen=True)
class Resolved:
    """A graph in which certain joins are made, and the others.

    Attributes
    ----------
    graph : UnitigGraph
    gaps : list of Gap
        At most one at each end of a unitig.
    hints : list of Gap
        Links of too few pairs to be joins, of dead ends that nothing else links.
    doubtful : list of Gap
        Dead ends that overlap where pairs say, but with so few pairs that a unit of a tandem repeat may be missing.
    differing : list of Gap
        Dead ends that should overlap by their pairs, which are as many as should be, but whose bases differ.
    counts : dict
        For run.json: links, joins along walks, by overlaps, and by gaps.
    """

    graph: UnitigGraph
    gaps: list[Gap] = field(default_factory=list)
    hints: list[Gap] = field(default_factory=list)
    doubtful: list[Gap] = field(default_factory=list)
    differing: list[Gap] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def resolve_pairs(state: AssemblyState, stages: Stages) -> Resolved:
    """Return the last graph with all joins that pairs make certain, and the joins of which only the size is known."""
    graph = state.level.graph
    if state.spanning is None:
        return Resolved(graph)
    with stages.stage("join by pairs", k=graph.k) as stage:
        # How deep a chromosome is tells of its plasmids, but not of another organism.
        without = state.without if state.mode.is_isolate else (*state.without, "direct-repeats", "tandem-repeats")
        uneven = unevenness(state.spectrum)
        resolved = resolve(graph, state.spanning, without=without, uneven=uneven, copied=state.copied)
        stage.note(**resolved.counts)
    # In a community the other bases may be another member's.
    return resolved if state.mode.is_isolate else replace(resolved, differing=[])


def resolve(
    graph: UnitigGraph,
    pairs: SpanningPairs | None,
    *,
    without: Collection[str] = (),
    uneven: float = 0.0,
    copied: Array | None = None,
) -> Resolved:
    """Join what pairs join for certain, and what nothing else can be made of.

    Parameters
    ----------
    graph
        The last cleaned graph.
    pairs
        The pairs that may join its unitigs; None leaves the graph as it is.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    uneven
        How much depth varies beyond chance: see `gpuasm.assembly.pairs.tandem_repeats.unevenness`.
    copied : (n,) uint64
        Words of what is there twice by the reads' last graph; None where that is not known.
    """
    if pairs is None or graph.n == 0:
        return Resolved(graph)
    found = _find_joins(graph, pairs, without, uneven=uneven, copied=copied)
    overlaps = sum(fill.overlap > 0 for fill in found.fills)
    counts = {"links": found.n_links, "copied_words": found.n_copied}
    counts |= {"walks": len(found.fills) - overlaps, "overlaps": overlaps}
    counts |= {"lost_junctions": len(found.lost), "direct_repeats": len(found.repeats) // 2}
    counts |= {"tandem_repeats": len(found.tandems) // 2, "terminal_repeats": 0}
    fills = found.fills + found.lost + found.repeats + found.tandems
    others = [found.gaps, found.hints, found.doubtful, found.differing]
    if fills:
        graph, pieces = split(graph, fills, depth_near_by(graph), longest=pairs.inserts.longest)
        others = [moved(some, graph, pieces) for some in others]
    if "terminal-repeats" not in without:
        graph, pieces, counts["terminal_repeats"] = tell_each_end(graph)
        others = [moved(some, graph, pieces) for some in others]
    gaps, hints, doubtful, differing = others
    return Resolved(graph, gaps, hints, doubtful, differing, {**counts, "gaps": len(gaps)})


@dataclass(frozen=True)
class _Found:
    fills: list[Fill]
    gaps: list[Gap]
    doubtful: list[Gap]
    differing: list[Gap]
    hints: list[Gap] = field(default_factory=list)
    lost: list[Fill] = field(default_factory=list)
    repeats: list[Fill] = field(default_factory=list)
    tandems: list[Fill] = field(default_factory=list)
    n_links: int = 0
    n_copied: int = 0


def _find_joins(
    graph: UnitigGraph, pairs: SpanningPairs, without: Collection[str], *, uneven: float, copied: Array | None
) -> _Found:
    xp, inserts = array_namespace(pairs.reads.words), pairs.inserts
    arrays, index, is_whole = GraphArrays.of(graph, xp), AnchorIndex.of(graph, xp), None
    reaches = every_reach = Reaches.of(index)
    if copied is not None:
        index, is_whole = without_copied(index, copied)
        reaches = Reaches.of(index)
    every = link_pairs(pairs.reads, index, arrays, checks_anchors="anchor-checks" not in without)
    is_single = single_copies(graph, to_host(reaches.count)) & ~graph.is_circular
    links = _between(every, arrays, to_namespace(xp, is_single), inserts)
    evidence = weigh_links(links, arrays, reaches, inserts)
    table = Table.of(to_host(links.source), to_host(links.target), evidence, graph.n)
    if is_whole is not None:
        table = replace(table, is_sound=table.is_sound & ~leave_repeats(links, graph, is_whole)[table.link])
    joins = accept(table, graph.length, k=graph.k, sd=inserts.sd)
    some = _select(links, to_namespace(xp, np.isin(np.arange(links.n), joins)))
    chosen = choose_walks(some, arrays, inserts)
    found = _Joins(graph, some, chosen, _of(evidence, joins), inserts, overlaps="overlaps" not in without).found(
        is_single
    )
    may_join = np.repeat(is_single & (graph.n_kmers >= graph.k), 2)
    may_join[to_host(some.source)] = may_join[to_host(some.target) ^ 1] = False
    linked = set(zip(to_host(links.source).tolist(), to_host(links.target).tolist(), strict=True))
    has_all = np.repeat(has_hardly_holes(graph, bases_per_read=inserts.bases_per_pair / 2), 2)
    lost = find_lost_junctions(graph, may_join & has_all) if "lost-junctions" not in without else []
    repeats = find_direct_repeats(graph, may_join) if "direct-repeats" not in without else []
    tandems = []
    if "tandem-repeats" not in without:
        tandems = find_tandem_repeats(graph, may_join, read_length=inserts.bases_per_pair / 2, uneven=uneven)
        known = {each.repeat for each in repeats}
        tandems = [each for each in tandems if each.repeat not in known]
    lost_fills = [[Fill((x, y), shared)] for x, y, shared in lost]
    repeat_fills, tandem_fills = (
        [[Fill(walk) for walk in each.walks] for each in some if not each.rivals & linked]
        for some in (repeats, tandems)
    )
    return replace(
        found,
        n_links=links.n,
        n_copied=int(every_reach.count.sum() - reaches.count.sum()),
        hints=_hints(graph, links, evidence, joins=joins, sd=inserts.sd),
        lost=_undecided(lost_fills, arrays, every_reach, inserts),
        repeats=_undecided(repeat_fills, arrays, every_reach, inserts),
        tandems=_undecided(tandem_fills, arrays, every_reach, inserts),
    )


def _hints(graph: UnitigGraph, links: Links, evidence: Evidence, *, joins: np.ndarray, sd: float) -> list[Gap]:
    """Return the links of too few pairs to be joins, of dead ends that nothing else links."""
    source, target = to_host(links.source).astype(np.int64), to_host(links.target).astype(np.int64)
    is_free = np.diff(graph.arc_start) == 0
    is_free &= np.bincount(np.concatenate([source, target ^ 1]), minlength=is_free.size) == 1
    few = (evidence.n_pairs > 0) & (evidence.n_pairs < LEAST_PAIRS)
    few[joins] = False
    chosen = np.flatnonzero(few & is_free[source] & is_free[target ^ 1])
    rows = (source[chosen], target[chosen], evidence.gap[chosen], evidence.n_pairs[chosen])
    return [
        Gap(one, other, size, sd / float(np.sqrt(n)), n)
        for one, other, size, n in zip(*(row.tolist() for row in rows), strict=True)
    ]


def _undecided(joins: list[list[Fill]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes) -> list[Fill]:
    """Return the joins, made together, at none of which so many pairs are expected that these would have decided."""
    inner = np.diff(to_host(graph.start)) - (graph.k - 1)
    gaps = []
    for fill in itertools.chain(*joins):
        between = int(inner[[o >> 1 for o in fill.walk[1:-1]]].sum())
        gaps.append((fill.walk[0], fill.walk[-1], between - (fill.overlap or graph.k - 1)))
    expected = expected_pairs(gaps, graph, reaches, inserts)
    kept, first = [], 0
    for together in joins:
        if max(expected[first : first + len(together)]) < SIXTEENTHS * _MANY_PAIRS:
            kept += together
        first += len(together)
    return kept


def _between(links: Links, graph: GraphArrays, is_single: Array, inserts: InsertSizes) -> Links:
    """Return the links between single copies, without the pairs that lie within one unitig."""
    xp, link = array_namespace(links.source), links.of_pairs
    source, target = links.source[link], links.target[link]
    within = is_within(links, link, graph, inserts)
    possible = links.left.astype(np.int64) + links.right <= inserts.longest + graph.k - 1
    kept = ~within & possible & is_single[source >> 1] & is_single[target >> 1]
    return with_pairs(links, link, xp.flatnonzero(kept))


def _select(links: Links, is_chosen: Array) -> Links:
    xp, link = array_namespace(links.source), links.of_pairs
    return with_pairs(links, link, xp.flatnonzero(is_chosen[link]))


def _of(evidence: Evidence, links: np.ndarray) -> Evidence:
    return Evidence(*(values[links] for values in vars(evidence).values()))


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
    """The joins that were accepted, and what to make of each."""

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

    def found(self, is_single: np.ndarray) -> _Found:
        """Tell joins whose bases are certain from the others.

        Where two unitigs should overlap by their pairs, by more than what chance might make, but neither a walk nor
        their bases say so, pairs are wrong: they come from a variant of a repeat that the graph does not hold. Unless
        the last bases of one end are another copy's, as reads may tell.
        """
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
        return _Found(fills, gaps, doubtful, differing)

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
