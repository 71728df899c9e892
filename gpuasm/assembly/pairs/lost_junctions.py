"""Lost junctions: dead ends that read on into each other, where chance left a larger k no window across.

Of two copies of a repeat one may be resolved at some k by the fragments across it, and the other have none: its two
sides then end in the repeat, each with all of it. Such ends are joined without a single pair where nothing else is left
to join: no other unitig ends in these bases, whether it goes on or not, no circle holds them, which may be units of a
tandem repeat that are missing between the two, and both are single copies of one depth. That
both ends have lost another neighbour each, and share these bases by chance, would take two such holes at copies of one
repeat. Where reads are so few that holes are common, that is no less likely than one hole, and nothing is joined.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.anchors import ANCHOR_K
from gpuasm.assembly.pairs.overlaps import oriented_codes, stands_again
from gpuasm.kmers.words import places_of, words_of
from gpuasm.parallel import compiled, inlined
from gpuasm.primitives.searching import first_not_below

LEAST_SHARED = 50
"""Bases that two dead ends must share. Junctions over fewer are known from many reads each, and hardly ever lost."""
_HOLES = 0.01
"""Share of junctions over so many bases that chance may leave without a read."""
_MOST_TIMES = 1.5
"""How much deeper one unitig may be than the other: there is one copy of each."""
_FACTOR = 0x9E3779B97F4A7C15


def find_lost_junctions(graph: UnitigGraph, may_join: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the dead ends that read on into each other, and that no other end reads on into.

    Parameters
    ----------
    graph
        The graph.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined. Every dead end counts as a rival.

    Returns
    -------
    list of (source, target, overlap): oriented unitigs, each pair from one side only, and the bases that they share,
    fewer than k - 1. Left out are ends in which the shared bases stand again: units of a tandem repeat may be missing
    between them.
    """
    dead = np.flatnonzero(np.diff(graph.arc_start) == 0)
    dead = dead[~graph.is_circular[dead >> 1] & (graph.length[dead >> 1] >= LEAST_SHARED)]
    if dead.size == 0:
        return []
    tails = [oriented_codes(graph, end)[-(graph.k - 2) :] for end in dead.tolist()]
    place, start = _shared(tails)
    found = []
    for source, target, overlap in zip(dead[place[0]].tolist(), (dead[place[1]] ^ 1).tolist(), start, strict=True):
        # The join and its mirror image are one.
        if (source, target) <= (target ^ 1, source ^ 1) and may_join[source] and may_join[target ^ 1]:
            found.append((source, target, overlap))
    return _without_third(graph, [join for join in found if _is_sound(graph, join)])


def has_hardly_holes(graph: UnitigGraph, *, bases_per_read: float) -> np.ndarray:
    """Tell at which unitigs reads are so many that chance hardly leaves a junction without any: (n,) bool."""
    windows = graph.depth * max(0.0, 1 - LEAST_SHARED / bases_per_read)
    return np.exp(-windows) <= _HOLES


def _is_sound(graph: UnitigGraph, join: tuple[int, int, int]) -> bool:
    source, target, overlap = join
    depths = sorted(float(graph.depth[o >> 1]) for o in (source, target))
    if source >> 1 == target >> 1 or depths[1] > _MOST_TIMES * depths[0]:
        return False
    return not stands_again(graph, source, target, overlap)


def _without_third(graph: UnitigGraph, joins: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Leave out the joins of ends one of which a third unitig's end reads on into as well, though it is no dead end."""
    if not joins:
        return joins
    begins = sorted({o for source, target, _ in joins for o in (target, source ^ 1)})
    enter = _entering(graph, begins)
    return [(s, t, n) for s, t, n in joins if enter[t] <= {s} and enter[s ^ 1] <= {t ^ 1}]


def _entering(graph: UnitigGraph, begins: list[int]) -> dict[int, set[int]]:
    """Return which oriented unitigs end in what each of some others begins with, by fewer than k - 1 bases.

    Where a unitig is shorter than what stands in the other from its first word on, it counts as far as it goes. A
    circle ends nowhere: it counts where it has so many of these bases as two ends must share.
    """
    forward, backward = words_of(np.stack([oriented_codes(graph, o)[:ANCHOR_K] for o in begins]).ravel())
    forward, backward = forward[::ANCHOR_K], backward[::ANCHOR_K]
    key, enter = np.minimum(forward, backward), {o: set[int]() for o in begins}
    position, found, is_key = places_of(graph.bases, key)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    for at, u, word, reads_key in zip(position.tolist(), unitig.tolist(), found, is_key.tolist(), strict=True):
        for i in np.flatnonzero(key == word).tolist():
            turned = reads_key != bool(forward[i] < backward[i])
            rest = at + ANCHOR_K - int(graph.start[u]) if turned else int(graph.start[u + 1]) - at
            n = LEAST_SHARED if graph.is_circular[u] else rest
            if LEAST_SHARED <= n <= min(rest, graph.k - 2):
                own, along = oriented_codes(graph, begins[i])[:n], oriented_codes(graph, 2 * u + turned)[-rest:]
                if np.array_equal(own, along[: own.size]):
                    enter[begins[i]].add(2 * u + turned)
    return enter


def _shared(tails: list[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Return which tails end in what another, turned round, begins with, if each does so with one other only.

    Returns
    -------
    (2, m) int64: numbers of tails; and the bases that each pair shares.
    """
    text = np.concatenate(tails)
    start = np.concatenate([[0], np.cumsum([tail.size for tail in tails])]).astype(np.int64)
    # The beginning of what an end turned round leads into is that end's own, complemented and read backwards.
    heads = np.array([_hash(3 - tail[: -LEAST_SHARED - 1 : -1]) for tail in tails], np.uint64)
    order = np.argsort(heads, kind="stable")
    first, second, bases = (np.empty(2 * len(tails), np.int64) for _ in range(3))
    n = _match(text, start, heads[order], order, LEAST_SHARED, np.uint64(_FACTOR), first, second, bases)
    first, second, bases = first[:n], second[:n], bases[:n]
    times = np.bincount(first, minlength=len(tails))  # every pair is found from both its ends
    alone = (times[first] == 1) & (times[second] == 1)
    return np.stack([first[alone], second[alone]]), bases[alone].tolist()


def _hash(codes: np.ndarray) -> int:
    value = 0
    for code in codes.tolist():
        value = (value * _FACTOR + code + 1) % (1 << 64)
    return value


@compiled()
def _match(text, start, heads, order, least, factor, first, second, bases):
    """Write for each end two others at most that it shares bases with; return how many."""
    n = 0
    power = np.uint64(1)
    for _ in range(least):
        power *= factor
    for own in range(start.size - 1):
        value, n_own = np.uint64(0), 0
        for i in range(start[own], start[own + 1]):
            value = value * factor + np.uint64(text[i] + 1)
            at = i + 1 - least
            if at > start[own]:
                value -= power * np.uint64(text[at - 1] + 1)
            if at >= start[own]:
                for j in range(first_not_below(value, heads), heads.size):
                    if heads[j] != value or n_own == 2:
                        break
                    if _reads_on(text, at, start[own + 1] - at, start[order[j]], start[order[j] + 1]):
                        first[n], second[n], bases[n] = own, order[j], start[own + 1] - at
                        n, n_own = n + 1, n_own + 1
    return n


@inlined()
def _reads_on(text, at, shared, low, high):
    """Tell whether so many bases from a place on are those that stand before another's end, turned round."""
    is_same = high - low >= shared
    for q in range(shared):
        is_same = is_same and text[at + q] == 3 - text[high - 1 - q]
    return is_same
