"""What the pairs of each link say: how far apart its unitigs lie, and whether there are as many pairs as there should.

The distance is the likeliest one by the insert sizes of all fragments that could link the two unitigs at that distance:
only the long ones do where it is large, so a plain mean would be too short. Pairs whose fragment could have no length
that fragments have, whatever the distance, are chimeric and are left out beforehand: a few of them would spoil a mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.pairs.choosing import log2_256
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.threading import DEPTH_UNIT, GraphArrays
from gpuasm.parallel import compiled, for_each, inlined

_SCALE = 1 << 16
"""Histograms are scaled to this sum, so that expected numbers of pairs fit 64 bits."""
SIXTEENTHS = 16
AGREEMENT = 70
"""Hundredths of a link's pairs that must fit one distance."""


@dataclass(frozen=True)
class Reaches:
    """Where the 31-mers that occur once stand on each unitig.

    Attributes
    ----------
    dead : (2n,) int64
        Bases from the last one's end to the end of each oriented unitig: a mate within them has no anchor there.
    count : (n,) int64
        How many there are.
    """

    dead: Array
    count: Array

    @classmethod
    def of(cls, index: AnchorIndex) -> Reaches:
        """Measure the unitigs that an index was made of; one without unique 31-mers is dead as a whole."""
        place = index.words.place
        xp = array_namespace(place)
        position = xp.sort(place[place >= 0] >> 1)
        start, end = index.start[:-1], index.start[1:]
        low, high = xp.searchsorted(position, start), xp.searchsorted(position, end)
        dead = xp.repeat(end - start, 2)
        some = xp.flatnonzero(high > low)
        dead[2 * some] = end[some] - (position[high[some] - 1] + ANCHOR_K)
        dead[2 * some + 1] = position[low[some]] - start[some]
        return cls(dead, (high - low).astype(np.int64))


@dataclass(frozen=True)
class Evidence:
    """What the pairs of each link say, on the host.

    Attributes
    ----------
    gap : (n_links,) int64
        The likeliest distance from the source's end to the target's beginning; before 0 where they overlap.
    n_pairs : (n_links,) int64
        Pairs whose fragment has a usual length at that distance.
    n_possible : (n_links,) int64
        Pairs whose fragment has a usual length at some distance.
    expected : (n_links,) int64
        Pairs that the depth of the unitigs lets expect at that distance, in sixteenths.
    beyond : (n_links,) int64
        Of pairs with no mate across the end of its unitig, so many, in sixteenths, should reach farther into one of the
        unitigs than any of the pairs does.
    """

    gap: np.ndarray
    n_pairs: np.ndarray
    n_possible: np.ndarray
    expected: np.ndarray
    beyond: np.ndarray


