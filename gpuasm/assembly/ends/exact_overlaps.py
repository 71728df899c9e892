"""Exact overlaps of dead ends by fewer than k - 1 bases: of linked ends, and of unlinked ends at lost junctions.

Linked ends overlap where no read spans the junction; pairs state the distance.

Unlinked ends occur where fragments resolve one copy of a repeat at some k but none spans another copy: its two flanks
then end in the repeat, each with all of it. They are joined without pairs if no alternative exists: no other unitig
ends in these bases, no circular contig contains them (it may hold tandem units that are missing between the two), and
both are single copies of one depth. A chance overlap of two ends that both lost another neighbour would need two lost
junctions at copies of one repeat. Where coverage is so low that lost junctions are common, nothing is joined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K
from gpuasm.assembly.ends.clipped_tails import ClippedTails
from gpuasm.assembly.ends.dead_ends import EndSequences
from gpuasm.assembly.ends.end_overlaps import find_overlaps, overlap_lengths, unambiguous_overlaps
from gpuasm.assembly.graph.oriented_sequence import last_codes, oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.parameters import COVERAGE, ENDS
from gpuasm.kmers.text_kmers import kmers_of, places_of

_NO_MISMATCH = 1 << 32
"""The cost of a mismatch that no overlap may have."""


def find_linked_overlaps(graph: UnitigGraph, gap: Gap) -> list[int]:
    """Return the numbers of bases that two dead ends may share exactly at the distance that pairs state.

    Returns
    -------
    list of int: all possible overlaps; 0 is included where other overlaps cannot be excluded.
    """
    own, towards = last_codes(graph, gap.source, graph.k), 3 - last_codes(graph, gap.target ^ 1, graph.k)[::-1]
    least, most = max(ENDS.linked_min_overlap, -gap.size - gap.spread), min(graph.k - 2, gap.spread - gap.size)
    found = overlap_lengths(own, towards, least=least, most=most, mismatch_cost=_NO_MISMATCH).tolist()
    # Units of a tandem repeat may be missing between the ends, or one end may have additional units.
    distances = [(n, d) for n in found for d in distances_of_repeats(graph, gap.source, gap.target, n)]
    is_open = any(gap.fits(shift) for n, d in distances for shift in (d - n, -d - n))
    return [*found, 0] if is_open else found


def distances_of_repeats(graph: UnitigGraph, source: int, target: int, overlap: int) -> list[int]:
    """Return the distances from the overlap of two oriented unitigs to its other occurrences near either end."""
    found = []
    for tail in (last_codes(graph, source, 2 * graph.k), 3 - last_codes(graph, target ^ 1, 2 * graph.k)):
        windows = np.lib.stride_tricks.sliding_window_view(tail, overlap)
        again = np.flatnonzero((windows == tail[-overlap:]).all(axis=1))
        found += [tail.size - overlap - at for at in again[:-1].tolist()]
    return found


def find_unlinked_overlaps(graph: UnitigGraph, may_join: np.ndarray, *, xp: Any = np) -> list[tuple[int, int, int]]:
    """Return the dead ends that overlap with each other and with no other end.

    Parameters
    ----------
    graph
        The graph.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined. Every dead end counts as a competitor.
    xp
        Namespace where overlaps are found.

    Returns
    -------
    list of (source, target, overlap): oriented unitigs, each pair from one side only, and the shared bases, fewer than
    k - 1. Ends in which the shared bases occur again are left out: units of a tandem repeat may be missing.
    """
    dead = np.flatnonzero((np.diff(graph.arc_start) == 0) & ~np.repeat(graph.is_circular, 2))
    dead = dead[graph.length[dead >> 1] >= ENDS.unlinked_min_overlap]
    if graph.k - 2 < ENDS.unlinked_min_overlap or not may_join[dead].any():
        return []
    texts = EndSequences.voted(graph, dead, ClippedTails.joined([]), reach=graph.k - 2)
    overlaps = find_overlaps(texts, ENDS.unlinked_min_overlap, xp=xp)
    overlaps = unambiguous_overlaps(overlaps.where(overlaps.score == overlaps.size))
    rows = zip(overlaps.end.tolist(), (overlaps.other ^ 1).tolist(), overlaps.size.tolist(), strict=True)
    # The join and its reverse complement are one.
    joins = [row for row in rows if row[:2] <= (row[1] ^ 1, row[0] ^ 1) and may_join[row[0]] and may_join[row[1] ^ 1]]
    return _without_third(graph, [join for join in joins if _is_sound(graph, join)])


def are_densely_covered(graph: UnitigGraph, *, bases_per_read: float) -> np.ndarray:
    """Return at which unitigs coverage is so high that hardly any junction lacks reads: (n,) bool."""
    windows = graph.depth * max(0.0, 1 - ENDS.unlinked_min_overlap / bases_per_read)
    return np.exp(-windows) <= ENDS.unlinked_max_uncovered


def _is_sound(graph: UnitigGraph, join: tuple[int, int, int]) -> bool:
    """Return whether the ends are of different unitigs of one depth, and no tandem unit may be missing."""
    source, target, overlap = join
    depths = sorted(float(graph.depth[o >> 1]) for o in (source, target))
    if source >> 1 == target >> 1 or depths[1] > COVERAGE.single_copy_ratio * depths[0]:
        return False
    return not distances_of_repeats(graph, source, target, overlap)


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
