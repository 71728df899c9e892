"""Clean-up of a unitig graph: rules that remove what errors made, in rounds of rising strictness."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gpuasm.assembly.cleaning.bubbles import find_bubbles
from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.cleaning.low_depth import find_islands, find_low_depth_connections
from gpuasm.assembly.cleaning.shown import find_shown
from gpuasm.assembly.cleaning.similar_ends import find_similar_ends
from gpuasm.assembly.cleaning.similar_ways import MINORITY, SPARSE, find_similar_ways
from gpuasm.assembly.cleaning.tips import find_tips
from gpuasm.assembly.graph.compaction import Pieces, compact
from gpuasm.assembly.graph.local_depth import local_depth
from gpuasm.assembly.graph.one_copy import one_copy_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import ISOLATE, Mode
from gpuasm.stages import Stage

THIN = 10.0
"""What two members of a community share is less deep: the rarer of them has less than five reads over a base at this k,
fewer at each larger one, and none of these tells the two apart. So they are merged at each k, as differing copies and
errors of one thin member are. (Merging none leaves a virome of 25,000 pairs 8 % less in contigs of 500 bases and more;
merging below 20 takes a strain at 6x beside one at 16x a fifth of its genome.)"""
_ROUNDS = (1 / 3, 2 / 3, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Strictness of each round; full rounds are repeated until one of them changes nothing."""


@dataclass
class Removed:
    """How many unitigs each rule took out."""

    tips: int = 0
    low_depth_connections: int = 0
    bubbles: int = 0
    similar_ways: int = 0
    similar_ends: int = 0
    islands: int = 0
    rounds: int = field(default=0)

    @property
    def total(self) -> int:
        return sum(vars(self).values()) - self.rounds

    def __add__(self, other: Removed) -> Removed:
        """Return what two clean-ups of one k removed, together."""
        return Removed(*(own + its for own, its in zip(vars(self).values(), vars(other).values(), strict=True)))


def clean(
    graph: UnitigGraph,
    *,
    mode: Mode = ISOLATE,
    without: Collection[str] = (),
    keep_islands: bool = False,
    few: float = FEW_READS,
    windows_are_dense: bool = False,
    reach: int | None = None,
    shown_from: float = np.inf,
    are_read: bool = True,
    merged: int = 0,
) -> tuple[UnitigGraph, Pieces, Removed]:
    """Remove errors from a graph.

    Parameters
    ----------
    graph
        The graph.
    mode
        What the sample is: islands go from an isolate, and strains' variants stay where they are asked for.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    keep_islands
        Whether unconnected unitigs stay, as they do while they may still be bridged to others.
    few
        Depth below which there are but a few reads.
    windows_are_dense
        Whether k is small beside the reads: see `gpuasm.assembly.cleaning.tips.find_tips`.
    reach
        k-mers that one error spoils, see `find_tips`; None takes the graph's k.
    shown_from
        Depth from which a unitig stays however deep others are.
    are_read
        Whether k-mers are windows of reads, and not of fragments, between whose mates may be another copy's bases.
    merged
        Unitigs that similar ways took out of earlier graphs: where these are many, the sample is a mixture.

    Returns
    -------
    The cleaned graph, the unitigs of ``graph`` it is made of, and what each rule removed.
    """
    pieces, removed = Pieces.identity(graph.n), Removed()
    left_out = frozenset(without) | ({"islands"} if keep_islands or not mode.is_isolate else set())
    rules = _Rules(
        mode,
        left_out,
        few=few,
        windows_are_dense=windows_are_dense,
        reach=reach,
        shown_from=shown_from,
        merged=merged if are_read else None,
    )
    for strictness in _ROUNDS:
        before = removed.total
        graph, pieces = rules.one_round(graph, pieces, strictness=strictness, removed=removed)
        removed.rounds += 1
        if strictness == 1.0 and removed.total == before:
            break
    return graph, pieces, removed


