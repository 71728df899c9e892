"""Link evidence: the likeliest distance of two linked unitigs, and the pairs found and expected at that distance.

The distance maximises the likelihood of the insert sizes of all pairs of a link, given which fragments can link the two
unitigs at that distance. A mean of the pairs would be too small, as long fragments only link distant unitigs. Pairs
whose fragment has no usual length at any distance are chimeric and are excluded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.alignment.read_threading import DEPTH_SCALE, GraphArrays
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.parallel import compiled, for_each, inlined, signatures
from gpuasm.primitives.counting import count_between

_SCALE = 1 << 16
"""Histograms are scaled to this sum, so that expected numbers of pairs fit 64 bits."""
SIXTEENTHS = 16
"""Fixed-point scale of expected numbers of pairs."""
_PERCENT = 100
_LOG2_SCALE, _LOG2_BITS = 256, 8


@dataclass(frozen=True)
class Reaches:
    """Where the 31-mers that occur once in the graph lie on each unitig.

    Attributes
    ----------
    dead : (2n,) int64
        Bases from the end of the last such 31-mer to the end of each oriented unitig: mates there have no anchor.
    count : (n,) int64
        Number of such 31-mers.
    """

    dead: Array
    count: Array

    @classmethod
    def of(cls, index: AnchorIndex) -> Reaches:
        """Measure the unitigs of an index; of a unitig without unique 31-mers, ``dead`` is its length."""
        is_unique = index.kmers.is_unique
        count = count_between(is_unique, index.start)
        dead = array_namespace(count).empty(2 * count.size, np.int64)
        _measure_dead_ends(dead.size, index.start, count, is_unique, ANCHOR_K, dead)
        return cls(dead, count)


@signatures("int64[::1], int64[::1], boolean[::1], int64, int64[::1]")
@for_each
def _measure_dead_ends(v, start, count, is_unique, k, dead):
    first, last = start[v >> 1], start[(v >> 1) + 1]
    dead[v] = last - first
    if count[v >> 1] > 0:
        at = first if v & 1 else last - 1
        while not is_unique[at]:
            at += 1 if v & 1 else -1
        dead[v] = at - first if v & 1 else last - (at + k)


@dataclass(frozen=True)
class Evidence:
    """The distance that the pairs of each link support, and their numbers, on the host.

    Attributes
    ----------
    gap : (n_links,) int64
        The likeliest distance from the source's end to the target's beginning; negative where they overlap.
    n_pairs : (n_links,) int64
        Pairs whose fragment has a usual length at that distance.
    n_possible : (n_links,) int64
        Pairs whose fragment has a usual length at some distance.
    expected : (n_links,) int64
        Pairs expected at that distance from the depth of the unitigs, in sixteenths.
    beyond : (n_links,) int64
        Expected pairs, in sixteenths, that reach farther into one of the unitigs than any pair found; neither mate
        crosses the end of its unitig.
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
    longer_by, per_pair = placement_table(inserts)
    reach = reaches.dead + ANCHOR_K
    # Where no read crosses an end, as in sequence that is hard to read, pairs are expected next to it only.
    reach_uncrossed = xp.maximum(reach, inserts.bases_per_pair // 2)
    found = [xp.zeros(n, np.int64) for _ in range(5)]
    _weigh(
        n, links.source, links.target, links.first, links.left, links.right, graph.k, graph.start, graph.depth,
        reach, reach_uncrossed, inserts.shortest, inserts.longest, density,
        to_namespace(xp, longer_by), per_pair, FRAGMENTS.link_agreement, *found,
    )  # fmt: skip
    return Evidence(*(to_host(array) for array in found))


def expected_pairs(
    joins: list[tuple[int, int, int]], graph: GraphArrays, reaches: Reaches, inserts: InsertSizes
) -> list[int]:
    """Return how many pairs are expected to link unitigs, given as source, target and gap, in sixteenths."""
    longer_by, per_pair = placement_table(inserts)
    reach, depth = to_host(reaches.dead) + ANCHOR_K, to_host(graph.depth)
    rows, placements = np.array(joins, np.int64).reshape(-1, 3), np.empty(len(joins), np.int64)
    _count_placements(rows, longer_by, inserts.longest, reach, np.diff(to_host(graph.start)), placements)
    least_depth = (min(depth[x >> 1], depth[y >> 1]) for x, y, _ in joins)
    return [int(one) * int(n) // per_pair for one, n in zip(least_depth, placements, strict=True)]


@signatures("int64[:, ::1], int64[::1], int64, int64[::1], int64[::1], int64[::1]")
@compiled()
def _count_placements(joins, longer_by, longest, reach, length, placements):
    for i in range(placements.size):
        x, y = joins[i, 0], joins[i, 1]
        near_x, near_y = reach[x], reach[y ^ 1]
        far_x, far_y = max(near_x, length[x >> 1]), max(near_y, length[y >> 1])
        placements[i] = n_placements(longer_by, longest, joins[i, 2], near_x, far_x, near_y, far_y)


def placement_table(inserts: InsertSizes) -> tuple[np.ndarray, int]:
    """Return the table of `n_placements_beyond`, and the divisor of depth times placements for sixteenths of pairs.

    Returns
    -------
    (longest + 2,) int64, for each length t the sum of max(0, fragment - t + 1) over all fragments; and the divisor.
    """
    histogram = inserts.histogram[: inserts.longest + 1]
    histogram = histogram * _SCALE // max(_SCALE, int(histogram.sum()))
    at_least = np.cumsum(histogram[::-1])[::-1]
    longer_by = np.append(np.cumsum(at_least[::-1])[::-1], 0).astype(np.int64)
    return longer_by, max(1, DEPTH_SCALE * inserts.bases_per_pair * int(histogram.sum()) // SIXTEENTHS)


@inlined()
def n_placements_beyond(longer_by, longest, length):
    """Return the sum over fragments of max(0, fragment - length + 1)."""
    if length < 0:
        # Entry 1 sums the bases of all fragments; entry 0 adds one for each fragment.
        return longer_by[0] - length * (longer_by[0] - longer_by[1])
    return longer_by[min(length, longest + 1)]


@inlined()
def n_placements(longer_by, longest, gap, near_x, far_x, near_y, far_y):
    """Return how many placements of fragments begin on one unitig and end on the other, at least 1.

    Computed by inclusion and exclusion, from the least and the greatest reach into both unitigs.
    """
    nearer, ahead, behind = gap + near_x + near_y, far_x + 1 - near_x, far_y + 1 - near_y
    placements = n_placements_beyond(longer_by, longest, nearer) - n_placements_beyond(
        longer_by, longest, nearer + ahead
    )
    placements += n_placements_beyond(longer_by, longest, nearer + ahead + behind)
    return max(np.int64(1), placements - n_placements_beyond(longer_by, longest, nearer + behind))


@signatures(
    "int32[::1], int32[::1], int64[::1], int32[::1], int32[::1], int64, int64[::1], int64[::1], int64[::1], "
    "int64[::1], int64, int64, int32[::1], int64[::1], int64, int64, int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1]"
)
@for_each
def _weigh(
    i, source, target, first, left, right, k, start, depth, reach, reach_uncrossed, shortest, longest, density,
    longer_by, per_pair, agreement, gap, n_pairs, n_possible, expected, beyond,
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
        placements = n_placements(longer_by, longest, d, near_x, far_x, near_y, far_y)
        score = -possible * np.int64(log2_256(placements))
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
        # With few placements, few fitting pairs would have a high likelihood: most pairs must fit in the first place.
        agreeing = _PERCENT * fitting >= agreement * possible
        if fitting > 0 and ((agreeing and (score > best or not agreed)) or (not agreed and fitting > most_fitting)):
            best, most_fitting, agreed = score, fitting, agreeing
            gap[i] = d
            n_pairs[i] = fitting
            expected[i] = min(depth[x >> 1], depth[y >> 1]) * placements // per_pair
    most_x, most_y = np.int64(0), np.int64(0)
    for p in range(first[i], first[i + 1]):
        insert = gap[i] + left[p] + right[p]
        if insert >= shortest and insert <= longest:
            most_x, most_y = max(most_x, np.int64(left[p])), max(most_y, np.int64(right[p]))
    if n_pairs[i] > 0:
        near_x, near_y = reach_uncrossed[x], reach_uncrossed[y ^ 1]
        far_x, far_y = max(own, near_x), max(other, near_y)
        after_x, after_y = max(near_x, min(most_x, far_x) + 1), max(near_y, min(most_y, far_y) + 1)
        placements = max(
            n_placements(longer_by, longest, gap[i], after_x, far_x, near_y, far_y),
            n_placements(longer_by, longest, gap[i], near_x, far_x, after_y, far_y),
        )
        beyond[i] = min(depth[x >> 1], depth[y >> 1]) * placements // per_pair


@inlined()
def log2_256(value):
    """Return log2 of a positive int64 in 1 / 256, linear between powers of two, so that all devices agree."""
    bit = 0
    while (value >> (bit + 1)) > 0:
        bit += 1
    if bit >= _LOG2_BITS:
        return bit * _LOG2_SCALE + ((value >> (bit - _LOG2_BITS)) - _LOG2_SCALE)
    return bit * _LOG2_SCALE + ((value << (_LOG2_BITS - bit)) - _LOG2_SCALE)
