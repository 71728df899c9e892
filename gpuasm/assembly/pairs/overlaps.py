"""Overlaps: dead ends that read on into each other by fewer than k - 1 bases, as where no read covers a junction."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph

LEAST_OVERLAP = 15
"""Shorter ones agree by chance: among a hundred places once in ten million at this length."""


def find_overlaps(graph: UnitigGraph, source: int, target: int, *, gap: int, spread: int) -> list[int]:
    """Return how many bases two oriented unitigs may share where pairs say they lie.

    Parameters
    ----------
    graph
        The graph of both.
    source, target
        The end of the first is compared with the beginning of the second.
    gap
        Distance between them by their pairs; before 0 where they overlap.
    spread
        How far off it may be.

    Returns
    -------
    list of int: all that are possible; 0 is among them where other numbers of bases are as good.
    """
    own, other = oriented_codes(graph, source), oriented_codes(graph, target)
    longest = min(own.size, other.size, graph.k - 2, spread - gap)
    shortest = max(LEAST_OVERLAP, -gap - spread)
    found = [n for n in range(shortest, longest + 1) if np.array_equal(own[-n:], other[:n])]
    # Units of a tandem repeat may be missing between the ends, or one of them may hold units too many.
    turns = [(n, d) for n in found for tail in _tails(graph, source, target) for d in _distances(tail, n)]
    shifts = [shift for n, d in turns for shift in (d - n, -d - n)]
    return [*found, 0] if any(abs(shift - gap) <= spread for shift in shifts) else found


def stands_again(graph: UnitigGraph, source: int, target: int, overlap: int) -> bool:
    """Tell whether what two oriented unitigs share stands in either end again: units of a tandem repeat."""
    return any(_distances(tail, overlap) for tail in _tails(graph, source, target))


def _tails(graph: UnitigGraph, source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of one oriented unitig, and the beginning of another read backwards."""
    return oriented_codes(graph, source)[-2 * graph.k :], oriented_codes(graph, target)[: 2 * graph.k][::-1]


def _distances(tail: np.ndarray, n: int) -> list[int]:
    """Return how many bases before the end of a text its last n bases stand again."""
    windows = np.lib.stride_tricks.sliding_window_view(tail, n)
    again = np.flatnonzero((windows == tail[-n:]).all(axis=1))
    return [tail.size - n - at for at in again[:-1].tolist()]


def oriented_codes(graph: UnitigGraph, oriented: int) -> np.ndarray:
    """Return the bases of an oriented unitig."""
    u = oriented >> 1
    codes = graph.bases[graph.start[u] : graph.start[u + 1]]
    return 3 - codes[::-1] if oriented & 1 else codes
