"""Shared ends: what consecutive unitigs have in common is given to one side of each junction only.

All unitigs that meet at a junction share its k - 1 bases. The genome has these bases as often as the side with more
unitigs says, so that side keeps them and the other, mostly the repeat between, is cut: then every copy of the genome
is told once, and no base twice. But where the other side is long enough to tell its depth, and shallower by most of
a copy, not all unitigs of the one lead there: one has lost its own way on, where no read lay, and would end in
bases of another copy. Across a unitig that is shorter than what it shares at its two ends, those around it tell some
bases twice: one side of it is cut by these, through other short unitigs where need be.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled


def end_cuts(graph: UnitigGraph) -> np.ndarray:
    """Return how many bases to cut from each end of each unitig.

    Returns
    -------
    (2n,) int64: at 2u + s from the end of unitig u read on strand s: 2u is its right end, 2u + 1 its left end. Both
    cuts of a unitig together may exceed its length: then the unitigs around it tell all of it.
    """
    cut = np.zeros(2 * graph.n, np.int64)
    junction, side = _junctions(graph)
    n_junctions = int(junction.max()) + 1 if junction.size else 0
    ends = np.flatnonzero(junction >= 0)
    many = np.zeros((n_junctions, 2), np.int64)
    bases = np.zeros((n_junctions, 2), np.int64)
    np.add.at(many, (junction[ends], side[ends]), 1)
    np.add.at(bases, (junction[ends], side[ends]), graph.length[ends >> 1])
    # The side of fewer unitigs is cut; of equal ones the shorter; then the one that was met first.
    cuts_first = (many[:, 0] < many[:, 1]) | ((many[:, 0] == many[:, 1]) & (bases[:, 0] <= bases[:, 1]))
    cuts_first ^= _lacks_copies(graph, many, (ends, junction[ends], side[ends]))
    is_cut = side[ends] == np.where(cuts_first, 0, 1)[junction[ends]]
    cut[ends[is_cut]] = graph.k - 1
    return _cut_beyond(graph, cut)


def _lacks_copies(graph: UnitigGraph, many: np.ndarray, at: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Tell of which junctions the side of fewer unitigs is shallower than all that lead there: (n_junctions,) bool.

    Shallower by three quarters of a copy: half of one may be chance where reads are few.

    Parameters
    ----------
    graph
        The graph.
    many : (n_junctions, 2) int64
        Unitigs of either side.
    at
        Ends of unitigs, and the junction and side of each.
    """
    ends, junction, side = at
    own = graph.depth[ends >> 1]
    depth, told = np.zeros(many.shape), np.zeros(many.shape)
    np.add.at(depth, (junction, side), own)
    np.add.at(told, (junction, side), np.where(graph.n_kmers[ends >> 1] > graph.k, own, np.inf))
    fewer, more, each = (many[:, 0] > many[:, 1]).astype(np.int64), many.max(axis=1), np.arange(many.shape[0])
    lacks = 4 * more * told[each, fewer] < (4 * more - 3) * depth[each, 1 - fewer]
    return lacks & (many[:, 0] != many[:, 1])


def _junctions(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the junction of each end (-1: a free end, or one that meets itself) and on which side of it it is."""
    junction, side = np.full(2 * graph.n, -1, np.int64), np.zeros(2 * graph.n, np.int8)
    is_odd = np.zeros(graph.arc_to.size + 1, dtype=bool)
    queue = np.empty(2 * graph.n, np.int64)
    _spread(graph.arc_start, graph.arc_to, junction, side, is_odd, queue)
    junction[is_odd[junction] & (junction >= 0)] = -1
    return junction, side


@compiled()
def _spread(arc_start, arc_to, junction, side, is_odd, queue):
    n_junctions = 0
    for seed in range(junction.size):
        if junction[seed] >= 0 or arc_start[seed + 1] == arc_start[seed]:
            continue
        junction[seed] = n_junctions
        queue[0], waiting, done = seed, 1, 0
        while done < waiting:
            end = queue[done]
            done += 1
            # An arc leads from the end of one unitig to the beginning of another: the end of its twin.
            for arc in range(arc_start[end], arc_start[end + 1]):
                other = arc_to[arc] ^ 1
                if junction[other] < 0:
                    junction[other], side[other] = n_junctions, 1 - side[end]
                    queue[waiting] = other
                    waiting += 1
                elif side[other] == side[end]:
                    is_odd[n_junctions] = True  # a palindrome: the junction is its own other side
        n_junctions += 1


def _cut_beyond(graph: UnitigGraph, cut: np.ndarray) -> np.ndarray:
    """Return the cuts, and where a unitig is cut by more than it has, the rest of them from those beyond it.

    Those around it tell its bases, and some of them twice, so one side of it is cut: that of fewer unitigs, as the
    genome has them as often as the other says; of equal ones the shorter; then what follows it on its own strand.
    """
    beyond, length = cut.copy(), graph.length
    for u in np.flatnonzero(cut[0::2] + cut[1::2] > length).tolist():
        sides = [_passed_on(graph, length, cut, oriented) for oriented in (2 * u, 2 * u + 1)]
        one = min(sides, key=lambda side: (len(side), sum(int(length[end >> 1]) for end in side)))
        for end, bases in one.items():
            beyond[end] = max(beyond[end], bases)
    return beyond


def _passed_on(graph: UnitigGraph, length: np.ndarray, cut: np.ndarray, oriented: int) -> dict[int, int]:
    """Return what to cut from which ends of the unitigs that follow, for all that is cut too much from this one.

    What is too much for these as well is passed on to those behind them.
    """
    found: dict[int, int] = {}
    waiting = [(oriented, int(cut[oriented] + cut[oriented ^ 1] - length[oriented >> 1]))]
    while waiting:
        here, excess = waiting.pop()
        for there in graph.arc_to[graph.arc_start[here] : graph.arc_start[here + 1]].tolist():
            near = there ^ 1  # the end of a unitig at its beginning
            if max(int(cut[near]), found.get(near, 0)) < excess:
                found[near] = excess
                left = excess + int(cut[there] - length[there >> 1])
                if left > 0:
                    waiting.append((there, left))
    return found
