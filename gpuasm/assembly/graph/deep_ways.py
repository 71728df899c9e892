"""Deep ways: in a community, what is deep goes on into what is deep.

Where related members part, the graph branches, and pairs part them only where their words in common are short. But
members are of different depths: if of all that leads on one way is at least twice as deep as each other, and so it is
read from its other side, more than half of what comes from there goes there, whatever the others do. The deep member is
told through all it shares with the shallow ones, and these begin and end at it. (Of *S. aureus* RF122 at 71x beside
another strain at 19x and nine other genomes, all 676 such junctions of the last graph stand in the references.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.assembly.graph.compaction import Pieces, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, sorted_arcs
from gpuasm.parallel import compiled

DEEPER = 2.0
"""The way that is followed is at least so many times as deep as each other, and its two unitigs are as deep as each
other, give or take so many times."""


def follow_deep_ways(graph: UnitigGraph) -> tuple[UnitigGraph, Pieces, np.ndarray]:
    """Join unitigs along the deep ways, and leave out the arcs that lead off them.

    Parameters
    ----------
    graph
        The last graph, when pairs have said all they can.

    Returns
    -------
    The compacted graph; which unitigs of ``graph`` it is made of; and of its ends, (2n,) bool, those at which others
    went on along a deep way: no free ends, though nothing follows. End 2u + s is where unitig u on strand s ends.
    """
    follower = find_deep_ways(graph)
    source, target = graph.arc_from, graph.arc_to
    has_way, is_way = follower >= 0, follower[source] == target
    leads_off = (has_way[source] | has_way[target ^ 1]) & ~is_way
    if not leads_off.any():
        return graph, Pieces.identity(graph.n), np.zeros(2 * graph.n, dtype=bool)
    rows = sorted_arcs(source[~leads_off], target[~leads_off], graph.arc_count[~leads_off], n_rows=2 * graph.n)
    less = replace(graph, arc_start=rows[0], arc_to=rows[1], arc_count=rows[2])
    joined, pieces = compact(less, Pieces.identity(graph.n))
    ends = np.zeros(2 * graph.n, dtype=bool)
    ends[source[leads_off]] = True
    is_left = np.empty(2 * joined.n, dtype=bool)
    is_left[0::2] = ends[pieces.piece[pieces.start[1:] - 1]]
    is_left[1::2] = ends[pieces.piece[pieces.start[:-1]] ^ 1]
    return joined, pieces, is_left & (np.diff(joined.arc_start) == 0)


def find_deep_ways(graph: UnitigGraph) -> np.ndarray:
    """Return the oriented unitig that follows each along a deep way.

    Returns
    -------
    (2n,) int32, oriented; -1 where there is none, or no other way either.
    """
    follower = np.full(2 * graph.n, -1, np.int32)
    _find(graph.arc_start, graph.arc_to, graph.depth, DEEPER, follower)
    return follower


@compiled()
def _find(arc_start, arc_to, depth, deeper, follower):
    for here in range(follower.size):
        there = _deep_way(here, arc_start, arc_to, depth, deeper)
        if there < 0 or there >> 1 == here >> 1 or _deep_way(there ^ 1, arc_start, arc_to, depth, deeper) != here ^ 1:
            continue
        has_others = arc_start[here + 1] - arc_start[here] > 1 or arc_start[(there ^ 1) + 1] - arc_start[there ^ 1] > 1
        one, other = depth[here >> 1], depth[there >> 1]
        if has_others and one <= deeper * other and other <= deeper * one:
            follower[here] = there


@compiled()
def _deep_way(here, arc_start, arc_to, depth, deeper):
    """Return what leads on and is deeper than all else that does, or -1."""
    best = -1
    for arc in range(arc_start[here], arc_start[here + 1]):
        if best < 0 or depth[arc_to[arc] >> 1] > depth[best >> 1]:
            best = arc_to[arc]
    for arc in range(arc_start[here], arc_start[here + 1]):
        if arc_to[arc] != best and deeper * depth[arc_to[arc] >> 1] > depth[best >> 1]:
            return -1
    return best
