"""Overlaps of dead ends by fewer than k - 1 bases: of linked ends, and of unlinked ends at lost junctions.

Linked ends overlap where no read spans the junction; pairs state the distance.

Unlinked ends occur where fragments resolve one copy of a repeat at some k but none spans another copy: its two flanks
then end in the repeat, each with all of it. They are joined without pairs if no alternative exists: no other unitig
ends in these bases, no circular contig contains them (it may hold tandem units that are missing between the two), and
both are single copies of one depth. A chance overlap of two ends that both lost another neighbour would need two lost
junctions at copies of one repeat. Where coverage is so low that lost junctions are common, nothing is joined.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.ends.end_sequences import copy_unitig_ends
from gpuasm.assembly.graph.oriented_sequence import last_codes, oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ENDS
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.parallel import compiled, for_each, inlined, signatures
from gpuasm.primitives.searching import first_not_below


def find_linked_overlaps(graph: UnitigGraph, source: int, target: int, *, gap: int, spread: int) -> list[int]:
    """Return the numbers of bases that two oriented unitigs may share at the distance that pairs state.

    Parameters
    ----------
    graph
        The graph of both.
    source, target
        The end of the first is compared with the beginning of the second.
    gap
        Distance between them by their pairs; negative where they overlap.
    spread
        Tolerance of the distance.

    Returns
    -------
    list of int: all possible overlaps; 0 is included where other overlaps cannot be excluded.
    """
    own, other = last_codes(graph, source, graph.k), last_codes(graph, target ^ 1, graph.k)
    longest = min(own.size, other.size, graph.k - 2, spread - gap)
    shortest = max(ENDS.linked_min_overlap, -gap - spread)
    is_shared = np.zeros(max(0, longest + 1 - shortest), dtype=bool)
    _compare(own, other, shortest, is_shared)
    found = (np.flatnonzero(is_shared) + shortest).tolist()
    # Units of a tandem repeat may be missing between the ends, or one end may have additional units.
    distances = [(n, d) for n in found for tail in _tails(graph, source, target) for d in _distances(tail, n)]
    shifts = [shift for n, d in distances for shift in (d - n, -d - n)]
    return [*found, 0] if any(abs(shift - gap) <= spread for shift in shifts) else found


def occurs_again(graph: UnitigGraph, source: int, target: int, overlap: int) -> bool:
    """Return whether the overlap of two oriented unitigs occurs again in either end, as units of a tandem repeat do."""
    return any(_distances(tail, overlap) for tail in _tails(graph, source, target))


def _tails(graph: UnitigGraph, source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of one oriented unitig, and the reversed beginning of another."""
    return last_codes(graph, source, 2 * graph.k), 3 - last_codes(graph, target ^ 1, 2 * graph.k)


@signatures("uint8[::1], uint8[::1], int64, boolean[::1]")
@compiled()
def _compare(own, other, shortest, is_shared):
    """Write for each number of bases from the shortest on whether two ends, read outwards, share as many."""
    for row in range(is_shared.size):
        n, i = shortest + row, 0
        while i < n and own[own.size - n + i] == 3 - other[other.size - 1 - i]:
            i += 1
        is_shared[row] = i == n


def _distances(tail: np.ndarray, n: int) -> list[int]:
    """Return the distances from the end of a sequence to other occurrences of its last n bases."""
    windows = np.lib.stride_tricks.sliding_window_view(tail, n)
    again = np.flatnonzero((windows == tail[-n:]).all(axis=1))
    return [tail.size - n - at for at in again[:-1].tolist()]


_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_POWER = np.uint64(pow(int(_FACTOR), ENDS.unlinked_min_overlap, 1 << 64))
_MOST_OTHERS = 2
"""An end that overlaps with two others is not joined, whatever others there are."""


def find_unlinked_overlaps(graph: UnitigGraph, may_join: np.ndarray) -> list[tuple[int, int, int]]:
    """Return the dead ends that overlap with each other and with no other end.

    Parameters
    ----------
    graph
        The graph.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined. Every dead end counts as a competitor.

    Returns
    -------
    list of (source, target, overlap): oriented unitigs, each pair from one side only, and the shared bases, fewer than
    k - 1. Ends in which the shared bases occur again are left out: units of a tandem repeat may be missing.
    """
    dead = np.flatnonzero(np.diff(graph.arc_start) == 0)
    dead = dead[~graph.is_circular[dead >> 1] & (graph.length[dead >> 1] >= ENDS.unlinked_min_overlap)]
    if dead.size == 0 or graph.k - 2 < ENDS.unlinked_min_overlap:
        return []
    place, shared = _pairs_of_ends(graph, dead)
    found = []
    for source, target, overlap in zip(dead[place[0]].tolist(), (dead[place[1]] ^ 1).tolist(), shared, strict=True):
        # The join and its reverse complement are one.
        if (source, target) <= (target ^ 1, source ^ 1) and may_join[source] and may_join[target ^ 1]:
            found.append((source, target, overlap))
    return _without_third(graph, [join for join in found if _is_sound(graph, join)])


def are_densely_covered(graph: UnitigGraph, *, bases_per_read: float) -> np.ndarray:
    """Return at which unitigs coverage is so high that hardly any junction lacks reads: (n,) bool."""
    windows = graph.depth * max(0.0, 1 - ENDS.unlinked_min_overlap / bases_per_read)
    return np.exp(-windows) <= ENDS.unlinked_max_uncovered


