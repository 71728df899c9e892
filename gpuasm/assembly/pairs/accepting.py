"""Accepting: which links are joins, because their pairs exclude every other.

A link x -> y is a join if

1. x and y are single copies: as deep as one copy of what lies around, and with enough 31-mers of their own;
2. at least three pairs say so, and at least a seventh of those that the depth lets expect at that distance;
3. hardly any of the link's pairs says another distance;
4. they begin wherever on x they might, and end wherever on y. Where one copy of a repeat is lost, the other's unitig
   seems to have a word there alone; so what precedes the lost copy is linked to the other's, but no pair ends behind
   it: at the two ends of a long transposon, say, whose own ends are alike;
5. x has no better link at this end, nor y at that one, and none with more than a third of the pairs. What lies beyond
   the nearer of two is no rival of it. A link of x to itself counts more: even a few pairs may be a tandem repeat, of
   which a unit would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.local_depth import depth_near_by
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import AGREEMENT, SIXTEENTHS, Evidence
from gpuasm.parallel import compiled

LEAST_ANCHORS = 30
"""31-mers of its own that a unitig must have: fewer may be a variant of a repeat, or an error."""
_LEAST_COPY, _MOST_COPY = 0.5, 1.5
LEAST_PAIRS = 3
_LEAST_SHARE = 15
"""Hundredths of the expected pairs."""
_MOST_BEYOND = 6
"""Pairs that may be expected farther off than any is: of so many, none is there once in four hundred times."""
_RIVAL, _OWN_RIVAL = 35, 15
"""Hundredths of a join's pairs that a rival may have; that a link of a unitig with itself may have."""


def single_copies(graph: UnitigGraph, n_anchors: np.ndarray) -> np.ndarray:
    """Tell which unitigs are single copies with enough 31-mers of their own: (n,) bool."""
    copies = graph.depth / np.maximum(depth_near_by(graph), 1e-9)
    return (copies >= _LEAST_COPY) & (copies <= _MOST_COPY) & (n_anchors >= LEAST_ANCHORS)


@dataclass(frozen=True)
class Table:
    """Links both ways round, by source, then target.

    Attributes
    ----------
    start : (2n + 1,) int64
        Where the links of each oriented unitig start.
    source, target : (m,) int32
    gap, n_pairs : (m,) int64
    is_sound : (m,) bool
        Whether the link's own pairs suffice for a join.
    link : (m,) int64
        Which link each is, or is the mirror image of.
    """

    start: np.ndarray
    source: np.ndarray
    target: np.ndarray
    gap: np.ndarray
    n_pairs: np.ndarray
    is_sound: np.ndarray
    link: np.ndarray

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray, evidence: Evidence, n_unitigs: int) -> Table:
        """Mirror and sort links; see `Links` for source and target."""
        e, each = evidence, np.arange(source.size)
        sound = (e.n_pairs >= LEAST_PAIRS) & (100 * e.n_pairs >= AGREEMENT * e.n_possible)
        sound &= 100 * SIXTEENTHS * e.n_pairs >= _LEAST_SHARE * e.expected
        sound &= e.beyond < SIXTEENTHS * _MOST_BEYOND
        is_own_mirror = source == (target ^ 1)
        mirrored = np.flatnonzero(~is_own_mirror)
        link = np.concatenate([each, mirrored])
        is_mirror = np.arange(link.size) >= each.size
        own = np.where(is_mirror, target[link] ^ 1, source[link])
        other = np.where(is_mirror, source[link] ^ 1, target[link])
        order = np.lexsort((other, own))
        link = link[order]
        start = np.zeros(2 * n_unitigs + 1, np.int64)
        np.cumsum(np.bincount(own, minlength=2 * n_unitigs), out=start[1:])
        return cls(start, own[order], other[order], e.gap[link], e.n_pairs[link], sound[link], link)


def accept(table: Table, length: np.ndarray, *, k: int, sd: float) -> np.ndarray:
    """Return the links that are joins: (n_joins,) int64, ascending.

    Parameters
    ----------
    table
        Links between single copies.
    length : (n,) int64
        Bases of each unitig.
    k
        Consecutive unitigs share k - 1 bases.
    sd
        Standard deviation of insert sizes: how far off a distance may be.
    """
    n = table.start.size - 1
    best = np.full(n, -1, np.int64)
    rows = (table.start, table.target, table.gap, table.n_pairs, table.is_sound)
    _best_of_each(*rows, length, k, np.int64(round(3 * sd)), best)
    chosen = np.flatnonzero(best >= 0)
    partner = np.full(n, -1, np.int64)
    partner[chosen] = table.target[best[chosen]]
    mutual = chosen[partner[partner[chosen] ^ 1] == (chosen ^ 1)]
    # A hairpin leads back to the unitig it comes from: what lies between is read twice, and no walk can say so.
    mutual = mutual[partner[mutual] != (mutual ^ 1)]
    return np.unique(table.link[best[mutual]])


@compiled()
def _best_of_each(start, target, gap, n_pairs, is_sound, length, k, spread, best):
    for o in range(best.size):
        top = -1
        for i in range(start[o], start[o + 1]):
            if is_sound[i] and (top < 0 or n_pairs[i] > n_pairs[top]):
                top = i
        if top < 0:
            continue
        # The nearest that the most frequent one lies beyond comes first.
        for _ in range(start[o + 1] - start[o]):
            nearer = top
            for i in range(start[o], start[o + 1]):
                if is_sound[i] and gap[i] < gap[nearer] and _is_beyond(start, target, gap, length, k, spread, top, i):
                    nearer = i
            if nearer == top:
                break
            top = nearer
        is_clear = True
        for i in range(start[o], start[o + 1]):
            if i != top and not _is_beyond(start, target, gap, length, k, spread, i, top):
                share = _OWN_RIVAL if target[i] == o else _RIVAL
                if 100 * n_pairs[i] > share * n_pairs[top]:
                    is_clear = False
        best[o] = top if is_clear else -1


@compiled()
def _is_beyond(start, target, gap, length, k, spread, far, near):
    """Tell whether one link's target lies beyond the nearer one's: by distance, or because a link says so."""
    middle = target[near]
    after = gap[near] + length[middle >> 1]
    if gap[far] >= after - (k - 1) - spread and length[middle >> 1] - (k - 1) > 2 * spread:
        return True
    for i in range(start[middle], start[middle + 1]):
        if target[i] == target[far] and abs(after + gap[i] - gap[far]) <= spread:
            return True
    return False
