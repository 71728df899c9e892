"""Choosing: of the walks that a link may take, the one that its pairs make certain.

Each pair of a link tells how long its fragment would be along each walk, and its reads show parts of the walk. A walk
is chosen when, all pairs taken together, it is a thousand times as likely as any other; the likelihood of a pair is
that of its insert size among all fragments that could link the two unitigs at that distance. And the pairs must be as
many as the depth of the two unitigs lets expect at that distance: a few pairs where there should be many come from a
longer way, a tandem repeat mostly, of which only the longest fragments reach the other side. Nor may there be more than
expected of those whose mates begin on the two unitigs; other mates begin before what anchors them. A single pair
decides nothing where several should be: of a thousand reads across a repeat, some show another copy's base by an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.anchors import ANCHOR_K
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.threading import DEPTH_UNIT, MOST_UNITIGS, GraphArrays
from gpuasm.assembly.pairs.walks import MOST_STEPS, MOST_WALKS, Walks, find_walks
from gpuasm.parallel import for_each, inlined

_BATCH = 1 << 17
"""Links at a time, so that the walks of all of them never are in memory."""
LEAD = 10 * 256
"""How much likelier the chosen walk must be: log2 in 1 / 256."""
_ALONE = 6 * 16
"""Sixteenths of the expected number of pairs from which a single one decides nothing: it comes alone by chance in less
than one of fifty links, and more often by an error at a base where copies differ."""
_AGAINST_READ = 12 * 256
"""What a read that shows another way takes from a walk: it may be an error, or chimeric."""
_FEWEST, _MOST = 4, 24
"""Sixteenths of the expected number of pairs from which and up to which any number is as good as another."""
_PER_NAT = 369
"""Bits in a natural unit of likelihood, in 1 / 256."""
_SCALE = 1 << 20
"""Histograms are scaled to this sum, so that expected numbers of pairs fit 64 bits."""


@dataclass(frozen=True)
class Chosen:
    """The walk of each link.

    Attributes
    ----------
    unitigs : (24 * n_links,) int32
    size : (n_links,) int32
        0 where no walk is certain.
    gap : (n_links,) int32
        Bases from the source's end to the target's beginning.
    n_walks : (n_links,) int32
        Walks there were to choose from.
    """

    unitigs: Array
    size: Array
    gap: Array
    n_walks: Array


def choose_walks(links: Links, graph: GraphArrays, inserts: InsertSizes) -> Chosen:
    """Choose the walk of each link."""
    return _choose_some(links, array_namespace(links.source).arange(links.n), graph, inserts)


def choose_again(
    links: Links, chosen: Chosen, some: Array, graph: GraphArrays, inserts: InsertSizes, *, pins: Array
) -> Chosen:
    """Choose the walks of some links anew, of what is known of them; where none is certain all stays as it is.

    Parameters
    ----------
    links, chosen
        All links, and the walk of each.
    some : (n,) int64
        The links to choose for.
    graph, inserts
        As for `choose_walks`.
    pins : (2, 24 * n) int32
        What is known of their walks: see `gpuasm.assembly.pairs.walks.find_walks`.
    """
    xp = array_namespace(links.source)
    found = _choose_some(links, some, graph, inserts, pins=pins)
    certain = xp.flatnonzero(found.size > 0)
    arrays = []
    for array, its in zip(vars(chosen).values(), vars(found).values(), strict=True):
        rows = array.reshape(links.n, -1).copy()
        rows[some[certain]] = its.reshape(some.size, -1)[certain]
        arrays.append(rows.ravel())
    return Chosen(*arrays)


def _choose_some(
    links: Links, chosen: Array, graph: GraphArrays, inserts: InsertSizes, *, pins: Array | None = None
) -> Chosen:
    xp = array_namespace(links.source)
    density, histogram = _tables(xp, inserts)
    # What turns depth times expected fragments into sixteenths of pairs.
    per_pair = max(1, DEPTH_UNIT * inserts.bases_per_pair * int(histogram.sum()) // 16)
    parts = []
    for first in range(0, max(1, int(chosen.size)), _BATCH):
        some = chosen[first : first + _BATCH]
        own = None if pins is None else pins[:, MOST_STEPS * first : MOST_STEPS * (first + _BATCH)]
        walks = find_walks(links, some, graph, inserts, pins=own)
        best = xp.full(some.size, -1, np.int32)
        scores, surprises = (xp.empty(MOST_WALKS * some.size, np.int64) for _ in range(2))
        _choose(
            int(some.size), links.first[some], links.first[some + 1], links.left, links.right, links.left_thread,
            links.right_thread, walks.found, walks.unitigs, walks.size, walks.gap, graph.start, links.source[some],
            links.target[some], graph.k, inserts.shortest, inserts.longest, density, histogram,
            graph.depth, per_pair, MOST_WALKS, MOST_STEPS, MOST_UNITIGS, _ALONE, LEAD, _AGAINST_READ, surprises, scores,
            best,
        )  # fmt: skip
        parts.append(_taken(walks, best))
    return Chosen(*(xp.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _tables(xp: Any, inserts: InsertSizes) -> tuple[Array, Array]:
    """Return the density and the scaled histogram up to the longest fragment."""
    n = inserts.longest + 1
    scale = max(1, inserts.n // _SCALE)
    return to_namespace(xp, inserts.log2_density()[:n]), to_namespace(xp, inserts.histogram[:n] // scale)


def _taken(walks: Walks, best: Array) -> tuple[Array, Array, Array, Array]:
    xp = array_namespace(best)
    at = xp.arange(best.size) * MOST_WALKS + xp.maximum(best, 0)
    unitigs = walks.unitigs.reshape(-1, MOST_STEPS)[at].ravel()
    return unitigs, xp.where(best >= 0, walks.size[at], 0).astype(np.int32), walks.gap[at], walks.found


@inlined()
def fits_threads(p, left_thread, right_thread, unitigs, first, size, per_thread):
    """Tell whether both reads of pair p run along the walk of ``size`` unitigs that starts at ``first``."""
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
def log2_256(value):
    """Return log2 of a positive int64 in 1 / 256, by the highest bit and a straight line: the same on any device."""
    bit = 0
    while (value >> (bit + 1)) > 0:
        bit += 1
    if bit >= 8:
        return bit * 256 + ((value >> (bit - 8)) - 256)
    return bit * 256 + ((value << (8 - bit)) - 256)


@inlined()
def surprise_256(n, fewest, most):
    """Return how much less likely n pairs are than the nearest number within bounds, by Poisson: log2 in 1 / 256.

    The bounds are a quarter and one and a half of what is expected, given in sixteenths: depth varies along a genome,
    and not every read has an anchor. The one is of what is expected at least, the other of what is at most.
    """
    low, high = fewest * _FEWEST // 16, most * _MOST // 16
    bound = np.int64(16) * n
    bound = max(bound, low)
    if bound > high:
        bound = max(high, np.int64(1))
    if n == 0:
        return bound * _PER_NAT // 16
    return n * (np.int64(log2_256(16 * n)) - np.int64(log2_256(bound))) - (16 * n - bound) * _PER_NAT // 16


@for_each
def _choose(
    i, first, last, left, right, left_thread, right_thread, found, unitigs, size, gap, start, source, target, k,
    shortest, longest, density, histogram, depth, per_pair, most_walks, most_steps, per_thread, alone,
    lead, against, surprises, scores, best,
):  # fmt: skip
    n = np.int64(found[i])
    best[i] = -1
    if n >= 1 and n <= most_walks:
        own = start[(source[i] >> 1) + 1] - start[source[i] >> 1]
        other = start[(target[i] >> 1) + 1] - start[target[i] >> 1]
        n_inside = np.int64(0)
        for p in range(first[i], last[i]):
            n_inside += 1 if left[p] <= own and right[p] <= other else 0
        for h in range(most_walks * i, most_walks * i + n):
            # Of all fragments, those that could begin on the source and end on the target at this distance.
            expected, possible = np.int64(1), np.int64(1)
            for insert in range(shortest, longest + 1):
                rest = insert - gap[h]
                ways = min(own, rest - k) - max(np.int64(k), rest - other) + 1
                expected += max(np.int64(0), ways) * histogram[insert]
                ways = min(own, rest - ANCHOR_K) - max(np.int64(ANCHOR_K), rest - other) + 1
                possible += max(np.int64(0), ways) * histogram[insert]
            n_pairs = last[i] - first[i]
            score = -n_pairs * np.int64(log2_256(expected))
            least_depth = min(depth[source[i] >> 1], depth[target[i] >> 1])
            sixteenths = least_depth * expected // per_pair
            # A mate may begin before the unitig that anchors it: such pairs are no more than expected.
            surprise = max(
                surprise_256(n_pairs, sixteenths, max(sixteenths, 16 * n_pairs)),
                surprise_256(n_inside, np.int64(0), least_depth * possible // per_pair),
            )
            if n_pairs == 1 and sixteenths >= alone:
                surprise = max(surprise, np.int64(lead))
            score -= surprise
            surprises[h] = surprise
            for p in range(first[i], last[i]):
                insert = left[p] + right[p] + gap[h]
                if insert >= 0 and insert <= longest:
                    score += density[insert]
                else:
                    score += density[0]
                if not fits_threads(p, left_thread, right_thread, unitigs, most_steps * h, size[h], per_thread):
                    score -= against
            scores[h] = score
        top = most_walks * i
        for h in range(top + 1, most_walks * i + n):
            top = h if scores[h] > scores[top] else top
        rivals = 0
        for h in range(most_walks * i, most_walks * i + n):
            if h != top and scores[h] + lead > scores[top]:
                rivals += 1
        fitting = 0
        for p in range(first[i], last[i]):
            insert = left[p] + right[p] + gap[top]
            fits = fits_threads(p, left_thread, right_thread, unitigs, most_steps * top, size[top], per_thread)
            if fits and insert >= shortest and insert <= longest:
                fitting += 1
        if rivals == 0 and surprises[top] < lead and 2 * fitting > n_pairs:
            best[i] = top - most_walks * i
