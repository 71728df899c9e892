"""Cycles of a graph with one way in and one way out: what repeats along one strand looks like."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph

Cycle = tuple[int, int, int, int]
"""Oriented unitigs A, R, B and C along one strand: from A into R, from R through B back to R, or on to C."""


def find_cycles(graph: UnitigGraph) -> Iterator[Cycle]:
    """Yield the cycles that nothing else leads into or out of, by R, each on the strand of R's unitig.

    All four are different unitigs; A leads only to R, C comes only from R, and B does both.
    """
    n_out = np.diff(graph.arc_start)
    for u in np.flatnonzero((n_out[0::2] == 2) & (n_out[1::2] == 2) & ~graph.is_circular).tolist():
        into, out = _row(graph, 2 * u + 1) ^ 1, _row(graph, 2 * u)
        shared = np.intersect1d(into, out)
        if shared.size != 1:
            continue
        (before,), (after,), (between,) = into[into != shared[0]], out[out != shared[0]], shared
        ends = np.array([before, between, between ^ 1, after ^ 1])
        if (n_out[ends] == 1).all() and len({end >> 1 for end in (*ends.tolist(), 2 * u)}) == 4:
            yield int(before), 2 * u, int(between), int(after)


def _row(graph: UnitigGraph, oriented: int) -> np.ndarray:
    return graph.arc_to[graph.arc_start[oriented] : graph.arc_start[oriented + 1]].astype(np.int64)
