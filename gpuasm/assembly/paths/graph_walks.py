"""Enumerate the walks between the two ends of a link: all walks whose length a fragment can have.

In a tangle there are too many. There the search is restricted, and has a larger budget: walks must contain the unitigs
on which the reads of the link's pairs agree at both ends, and a length that half of the pairs can have. Any other walk
would contradict most pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.parallel import for_each, signatures

MAX_WALKS, WALK_UNITIGS = PATHS.max_walks, PATHS.max_walk_unitigs
"""Places for walks of a link, and for unitigs of a walk."""


@dataclass(frozen=True)
class Walks:
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
    """Find the walks of the chosen links.

    Parameters
    ----------
    links, chosen, graph, inserts
        Links, the numbers of those to search, their graph, and the possible lengths of fragments.
    pins : (2, 24 * n_chosen) int32
        The unitigs that all walks must contain: at each place from the source on, and from the target's twin on; -1
        where any may be.
    """
    xp, n = array_namespace(links.source), int(chosen.size)
    first, last, rest = links.first[chosen], links.first[chosen + 1], links.left + links.right
    least, most = xp.empty(n, np.int32), xp.empty(n, np.int32)
    _extremes(n, first, last, rest, least, most)
    gaps = inserts.shortest - most, inserts.longest - least
    if pins is None:
        pins = xp.full((2, WALK_UNITIGS * n), -1, np.int32)
    walks = _search_all(links, chosen, graph, gaps, pins, max_unitigs=WALK_UNITIGS, budget=PATHS.walk_search_steps)
    tangled = xp.flatnonzero((walks.found > MAX_WALKS) & (last - first >= PATHS.consensus_min_pairs))
    if tangled.size == 0:
        return walks
    some, m = chosen[tangled], int(tangled.size)
    first, last = links.first[some], links.first[some + 1]
    middle, own = xp.empty(m, np.int32), pins.reshape(2, n, WALK_UNITIGS)[:, tangled].reshape(2, -1)
    _middle(m, first, last, rest, least[tangled], most[tangled], middle)
    for side, thread in enumerate((links.left_thread, links.right_thread)):
        _agree(m, first, last, thread, MOST_UNITIGS, WALK_UNITIGS, PATHS.consensus_agreement, own[side])
    gaps = inserts.shortest - middle, inserts.longest - middle
    pinned = _search_all(
        links, some, graph, gaps, own, max_unitigs=PATHS.tangle_max_unitigs, budget=PATHS.tangle_search_steps
    )
    for array, its in zip(vars(walks).values(), vars(pinned).values(), strict=True):
        array.reshape(n, -1)[tangled] = its.reshape(m, -1)
    return walks


def _search_all(
    links: Links,
    chosen: Array,
    graph: GraphArrays,
    gaps: tuple[Array, Array],
    pins: Array,
    *,
    max_unitigs: int,
    budget: int,
) -> Walks:
    """Find the walks of the chosen links that contain all pins.

    Parameters
    ----------
    links, chosen, graph
        As for `find_walks`.
    gaps : (n_chosen,) int32 each
        The least gap and the largest.
    pins
        As for `find_walks`.
    max_unitigs, budget
        Most unitigs of a path, and most steps for a link.
    """
    xp, n = array_namespace(links.source), int(chosen.size)
    walks = Walks(*(xp.zeros(size * n, np.int32) for size in (1, MAX_WALKS * WALK_UNITIGS, MAX_WALKS, MAX_WALKS)))
    scratch = [xp.empty(max_unitigs * n, np.int32) for _ in range(3)]
    _search(
        n, links.source[chosen], links.target[chosen], *gaps, graph.k, graph.start, graph.arc_start, graph.arc_to,
        *pins, MAX_WALKS, WALK_UNITIGS, max_unitigs, budget, *scratch, walks.found, walks.unitigs, walks.size,
        walks.gap,
    )  # fmt: skip
    return walks


@for_each
def _middle(i, first, last, rest, least, most, middle):
    low, high = np.int64(least[i]), np.int64(most[i])
    while low < high:
        half = (low + high) >> 1
        below = 0
        for p in range(first[i], last[i]):
            below += 1 if rest[p] <= half else 0
        if 2 * below >= last[i] - first[i]:
            high = half
        else:
            low = half + 1
    middle[i] = low


@for_each
def _agree(i, first, last, thread, per_thread, walk_unitigs, agreement, pins):
    for t in range(per_thread):
        # Majority vote: of two different unitigs one vote each cancels.
        pin, lead = np.int64(-1), 0
        for p in range(first[i], last[i]):
            own = np.int64(thread[per_thread * p + t])
            if own >= 0:
                if lead == 0:
                    pin = own
                lead += 1 if own == pin else -1
        for_it, against = 0, 0
        for p in range(first[i], last[i]):
            own = np.int64(thread[per_thread * p + t])
            if own == pin:
                for_it += 1
            elif own >= 0:
                against += 1
        is_sure = t > 0 and pin >= 0 and for_it >= agreement * against
        if is_sure and pins[walk_unitigs * i + t] < 0:
            pins[walk_unitigs * i + t] = pin


@signatures("int64[::1], int64[::1], int32[::1], int32[::1], int32[::1]")
@for_each
def _extremes(i, first, last, rest, least, most):
    least[i] = rest[first[i]]
    most[i] = rest[first[i]]
    for p in range(first[i], last[i]):
        least[i] = min(least[i], rest[p])
        most[i] = max(most[i], rest[p])


@signatures(
    "int32[::1], int32[::1], int32[::1], int32[::1], int64, int64[::1], int64[::1], int32[::1], int32[::1], "
    "int32[::1], int64, int64, int64, int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], "
    "int32[::1]"
)
@for_each
def _search(
    i, source, target, least_gap, most_gap, k, start, arc_start, arc_to, left_pins, right_pins,
    max_walks, walk_unitigs, max_unitigs, budget, walk, place, cursor, found, unitigs, size, gap,
):  # fmt: skip
    here = max_unitigs * i
    goal = np.int64(target[i])
    own_length = start[(source[i] >> 1) + 1] - start[source[i] >> 1]
    n_found, depth, steps = 0, np.int64(0), 0
    walk[here] = source[i]
    place[here] = 0
    cursor[here] = -1
    while depth >= 0 and n_found <= max_walks:
        steps += 1
        if steps > budget:
            n_found = max_walks + 1
        o = np.int64(walk[here + depth])
        if cursor[here + depth] < 0:
            cursor[here + depth] = arc_start[o]
            between = place[here + depth] - own_length
            is_walk = o == goal and between >= least_gap[i] and between <= most_gap[i]
            for t in range(1, min(walk_unitigs, depth + 1)):
                pin = np.int64(right_pins[walk_unitigs * i + t])
                if pin >= 0 and walk[here + depth - t] != pin ^ 1:
                    is_walk = False
            if is_walk:
                if depth >= walk_unitigs:
                    n_found = max_walks
                if n_found < max_walks:
                    at = max_walks * i + n_found
                    size[at] = depth + 1
                    gap[at] = between
                    for j in range(depth + 1):
                        unitigs[walk_unitigs * at + j] = walk[here + j]
                n_found += 1
        arc = np.int64(cursor[here + depth])
        if arc < arc_start[o + 1]:
            cursor[here + depth] = arc + 1
            after = place[here + depth] + start[(o >> 1) + 1] - start[o >> 1] - (k - 1)
            pin = np.int64(-1)
            if depth + 1 < walk_unitigs:
                pin = np.int64(left_pins[walk_unitigs * i + depth + 1])
            if after - own_length <= most_gap[i] and (pin < 0 or pin == arc_to[arc]):
                if depth + 1 < max_unitigs:
                    depth += 1
                    walk[here + depth] = arc_to[arc]
                    place[here + depth] = after
                    cursor[here + depth] = -1
                else:
                    n_found = max_walks + 1
        else:
            depth -= 1
    found[i] = n_found
