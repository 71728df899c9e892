"""Shallow ways: in a community what is shared is told by the deep member and by the shallow one.

A deep way through what members share takes one way in and one way out (`gpuasm.assembly.graph.deep_ways`). Of two
members one of each is left, and the shallow one's contigs, which would end there, go on through a copy. Of more
members the next deep one takes its way in turn. What comes in beside the deep way must be as deep as what goes out, or
another member ends there, whose way nothing tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gpuasm.assembly.graph.deep_ways import find_deep_ways
from gpuasm.assembly.graph.local_depth import depth_near_by
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.gaps import Gap, moved
from gpuasm.assembly.pairs.splitting import Fill, split

AS_DEEP = 2.0
"""What comes in beside the deep way is as deep as what goes out, give or take so many times."""
_NOTHING_DROPPED = -(1 << 62)
"""Longest unitig to be dropped between joined ends: such a one is a shallow member's."""


def tell_shared(graph: UnitigGraph, gaps: Sequence[Gap]) -> tuple[UnitigGraph, list[Gap], int]:
    """Give each deep way a copy of what others share with it, until there is none to give.

    Parameters
    ----------
    graph
        The last graph, when pairs have said all they can.
    gaps
        Between its unitigs.

    Returns
    -------
    The graph, the gaps in it, and how many stretches were copied.
    """
    n, gaps = 0, list(gaps)
    while walks := list(shared_stretches(graph)):
        n += len(walks)
        fills = [Fill(walk) for walk in walks]
        graph, pieces = split(graph, fills, depth_near_by(graph), longest=_NOTHING_DROPPED)
        gaps = moved(gaps, graph, pieces)
    return graph, gaps, n


def shared_stretches(graph: UnitigGraph) -> Iterator[tuple[int, ...]]:
    """Yield the stretches of deep ways that others share: from a unitig before them to one after them, oriented.

    Each is told once, of its two strands by that whose first unitig has the lesser number.
    """
    follower = find_deep_ways(graph)
    is_shared = np.zeros(2 * graph.n, dtype=bool)
    for here in np.flatnonzero((follower >= 0) & (follower[np.arange(2 * graph.n) ^ 1] >= 0)).tolist():
        before, after = int(follower[here ^ 1]) ^ 1, int(follower[here])
        is_shared[here] = _are_as_deep(graph, (here ^ 1, before ^ 1), (here, after))
    for first in np.flatnonzero((follower >= 0) & ~is_shared).tolist():
        walk = [first, int(follower[first])]
        while is_shared[walk[-1]]:
            walk.append(int(follower[walk[-1]]))
        if len(walk) > 2 and first < walk[-1] ^ 1:
            yield tuple(walk)


def _are_as_deep(graph: UnitigGraph, backward: tuple[int, int], forward: tuple[int, int]) -> bool:
    """Tell whether others come in and go out, and are about as deep as each other, beside a way at either side."""
    depths = []
    for here, way in (backward, forward):
        others = graph.arc_to[graph.arc_start[here] : graph.arc_start[here + 1]]
        depths.append(float(graph.depth[others[others != way] >> 1].sum()))
    one, other = depths
    return 0 < one <= AS_DEEP * other <= AS_DEEP * AS_DEEP * one
