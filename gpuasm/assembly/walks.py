"""Walks between the two ends of a link: all ways through the graph whose length a fragment can have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.insert_sizes import InsertSizes
from gpuasm.assembly.links import Links
from gpuasm.assembly.threading import GraphArrays
from gpuasm.parallel import for_each

MOST_WALKS = 8
"""A link with more walks lies in a tangle and is left alone."""
MOST_STEPS = 24
"""Unitigs of a walk at most."""
_BUDGET = 3000
"""Steps of the search for one link."""


@dataclass(frozen=True)
class Walks:
    """The walks of some links.

    Attributes
    ----------
    found : (n,) int32
        Walks of each link; more than `MOST_WALKS` where there are too many to tell.
    unitigs : (8 * 24 * n,) int32
        Oriented unitigs, 24 places a walk, 8 walks a link.
    size : (8 * n,) int32
        Unitigs of each walk.
    gap : (8 * n,) int32
        Bases from the source's end to the target's beginning; before 0 where they overlap.
    """

    found: Array
    unitigs: Array
    size: Array
    gap: Array


def find_walks(links: Links, chosen: Array, graph: GraphArrays, inserts: InsertSizes) -> Walks:
    """Find the walks of the chosen links."""
    xp, n = array_namespace(links.source), int(chosen.size)
    first, last = links.first[chosen], links.first[chosen + 1]
    rest = links.left + links.right
    least, most = xp.empty(n, np.int32), xp.empty(n, np.int32)
    _extremes(n, first, last, rest, least, most)
    walks = Walks(*(xp.zeros(size * n, np.int32) for size in (1, MOST_WALKS * MOST_STEPS, MOST_WALKS, MOST_WALKS)))
    scratch = [xp.empty(MOST_STEPS * n, np.int32) for _ in range(3)]
    _search(
        n, links.source[chosen], links.target[chosen], inserts.shortest - most, inserts.longest - least,
        graph.k, graph.start, graph.arc_start, graph.arc_to, MOST_WALKS, MOST_STEPS, _BUDGET, *scratch,
        walks.found, walks.unitigs, walks.size, walks.gap,
    )  # fmt: skip
    return walks


@for_each
def _extremes(i, first, last, rest, least, most):
    least[i] = rest[first[i]]
    most[i] = rest[first[i]]
    for p in range(first[i], last[i]):
        least[i] = min(least[i], rest[p])
        most[i] = max(most[i], rest[p])


@for_each
def _search(
    i, source, target, least_gap, most_gap, k, start, arc_start, arc_to, most_walks, most_steps, budget,
    walk, place, cursor, found, unitigs, size, gap,
):  # fmt: skip
    here = most_steps * i
    goal = np.int64(target[i])
    own_length = start[(source[i] >> 1) + 1] - start[source[i] >> 1]
    n_found, depth, steps = 0, np.int64(0), 0
    walk[here] = source[i]
    place[here] = 0
    cursor[here] = -1
    while depth >= 0 and n_found <= most_walks:
        steps += 1
        if steps > budget:
            n_found = most_walks + 1
        o = np.int64(walk[here + depth])
        if cursor[here + depth] < 0:
            cursor[here + depth] = arc_start[o]
            between = place[here + depth] - own_length
            if o == goal and between >= least_gap[i] and between <= most_gap[i]:
                if n_found < most_walks:
                    at = most_walks * i + n_found
                    size[at] = depth + 1
                    gap[at] = between
                    for j in range(depth + 1):
                        unitigs[most_steps * at + j] = walk[here + j]
                n_found += 1
        arc = np.int64(cursor[here + depth])
        if arc < arc_start[o + 1]:
            cursor[here + depth] = arc + 1
            after = place[here + depth] + start[(o >> 1) + 1] - start[o >> 1] - (k - 1)
            if after - own_length <= most_gap[i]:
                if depth + 1 < most_steps:
                    depth += 1
                    walk[here + depth] = arc_to[arc]
                    place[here + depth] = after
                    cursor[here + depth] = -1
                else:
                    n_found = most_walks + 1
        else:
            depth -= 1
    found[i] = n_found
