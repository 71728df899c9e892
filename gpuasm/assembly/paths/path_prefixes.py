"""Path prefixes: determine how all walks begin that leave a single copy, from the links of it that are certain.

A single copy has one continuation. But if copies of a repeat differ in single bases, far apart, many walks of one
length lead from it into the repeat, and the reads of a long link do not show the bases between. Shorter links of the
same unitig do, and all its walks have their prefix in common. Without this rule a copy has no fragments where it begins
to differ from the others, and at larger k it ends there, or its flank is joined to another copy.

A unitig is a single copy if Poisson's distribution makes its number of reads a thousand times as likely for one copy as
for two. Most single copies in a tangle are short and need many reads.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.copy_number import bits_for_single_copy
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.path_choice import ChosenWalks, choose_again, fitting_pairs
from gpuasm.parallel import for_each, inlined, signatures


def choose_by_prefixes(
    links: Links, chosen: ChosenWalks, graph: GraphArrays, inserts: InsertSizes, *, is_single: Array
) -> ChosenWalks:
    """Choose walks of links that have none, among those whose prefixes or suffixes agree with single copies.

    ``is_single`` marks the unitigs that certainly have one copy: (n_unitigs,) bool. The other walks are returned as
    they are.
    """
    xp = array_namespace(links.source)
    before = xp.zeros((2, links.n), np.int64)
    for _ in range(PATHS.prefix_rounds):
        pins = known_prefixes(links, chosen, inserts, is_single=is_single).reshape(2, links.n, WALK_UNITIGS)
        known = (pins >= 0).sum(axis=2)
        is_open = (chosen.size == 0) & (chosen.n_walks > 1)
        some = xp.flatnonzero(is_open & (known > before).any(axis=0))
        if some.size == 0:
            break
        chosen = choose_again(links, chosen, some, graph, inserts, pins=pins[:, some].reshape(2, -1))
        before = known
    return chosen


def are_surely_single(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Return which unitigs certainly have one copy: (n,) bool.

    Poisson's distribution makes the reads on them 2^10 times as likely for one copy as for two. ``copy`` is the depth
    of one copy around each.
    """
    return bits_for_single_copy(graph, copy, bases_per_read=bases_per_read) >= PATHS.walk_lead_bits


def known_prefixes(links: Links, chosen: ChosenWalks, inserts: InsertSizes, *, is_single: Array) -> Array:
    """Return the known unitigs of the walk of each link from its source on, and from its target's twin on.

    A unitig is known if at least three pairs continue there from a single copy, over all its links with a certain walk,
    and ten for each pair that continues elsewhere.

    Returns
    -------
    (2, 24 * n_links) int32: the oriented unitig at each place of the walk; -1 where any may be.
    """
    xp, n = array_namespace(links.source), links.n
    weight = links.count_pairs(fitting_pairs(links, chosen, inserts))
    # Each link from either side, so that all links of one oriented unitig are contiguous.
    end = xp.concatenate([links.source, links.target ^ 1]).astype(np.int64)
    weight = xp.tile(xp.where(chosen.size > 1, weight, 0), 2) * is_single[end >> 1]
    order = xp.argsort(end, kind="stable")
    ends = end[order]
    first = xp.flatnonzero(xp.concatenate([xp.ones(min(1, ends.size), bool), ends[1:] != ends[:-1]]))
    last = xp.concatenate([first[1:], xp.full(min(1, ends.size), ends.size, first.dtype)])
    prefix = xp.full(WALK_UNITIGS * first.size, -1, np.int32)
    _write_prefixes(int(first.size), first, last, order, weight, chosen.unitigs, chosen.size, n, WALK_UNITIGS,
                    PATHS.join_min_pairs, PATHS.consensus_agreement, prefix)  # fmt: skip
    of = xp.empty(2 * n, np.int64)
    of[order] = xp.searchsorted(first, xp.arange(2 * n), side="right") - 1
    return prefix.reshape(-1, WALK_UNITIGS)[of].reshape(2, -1)


@inlined()
def _unitig_at(side, t, unitigs, size, n, walk_unitigs):
    """Return the unitig at place t of a link's walk, from its source (side < n) or from its target's twin."""
    if side < n:
        return np.int64(unitigs[walk_unitigs * side + t])
    return np.int64(unitigs[walk_unitigs * (side - n) + size[side - n] - 1 - t]) ^ 1


@signatures(
    "int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64, int64, int64, int64, int32[::1]"
)
@for_each
def _write_prefixes(i, first, last, order, weight, unitigs, size, n, walk_unitigs, least, agreement, prefix):
    for place in range(1, walk_unitigs):
        # Majority vote: of two different unitigs one vote each cancels.
        pin, lead = np.int64(-1), np.int64(0)
        for_it, against = np.int64(0), np.int64(0)
        for is_counted in range(2):
            for j in range(first[i], last[i]):
                side = order[j]
                steps = np.int64(size[side % n])
                agrees = True
                for t in range(1, min(place, steps)):
                    if _unitig_at(side, t, unitigs, size, n, walk_unitigs) != prefix[walk_unitigs * i + t]:
                        agrees = False
                following = np.int64(-1)
                if steps > place:
                    following = _unitig_at(side, place, unitigs, size, n, walk_unitigs)
                if is_counted == 1:
                    if agrees and following >= 0 and following == pin:
                        for_it += weight[side]
                    elif following >= 0 or not agrees:
                        against += weight[side]
                elif agrees and following >= 0:
                    lead += weight[side] if following == pin else -weight[side]
                    if lead < 0:
                        pin, lead = following, -lead
        if for_it < least or for_it < agreement * against:
            break
        prefix[walk_unitigs * i + place] = pin
