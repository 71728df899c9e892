"""Trim the k - 1 bases that adjacent unitigs share from one side of each junction, so that contigs hold them once.

The genome has a junction's bases once for each unitig of the side with more unitigs. That side keeps them; the other
side, mostly a repeat, is trimmed. The exception: if the side of fewer unitigs is long and its depth lacks most of a
copy, one unitig of the other side has lost its continuation; then the side of more unitigs is trimmed. If a unitig is
shorter than its two overlaps, its neighbours share bases too, and one side of them is trimmed by the rest.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.parallel import compiled, signatures

_QUARTERS = 4  # of a copy


def end_cuts(graph: UnitigGraph) -> np.ndarray:
    """Return how many bases to cut from each end of each unitig.

    Returns
    -------
    (2n,) int64: at 2u for the right end of unitig u, at 2u + 1 for its left end. The two cuts of a unitig may exceed
    its length: then its neighbours contain all its bases.
    """
    cut = np.zeros(2 * graph.n, np.int64)
    junction, side = _junctions(graph)
    n_junctions = int(junction.max()) + 1 if junction.size else 0
    ends = np.flatnonzero(junction >= 0)
    many = np.zeros((n_junctions, 2), np.int64)
    bases = np.zeros((n_junctions, 2), np.int64)
    np.add.at(many, (junction[ends], side[ends]), 1)
    np.add.at(bases, (junction[ends], side[ends]), graph.length[ends >> 1])
    # The side of fewer unitigs is cut; of equal ones the shorter; then the one that was found first.
    cuts_first = (many[:, 0] < many[:, 1]) | ((many[:, 0] == many[:, 1]) & (bases[:, 0] <= bases[:, 1]))
    cuts_first ^= _lacks_copies(graph, many, (ends, junction[ends], side[ends]))
    is_cut = side[ends] == np.where(cuts_first, 0, 1)[junction[ends]]
    cut[ends[is_cut]] = graph.k - 1
    return _cut_beyond(graph, cut)


def _lacks_copies(graph: UnitigGraph, many: np.ndarray, at: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Find the junctions whose side of fewer unitigs has too little depth for all unitigs of the other side.

    Parameters
    ----------
    graph
        The graph.
    many : (n_junctions, 2) int64
        Unitigs of each side.
    at
        Ends of unitigs, and the junction and side of each.

    Returns
    -------
    (n_junctions,) bool
    """
    ends, junction, side = at
    own = graph.depth[ends >> 1]
    depth, long_depth = np.zeros(many.shape), np.zeros(many.shape)
    np.add.at(depth, (junction, side), own)
    np.add.at(long_depth, (junction, side), np.where(graph.n_kmers[ends >> 1] > graph.k, own, np.inf))
    fewer, more, each = (many[:, 0] > many[:, 1]).astype(np.int64), many.max(axis=1), np.arange(many.shape[0])
    full, enough = _QUARTERS * more, _QUARTERS * more - COVERAGE.missing_quarters
    lacks = full * long_depth[each, fewer] < enough * depth[each, 1 - fewer]
    return lacks & (many[:, 0] != many[:, 1])


def _junctions(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the junction of each end (-1: a dead end, or a palindrome) and its side of that junction."""
    junction, side = np.full(2 * graph.n, -1, np.int64), np.zeros(2 * graph.n, np.int8)
    is_odd = np.zeros(graph.arc_to.size + 1, dtype=bool)
    queue = np.empty(2 * graph.n, np.int64)
    _number_junctions(graph.arc_start, graph.arc_to, junction, side, is_odd, queue)
    junction[is_odd[junction] & (junction >= 0)] = -1
    return junction, side


@signatures("int64[::1], int32[::1], int64[::1], int8[::1], boolean[::1], int64[::1]")
@compiled()
def _number_junctions(arc_start, arc_to, junction, side, is_odd, queue):
    n_junctions = 0
    for seed in range(junction.size):
        if junction[seed] >= 0 or arc_start[seed + 1] == arc_start[seed]:
            continue
        junction[seed] = n_junctions
        queue[0], waiting, done = seed, 1, 0
        while done < waiting:
            end = queue[done]
            done += 1
            # An arc leads from the end of one unitig to the beginning of another, which is the end of its twin.
            for arc in range(arc_start[end], arc_start[end + 1]):
                other = arc_to[arc] ^ 1
                if junction[other] < 0:
                    junction[other], side[other] = n_junctions, 1 - side[end]
                    queue[waiting] = other
                    waiting += 1
                elif side[other] == side[end]:
                    is_odd[n_junctions] = True  # a palindrome: both sides are the same
        n_junctions += 1


def _cut_beyond(graph: UnitigGraph, cut: np.ndarray) -> np.ndarray:
    """Return the cuts; where a unitig is cut by more than its length, the excess is cut from its neighbours.

    One side is cut: that of fewer unitigs, then the shorter one, then the one that follows the unitig on its own
    strand.
    """
    beyond, length = cut.copy(), graph.length
    for u in np.flatnonzero(cut[0::2] + cut[1::2] > length).tolist():
        sides = [_excess_cuts(graph, length, cut, oriented) for oriented in (2 * u, 2 * u + 1)]
        one = min(sides, key=lambda side: (len(side), sum(int(length[end >> 1]) for end in side)))
        for end, bases in one.items():
            beyond[end] = max(beyond[end], bases)
    return beyond


def _excess_cuts(graph: UnitigGraph, length: np.ndarray, cut: np.ndarray, oriented: int) -> dict[int, int]:
    """Return how many bases to cut from which ends of the following unitigs, for the excess of this one.

    An excess of the following unitigs continues to their own successors.
    """
    found: dict[int, int] = {}
    waiting = [(oriented, int(cut[oriented] + cut[oriented ^ 1] - length[oriented >> 1]))]
    while waiting:
        here, excess = waiting.pop()
        for there in graph.arc_to[graph.arc_start[here] : graph.arc_start[here + 1]].tolist():
            near = there ^ 1  # the end of a unitig at its beginning
            if max(int(cut[near]), found.get(near, 0)) < excess:
                found[near] = excess
                remaining = excess + int(cut[there] - length[there >> 1])
                if remaining > 0:
                    waiting.append((there, remaining))
    return found
