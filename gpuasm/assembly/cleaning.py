"""Clean-up of a unitig graph: rules that remove what errors made, in rounds of rising strictness."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np

from gpuasm.assembly.bubbles import find_bubbles
from gpuasm.assembly.compaction import Pieces, compact
from gpuasm.assembly.local_depth import local_depth
from gpuasm.assembly.low_depth import find_islands, find_low_depth_connections
from gpuasm.assembly.tips import find_tips
from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.assembly.weak_arcs import find_weak_arcs
from gpuasm.stages import Stage

_ROUNDS = (1 / 3, 2 / 3, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Strictness of each round; full rounds are repeated until one of them changes nothing."""


@dataclass
class Removed:
    """How many unitigs or arcs each rule took out."""

    tips: int = 0
    low_depth_connections: int = 0
    bubbles: int = 0
    weak_arcs: int = 0
    islands: int = 0
    rounds: int = field(default=0)

    @property
    def total(self) -> int:
        return self.tips + self.low_depth_connections + self.bubbles + self.weak_arcs + self.islands


def clean(graph: UnitigGraph, *, keep_islands: bool = False) -> tuple[UnitigGraph, Pieces, Removed]:
    """Remove errors from a graph.

    Parameters
    ----------
    graph
        The graph.
    keep_islands
        Whether unconnected unitigs stay, as they do while they may still be bridged to others.

    Returns
    -------
    The cleaned graph, the unitigs of ``graph`` it is made of, and what each rule removed.
    """
    pieces, removed = Pieces.identity(graph.n), Removed()
    for strictness in _ROUNDS:
        before = removed.total
        graph, pieces = _one_round(graph, pieces, strictness=strictness, removed=removed, keep_islands=keep_islands)
        removed.rounds += 1
        if strictness == 1.0 and removed.total == before:
            break
    return graph, pieces, removed


def _one_round(
    graph: UnitigGraph, pieces: Pieces, *, strictness: float, removed: Removed, keep_islands: bool
) -> tuple[UnitigGraph, Pieces]:
    for rule, name in (
        (find_low_depth_connections, "low_depth_connections"),
        (find_tips, "tips"),
        (find_bubbles, "bubbles"),
    ):
        marked = rule(graph, local_depth(graph), strictness=strictness)
        if marked.any():
            graph, pieces = compact(graph, pieces, is_removed=marked)
        setattr(removed, name, getattr(removed, name) + int(marked.sum()))
    weak = find_weak_arcs(graph, local_depth(graph), strictness=strictness)
    islands = np.zeros(graph.n, dtype=bool) if keep_islands else find_islands(graph)
    if weak.any() or islands.any():
        graph, pieces = compact(graph, pieces, is_removed=islands, arc_removed=weak)
    removed.weak_arcs += (int(weak.sum()) + 1) // 2  # an arc and its twin are one; some are their own twin
    removed.islands += int(islands.sum())
    return graph, pieces


def note_clean(stage: Stage, graph: UnitigGraph, removed: Removed) -> None:
    """Note in a stage what clean-up left and what it removed."""
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
