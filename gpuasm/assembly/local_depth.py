"""Local depth: what one copy of the sequence around a unitig is covered by.

Relative depth alone would take true variants of repeats for errors (a single-copy branch beside a seven-copy repeat
has a seventh of its depth), and a metagenome has no one depth. So each rule that asks "is this rare?" compares with
the longest unitig near by: long unitigs are mostly unique sequence.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled

_RADIUS = 3
"""Arcs to look along: from one branch of a bubble inside a repeat to the flank of the repeat."""


def local_depth(graph: UnitigGraph) -> np.ndarray:
    """Return for each unitig the depth of the longest unitig at most three arcs away, itself included.

    Returns
    -------
    (n,) float64. Of equally long unitigs the one with the lesser number counts.
    """
    best = np.arange(graph.n, dtype=np.int64)
    for _ in range(_RADIUS):
        best = _spread(best, graph.length, graph.arc_start, graph.arc_to)
    return graph.depth[best]


@compiled()
def _spread(best, length, arc_start, arc_to):
    wider = best.copy()
    for u in range(best.size):
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            other = best[arc_to[arc] >> 1]
            if length[other] > length[wider[u]] or (length[other] == length[wider[u]] and other < wider[u]):
                wider[u] = other
    return wider
