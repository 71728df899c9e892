"""Choose the walk of a link by the likelihood of its pairs.

Each pair of a link has a fragment length on each walk, and its reads show parts of the walk. A walk is chosen if all
pairs together make it a thousand times as likely as any other. The likelihood of a pair is that of its insert size
among all fragments that could link the two unitigs at that distance. The number of pairs must agree with the number
expected from the depth of the two unitigs: too few pairs come from a longer path, such as a tandem repeat that only the
longest fragments span. Nor may more pairs than expected begin on the two unitigs; other mates begin before their
anchor. One pair does not suffice where several are expected: an error in a read may show another copy's base.

**Prefixes.** A single copy (`copy_number.are_surely_single`) has one continuation. But if copies of a repeat differ in
single bases, far apart, many walks of one length lead from it into the repeat, and the reads of a long link do not show
the bases between. Shorter links of the same unitig do, and all its walks have their prefix in common. Without this rule
a copy has no fragments where it begins to differ from the others, and at larger k it ends there, or its flank is joined
to another copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays
from gpuasm.assembly.pairs.insert_sizes import (
    LOG2_SCALE,
    SIXTEENTHS,
    FragmentModel,
    InsertSizes,
    is_usual,
    log2_256,
    log2_likelihood,
    n_placements,
)
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.graph_walks import MAX_WALKS, WALK_UNITIGS, Walks, find_walks
from gpuasm.parallel import for_each, inlined, signatures
from gpuasm.primitives.counting import count_between
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.runs import run_bounds

_BATCH = 1 << 17
"""Links at a time: bounds the memory for walks."""
_LEAD, _CONFLICT = LOG2_SCALE * PATHS.walk_lead_bits, LOG2_SCALE * PATHS.read_conflict_bits
_LONE_PAIR = SIXTEENTHS * PATHS.max_missing_pairs
_LOW, _HIGH = PATHS.expected_sixteenths
_MIN_PAIRS, _AGREEMENT = PATHS.join_min_pairs, PATHS.consensus_agreement
_NAT_SCALE = 369
"""A natural unit of likelihood in 1 / 256 bit."""


class ChosenWalks(NamedTuple):
    """The walk of each link.

    Attributes
    ----------
    unitigs : (24 * n_links,) int32
    size : (n_links,) int32
        0 where no walk is certain.
    gap : (n_links,) int32
        Bases from the source's end to the target's beginning.
    n_walks : (n_links,) int32
        The number of possible walks.
    """

    unitigs: Array
    size: Array
    gap: Array
    n_walks: Array


def choose_walks(
    links: Links, graph: GraphArrays, inserts: InsertSizes, *, chosen: Array | None = None, pins: Array | None = None
) -> ChosenWalks:
    """Choose the walk of each link, or of those with the chosen numbers; see `find_walks` for ``pins``."""
    xp = array_namespace(links.source)
    chosen = xp.arange(links.n) if chosen is None else chosen
    model, parts = inserts.model(xp), []
    for first in range(0, max(1, int(chosen.size)), _BATCH):
        some = chosen[first : first + _BATCH]
        own = None if pins is None else pins[:, WALK_UNITIGS * first : WALK_UNITIGS * (first + _BATCH)]
        walks = find_walks(links, some, graph, inserts, pins=own)
        best = xp.full(some.size, -1, np.int32)
        _choose(int(some.size), some, links, walks, graph, model, best)
        at = xp.arange(best.size) * MAX_WALKS + xp.maximum(best, 0)
        size = xp.where(best >= 0, walks.size[at], 0).astype(np.int32)
        parts.append((walks.unitigs.reshape(-1, WALK_UNITIGS)[at].ravel(), size, walks.gap[at], walks.found))
    return ChosenWalks(*(xp.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def fitting_pairs(links: Links, chosen: ChosenWalks, inserts: InsertSizes) -> Array:
    """Return which pairs agree with the certain walk of their link: (n_pairs,) bool."""
    xp, n_pairs, link = array_namespace(links.source), int(links.left.size), links.of_pairs
    fits = xp.zeros(n_pairs, np.uint8)
    _mark_fitting(n_pairs, link, links, chosen, fits)
    insert = links.left + links.right + chosen.gap[link]
    return (fits == 1) & (insert >= inserts.shortest) & (insert <= inserts.longest)


@signatures(
    "int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], "
    "int32[::1], int32[::1], int32[::1], int32[::1], uint8[::1]"
)
@for_each
def _mark_fitting(p, link, links: Links, chosen: ChosenWalks, fits):
    n = np.int64(chosen.size[link[p]])
    if n > 0 and _fits_threads(p, links, chosen.unitigs, WALK_UNITIGS * link[p], n):
        fits[p] = 1


@inlined()
def _fits_threads(p, links, unitigs, first, size):
    """Return whether both reads of pair p follow the walk of ``size`` unitigs that starts at ``first``."""
    fits = True
    for t in range(1, MOST_UNITIGS):
        own = np.int64(links.left_thread[MOST_UNITIGS * p + t])
        if own >= 0 and t < size and unitigs[first + t] != own:
            fits = False
        other = np.int64(links.right_thread[MOST_UNITIGS * p + t])
        if other >= 0 and t < size and unitigs[first + size - 1 - t] != other ^ 1:
            fits = False
    return fits


@inlined()
def surprise_256(n, fewest, most):
    """Return how much less likely n pairs are than the nearest number within bounds, by Poisson: log2 in 1 / 256.

    The bounds are fractions of the least and of the most expected pairs, all in sixteenths: depth varies along a
    genome, and not every read has an anchor.
    """
    low, high = fewest * _LOW // 16, most * _HIGH // 16
    bound = max(np.int64(16) * n, low)
    if bound > high:
        bound = max(high, np.int64(1))
    if n == 0:
        return bound * _NAT_SCALE // 16
    return n * (np.int64(log2_256(16 * n)) - np.int64(log2_256(bound))) - (16 * n - bound) * _NAT_SCALE // 16


@signatures(
    "int64[::1], int32[::1], int32[::1], int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], "
    "int32[::1], int32[::1], int32[::1], int32[::1], int64, uint64[::1], int64[::1], int64[::1], int32[::1], "
    "int64[::1], int32[::1], int64[::1], int64, int64, int64, int32[::1]"
)
@for_each
def _choose(i, some, links: Links, walks: Walks, graph: GraphArrays, model: FragmentModel, best):
    n, link = np.int64(walks.found[i]), some[i]
    best[i] = -1
    if n >= 1 and n <= MAX_WALKS:
        x, y = np.int64(links.source[link] >> 1), np.int64(links.target[link] >> 1)
        own, other = graph.start[x + 1] - graph.start[x], graph.start[y + 1] - graph.start[y]
        least_depth = min(graph.depth[x], graph.depth[y])
        first, last = links.first[link], links.first[link + 1]
        n_pairs, n_inside = last - first, np.int64(0)
        for p in range(first, last):
            n_inside += 1 if links.left[p] <= own and links.right[p] <= other else 0
        most, second, is_sure = np.int64(-(1 << 62)), np.int64(-(1 << 62)), False
        for h in range(MAX_WALKS * i, MAX_WALKS * i + n):
            # Of all fragments, those that could begin on the source and end on the target at this distance.
            gap = np.int64(walks.gap[h])
            expected = n_placements(model, gap, graph.k, own, graph.k, other)
            possible = n_placements(model, gap, np.int64(ANCHOR_K), own, np.int64(ANCHOR_K), other)
            sixteenths = least_depth * expected // model.per_pair
            # Mates that begin on both unitigs must not exceed what is expected; others begin before their anchor.
            surprise = max(
                surprise_256(n_pairs, sixteenths, max(sixteenths, 16 * n_pairs)),
                surprise_256(n_inside, np.int64(0), least_depth * possible // model.per_pair),
            )
            if n_pairs == 1 and sixteenths >= _LONE_PAIR:
                surprise = max(surprise, np.int64(_LEAD))
            score, fitting = -n_pairs * np.int64(log2_256(expected)) - surprise, 0
            for p in range(first, last):
                insert = links.left[p] + links.right[p] + gap
                score += log2_likelihood(model, insert)
                if not _fits_threads(p, links, walks.unitigs, WALK_UNITIGS * h, walks.size[h]):
                    score -= _CONFLICT
                elif is_usual(model, insert):
                    fitting += 1
            second = max(second, min(score, most))
            if score > most:
                most, is_sure = score, surprise < _LEAD and 2 * fitting > n_pairs
                best[i] = h - MAX_WALKS * i
        if not is_sure or second + _LEAD > most:
            best[i] = -1


def choose_by_prefixes(
    links: Links, chosen: ChosenWalks, graph: GraphArrays, inserts: InsertSizes, *, is_single: Array
) -> ChosenWalks:
    """Choose walks of links that have none, among those whose prefixes or suffixes agree with single copies.

    ``is_single`` marks the unitigs that certainly have one copy: (n_unitigs,) bool. The other walks are returned as
    they are.
    """
    xp, chosen = array_namespace(links.source), ChosenWalks(*(array.copy() for array in chosen))
    before = xp.zeros((2, links.n), np.int64)
    for _ in range(PATHS.prefix_rounds):
        pins = known_prefixes(links, chosen, inserts, is_single=is_single).reshape(2, links.n, WALK_UNITIGS)
        known = (pins >= 0).sum(axis=2)
        is_open = (chosen.size == 0) & (chosen.n_walks > 1)
        some = xp.flatnonzero(is_open & (known > before).any(axis=0))
        if some.size == 0:
            break
        found = choose_walks(links, graph, inserts, chosen=some, pins=pins[:, some].reshape(2, -1))
        certain = xp.flatnonzero(found.size > 0)
        for array, its in zip(chosen, found, strict=True):
            array.reshape(links.n, -1)[some[certain]] = its.reshape(some.size, -1)[certain]
        before = known
    return chosen


def known_prefixes(links: Links, chosen: ChosenWalks, inserts: InsertSizes, *, is_single: Array) -> Array:
    """Return the known unitigs of the walk of each link from its source on, and from its target's twin on.

    A unitig is known if at least three pairs continue there from a single copy, over all its links with a certain walk,
    and ten for each pair that continues elsewhere. Returns ``pins`` of `find_walks`: (2, 24 * n_links) int32.
    """
    xp, n = array_namespace(links.source), links.n
    weight = count_between(fitting_pairs(links, chosen, inserts), links.first)
    # Each link from either side, so that all links of one oriented unitig are contiguous.
    end = xp.concatenate([links.source, links.target ^ 1]).astype(np.int64)
    weight = xp.tile(xp.where(chosen.size > 1, weight, 0), 2) * is_single[end >> 1]
    order = xp.argsort(end, kind="stable")
    bounds = run_bounds(end[order])
    n_ends = int(bounds.size) - 1
    prefix = xp.full(WALK_UNITIGS * n_ends, -1, np.int32)
    _write_prefixes(n_ends, bounds, order, weight, chosen.unitigs, chosen.size, n, prefix)
    of = xp.empty(2 * n, np.int64)
    of[order] = row_of_edge(bounds, np.int64)
    return prefix.reshape(-1, WALK_UNITIGS)[of].reshape(2, -1)


@inlined()
def _unitig_at(side, t, unitigs, size, n):
    """Return the unitig at place t of a link's walk, from its source (side < n) or from its target's twin."""
    if side < n:
        return np.int64(unitigs[WALK_UNITIGS * side + t])
    return np.int64(unitigs[WALK_UNITIGS * (side - n) + size[side - n] - 1 - t]) ^ 1


@signatures("int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64, int32[::1]")
@for_each
def _write_prefixes(i, bounds, order, weight, unitigs, size, n, prefix):
    for place in range(1, WALK_UNITIGS):
        # Majority vote: of two different unitigs one vote each cancels.
        pin, lead = np.int64(-1), np.int64(0)
        for_it, against = np.int64(0), np.int64(0)
        for is_counted in range(2):
            for j in range(bounds[i], bounds[i + 1]):
                side = order[j]
                steps = np.int64(size[side % n])
                agrees = True
                for t in range(1, min(place, steps)):
                    if _unitig_at(side, t, unitigs, size, n) != prefix[WALK_UNITIGS * i + t]:
                        agrees = False
                following = np.int64(-1)
                if steps > place:
                    following = _unitig_at(side, place, unitigs, size, n)
                if is_counted == 1:
                    if agrees and following >= 0 and following == pin:
                        for_it += weight[side]
                    elif following >= 0 or not agrees:
                        against += weight[side]
                elif agrees and following >= 0:
                    lead += weight[side] if following == pin else -weight[side]
                    if lead < 0:
                        pin, lead = following, -lead
        if for_it < _MIN_PAIRS or for_it < _AGREEMENT * against:
            break
        prefix[WALK_UNITIGS * i + place] = pin
