"""Beginnings: how the walks go that begin on a single copy, as far as some of its links make that certain.

A single copy goes on in one way only. But where copies of a repeat differ in single bases, far apart, many walks of one
length lead from it to a word well within the repeat, and the reads of so long a link do not show what lies between.
Shorter links of the same unitig do: what they tell of the way out of it, all its walks have in common. Else a copy has
no fragments where it begins to differ from the others, and at larger k it ends there, or reads as another copy does.
That there is one copy the reads on a unitig say, where their number makes one a thousand times as likely as two: so a
short unitig is only believed where it has many. Most single copies in a tangle are short, what one copy alone has.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.graph.local_depth import bits_for_one
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.choosing import LEAD, Chosen, choose_again
from gpuasm.assembly.pairs.fitting import fitting_pairs
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.threading import GraphArrays
from gpuasm.assembly.pairs.walks import AGREEING, LEAST_PAIRS, MOST_STEPS
from gpuasm.parallel import for_each, inlined

_ROUNDS = 4
"""What is certain now may tell how longer walks begin: so often at most."""


def choose_from_beginnings(
    links: Links, chosen: Chosen, graph: GraphArrays, inserts: InsertSizes, *, is_single: Array
) -> Chosen:
    """Choose walks for links that have none, among those that begin, or end, as single copies are known to.

    Parameters
    ----------
    links, chosen
        Links, and the walk of each as its own pairs tell it.
    graph, inserts
        As for `gpuasm.assembly.pairs.choosing.choose_walks`.
    is_single : (n_unitigs,) bool
        Which unitigs are there once for certain.

    Returns
    -------
    The walks that were certain, and those that are now.
    """
    xp = array_namespace(links.source)
    before = xp.zeros((2, links.n), np.int64)
    for _ in range(_ROUNDS):
        pins = known_beginnings(links, chosen, inserts, is_single=is_single).reshape(2, links.n, MOST_STEPS)
        known = (pins >= 0).sum(axis=2)
        is_open = (chosen.size == 0) & (chosen.n_walks > 1)
        some = xp.flatnonzero(is_open & (known > before).any(axis=0))
        if some.size == 0:
            break
        chosen = choose_again(links, chosen, some, graph, inserts, pins=pins[:, some].reshape(2, -1))
        before = known
    return chosen


def are_surely_single(graph: UnitigGraph, copy: np.ndarray, *, bases_per_read: float) -> np.ndarray:
    """Tell which unitigs are there once for certain.

    Parameters
    ----------
    graph, copy, bases_per_read
        As for `gpuasm.assembly.graph.local_depth.bits_for_one`.

    Returns
    -------
    (n,) bool: where Poisson's distribution makes the reads on a unitig 2^10 times as likely for one copy as for two.
    """
    return bits_for_one(graph, copy, bases_per_read=bases_per_read) >= LEAD / 256


def known_beginnings(links: Links, chosen: Chosen, inserts: InsertSizes, *, is_single: Array) -> Array:
    """Return what is known of the walk of each link from its source on, and from its target's twin on.

    A unitig is known where three pairs at least go there from a single copy, all links of it with a certain walk taken
    together, and ten for each that goes elsewhere.

    Parameters
    ----------
    links, chosen, inserts, is_single
        As for `choose_from_beginnings`.

    Returns
    -------
    (2, 24 * n_links) int32: the oriented unitig at each place of the walk; -1 where any may be.
    """
    xp, n = array_namespace(links.source), links.n
    fits, _ = fitting_pairs(links, chosen, inserts)
    before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(fits.astype(np.int64))])
    weight = before[links.first[1:]] - before[links.first[:-1]]
    # Each link from either side, so that all that leave one oriented unitig stand together.
    end = xp.concatenate([links.source, links.target ^ 1]).astype(np.int64)
    weight = xp.tile(xp.where(chosen.size > 1, weight, 0), 2) * is_single[end >> 1]
    order = xp.argsort(end, kind="stable")
    ends = end[order]
    first = xp.flatnonzero(xp.concatenate([xp.ones(min(1, ends.size), bool), ends[1:] != ends[:-1]]))
    last = xp.concatenate([first[1:], xp.full(min(1, ends.size), ends.size, first.dtype)])
    way = xp.full(MOST_STEPS * first.size, -1, np.int32)
    _tell(int(first.size), first, last, order, weight, chosen.unitigs, chosen.size, n, MOST_STEPS, LEAST_PAIRS,
          AGREEING, way)  # fmt: skip
    of = xp.empty(2 * n, np.int64)
    of[order] = xp.searchsorted(first, xp.arange(2 * n), side="right") - 1
    return way.reshape(-1, MOST_STEPS)[of].reshape(2, -1)


@inlined()
def _unitig_at(side, t, unitigs, size, n, most_steps):
    """Return the unitig at place t of a link's walk, seen from its source or, sides from n on, its target's twin."""
    if side < n:
        return np.int64(unitigs[most_steps * side + t])
    return np.int64(unitigs[most_steps * (side - n) + size[side - n] - 1 - t]) ^ 1


@for_each
def _tell(i, first, last, order, weight, unitigs, size, n, most_steps, least, agreeing, way):
    for place in range(1, most_steps):
        # The most frequent, if any has the majority: pairs that go to different ones cancel.
        pin, lead = np.int64(-1), np.int64(0)
        for_it, against = np.int64(0), np.int64(0)
        for is_counted in range(2):
            for j in range(first[i], last[i]):
                side = order[j]
                steps = np.int64(size[side % n])
                agrees = True
                for t in range(1, min(place, steps)):
                    if _unitig_at(side, t, unitigs, size, n, most_steps) != way[most_steps * i + t]:
                        agrees = False
                goes = np.int64(-1)
                if steps > place:
                    goes = _unitig_at(side, place, unitigs, size, n, most_steps)
                if is_counted == 1:
                    if agrees and goes >= 0 and goes == pin:
                        for_it += weight[side]
                    elif goes >= 0 or not agrees:
                        against += weight[side]
                elif agrees and goes >= 0:
                    lead += weight[side] if goes == pin else -weight[side]
                    if lead < 0:
                        pin, lead = goes, -lead
        if for_it < least or for_it < agreeing * against:
            break
        way[most_steps * i + place] = pin
