"""Resolve repeats of the last graph by read pairs.

Links of pairs between single copies become joins if they exclude all alternatives (`accepted_links`). A join's bases
are certain if one walk through the graph is, or if dead ends overlap (`certain_joins`); such joins are made in the
graph (`graph_edits`). Of the others the distance is known, but not the bases: they make scaffolds.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.local_depth import nearby_depth
from gpuasm.assembly.ends.unlinked_overlaps import are_densely_covered, find_unlinked_overlaps
from gpuasm.assembly.graph.graph_edits import Fill, split
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.pairs.gaps import Gap, Resolved, move_gaps
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, expected_pairs
from gpuasm.assembly.pairs.links import Links, with_pairs
from gpuasm.assembly.pairs.spanning_pairs import SpanningPairs
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.accepted_links import accepted_links
from gpuasm.assembly.paths.certain_joins import ClassifiedJoins, classify_joins
from gpuasm.assembly.paths.direct_repeats import find_direct_repeats
from gpuasm.assembly.paths.link_acceptance import SIXTEENTHS
from gpuasm.assembly.paths.path_choice import choose_walks
from gpuasm.assembly.paths.tandem_repeats import find_tandem_repeats, unevenness
from gpuasm.assembly.paths.terminal_repeats import duplicate_terminal_repeats
from gpuasm.assembly.state import AssemblyState
from gpuasm.stages import Stages


def resolve_pairs(state: AssemblyState, stages: Stages) -> Resolved:
    """Return the last graph with all certain joins, and the joins of which only the distance is known."""
    graph = state.kmer_graph.graph
    if state.spanning is None:
        return Resolved(graph)
    with stages.stage("join by pairs", k=graph.k) as stage:
        uneven = unevenness(state.spectrum)
        resolved = resolve(graph, state.spanning, rules=state.rules, uneven=uneven, repeat_kmers=state.repeat_kmers)
        stage.note(**resolved.counts)
    # In a community the other bases may be of another genome.
    return resolved if state.mode.parameters.mismatched_ends else replace(resolved, mismatching_overlaps=[])


def resolve(
    graph: UnitigGraph,
    pairs: SpanningPairs | None,
    *,
    rules: Collection[str] = EVERY_RULE,
    uneven: float = 0.0,
    repeat_kmers: Array | None = None,
) -> Resolved:
    """Join what pairs join with certainty, and repeats with one possible resolution.

    Parameters
    ----------
    graph
        The last simplified graph.
    pairs
        The pairs that may join its unitigs; None leaves the graph as it is.
    rules
        Applied rules, of `gpuasm.assembly.options.RULES`.
    uneven
        Variation of depth beyond chance: see `gpuasm.assembly.paths.tandem_repeats.unevenness`.
    repeat_kmers : (n,) uint64
        k-mers that the reads' last graph contains twice; None where that is not known.
    """
    if pairs is None or graph.n == 0:
        return Resolved(graph)
    found = _find_joins(graph, pairs, rules, uneven=uneven, repeat_kmers=repeat_kmers)
    classified = found.classified
    overlaps = sum(fill.overlap > 0 for fill in classified.fills)
    counts = {"links": found.n_links, "repeat_kmers": found.n_repeat_kmers}
    counts |= {"walks": len(classified.fills) - overlaps, "linked_overlaps": overlaps}
    counts |= {"unlinked_overlaps": len(found.unlinked), "direct_repeats": len(found.repeats) // 2}
    counts |= {"tandem_repeats": len(found.tandems) // 2, "terminal_repeats": 0}
    fills = classified.fills + found.unlinked + found.repeats + found.tandems
    others = [classified.gaps, found.weak_links, classified.ambiguous_overlaps, classified.mismatching_overlaps]
    if fills:
        graph, sources = split(graph, fills, nearby_depth(graph), longest=pairs.inserts.longest)
        others = [move_gaps(some, graph, sources) for some in others]
    if "terminal-repeats" in rules:
        graph, sources, counts["terminal_repeats"] = duplicate_terminal_repeats(graph)
        others = [move_gaps(some, graph, sources) for some in others]
    gaps, weak_links, ambiguous_overlaps, mismatching_overlaps = others
    return Resolved(graph, gaps, weak_links, ambiguous_overlaps, mismatching_overlaps, {**counts, "gaps": len(gaps)})


@dataclass(frozen=True)
class _Found:
    classified: ClassifiedJoins
    n_links: int
    n_repeat_kmers: int
    weak_links: list[Gap]
    unlinked: list[Fill]
    repeats: list[Fill]
    tandems: list[Fill]


def _find_joins(
    graph: UnitigGraph, pairs: SpanningPairs, rules: Collection[str], *, uneven: float, repeat_kmers: Array | None
) -> _Found:
    xp, inserts = array_namespace(pairs.reads.packed), pairs.inserts
    arrays = GraphArrays.of(graph, xp)
    checks = "anchor-checks" in rules
    accepted = accepted_links(graph, arrays, pairs, repeat_kmers=repeat_kmers, checks_anchors=checks)
    links, joins, is_single = accepted.links, accepted.joins, accepted.is_single
    some = _select(links, to_namespace(xp, np.isin(np.arange(links.n), joins)))
    classified = classify_joins(
        graph,
        some,
        choose_walks(some, arrays, inserts),
        evidence=_of(accepted.evidence, joins),
        inserts=inserts,
        is_single=is_single,
        overlaps="linked-overlaps" in rules,
    )
    may_join = np.repeat(is_single & (graph.n_kmers >= graph.k), 2)
    may_join[to_host(some.source)] = may_join[to_host(some.target) ^ 1] = False
    linked = set(zip(to_host(links.source).tolist(), to_host(links.target).tolist(), strict=True))
    unlinked, repeats, tandems = _without_links(graph, may_join, linked, rules=rules, inserts=inserts, uneven=uneven)
    return _Found(
        classified,
        n_links=links.n,
        n_repeat_kmers=accepted.n_repeat_kmers,
        weak_links=_weak_links(graph, links, accepted.evidence, joins=joins, sd=inserts.sd),
        unlinked=_undecided(unlinked, arrays, accepted.all_reaches, inserts),
        repeats=_undecided(repeats, arrays, accepted.all_reaches, inserts),
        tandems=_undecided(tandems, arrays, accepted.all_reaches, inserts),
    )


def _without_links(
    graph: UnitigGraph,
    may_join: np.ndarray,
    linked: set[tuple[int, int]],
    *,
    rules: Collection[str],
    inserts: InsertSizes,
    uneven: float,
) -> tuple[list[list[Fill]], list[list[Fill]], list[list[Fill]]]:
    """Return joins that need no link: unlinked overlaps, direct repeats and tandem repeats."""
    read_length = inserts.bases_per_pair / 2
    has_all = np.repeat(are_densely_covered(graph, bases_per_read=read_length), 2)
    unlinked = find_unlinked_overlaps(graph, may_join & has_all) if "unlinked-overlaps" in rules else []
    repeats = find_direct_repeats(graph, may_join) if "direct-repeats" in rules else []
    tandems = []
    if "tandem-repeats" in rules:
        tandems = find_tandem_repeats(graph, may_join, read_length=read_length, uneven=uneven)
        known = {each.repeat for each in repeats}
        tandems = [each for each in tandems if each.repeat not in known]
    repeat_fills, tandem_fills = (
        [[Fill(walk) for walk in each.walks] for each in some if not each.competing_links & linked]
        for some in (repeats, tandems)
    )
    return [[Fill((x, y), shared)] for x, y, shared in unlinked], repeat_fills, tandem_fills


def _weak_links(graph: UnitigGraph, links: Links, evidence: Evidence, *, joins: np.ndarray, sd: float) -> list[Gap]:
    """Return the links of too few pairs to be joins, of dead ends that nothing else links."""
    source, target = to_host(links.source).astype(np.int64), to_host(links.target).astype(np.int64)
    is_free = np.diff(graph.arc_start) == 0
    is_free &= np.bincount(np.concatenate([source, target ^ 1]), minlength=is_free.size) == 1
    few = (evidence.n_pairs > 0) & (evidence.n_pairs < PATHS.join_min_pairs)
    few[joins] = False
    chosen = np.flatnonzero(few & is_free[source] & is_free[target ^ 1])
    rows = (source[chosen], target[chosen], evidence.gap[chosen], evidence.n_pairs[chosen])
    return [
        Gap(one, other, size, sd / float(np.sqrt(n)), n)
        for one, other, size, n in zip(*(row.tolist() for row in rows), strict=True)
    ]


def _undecided(joins: list[list[Fill]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes) -> list[Fill]:
    """Return the groups of joins at which so few pairs are expected that their absence decides nothing."""
    inner = np.diff(to_host(graph.start)) - (graph.k - 1)
    gaps = []
    for fill in itertools.chain(*joins):
        between = int(inner[[o >> 1 for o in fill.walk[1:-1]]].sum())
        gaps.append((fill.walk[0], fill.walk[-1], between - (fill.overlap or graph.k - 1)))
    expected = expected_pairs(gaps, graph, reaches, inserts)
    kept, first = [], 0
    for together in joins:
        if max(expected[first : first + len(together)]) < SIXTEENTHS * PATHS.join_deciding_pairs:
            kept += together
        first += len(together)
    return kept


def _select(links: Links, is_chosen: Array) -> Links:
    xp, link = array_namespace(links.source), links.of_pairs
    return with_pairs(links, link, xp.flatnonzero(is_chosen[link]))


def _of(evidence: Evidence, links: np.ndarray) -> Evidence:
    return Evidence(*(values[links] for values in vars(evidence).values()))
