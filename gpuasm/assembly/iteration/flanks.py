"""Flanks: continuations of passed contigs, through unitigs too short for the next k where the path is unique.

A unitig too short for the next k has no window of its own there, but windows of the next k contain it between its two
neighbours. If a flank ended at such a unitig, these windows would depend on reads; where none covers one of them, a
repeat copy loses its continuation, and the edges of the other copy appear to be the only ones. So a flank continues
through short unitigs with one incoming and one outgoing edge, up to the next passed contig.

All flanks that leave one end of a passed contig continue, or none: if only some could, these would appear to be the
only edges. No flank continues through a short unitig with several incoming or outgoing edges: where one incoming edge
and several outgoing ones remain, another incoming edge may have been lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ITERATION
from gpuasm.parallel import compiled, signatures


@dataclass(frozen=True)
class Flanks:
    """Continuations of passed contigs, all on the host.

    Attributes
    ----------
    source, target : (n,) int64
        The oriented unitig at which each begins, and the one at which it ends.
    unitig : (m,) int64
        Oriented unitigs along each flank after its source, the target last, flank after flank.
    start : (n + 1,) int64
        Index of the first unitig of each flank.
    added : (n,) int64
        Bases after the source: to the end of the target's first window, or of the target.
    reaches_passed : (n,) bool
        Whether the target is a passed contig, which then contains the last window of the flank.
    count, depth : (n,) int64 and float64
        Least count of its arcs, in units, and least depth of its unitigs.
    """

    source: np.ndarray
    target: np.ndarray
    unitig: np.ndarray
    start: np.ndarray
    added: np.ndarray
    reaches_passed: np.ndarray
    count: np.ndarray
    depth: np.ndarray

    def __len__(self) -> int:
        return int(self.source.size)

    @property
    def n_through(self) -> int:
        """Number of flanks through unitigs that are not passed."""
        return int((np.diff(self.start) > 1).sum())

    def without(self, is_removed: np.ndarray) -> Flanks:
        """Return the flanks that are not removed; ``is_removed`` is (n,) bool."""
        n, kept = np.diff(self.start), ~is_removed
        return Flanks(
            source=self.source[kept],
            target=self.target[kept],
            unitig=self.unitig[np.repeat(kept, n)],
            start=np.concatenate([[0], np.cumsum(n[kept])]).astype(np.int64),
            added=self.added[kept],
            reaches_passed=self.reaches_passed[kept],
            count=self.count[kept],
            depth=self.depth[kept],
        )


def find_flanks(graph: UnitigGraph, is_passed: np.ndarray, *, k: int, passes_short: bool = True) -> Flanks:
    """Find the flanks of passed contigs.

    Parameters
    ----------
    graph
        The graph.
    is_passed : (n,) bool
        Which unitigs are passed to the next k.
    k
        The next k.
    passes_short
        Whether flanks continue through unitigs that are not passed; otherwise they end at the first.

    Returns
    -------
    Flanks
        In the order of their first arcs, each path from one of its two ends only.
    """
    arcs = np.flatnonzero(is_passed[graph.arc_from >> 1])
    source, most = graph.arc_from[arcs].astype(np.int64), ITERATION.most_flank_unitigs if passes_short else 1
    unitig, by = (np.zeros((arcs.size, most), np.int64) for _ in range(2))
    n = np.empty(arcs.size, np.int64)
    _walk_flanks((graph.arc_start, graph.arc_to), is_passed, arcs, most, (unitig, by, n))
    n = np.where(_continues(graph, is_passed, source, (unitig, n)), n, 1)
    rows = np.arange(arcs.size)
    target = unitig[rows, n - 1]
    before = np.where(n > 1, unitig[rows, np.maximum(n - 2, 0)], source)
    reaches_passed = is_passed[target >> 1]
    kept = np.flatnonzero(~reaches_passed | _is_one_of_two((source, unitig[:, :1].ravel()), (target ^ 1, before ^ 1)))
    return _flanks(graph, (source[kept], target[kept], reaches_passed[kept]), (unitig[kept], by[kept], n[kept]), k=k)


def _continues(
    graph: UnitigGraph, is_passed: np.ndarray, source: np.ndarray, walked: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return which flanks continue through short unitigs: all that leave one end of a contig, or none."""
    unitig, n = walked
    into = unitig[np.arange(n.size), n - 1]
    arrives = is_passed[into >> 1]
    through = arrives & (n > 1)
    while True:
        is_broken = np.zeros(2 * graph.n, bool)
        is_broken[source[~arrives]] = True
        stops = through & arrives & (is_broken[source] | is_broken[into ^ 1])
        if not stops.any():
            return through & arrives
        arrives &= ~stops


def _is_one_of_two(here: tuple[np.ndarray, np.ndarray], there: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return which flanks are kept of each flank and its mirror image, by the first two unitigs from either end."""
    return (here[0] < there[0]) | ((here[0] == there[0]) & (here[1] <= there[1]))


def _flanks(graph: UnitigGraph, ends: tuple[np.ndarray, ...], walked: tuple[np.ndarray, ...], *, k: int) -> Flanks:
    (source, target, reaches_passed), (unitig, by, n) = ends, walked
    column = np.arange(unitig.shape[1])
    is_used, is_before = (column < end[:, None] for end in (n, n - reaches_passed))
    added = np.where(is_before, graph.n_kmers[unitig >> 1], 0).sum(axis=1) + reaches_passed * (k - graph.k + 1)
    depth = np.where(is_used, graph.depth[unitig >> 1], np.inf).min(axis=1, initial=np.inf)
    count = np.where(is_used, graph.arc_count[by], np.iinfo(np.int64).max)
    return Flanks(
        source=source,
        target=target,
        unitig=unitig[is_used],
        start=np.concatenate([[0], np.cumsum(n)]).astype(np.int64),
        added=added.astype(np.int64),
        reaches_passed=reaches_passed,
        count=count.min(axis=1, initial=np.iinfo(np.int64).max),
        depth=np.minimum(graph.depth[source >> 1], depth),
    )


@signatures(
    "Tuple((int64[::1], int32[::1], )), boolean[::1], int64[::1], int64, "
    "Tuple((int64[:, ::1], int64[:, ::1], int64[::1], ))"
)
@compiled()
def _walk_flanks(arcs_of, is_passed, arcs, most, out):
    """Write, for the path that begins with each arc, its unitigs, the arcs to them, and their number."""
    arc_start, arc_to = arcs_of
    unitig, by, n_of = out
    for row in range(arcs.size):
        arc, n = arcs[row], 0
        while True:
            v = np.int64(arc_to[arc])
            unitig[row, n], by[row, n] = v, arc
            n += 1
            n_in, n_out = arc_start[(v ^ 1) + 1] - arc_start[v ^ 1], arc_start[v + 1] - arc_start[v]
            if is_passed[v >> 1] or n == most or n_in != 1 or n_out != 1:
                break
            arc = arc_start[v]
        n_of[row] = n
