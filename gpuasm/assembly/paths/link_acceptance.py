"""Accept links as joins if their pairs exclude all alternatives.

A link x -> y is a join if

1. x and y are single copies: of the depth of one copy of the unitigs near by, and with enough 31-mers of their own;
2. it has at least three pairs, and at least 15 % of those expected from the depth at that distance;
3. hardly any of the link's pairs has another distance;
4. its pairs begin at all positions of x where they can, and end at all of y. If one copy of a repeat is missing from
   the graph, the other copy's k-mers seem unique; so what precedes the missing copy is linked to the other copy, but no
   pair ends behind it, as at the two similar ends of a long transposon;
5. x has no better link at this end, nor y at that one, and none with more than 35 % of the pairs. A link to a unitig
   beyond the nearer of two does not compete with it. A link of x to itself has a lower limit: even a few pairs may come
   from a tandem repeat, of which a unit would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.coverage.local_depth import nearby_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import SIXTEENTHS, Evidence
from gpuasm.assembly.parameters import FRAGMENTS, PATHS
from gpuasm.parallel import compiled, signatures

_COMPETITOR_PERCENT, _SELF_LINK_PERCENT = PATHS.join_max_competitor_percent, PATHS.join_max_self_link_percent


def single_copies(graph: UnitigGraph, n_anchors: np.ndarray) -> np.ndarray:
    """Return which unitigs are single copies with enough 31-mers of their own: (n,) bool."""
    copies = graph.depth / np.maximum(nearby_depth(graph), 1e-9)
    least, most = PATHS.single_copies
    return (copies >= least) & (copies <= most) & (n_anchors >= PATHS.single_min_anchors)


@dataclass(frozen=True)
class LinkTable:
    """Links in both directions, by source, then target.

    Attributes
    ----------
    start : (2n + 1,) int64
        Where the links of each oriented unitig start.
    source, target : (m,) int32
    gap, n_pairs : (m,) int64
    is_sound : (m,) bool
        Whether the link's own pairs suffice for a join.
    link : (m,) int64
        The number of the link, or of its reverse complement.
    """

    start: np.ndarray
    source: np.ndarray
    target: np.ndarray
    gap: np.ndarray
    n_pairs: np.ndarray
    is_sound: np.ndarray
    link: np.ndarray

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray, evidence: Evidence, n_unitigs: int) -> LinkTable:
        """Add reverse complements and sort links; see `Links` for source and target."""
        e, each = evidence, np.arange(source.size)
        sound = (e.n_pairs >= PATHS.join_min_pairs) & (100 * e.n_pairs >= FRAGMENTS.link_agreement * e.n_possible)
        sound &= 100 * SIXTEENTHS * e.n_pairs >= PATHS.join_min_percent * e.expected
        sound &= e.beyond < SIXTEENTHS * PATHS.join_max_missing_beyond
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


def accept(table: LinkTable, length: np.ndarray, *, k: int, sd: float) -> np.ndarray:
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
        Standard deviation of insert sizes, from which the tolerance of a distance follows.
    """
    n = table.start.size - 1
    best = np.full(n, -1, np.int64)
    rows = (table.start, table.target, table.gap, table.n_pairs, table.is_sound)
    _best_of_each(*rows, length, k, np.int64(round(PATHS.join_spread_sds * sd)), best)
    chosen = np.flatnonzero(best >= 0)
    partner = np.full(n, -1, np.int64)
    partner[chosen] = table.target[best[chosen]]
    mutual = chosen[partner[partner[chosen] ^ 1] == (chosen ^ 1)]
    # A hairpin leads back to its own unitig: no walk can contain the bases between on both strands.
    mutual = mutual[partner[mutual] != (mutual ^ 1)]
    return np.unique(table.link[best[mutual]])


@signatures("int64[::1], int32[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int64, int64, int64[::1]")
@compiled()
def _best_of_each(start, target, gap, n_pairs, is_sound, length, k, spread, best):
    for o in range(best.size):
        top = -1
        for i in range(start[o], start[o + 1]):
            if is_sound[i] and (top < 0 or n_pairs[i] > n_pairs[top]):
                top = i
        if top < 0:
            continue
        # Choose the nearest target such that the most frequent one is beyond it.
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
                percent = _SELF_LINK_PERCENT if target[i] == o else _COMPETITOR_PERCENT
                if 100 * n_pairs[i] > percent * n_pairs[top]:
                    is_clear = False
        best[o] = top if is_clear else -1


@compiled()
def _is_beyond(start, target, gap, length, k, spread, far, near):
    """Return whether one link's target lies beyond the nearer one's, by distance or by a link between the two."""
    middle = target[near]
    after = gap[near] + length[middle >> 1]
    if gap[far] >= after - (k - 1) - spread and length[middle >> 1] - (k - 1) > 2 * spread:
        return True
    for i in range(start[middle], start[middle + 1]):
        if target[i] == target[far] and abs(after + gap[i] - gap[far]) <= spread:
            return True
    return False