def weigh_links(links: Links, graph: GraphArrays, reaches: Reaches, inserts: InsertSizes) -> Evidence:
    """Find the likeliest distance of each link, and count the pairs for it."""
    xp, n = array_namespace(links.source), links.n
    density = to_namespace(xp, inserts.log2_density()[: inserts.longest + 1])
    longer_by, per_pair = _lengths(inserts)
    reach = reaches.dead + ANCHOR_K
    # Where no read goes across, as in a place that is hard to sequence, pairs can only be expected beside it.
    beside = xp.maximum(reach, inserts.bases_per_pair // 2)
    found = [xp.zeros(n, np.int64) for _ in range(5)]
    _weigh(
        n, links.source, links.target, links.first, links.left, links.right, graph.k, graph.start, graph.depth,
        reach, beside, inserts.shortest, inserts.longest, density,
        to_namespace(xp, longer_by), per_pair, AGREEMENT, *found,
    )  # fmt: skip
    return Evidence(*(to_host(array) for array in found))


def expected_pairs(
    joins: list[tuple[int, int, int]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes
) -> list[int]:
    """Return how many pairs should link unitigs, given as source, target and gap, in sixteenths."""
    longer_by, per_pair = _lengths(inserts)
    reach, depth = to_host(reaches.dead) + ANCHOR_K, to_host(graph.depth)
    rows, ways = np.array(joins, np.int64).reshape(-1, 3), np.empty(len(joins), np.int64)
    _count_ways(rows, longer_by, inserts.longest, reach, np.diff(to_host(graph.start)), ways)
    shallower = (min(depth[x >> 1], depth[y >> 1]) for x, y, _ in joins)
    return [int(one) * int(n) // per_pair for one, n in zip(shallower, ways, strict=True)]


@compiled()
def _count_ways(joins, longer_by, longest, reach, length, ways):
    for i in range(ways.size):
        x, y = joins[i, 0], joins[i, 1]
        near_x, near_y = reach[x], reach[y ^ 1]
        far_x, far_y = max(near_x, length[x >> 1]), max(near_y, length[y >> 1])
        ways[i] = ways_to_link(longer_by, longest, joins[i, 2], near_x, far_x, near_y, far_y)


def _lengths(inserts: InsertSizes) -> tuple[np.ndarray, int]:
    """Return what `ways_beyond` takes, and what turns depth times ways into sixteenths of pairs.

    Returns
    -------
    (longest + 2,) int64: for each length t the sum over all fragments of how much longer than t - 1 they are, if they
    are; and a number.
    """
    histogram = inserts.histogram[: inserts.longest + 1]
    histogram = histogram * _SCALE // max(_SCALE, int(histogram.sum()))
    at_least = np.cumsum(histogram[::-1])[::-1]
    longer_by = np.append(np.cumsum(at_least[::-1])[::-1], 0).astype(np.int64)
    return longer_by, max(1, DEPTH_UNIT * inserts.bases_per_pair * int(histogram.sum()) // SIXTEENTHS)


@inlined()
def ways_beyond(longer_by, longest, length):
    """Return the sum over fragments of max(0, fragment - length + 1)."""
    if length < 0:
        # Entry 1 counts each fragment's bases, entry 0 one more for each fragment.
        return longer_by[0] - length * (longer_by[0] - longer_by[1])
    return longer_by[min(length, longest + 1)]


@inlined()
def ways_to_link(longer_by, longest, gap, near_x, far_x, near_y, far_y):
    """Return in how many ways fragments can begin on one unitig and end on the other, at least 1.

    From the least reach of both to the most of both, by inclusion and exclusion.
    """
    nearer, ahead, behind = gap + near_x + near_y, far_x + 1 - near_x, far_y + 1 - near_y
    ways = ways_beyond(longer_by, longest, nearer) - ways_beyond(longer_by, longest, nearer + ahead)
    ways += ways_beyond(longer_by, longest, nearer + ahead + behind)
    return max(np.int64(1), ways - ways_beyond(longer_by, longest, nearer + behind))


@for_each
def _weigh(
    i, source, target, first, left, right, k, start, depth, reach, beside, shortest, longest, density, longer_by,
    per_pair, agreement, gap, n_pairs, n_possible, expected, beyond,
):  # fmt: skip
    x, y = np.int64(source[i]), np.int64(target[i])
    own, other = start[(x >> 1) + 1] - start[x >> 1], start[(y >> 1) + 1] - start[y >> 1]
    near_x, near_y = reach[x], reach[y ^ 1]
    far_x, far_y = max(own, near_x), max(other, near_y)
    nearest, farthest, possible = np.int64(longest), np.int64(-longest), np.int64(0)
    for p in range(first[i], first[i + 1]):
        rest = np.int64(left[p]) + right[p]
        if rest <= longest + k - 1:
            possible += 1
            nearest = min(nearest, max(np.int64(1 - k), shortest - rest))
            farthest = max(farthest, longest - rest)
    n_possible[i] = possible
    best, most_fitting, agreed = np.int64(-(1 << 62)), np.int64(0), False
    for d in range(nearest, farthest + 1):
        ways = ways_to_link(longer_by, longest, d, near_x, far_x, near_y, far_y)
        score = -possible * np.int64(log2_256(ways))
        fitting = np.int64(0)
        for p in range(first[i], first[i + 1]):
            rest = np.int64(left[p]) + right[p]
            if rest <= longest + k - 1:
                insert = rest + d
                if insert >= 0 and insert <= longest:
                    score += density[insert]
                else:
                    score += density[0]
                if insert >= shortest and insert <= longest:
                    fitting += 1
        # Where few ways are left, the few pairs that fit would look likely: first of all most must fit.
        agreeing = 100 * fitting >= agreement * possible
        if fitting > 0 and ((agreeing and (score > best or not agreed)) or (not agreed and fitting > most_fitting)):
            best, most_fitting, agreed = score, fitting, agreeing
            gap[i] = d
            n_pairs[i] = fitting
            expected[i] = min(depth[x >> 1], depth[y >> 1]) * ways // per_pair
    most_x, most_y = np.int64(0), np.int64(0)
    for p in range(first[i], first[i + 1]):
        insert = gap[i] + left[p] + right[p]
        if insert >= shortest and insert <= longest:
            most_x, most_y = max(most_x, np.int64(left[p])), max(most_y, np.int64(right[p]))
    if n_pairs[i] > 0:
        near_x, near_y = beside[x], beside[y ^ 1]
        far_x, far_y = max(own, near_x), max(other, near_y)
        after_x, after_y = max(near_x, min(most_x, far_x) + 1), max(near_y, min(most_y, far_y) + 1)
        ways = max(
            ways_to_link(longer_by, longest, gap[i], after_x, far_x, near_y, far_y),
            ways_to_link(longer_by, longest, gap[i], near_x, far_x, after_y, far_y),
        )
        beyond[i] = min(depth[x >> 1], depth[y >> 1]) * ways // per_pair
