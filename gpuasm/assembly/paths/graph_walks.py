"""Enumerate the walks between the two ends of a link: all walks whose length a fragment can have.

In a tangle there are too many. There the search is restricted, and has a larger budget: walks must contain the unitigs
on which the reads of the link's pairs agree at both ends, and a length that half of the pairs can have. Any other walk
would contradict most pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.parallel import for_each, signatures

MAX_WALKS, WALK_UNITIGS = PATHS.max_walks, PATHS.max_walk_unitigs
"""Places for walks of a link, and for unitigs of a walk."""
_AGREEMENT = PATHS.consensus_agreement


class Walks(NamedTuple):
    """The walks of links.

    Attributes
    ----------
    found : (n,) int32
        Walks of each link; more than `MAX_WALKS` where there are too many to compare.
    unitigs : (8 * 24 * n,) int32
        Oriented unitigs, 24 places a walk, 8 walks a link.
    size : (8 * n,) int32
        Unitigs of each walk.
    gap : (8 * n,) int32
        Bases from the source's end to the target's beginning; negative where they overlap.
    """

    found: Array
    unitigs: Array
    size: Array
    gap: Array


def find_walks(
    links: Links, chosen: Array, graph: GraphArrays, inserts: InsertSizes, *, pins: Array | None = None
) -> Walks:
    """Find the walks of the links with the chosen numbers.

    All of them contain the unitigs ``pins``, (2, 24 * n_chosen) int32: at each place from the source on, and from the
    target's twin on; -1 where any may be.
    """
    xp, n = array_namespace(links.source), int(chosen.size)
    first, last, rest = links.first[chosen], links.first[chosen + 1], links.left + links.right
    least, middle, most = (xp.empty(n, np.int32) for _ in range(3))
    _order_statistics(n, first, last, rest, least, middle, most)
    if pins is None:
        pins = xp.full((2, WALK_UNITIGS * n), -1, np.int32)
    gaps, n_steps = (inserts.shortest - most, inserts.longest - least), PATHS.walk_search_steps
    walks = _search_all(links, chosen, graph, gaps=gaps, pins=pins, budget=(WALK_UNITIGS, n_steps))
    tangled = xp.flatnonzero((walks.found > MAX_WALKS) & (last - first >= PATHS.join_min_pairs))
    if tangled.size == 0:
        return walks
    m, first, last, middle = int(tangled.size), first[tangled], last[tangled], middle[tangled]
    own = pins.reshape(2, n, WALK_UNITIGS)[:, tangled].reshape(2, -1)
    for side, thread in enumerate((links.left_thread, links.right_thread)):
        _agree(m, first, last, thread, own[side])
    gaps = inserts.shortest - middle, inserts.longest - middle
    budget = PATHS.tangle_budget * WALK_UNITIGS, PATHS.tangle_budget * n_steps
    found = _search_all(links, chosen[tangled], graph, gaps=gaps, pins=own, budget=budget)
    for array, its in zip(walks, found, strict=True):
        array.reshape(n, -1)[tangled] = its.reshape(m, -1)
    return walks


def _search_all(
    links: Links, chosen: Array, graph: GraphArrays, *, gaps: tuple[Array, Array], pins: Array, budget: tuple[int, int]
) -> Walks:
    """Find the walks of the chosen links with a gap from the least to the largest one that contain all pins.

    ``budget`` are the most unitigs of a walk, and the most steps.
    """
    xp, n = array_namespace(links.source), int(chosen.size)
    walks = Walks(*(xp.zeros(size * n, np.int32) for size in (1, MAX_WALKS * WALK_UNITIGS, MAX_WALKS, MAX_WALKS)))
    stack = (xp.empty(budget[0] * n, np.int32) for _ in range(3))
    _search(n, links.source[chosen], links.target[chosen], gaps, *pins, budget, graph, *stack, walks)
    return walks


@signatures("int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1]")
@for_each
def _order_statistics(i, first, last, rest, least, middle, most):
    low, high = np.int64(rest[first[i]]), np.int64(rest[first[i]])
    for p in range(first[i], last[i]):
        low, high = min(low, np.int64(rest[p])), max(high, np.int64(rest[p]))
    least[i], most[i] = low, high
    while low < high:
        half, below = (low + high) >> 1, 0
        for p in range(first[i], last[i]):
            below += 1 if rest[p] <= half else 0
        if 2 * below >= last[i] - first[i]:
            high = half
        else:
            low = half + 1
    middle[i] = low


@signatures("int64[::1], int64[::1], int32[::1], int32[::1]")
@for_each
def _agree(i, first, last, thread, pins):
    for t in range(1, MOST_UNITIGS):
        # Majority vote: of two different unitigs one vote each cancels.
        pin, lead = np.int64(-1), 0
        for p in range(first[i], last[i]):
            own = np.int64(thread[MOST_UNITIGS * p + t])
            if own >= 0:
                if lead == 0:
                    pin = own
                lead += 1 if own == pin else -1
        for_it, against = 0, 0
        for p in range(first[i], last[i]):
            own = np.int64(thread[MOST_UNITIGS * p + t])
            if own == pin:
                for_it += 1
            elif own >= 0:
                against += 1
        if pin >= 0 and for_it >= _AGREEMENT * against and pins[WALK_UNITIGS * i + t] < 0:
            pins[WALK_UNITIGS * i + t] = pin


@signatures(
    "int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64, int64, int64, uint64[::1], "
    "int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], "
    "int32[::1], int32[::1]"
)
@for_each
def _search(
    i, source, target, least_gap, most_gap, left_pins, right_pins, max_unitigs, max_steps, graph: GraphArrays,
    walk, place, cursor, walks: Walks,
):  # fmt: skip
    """Write the walks of a link; the search has at each depth an oriented unitig, its place, and its next arc."""
    here = max_unitigs * i
    goal = np.int64(target[i])
    own_length = graph.start[(source[i] >> 1) + 1] - graph.start[source[i] >> 1]
    n_found, depth, steps = 0, np.int64(0), 0
    walk[here] = source[i]
    place[here] = 0
    cursor[here] = -1
    while depth >= 0 and n_found <= MAX_WALKS:
        steps += 1
        if steps > max_steps:
            n_found = MAX_WALKS + 1
        o = np.int64(walk[here + depth])
        if cursor[here + depth] < 0:
            cursor[here + depth] = graph.arc_start[o]
            between = place[here + depth] - own_length
            is_walk = o == goal and between >= least_gap[i] and between <= most_gap[i]
            for t in range(1, min(np.int64(WALK_UNITIGS), depth + 1)):
                pin = np.int64(right_pins[WALK_UNITIGS * i + t])
                if pin >= 0 and walk[here + depth - t] != pin ^ 1:
                    is_walk = False
            if is_walk:
                if depth >= WALK_UNITIGS:
                    n_found = MAX_WALKS
                if n_found < MAX_WALKS:
                    at = MAX_WALKS * i + n_found
                    walks.size[at] = depth + 1
                    walks.gap[at] = between
                    for j in range(depth + 1):
                        walks.unitigs[WALK_UNITIGS * at + j] = walk[here + j]
                n_found += 1
        arc = np.int64(cursor[here + depth])
        if arc < graph.arc_start[o + 1]:
            cursor[here + depth] = arc + 1
            after = place[here + depth] + graph.start[(o >> 1) + 1] - graph.start[o >> 1] - (graph.k - 1)
            pin = np.int64(-1)
            if depth + 1 < WALK_UNITIGS:
                pin = np.int64(left_pins[WALK_UNITIGS * i + depth + 1])
            if after - own_length <= most_gap[i] and (pin < 0 or pin == graph.arc_to[arc]):
                if depth + 1 < max_unitigs:
                    depth += 1
                    walk[here + depth] = graph.arc_to[arc]
                    place[here + depth] = after
                    cursor[here + depth] = -1
                else:
                    n_found = MAX_WALKS + 1
        else:
            depth -= 1
    walks.found[i] = n_found
