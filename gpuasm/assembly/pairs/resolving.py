"""Resolving: what pairs say of the last graph, beyond what its k can tell.

Links of pairs between single copies become joins where they exclude every other (`accepted_links`). A join's bases are
certain where one walk through the graph is, or where dead ends read on into each other (`certain_joins`): such joins
are made in the graph (`splitting`). Of the others the distance is known, but not the bases: they make scaffolds.
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
from gpuasm.assembly.pairs.accepted_links import accepted_links
from gpuasm.assembly.pairs.accepting import LEAST_PAIRS, SIXTEENTHS
from gpuasm.assembly.pairs.certain_joins import Told, tell_joins
from gpuasm.assembly.pairs.choosing import choose_walks
from gpuasm.assembly.pairs.direct_repeats import find_direct_repeats
from gpuasm.assembly.pairs.gaps import Gap, moved
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, expected_pairs
from gpuasm.assembly.pairs.links import Links, with_pairs
from gpuasm.assembly.pairs.lost_junctions import find_lost_junctions, has_hardly_holes
from gpuasm.assembly.pairs.splitting import Fill, split
from gpuasm.assembly.pairs.tandem_repeats import find_tandem_repeats, unevenness
from gpuasm.assembly.pairs.threading import GraphArrays
from gpuasm.assembly.state import AssemblyState
from gpuasm.stages import Stages

_MANY_PAIRS = 8
"""Where so many pairs are expected, pairs decide on a join: among so many hardly ever one or none is there."""


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
    told = found.told
    overlaps = sum(fill.overlap > 0 for fill in told.fills)
    counts = {"links": found.n_links, "copied_words": found.n_copied}
    counts |= {"walks": len(told.fills) - overlaps, "overlaps": overlaps}
    counts |= {"lost_junctions": len(found.lost), "direct_repeats": len(found.repeats) // 2}
    counts |= {"tandem_repeats": len(found.tandems) // 2, "terminal_repeats": 0}
    fills = told.fills + found.lost + found.repeats + found.tandems
    others = [told.gaps, found.hints, told.doubtful, told.differing]
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
    told: Told
    n_links: int
    n_copied: int
    hints: list[Gap]
    lost: list[Fill]
    repeats: list[Fill]
    tandems: list[Fill]


def _find_joins(
    graph: UnitigGraph, pairs: SpanningPairs, without: Collection[str], *, uneven: float, copied: Array | None
) -> _Found:
    xp, inserts = array_namespace(pairs.reads.words), pairs.inserts
    arrays = GraphArrays.of(graph, xp)
    checks = "anchor-checks" not in without
    accepted = accepted_links(graph, arrays, pairs, copied=copied, checks_anchors=checks)
    links, joins, is_single = accepted.links, accepted.joins, accepted.is_single
    some = _select(links, to_namespace(xp, np.isin(np.arange(links.n), joins)))
    told = tell_joins(
        graph,
        some,
        choose_walks(some, arrays, inserts),
        evidence=_of(accepted.evidence, joins),
        inserts=inserts,
        is_single=is_single,
        overlaps="overlaps" not in without,
    )
    may_join = np.repeat(is_single & (graph.n_kmers >= graph.k), 2)
    may_join[to_host(some.source)] = may_join[to_host(some.target) ^ 1] = False
    linked = set(zip(to_host(links.source).tolist(), to_host(links.target).tolist(), strict=True))
    lost, repeats, tandems = _without_links(graph, may_join, linked, without=without, inserts=inserts, uneven=uneven)
    return _Found(
        told,
        n_links=links.n,
        n_copied=accepted.n_copied,
        hints=_hints(graph, links, accepted.evidence, joins=joins, sd=inserts.sd),
        lost=_undecided(lost, arrays, accepted.of_every_word, inserts),
        repeats=_undecided(repeats, arrays, accepted.of_every_word, inserts),
        tandems=_undecided(tandems, arrays, accepted.of_every_word, inserts),
    )


def _without_links(
    graph: UnitigGraph,
    may_join: np.ndarray,
    linked: set[tuple[int, int]],
    *,
    without: Collection[str],
    inserts: InsertSizes,
    uneven: float,
) -> tuple[list[list[Fill]], list[list[Fill]], list[list[Fill]]]:
    """Return joins of ends that no pair need link: at lost junctions, of direct and of tandem repeats."""
    read_length = inserts.bases_per_pair / 2
    has_all = np.repeat(has_hardly_holes(graph, bases_per_read=read_length), 2)
    lost = find_lost_junctions(graph, may_join & has_all) if "lost-junctions" not in without else []
    repeats = find_direct_repeats(graph, may_join) if "direct-repeats" not in without else []
    tandems = []
    if "tandem-repeats" not in without:
        tandems = find_tandem_repeats(graph, may_join, read_length=read_length, uneven=uneven)
        known = {each.repeat for each in repeats}
        tandems = [each for each in tandems if each.repeat not in known]
    repeat_fills, tandem_fills = (
        [[Fill(walk) for walk in each.walks] for each in some if not each.rivals & linked]
        for some in (repeats, tandems)
    )
    return [[Fill((x, y), shared)] for x, y, shared in lost], repeat_fills, tandem_fills


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


def _select(links: Links, is_chosen: Array) -> Links:
    xp, link = array_namespace(links.source), links.of_pairs
    return with_pairs(links, link, xp.flatnonzero(is_chosen[link]))


def _of(evidence: Evidence, links: np.ndarray) -> Evidence:
    return Evidence(*(values[links] for values in vars(evidence).values()))
