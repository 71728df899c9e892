"""Rivals: dead ends that may be joined over the same bases as the two ends of an overlap.

Where the last k finds no window across a part of a repeat, copies end within it: dead ends that share what they end
with. Pairs link two of them by words that stand once in the graph. But what one of them holds beyond the others' ends
stands once too, though other copies have it, and pairs of any of them may then be anchored there: of two copies of an
insertion sequence that differ in two bases, 775 apart, a flank of each was so joined, by three pairs. So where few
pairs decide on a join over an overlap, no other end may share these bases, but one that is joined elsewhere, or that
lacks the pairs that it should have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.anchors import ANCHOR_K
from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.kmers.words import words_of

_BASES_AT_A_TIME = 1 << 21


@dataclass(frozen=True)
class Tails:
    """Where the last words of dead ends stand within unitigs, along the oriented unitig that goes on behind them.

    Attributes
    ----------
    oriented : (n,) int64
        The oriented unitig that the word stands in; not that of the dead end itself.
    at : (n,) int64
        Where on it the word ends: before its own end.
    end : (n,) int64
        The dead end: an oriented unitig.
    """

    oriented: np.ndarray
    at: np.ndarray
    end: np.ndarray


def find_tails(graph: UnitigGraph, xp: Any) -> Tails:
    """Find the last 31 bases of each dead end in all other unitigs."""
    dead = np.flatnonzero(np.diff(graph.arc_start) == 0)
    dead = dead[~graph.is_circular[dead >> 1] & (graph.length[dead >> 1] > ANCHOR_K)]
    if dead.size < 2:
        return Tails(*(np.empty(0, np.int64) for _ in range(3)))
    forward, backward = words_of(np.stack([oriented_codes(graph, end)[-ANCHOR_K:] for end in dead.tolist()]).ravel())
    forward, backward = forward[::ANCHOR_K], backward[::ANCHOR_K]
    key, order = np.minimum(forward, backward), np.argsort(np.minimum(forward, backward), kind="stable")
    position, found, is_forward = places_of(graph.bases, key[order], xp)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    # Each place for each of the dead ends that have this word.
    low, high = (np.searchsorted(key[order], found, side=side) for side in ("left", "right"))
    place = np.repeat(np.arange(position.size), high - low)
    end = order[np.arange(place.size) - np.repeat(np.cumsum(high - low) - high, high - low)]
    position, unitig, is_forward = position[place], unitig[place], is_forward[place]
    same_way = is_forward == (forward[end] < backward[end])
    at = np.where(same_way, position + ANCHOR_K - graph.start[unitig], graph.start[unitig + 1] - position)
    is_inner = (position + ANCHOR_K <= graph.start[unitig + 1]) & (at < graph.length[unitig])
    is_inner &= ~graph.is_circular[unitig] & (unitig != dead[end] >> 1)
    return Tails((2 * unitig + ~same_way)[is_inner], at[is_inner], dead[end][is_inner])


def places_of(bases: np.ndarray, keys: np.ndarray, xp: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where 31-mers stand in a text, the key of each, and whether the text reads the key itself."""
    wanted, found = to_namespace(xp, np.unique(keys)), []
    for first in range(0, max(0, bases.size - ANCHOR_K + 1), _BASES_AT_A_TIME):
        forward, backward = words_of(to_namespace(xp, bases[first : first + _BASES_AT_A_TIME + ANCHOR_K - 1]))
        key = xp.minimum(forward, backward)
        at = xp.flatnonzero(wanted[xp.minimum(xp.searchsorted(wanted, key), wanted.size - 1)] == key)
        found.append([to_host(a) for a in (at + first, key[at], forward[at] < backward[at])])
    position, key, is_forward = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return position.astype(np.int64), key, is_forward


def rivals_of(graph: UnitigGraph, tails: Tails, *, source: int, target: int) -> list[tuple[int, int, int]]:
    """Return the joins that are as possible as one over an overlap: another end with its target, or another target.

    Parameters
    ----------
    graph, tails
        The graph, and its dead ends' last words.
    source, target
        The oriented unitigs that are to be joined.

    Returns
    -------
    list of (source, target, overlap): oriented unitigs, and the bases that they share, at least 31.
    """
    ends = [(end, target, at) for end, at in _on(tails, target) if end != source]
    begins = [(source, end ^ 1, at) for end, at in _on(tails, source ^ 1) if end ^ 1 != target]
    return [join for join in (*ends, *begins) if _agree(graph, join)]


def _on(tails: Tails, oriented: int) -> list[tuple[int, int]]:
    rows = np.flatnonzero(tails.oriented == oriented)
    return list(zip(tails.end[rows].tolist(), tails.at[rows].tolist(), strict=True))


def _agree(graph: UnitigGraph, join: tuple[int, int, int]) -> bool:
    """Tell whether the end of one oriented unitig is the beginning of the other, as far as both go."""
    source, target, overlap = join
    own, other = oriented_codes(graph, source)[-overlap:], oriented_codes(graph, target)[:overlap]
    return np.array_equal(own, other[-own.size :])