def _is_sound(graph: UnitigGraph, join: tuple[int, int, int]) -> bool:
    """Return whether the ends are of different unitigs of one depth, and no tandem unit may be missing."""
    source, target, overlap = join
    depths = sorted(float(graph.depth[o >> 1]) for o in (source, target))
    if source >> 1 == target >> 1 or depths[1] > ENDS.unlinked_depth_ratio * depths[0]:
        return False
    return not occurs_again(graph, source, target, overlap)


def _without_third(graph: UnitigGraph, joins: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Leave out the joins of which the end of a third unitig overlaps with one side, even if that unitig continues."""
    if not joins:
        return joins
    begins = sorted({o for source, target, _ in joins for o in (target, source ^ 1)})
    entering = _entering(graph, begins)
    return [(s, t, n) for s, t, n in joins if entering[t] <= {s} and entering[s ^ 1] <= {t ^ 1}]


def _entering(graph: UnitigGraph, begins: list[int]) -> dict[int, set[int]]:
    """Return which oriented unitigs end in the first bases of each given oriented unitig, by fewer than k - 1 bases.

    A unitig shorter than the rest of the other counts with its whole length. A circular unitig has no end: it counts
    if it contains the least number of shared bases.
    """
    forward, backward = kmers_of(np.stack([oriented_codes(graph, o)[:ANCHOR_K] for o in begins]).ravel())
    forward, backward = forward[::ANCHOR_K], backward[::ANCHOR_K]
    key, entering = np.minimum(forward, backward), {o: set[int]() for o in begins}
    position, found, is_key = places_of(graph.bases, key)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    for at, u, kmer, reads_key in zip(position.tolist(), unitig.tolist(), found, is_key.tolist(), strict=True):
        for i in np.flatnonzero(key == kmer).tolist():
            is_reversed = reads_key != bool(forward[i] < backward[i])
            rest = at + ANCHOR_K - int(graph.start[u]) if is_reversed else int(graph.start[u + 1]) - at
            n = ENDS.unlinked_min_overlap if graph.is_circular[u] else rest
            if ENDS.unlinked_min_overlap <= n <= min(rest, graph.k - 2):
                own, along = oriented_codes(graph, begins[i])[:n], oriented_codes(graph, 2 * u + is_reversed)[-rest:]
                if np.array_equal(own, along[: own.size]):
                    entering[begins[i]].add(2 * u + is_reversed)
    return entering


def _pairs_of_ends(graph: UnitigGraph, ends: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Return which ends overlap with each other, if each overlaps with one other only.

    Returns
    -------
    (2, m) int64: indices of ``ends``; and the bases that each pair shares.
    """
    start = np.concatenate([[0], np.cumsum(np.minimum(graph.length[ends >> 1], graph.k - 2))])
    text, heads = np.empty(int(start[-1]), np.uint8), np.empty(ends.size, np.uint64)
    copy_unitig_ends(ends, (graph.bases, graph.start), start, np.zeros_like(ends), text)
    least = ENDS.unlinked_min_overlap
    _hash_heads(ends.size, text, start, least, heads)
    order = np.argsort(heads, kind="stable")
    n_found = np.zeros(ends.size, np.int64)
    other, bases = (np.empty(_MOST_OTHERS * ends.size, np.int64) for _ in range(2))
    _match(ends.size, text, start, ends.size, heads[order], order, least, _POWER, n_found, other, bases)
    is_found = np.tile(np.arange(_MOST_OTHERS), ends.size) < np.repeat(n_found, _MOST_OTHERS)
    first, second, bases = np.repeat(np.arange(ends.size), n_found), other[is_found], bases[is_found]
    # Every pair is found from both sides.
    alone = (n_found[first] == 1) & (n_found[second] == 1)
    return np.stack([first[alone], second[alone]]), bases[alone].tolist()


@signatures("uint8[::1], int64[::1], int64, uint64[::1]", on="host")
@for_each
def _hash_heads(e, text, start, least, heads):
    """Write the polynomial hash of the reverse complement of each end's last bases, modulo 2^64."""
    value = np.uint64(0)
    for i in range(least):
        value = value * _FACTOR + np.uint64(4 - text[start[e + 1] - 1 - i])
    heads[e] = value


@signatures(
    "uint8[::1], int64[::1], int64, uint64[::1], int64[::1], int64, uint64, int64[::1], int64[::1], int64[::1]",
    on="host",
)
@for_each
def _match(own, text, start, n_ends, heads, order, least, power, n_found, other, bases):
    """Write for each end at most `_MOST_OTHERS` others with which it shares bases, and how many."""
    value, n = np.uint64(0), 0
    for i in range(start[own], start[own + 1]):
        value = value * _FACTOR + np.uint64(text[i] + 1)
        at = i + 1 - least
        if at > start[own]:
            value -= power * np.uint64(text[at - 1] + 1)
        if at >= start[own]:
            for j in range(first_not_below(value, heads, n_ends), n_ends):
                if heads[j] != value or n == _MOST_OTHERS:
                    break
                if _continues(text, at, start[own + 1] - at, start[order[j]], start[order[j] + 1]):
                    other[_MOST_OTHERS * own + n], bases[_MOST_OTHERS * own + n] = order[j], start[own + 1] - at
                    n += 1
    n_found[own] = n


@inlined()
def _continues(text, at, shared, low, high):
    """Return whether ``shared`` bases from a position on are the reverse complement of another end's last bases."""
    is_same = high - low >= shared
    for q in range(shared):
        is_same = is_same and text[at + q] == 3 - text[high - 1 - q]
    return is_same
