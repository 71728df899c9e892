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
from gpuasm.assembly.graph.oriented_sequence import oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ENDS
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.parallel import compiled, inlined, signatures
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
    own, other = oriented_codes(graph, source), oriented_codes(graph, target)
    longest = min(own.size, other.size, graph.k - 2, spread - gap)
    shortest = max(ENDS.linked_min_overlap, -gap - spread)
    found = [n for n in range(shortest, longest + 1) if np.array_equal(own[-n:], other[:n])]
    # Units of a tandem repeat may be missing between the ends, or one end may have additional units.
    distances = [(n, d) for n in found for tail in _tails(graph, source, target) for d in _distances(tail, n)]
    shifts = [shift for n, d in distances for shift in (d - n, -d - n)]
    return [*found, 0] if any(abs(shift - gap) <= spread for shift in shifts) else found


def occurs_again(graph: UnitigGraph, source: int, target: int, overlap: int) -> bool:
    """Return whether the overlap of two oriented unitigs occurs again in either end, as units of a tandem repeat do."""
    return any(_distances(tail, overlap) for tail in _tails(graph, source, target))


def _tails(graph: UnitigGraph, source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of one oriented unitig, and the reversed beginning of another."""
    return oriented_codes(graph, source)[-2 * graph.k :], oriented_codes(graph, target)[: 2 * graph.k][::-1]


def _distances(tail: np.ndarray, n: int) -> list[int]:
    """Return the distances from the end of a sequence to other occurrences of its last n bases."""
    windows = np.lib.stride_tricks.sliding_window_view(tail, n)
    again = np.flatnonzero((windows == tail[-n:]).all(axis=1))
    return [tail.size - n - at for at in again[:-1].tolist()]


_FACTOR = 0x9E3779B97F4A7C15


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
    if dead.size == 0:
        return []
    tails = [oriented_codes(graph, end)[-(graph.k - 2) :] for end in dead.tolist()]
    place, start = _pairs_of_ends(tails)
    found = []
    for source, target, overlap in zip(dead[place[0]].tolist(), (dead[place[1]] ^ 1).tolist(), start, strict=True):
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


def _pairs_of_ends(tails: list[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Return which ends overlap with each other, if each overlaps with one other only.

    Returns
    -------
    (2, m) int64: numbers of ends; and the bases that each pair shares.
    """
    text = np.concatenate(tails)
    start = np.concatenate([[0], np.cumsum([tail.size for tail in tails])]).astype(np.int64)
    # An end overlaps with the reverse complement of another end's last bases.
    heads = np.array([_hash(3 - tail[: -ENDS.unlinked_min_overlap - 1 : -1]) for tail in tails], np.uint64)
    order = np.argsort(heads, kind="stable")
    first, second, bases = (np.empty(2 * len(tails), np.int64) for _ in range(3))
    n = _match(text, start, heads[order], order, ENDS.unlinked_min_overlap, np.uint64(_FACTOR), first, second, bases)
    first, second, bases = first[:n], second[:n], bases[:n]
    times = np.bincount(first, minlength=len(tails))  # every pair is found from both sides
    alone = (times[first] == 1) & (times[second] == 1)
    return np.stack([first[alone], second[alone]]), bases[alone].tolist()


def _hash(codes: np.ndarray) -> int:
    """Return the polynomial hash of codes, modulo 2^64."""
    value = 0
    for code in codes.tolist():
        value = (value * _FACTOR + code + 1) % (1 << 64)
    return value


@signatures("uint8[::1], int64[::1], uint64[::1], int64[::1], int64, uint64, int64[::1], int64[::1], int64[::1]")
@compiled()
def _match(text, start, heads, order, least, factor, first, second, bases):
    """Write for each end at most two others with which it shares bases; return how many."""
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
                    if _continues(text, at, start[own + 1] - at, start[order[j]], start[order[j] + 1]):
                        first[n], second[n], bases[n] = own, order[j], start[own + 1] - at
                        n, n_own = n + 1, n_own + 1
    return n


@inlined()
def _continues(text, at, shared, low, high):
    """Return whether ``shared`` bases from a position on are the reverse complement of another end's last bases."""
    is_same = high - low >= shared
    for q in range(shared):
        is_same = is_same and text[at + q] == 3 - text[high - 1 - q]
    return is_same
