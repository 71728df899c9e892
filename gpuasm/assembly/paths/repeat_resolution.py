"""Resolve repeats of the last graph by read pairs.

Links between single copies become joins if they exclude all alternatives (`link_acceptance`). A join's bases are
certain if one walk through the graph is, or if two dead ends overlap exactly as their pairs state; such joins are made
in the graph (`graph_edits`). Of the others only the distance is known: they make scaffolds. If two unitigs should
overlap by their pairs, by more bases than chance explains, but neither a walk nor their bases agree, the pairs come
from a variant of a repeat that the graph lacks; or the last bases of one end are of another copy, which reads may show.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.copy_number import nearby_depth
from gpuasm.assembly.ends.end_joining import are_densely_covered, find_unlinked_overlaps
from gpuasm.assembly.ends.end_overlaps import find_linked_overlaps
from gpuasm.assembly.graph.graph_edits import Fill, split
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.pairs.insert_sizes import SIXTEENTHS, InsertSizes
from gpuasm.assembly.pairs.link_evidence import Gap, Reaches, Resolved, expected_pairs, gaps_of
from gpuasm.assembly.pairs.links import SpanningPairs
from gpuasm.assembly.parameters import ENDS, PATHS, DepthModel
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.link_acceptance import AcceptedLinks, accepted_links
from gpuasm.assembly.paths.path_choice import choose_walks
from gpuasm.assembly.paths.repeats import (
    duplicate_terminal_repeats,
    find_direct_repeats,
    find_tandem_repeats,
    unevenness,
)
from gpuasm.assembly.state import AssemblyState
from gpuasm.stages import Stages


def resolve_pairs(state: AssemblyState, stages: Stages) -> Resolved:
    """Return the last graph with all certain joins, and the joins of which only the distance is known."""
    graph = state.kmer_graph.graph
    if state.spanning is None:
        return Resolved(graph)
    with stages.stage("join by pairs", k=graph.k) as stage:
        parameters = state.mode.parameters
        uneven = unevenness(state.spectrum) if parameters.depth_model is DepthModel.ONE else None
        resolved = resolve(graph, state.spanning, rules=state.rules, uneven=uneven, repeat_kmers=state.repeat_kmers)
        stage.note(**resolved.counts)
    # In a community the other bases may be of another genome.
    return resolved if parameters.mismatched_ends else replace(resolved, mismatching_overlaps=[])


def resolve(
    graph: UnitigGraph,
    pairs: SpanningPairs | None,
    *,
    rules: Collection[str] = EVERY_RULE,
    uneven: float | None = 0.0,
    repeat_kmers: Array | None = None,
) -> Resolved:
    """Join what pairs join with certainty, and repeats with one possible resolution.

    ``rules`` are those applied, of `gpuasm.assembly.options.RULES`. ``uneven`` is the variation of depth beyond chance
    (`unevenness`); None where any depth may be that of a genome, so that it resolves no repeat. ``repeat_kmers``, (n,)
    uint64, are the k-mers that the reads' last graph contains twice; None where that is not known.
    """
    if pairs is None or graph.n == 0:
        return Resolved(graph)
    inserts, arrays = pairs.inserts, GraphArrays.of(graph, array_namespace(pairs.reads.packed))
    accepted = accepted_links(graph, arrays, pairs, repeat_kmers=repeat_kmers, checks_anchors="anchors" in rules)
    made, resolved = _classify(graph, arrays, accepted, inserts, may_overlap="end-overlaps" in rules)
    unlinked = {
        name: _undecided(groups, arrays, accepted.all_reaches, inserts)
        for name, groups in _joins_without_links(graph, accepted, rules, inserts=inserts, uneven=uneven).items()
    }
    fills = made + [fill for groups in unlinked.values() for group in groups for fill in group]
    overlaps = sum(fill.overlap > 0 for fill in made)
    counts = {"links": accepted.links.n, "repeat_kmers": accepted.n_repeat_kmers}
    counts |= {"walks": len(made) - overlaps, "linked_overlaps": overlaps}
    counts |= {name: len(groups) for name, groups in unlinked.items()} | {"terminal_repeats": 0}
    if fills:
        resolved = resolved.moved(*split(graph, fills, nearby_depth(graph), longest=inserts.longest))
    if "repeats" in rules:
        graph, sources, counts["terminal_repeats"] = duplicate_terminal_repeats(resolved.graph)
        resolved = resolved.moved(graph, sources)
    return replace(resolved, counts=counts | {"gaps": len(resolved.gaps)})


def _classify(
    graph: UnitigGraph, arrays: GraphArrays, accepted: AcceptedLinks, inserts: InsertSizes, *, may_overlap: bool
) -> tuple[list[Fill], Resolved]:
    """Return the joins whose bases are certain, and the others with the links of too few pairs."""
    joins, links, evidence = accepted.joins, accepted.links, accepted.evidence
    gaps = gaps_of(links, evidence, joins, sd=inserts.sd)
    chosen = choose_walks(links, arrays, inserts, chosen=to_namespace(array_namespace(links.source), joins))
    unitigs, n_walks = to_host(chosen.unitigs).reshape(-1, WALK_UNITIGS), to_host(chosen.n_walks).tolist()
    walks = [tuple(row[:size].tolist()) for row, size in zip(unitigs, to_host(chosen.size).tolist(), strict=True)]
    is_used = _used_up(graph, accepted.is_single, gaps, walks)
    is_dead = graph.n_arcs == 0
    found, fills, few = Resolved(graph), list[Fill](), list[Gap]()
    for gap, walk, n, expected in zip(gaps, walks, n_walks, evidence.expected[joins].tolist(), strict=True):
        if len(walk) > 1 and not is_used[[o >> 1 for o in walk[1:-1]]].any():
            fills.append(Fill(walk))
            continue
        are_dead = may_overlap and bool(is_dead[list(gap.ends)].all())
        overlaps = find_linked_overlaps(graph, gap) if are_dead and n == 0 else []
        if len(overlaps) == 1 and _has_pairs(gap, expected, PATHS.join_overlap_min_percent):
            fills.append(Fill((gap.source, gap.target), overlaps[0]))
        elif len(overlaps) == 1:
            # If reads contain two units of the overlap, clipped tails show whether there is one. If not, coverage is
            # low, which explains the missing pairs.
            has_units = 2 * overlaps[0] <= inserts.bases_per_pair / 2
            (found.gaps if has_units else found.ambiguous_overlaps).append(gap)
        elif len(overlaps) > 1 or n > 0 or gap.size + gap.spread > -ENDS.linked_min_overlap:
            (found.gaps if _has_pairs(gap, expected, PATHS.join_third_percent) else few).append(gap)
        elif are_dead and _has_pairs(gap, expected, PATHS.join_overlap_min_percent):
            found.mismatching_overlaps.append(gap)
    # Of gaps of few pairs, the last bases on both sides occur nowhere else in the graph.
    is_unique = to_host(accepted.all_reaches.dead) == 0
    found.gaps.extend(gap for gap in few if is_unique[list(gap.ends)].all())
    return fills, replace(found, weak_links=_weak_links(graph, accepted, sd=inserts.sd))


def _used_up(graph: UnitigGraph, is_single: np.ndarray, gaps: list[Gap], walks: list[tuple[int, ...]]) -> np.ndarray:
    """Return the single copies that are ends of joins, or in several walks: no other walk contains them."""
    ends = [o >> 1 for gap in gaps for o in (gap.source, gap.target)]
    inner = [o >> 1 for walk in walks for o in walk[1:-1]]
    n_ends, n_uses = (np.bincount(np.array(units, np.int64), minlength=graph.n) for units in (ends, inner))
    return is_single & ((n_ends > 0) | (n_uses > 1))


def _has_pairs(gap: Gap, expected: int, percent: int) -> bool:
    """Return whether at least a percentage of the expected pairs (in sixteenths) link the ends.

    If a tandem unit is missing between them, only the longest fragments reach across, and appear as short fragments of
    an overlap by that unit.
    """
    return 100 * SIXTEENTHS * gap.n_pairs >= percent * expected


def _joins_without_links(
    graph: UnitigGraph, accepted: AcceptedLinks, rules: Collection[str], *, inserts: InsertSizes, uneven: float | None
) -> dict[str, list[list[Fill]]]:
    """Return groups of joins that need no link, by kind: those of unlinked overlaps, direct and tandem repeats."""
    source, target = to_host(accepted.links.source), to_host(accepted.links.target)
    both_strands = np.stack([source, target]), np.stack([target, source]) ^ 1
    linked = {*map(tuple, np.concatenate(both_strands, axis=1).T.tolist())}
    may_join = np.repeat(accepted.is_single & (graph.n_kmers >= graph.k), 2)
    may_join[source[accepted.joins]] = may_join[target[accepted.joins] ^ 1] = False
    read_length = inserts.bases_per_pair / 2
    unlinked, repeats, tandems = [], [], []
    if "end-overlaps" in rules:
        has_all = np.repeat(are_densely_covered(graph, bases_per_read=read_length), 2)
        unlinked = find_unlinked_overlaps(graph, may_join & has_all, xp=array_namespace(accepted.links.source))
    if "repeats" in rules and uneven is not None:
        repeats = find_direct_repeats(graph, may_join)
        tandems = find_tandem_repeats(graph, may_join, read_length=read_length, uneven=uneven)
        known = {each.repeat for each in repeats}
        tandems = [each for each in tandems if each.repeat not in known]
    # Pairs that reach across decide. They would link B with itself if B and R were circular.
    repeats = [each for each in repeats if not {(each.before, each.after), (each.between, each.between)} & linked]
    tandems = [each for each in tandems if (each.before, each.after) not in linked]
    of_repeats, of_tandems = ([[Fill(walk) for walk in each.walks] for each in some] for some in (repeats, tandems))
    of_overlaps = [[Fill((x, y), shared)] for x, y, shared in unlinked]
    return {"unlinked_overlaps": of_overlaps, "direct_repeats": of_repeats, "tandem_repeats": of_tandems}


def _undecided(
    groups: list[list[Fill]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes
) -> list[list[Fill]]:
    """Return the groups of joins at which so few pairs are expected that their absence decides nothing."""
    inner = np.diff(to_host(graph.start)) - (graph.k - 1)

    def gap(fill: Fill) -> tuple[int, int, int]:
        between = int(inner[[o >> 1 for o in fill.walk[1:-1]]].sum())
        return fill.walk[0], fill.walk[-1], between - (fill.overlap or graph.k - 1)

    expected = iter(expected_pairs([gap(fill) for group in groups for fill in group], graph, reaches, inserts))
    most = [max(next(expected) for _ in group) for group in groups]
    limit = SIXTEENTHS * PATHS.join_deciding_pairs
    return [group for group, own in zip(groups, most, strict=True) if own < limit]


def _weak_links(graph: UnitigGraph, accepted: AcceptedLinks, *, sd: float) -> list[Gap]:
    """Return the links of too few pairs to be joins, of dead ends that nothing else links."""
    links, n_pairs = accepted.links, accepted.evidence.n_pairs
    source, target = to_host(links.source).astype(np.int64), to_host(links.target).astype(np.int64)
    is_free = graph.n_arcs == 0
    is_free &= np.bincount(np.concatenate([source, target ^ 1]), minlength=is_free.size) == 1
    few = (n_pairs > 0) & (n_pairs < PATHS.join_min_pairs)
    few[accepted.joins] = False
    return gaps_of(links, accepted.evidence, np.flatnonzero(few & is_free[source] & is_free[target ^ 1]), sd=sd)
