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
from gpuasm.primitives.union_find import least_of_components

_QUARTERS = 4  # of a copy


def end_cuts(graph: UnitigGraph) -> np.ndarray:
    """Return how many bases to cut from each end of each unitig.

    Returns
    -------
    (2n,) int64: at 2u for the right end of unitig u, at 2u + 1 for its left end. The two cuts of a unitig may exceed
    its length: then its neighbours contain all its bases.
    """
    junction, side = _junctions(graph)
    ends = np.flatnonzero(junction >= 0)
    own, at = ends >> 1, 2 * junction[ends] + side[ends]
    depth = graph.depth[own]
    long_depth = np.where(graph.n_kmers[own] > graph.k, depth, np.inf)
    sums = (None, graph.length[own], depth, long_depth)  # of both sides of each junction
    many, bases, depth, long_depth = (
        np.bincount(at, values, 2 * (junction.max(initial=-1) + 1)).reshape(-1, 2) for values in sums
    )
    # The side of fewer unitigs is cut; of equal ones the shorter; then the one that was found first.
    is_equal = many[:, 0] == many[:, 1]
    cuts_first = (many[:, 0] < many[:, 1]) | (is_equal & (bases[:, 0] <= bases[:, 1]))
    # But if its depth is too little for all unitigs of the other side, that side is cut.
    each, fewer, full = np.arange(is_equal.size), np.argmin(many, axis=1), _QUARTERS * many.max(axis=1)
    lacks = full * long_depth[each, fewer] < (full - COVERAGE.missing_quarters) * depth[each, 1 - fewer]
    cuts_first ^= lacks & ~is_equal
    cut = np.zeros(2 * graph.n, np.int64)
    cut[ends[side[ends] != cuts_first[junction[ends]]]] = graph.k - 1
    return _cut_beyond(graph, cut)


def _junctions(graph: UnitigGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the junction of each end (-1: a dead end, or a palindrome) and its side of that junction.

    Junctions are named after their first end, which is on side 0.
    """
    # Each end is two elements, one for each side that it may be on. An arc leads from the end of one unitig to the
    # beginning of another, which is the end of its twin: these two are on opposite sides.
    source, target = 2 * graph.arc_from, 2 * (graph.arc_to ^ 1)
    links = np.concatenate([source, source + 1]), np.concatenate([target + 1, target])
    first, of_other_side = least_of_components(4 * graph.n, *links).reshape(-1, 2).T
    has_sides = (graph.n_arcs > 0) & (first != of_other_side)  # at a palindrome both sides are the same
    return np.where(has_sides, first >> 1, -1), first & 1


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
        for there in graph.following(here).tolist():
            near = there ^ 1  # the end of a unitig at its beginning
            if max(int(cut[near]), found.get(near, 0)) < excess:
                found[near] = excess
                remaining = excess + int(cut[there] - length[there >> 1])
                if remaining > 0:
                    waiting.append((there, remaining))
    return found