class _Rules:
    """The rules of clean-up as one mode, and what is left out, let them be."""

    def __init__(
        self,
        mode: Mode,
        without: frozenset[str],
        *,
        few: float,
        windows_are_dense: bool,
        reach: int | None,
        shown_from: float,
        merged: int | None,
    ) -> None:
        of_few: dict[str, Any] = {"few": few, "judges_few": "few-reads" not in without}
        variants: dict[str, Any] = {"keeps_variants": mode.keeps_variants, "error_rate": mode.error_rate}
        # Of two members that are related the shallower's branch is rare, but no error; strains' are merged below. What
        # errors cannot have made stays, however rare: of S. enterica, 10-fold beside E. coli's 100, 5 % were lost.
        of_many = not mode.is_one_organism
        branches = variants | {"keeps_variants": mode.keeps_variants or of_many}
        every: tuple[tuple[str, Callable[..., np.ndarray]], ...] = (
            (
                "low_depth_connections",
                partial(find_low_depth_connections, keeps_relatives=of_many, **of_few, **variants),
            ),
            ("tips", partial(find_tips, windows_are_dense=windows_are_dense, reach=reach, **of_few)),
            ("bubbles", partial(find_bubbles, **of_few, **branches)),
        )
        self.of_unitigs = [(name, rule) for name, rule in every if name.replace("_", "-") not in without]
        self.mode, self.without, self.shown_from = mode, without, shown_from
        self.few = few
        self.merged = merged
        self._known: tuple[UnitigGraph, np.ndarray] | None = None
        self.shows_branches = branches["keeps_variants"] and windows_are_dense and "shown-branches" not in without
        self.merges_variants = mode.merges_variants and "similar-ways" not in without
        self.merges_ends = mode.merges_variants and mode.is_population and "similar-ends" not in without

    def one_round(
        self, graph: UnitigGraph, pieces: Pieces, *, strictness: float, removed: Removed
    ) -> tuple[UnitigGraph, Pieces]:
        for name, rule in self.of_unitigs:
            marked = rule(graph, self._nearby(graph), strictness=strictness) & (graph.depth < self.shown_from)
            if self.shows_branches:
                marked &= ~find_shown(graph, few=self.few)
            graph, pieces = self._without(marked, (graph, pieces), name, removed)
        if strictness == 1.0 and self.merges_variants:
            graph, pieces = self._without(self._similar(graph, removed), (graph, pieces), "similar_ways", removed)
        if strictness == 1.0 and self.merges_ends:
            graph, pieces = self._without(find_similar_ends(graph), (graph, pieces), "similar_ends", removed)
        islands = np.zeros(graph.n, dtype=bool) if "islands" in self.without else find_islands(graph)
        return self._without(islands, (graph, pieces), "islands", removed)

    def _similar(self, graph: UnitigGraph, removed: Removed) -> np.ndarray:
        minority = np.inf
        if self.mode.is_isolate and self.merged is not None:
            is_mixture = (self.merged + removed.similar_ways) * SPARSE > graph.n_kmers.sum()
            minority = np.inf if is_mixture else MINORITY
        # Larger k tells a community's members apart; what it cannot is merged at last (`last_variants`).
        ends_below = np.inf if self.mode.is_one_organism else THIN
        return find_similar_ways(graph, one_copy_depth(graph, self.mode), minority=minority, ends_below=ends_below)

    @staticmethod
    def _without(
        marked: np.ndarray, made: tuple[UnitigGraph, Pieces], rule: str, removed: Removed
    ) -> tuple[UnitigGraph, Pieces]:
        setattr(removed, rule, getattr(removed, rule) + int(marked.sum()))
        return compact(*made, is_removed=marked) if marked.any() else made

    def _nearby(self, graph: UnitigGraph) -> np.ndarray:
        if self._known is None or self._known[0] is not graph:  # a rule that finds nothing leaves the graph as it is
            depth = local_depth(graph, is_isolate=self.mode.is_isolate, is_population=self.mode.is_population)
            self._known = graph, depth
        return self._known[1]


def note_clean(stage: Stage, graph: UnitigGraph, removed: Removed) -> None:
    """Note in a stage what clean-up left and what it removed."""
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
