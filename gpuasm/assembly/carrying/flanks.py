"""Flanks: ways on from carried unitigs, through unitigs too short to be carried where there is one way only.

A unitig too short for the next k has no window of its own there, but windows of the next k hold it whole, between its
two neighbours. A flank that ended with it would leave these to chance: where no read has one of them, as is common once
fragments alone are long enough, a copy of a repeat loses its way on, and the ways into and out of the other copy are
left as the only ones. So a flank goes on through short unitigs that have one way in and one way out, to the next
carried one.

But all ways that leave the end of a carried unitig go on, or none: if some did and others, through a short unitig with
several ways in or out, could not, these some would be left as the only ones. And through such a unitig none goes: that
one way in and several ways out are left may be because another way in has been lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled

_MOST_UNITIGS = 16
"""Short ones of one flank. As many in a row are a tangle that clean-up has left."""


@dataclass(frozen=True)
class Flanks:
    """Ways on from carried unitigs, all on the host.

    Attributes
    ----------
    source, target : (n,) int64
        The oriented unitig that each leaves, and the one that it leads into.
    unitig : (m,) int64
        Oriented unitigs that each goes along after its source, the target last, flank after flank.
    start : (n + 1,) int64
        Where those of each begin.
    added : (n,) int64
        Bases that each goes on for after its source: to the end of the target's first window, or of the target.
    is_met : (n,) bool
        Whether the target is carried, so that the last window of the flank is its own.
    count, depth : (n,) int64 and float64
        Least count of its arcs, in units, and depth of the shallowest unitig that it joins or goes through.
    """

    source: np.ndarray
    target: np.ndarray
    unitig: np.ndarray
    start: np.ndarray
    added: np.ndarray
    is_met: np.ndarray
    count: np.ndarray
    depth: np.ndarray

    def __len__(self) -> int:
        return int(self.source.size)

    @property
    def n_through(self) -> int:
        """How many go through unitigs that are not carried."""
        return int((np.diff(self.start) > 1).sum())

    def without(self, is_removed: np.ndarray) -> Flanks:
        """Return the flanks but for some: ``is_removed`` is (n,) bool."""
        n, kept = np.diff(self.start), ~is_removed
        return Flanks(
            source=self.source[kept],
            target=self.target[kept],
            unitig=self.unitig[np.repeat(kept, n)],
            start=np.concatenate([[0], np.cumsum(n[kept])]).astype(np.int64),
            added=self.added[kept],
            is_met=self.is_met[kept],
            count=self.count[kept],
            depth=self.depth[kept],
        )


def find_flanks(graph: UnitigGraph, is_carried: np.ndarray, *, k: int, goes_through: bool = True) -> Flanks:
    """Find the ways on from carried unitigs.

    Parameters
    ----------
    graph
        The graph.
    is_carried : (n,) bool
        Which unitigs are carried.
    k
        The next k.
    goes_through
        Whether flanks go on through unitigs that are not carried; otherwise they end with the first.

    Returns
    -------
    Flanks
        In the order of the arcs that they begin with, each way from one of its sides only.
    """
    arcs = np.flatnonzero(is_carried[graph.arc_from >> 1])
    source, most = graph.arc_from[arcs].astype(np.int64), _MOST_UNITIGS if goes_through else 1
    unitig, by = (np.zeros((arcs.size, most), np.int64) for _ in range(2))
    n = np.empty(arcs.size, np.int64)
    _walk((graph.arc_start, graph.arc_to), is_carried, arcs, most, (unitig, by, n))
    n = np.where(_goes_on(graph, is_carried, source, (unitig, n)), n, 1)
    rows = np.arange(arcs.size)
    target = unitig[rows, n - 1]
    before = np.where(n > 1, unitig[rows, np.maximum(n - 2, 0)], source)
    is_met = is_carried[target >> 1]
    kept = np.flatnonzero(~is_met | _is_one_of_two((source, unitig[:, :1].ravel()), (target ^ 1, before ^ 1)))
    return _flanks(graph, (source[kept], target[kept], is_met[kept]), (unitig[kept], by[kept], n[kept]), k=k)


def _goes_on(
    graph: UnitigGraph, is_carried: np.ndarray, source: np.ndarray, walked: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Tell which ways from carried unitigs go on through short ones: all that leave an end, or none of them."""
    unitig, n = walked
    into = unitig[np.arange(n.size), n - 1]
    arrives = is_carried[into >> 1]
    through = arrives & (n > 1)
    while True:
        is_broken = np.zeros(2 * graph.n, bool)
        is_broken[source[~arrives]] = True
        stops = through & arrives & (is_broken[source] | is_broken[into ^ 1])
        if not stops.any():
            return through & arrives
        arrives &= ~stops


def _is_one_of_two(here: tuple[np.ndarray, np.ndarray], there: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Tell of each way, by the first two unitigs from either side, whether it, not its mirror image, is told."""
    return (here[0] < there[0]) | ((here[0] == there[0]) & (here[1] <= there[1]))


def _flanks(graph: UnitigGraph, ends: tuple[np.ndarray, ...], walked: tuple[np.ndarray, ...], *, k: int) -> Flanks:
    (source, target, is_met), (unitig, by, n) = ends, walked
    column = np.arange(unitig.shape[1])
    is_used, is_before = (column < end[:, None] for end in (n, n - is_met))
    added = np.where(is_before, graph.n_kmers[unitig >> 1], 0).sum(axis=1) + is_met * (k - graph.k + 1)
    depth = np.where(is_used, graph.depth[unitig >> 1], np.inf).min(axis=1, initial=np.inf)
    count = np.where(is_used, graph.arc_count[by], np.iinfo(np.int64).max)
    return Flanks(
        source=source,
        target=target,
        unitig=unitig[is_used],
        start=np.concatenate([[0], np.cumsum(n)]).astype(np.int64),
        added=added.astype(np.int64),
        is_met=is_met,
        count=count.min(axis=1, initial=np.iinfo(np.int64).max),
        depth=np.minimum(graph.depth[source >> 1], depth),
    )


@compiled()
def _walk(ways, is_carried, arcs, most, out):
    """Write, for the way that begins with each arc, its unitigs, the arcs to them, and how many they are."""
    arc_start, arc_to = ways
    unitig, by, n_of = out
    for row in range(arcs.size):
        arc, n = arcs[row], 0
        while True:
            v = np.int64(arc_to[arc])
            unitig[row, n], by[row, n] = v, arc
            n += 1
            n_in, n_out = arc_start[(v ^ 1) + 1] - arc_start[v ^ 1], arc_start[v + 1] - arc_start[v]
            if is_carried[v >> 1] or n == most or n_in != 1 or n_out != 1:
                break
            arc = arc_start[v]
        n_of[row] = n
