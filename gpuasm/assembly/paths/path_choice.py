"""Choose the walk of a link by the likelihood of its pairs.

Each pair of a link has a fragment length on each walk, and its reads show parts of the walk. A walk is chosen if all
pairs together make it a thousand times as likely as any other. The likelihood of a pair is that of its insert size
among all fragments that could link the two unitigs at that distance. The number of pairs must agree with the number
expected from the depth of the two unitigs: too few pairs come from a longer path, such as a tandem repeat that only the
longest fragments span. Nor may more pairs than expected begin on the two unitigs; other mates begin before their
anchor. One pair does not suffice where several are expected: an error in a read may show another copy's base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.alignment.read_threading import DEPTH_SCALE, MOST_UNITIGS, GraphArrays
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import log2_256
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.graph_walks import MAX_WALKS, WALK_UNITIGS, Walks, find_walks
from gpuasm.parallel import for_each, inlined, signatures

_BATCH = 1 << 17
"""Links at a time: bounds the memory for walks."""
_BIT_SCALE, _PAIR_SCALE = 256, 16
"""Likelihoods are in 1 / 256 bit, expected pairs in sixteenths."""
_LEAD, _CONFLICT = _BIT_SCALE * PATHS.walk_lead_bits, _BIT_SCALE * PATHS.read_conflict_bits
_LONE_PAIR = _PAIR_SCALE * PATHS.lone_pair_max_expected
_LOW, _HIGH = PATHS.expected_sixteenths
_NAT_SCALE = 369
"""A natural unit of likelihood in 1 / 256 bit."""
_HISTOGRAM_SCALE = 1 << 20
"""Histograms are scaled to this sum, so that expected numbers of pairs fit 64 bits."""


@dataclass(frozen=True)
class ChosenWalks:
    """The walk of each link.

    Attributes
    ----------
    unitigs : (24 * n_links,) int32
    size : (n_links,) int32
        0 where no walk is certain.
    gap : (n_links,) int32
        Bases from the source's end to the target's beginning.
    n_walks : (n_links,) int32
        The number of possible walks.
    """

    unitigs: Array
    size: Array
    gap: Array
    n_walks: Array


def choose_walks(links: Links, graph: GraphArrays, inserts: InsertSizes) -> ChosenWalks:
    """Choose the walk of each link."""
    return _choose_some(links, array_namespace(links.source).arange(links.n), graph, inserts)


def choose_again(
    links: Links, chosen: ChosenWalks, some: Array, graph: GraphArrays, inserts: InsertSizes, *, pins: Array
) -> ChosenWalks:
    """Choose the walks of some links again, given known unitigs; where none is certain the former result stays.

    Parameters
    ----------
    links, chosen
        All links, and the walk of each.
    some : (n,) int64
        The links to choose for.
    graph, inserts
        As for `choose_walks`.
    pins : (2, 24 * n) int32
        Known unitigs of their walks: see `gpuasm.assembly.paths.graph_walks.find_walks`.
    """
    xp = array_namespace(links.source)
    found = _choose_some(links, some, graph, inserts, pins=pins)
    certain = xp.flatnonzero(found.size > 0)
    arrays = []
    for array, its in zip(vars(chosen).values(), vars(found).values(), strict=True):
        rows = array.reshape(links.n, -1).copy()
        rows[some[certain]] = its.reshape(some.size, -1)[certain]
        arrays.append(rows.ravel())
    return ChosenWalks(*arrays)


def _choose_some(
    links: Links, chosen: Array, graph: GraphArrays, inserts: InsertSizes, *, pins: Array | None = None
) -> ChosenWalks:
    xp = array_namespace(links.source)
    density, histogram = _tables(xp, inserts)
    # Divisor from depth times expected fragments to sixteenths of pairs.
    per_pair = max(1, DEPTH_SCALE * inserts.bases_per_pair * int(histogram.sum()) // 16)
    parts = []
    for first in range(0, max(1, int(chosen.size)), _BATCH):
        some = chosen[first : first + _BATCH]
        own = None if pins is None else pins[:, WALK_UNITIGS * first : WALK_UNITIGS * (first + _BATCH)]
        walks = find_walks(links, some, graph, inserts, pins=own)
        best = xp.full(some.size, -1, np.int32)
        scores, surprises = (xp.empty(MAX_WALKS * some.size, np.int64) for _ in range(2))
        _choose(
            int(some.size), links.first[some], links.first[some + 1], links.left, links.right, links.left_thread,
            links.right_thread, walks.found, walks.unitigs, walks.size, walks.gap, graph.start, links.source[some],
            links.target[some], graph.k, inserts.shortest, inserts.longest, density, histogram,
            graph.depth, per_pair, MAX_WALKS, WALK_UNITIGS, MOST_UNITIGS, _LONE_PAIR, _LEAD, _CONFLICT, surprises,
            scores, best,
        )  # fmt: skip
        parts.append(_taken(walks, best))
    return ChosenWalks(*(xp.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _tables(xp: Any, inserts: InsertSizes) -> tuple[Array, Array]:
    """Return the density and the scaled histogram up to the longest fragment."""
    n = inserts.longest + 1
    scale = max(1, inserts.n // _HISTOGRAM_SCALE)
    return to_namespace(xp, inserts.log2_density()[:n]), to_namespace(xp, inserts.histogram[:n] // scale)


def _taken(walks: Walks, best: Array) -> tuple[Array, Array, Array, Array]:
    xp = array_namespace(best)
    at = xp.arange(best.size) * MAX_WALKS + xp.maximum(best, 0)
    unitigs = walks.unitigs.reshape(-1, WALK_UNITIGS)[at].ravel()
    return unitigs, xp.where(best >= 0, walks.size[at], 0).astype(np.int32), walks.gap[at], walks.found


@inlined()
def fits_threads(p, left_thread, right_thread, unitigs, first, size, per_thread):
    """Return whether both reads of pair p follow the walk of ``size`` unitigs that starts at ``first``."""
    fits = True
    for t in range(1, per_thread):
        own = np.int64(left_thread[per_thread * p + t])
        if own >= 0 and t < size and unitigs[first + t] != own:
            fits = False
        other = np.int64(right_thread[per_thread * p + t])
        if other >= 0 and t < size and unitigs[first + size - 1 - t] != other ^ 1:
            fits = False
    return fits


@inlined()
def surprise_256(n, fewest, most):
    """Return how much less likely n pairs are than the nearest number within bounds, by Poisson: log2 in 1 / 256.

    The bounds are fractions of the least and of the most expected pairs, all in sixteenths: depth varies along a
    genome, and not every read has an anchor.
    """
    low, high = fewest * _LOW // 16, most * _HIGH // 16
    bound = np.int64(16) * n
    bound = max(bound, low)
    if bound > high:
        bound = max(high, np.int64(1))
    if n == 0:
        return bound * _NAT_SCALE // 16
    return n * (np.int64(log2_256(16 * n)) - np.int64(log2_256(bound))) - (16 * n - bound) * _NAT_SCALE // 16


@signatures(
    "int64[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], "
    "int32[::1], int64[::1], int32[::1], int32[::1], int64, int64, int64, int32[::1], int64[::1], int64[::1], int64, "
    "int64, int64, int64, int64, int64, int64, int64[::1], int64[::1], int32[::1]"
)
@for_each
def _choose(
    i, first, last, left, right, left_thread, right_thread, found, unitigs, size, gap, start, source, target, k,
    shortest, longest, density, histogram, depth, per_pair, max_walks, walk_unitigs, per_thread, lone_pair,
    lead, conflict, surprises, scores, best,
):  # fmt: skip
    n = np.int64(found[i])
    best[i] = -1
    if n >= 1 and n <= max_walks:
        own = start[(source[i] >> 1) + 1] - start[source[i] >> 1]
        other = start[(target[i] >> 1) + 1] - start[target[i] >> 1]
        n_inside = np.int64(0)
        for p in range(first[i], last[i]):
            n_inside += 1 if left[p] <= own and right[p] <= other else 0
        for h in range(max_walks * i, max_walks * i + n):
            # Of all fragments, those that could begin on the source and end on the target at this distance.
            expected, possible = np.int64(1), np.int64(1)
            for insert in range(shortest, longest + 1):
                rest = insert - gap[h]
                n_starts = min(own, rest - k) - max(np.int64(k), rest - other) + 1
                expected += max(np.int64(0), n_starts) * histogram[insert]
                n_starts = min(own, rest - ANCHOR_K) - max(np.int64(ANCHOR_K), rest - other) + 1
                possible += max(np.int64(0), n_starts) * histogram[insert]
            n_pairs = last[i] - first[i]
            score = -n_pairs * np.int64(log2_256(expected))
            least_depth = min(depth[source[i] >> 1], depth[target[i] >> 1])
            sixteenths = least_depth * expected // per_pair
            # Mates that begin on both unitigs must not exceed what is expected; others begin before their anchor.
            surprise = max(
                surprise_256(n_pairs, sixteenths, max(sixteenths, 16 * n_pairs)),
                surprise_256(n_inside, np.int64(0), least_depth * possible // per_pair),
            )
            if n_pairs == 1 and sixteenths >= lone_pair:
                surprise = max(surprise, np.int64(lead))
            score -= surprise
            surprises[h] = surprise
            for p in range(first[i], last[i]):
                insert = left[p] + right[p] + gap[h]
                if insert >= 0 and insert <= longest:
                    score += density[insert]
                else:
                    score += density[0]
                if not fits_threads(p, left_thread, right_thread, unitigs, walk_unitigs * h, size[h], per_thread):
                    score -= conflict
            scores[h] = score
        top = max_walks * i
        for h in range(top + 1, max_walks * i + n):
            top = h if scores[h] > scores[top] else top
        n_competing = 0
        for h in range(max_walks * i, max_walks * i + n):
            if h != top and scores[h] + lead > scores[top]:
                n_competing += 1
        fitting = 0
        for p in range(first[i], last[i]):
            insert = left[p] + right[p] + gap[top]
            fits = fits_threads(p, left_thread, right_thread, unitigs, walk_unitigs * top, size[top], per_thread)
            if fits and insert >= shortest and insert <= longest:
                fitting += 1
        if n_competing == 0 and surprises[top] < lead and 2 * fitting > n_pairs:
            best[i] = top - max_walks * i
