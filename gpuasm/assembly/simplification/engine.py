"""Simplification of a unitig graph: rules that remove errors and variants, in rounds of increasing strictness."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gpuasm.assembly.coverage.copy_number import one_copy_depth
from gpuasm.assembly.coverage.local_depth import local_depth
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, SIMPLIFICATION
from gpuasm.assembly.simplification.bubbles import find_bubbles
from gpuasm.assembly.simplification.dead_end_variants import find_dead_end_variants
from gpuasm.assembly.simplification.low_coverage import find_isolated, find_low_coverage_edges
from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.assembly.simplification.supported_branches import find_supported
from gpuasm.assembly.simplification.tips import find_tips
from gpuasm.stages import Stage


@dataclass
class Removed:
    """How many unitigs each rule removed, and in how many rounds."""

    tips: int = 0
    low_coverage_edges: int = 0
    bubbles: int = 0
    superbubbles: int = 0
    dead_end_variants: int = 0
    isolated_unitigs: int = 0
    rounds: int = field(default=0)

    @property
    def total(self) -> int:
        return sum(vars(self).values()) - self.rounds

    def __add__(self, other: Removed) -> Removed:
        """Return the sums of two simplifications of one k."""
        return Removed(*(own + its for own, its in zip(vars(self).values(), vars(other).values(), strict=True)))


def clean(
    graph: UnitigGraph,
    *,
    mode: Mode = ISOLATE,
    without: Collection[str] = (),
    keep_isolated: bool = False,
    few: float = COVERAGE.few_reads,
    windows_are_dense: bool = False,
    reach: int | None = None,
    protected_depth: float = np.inf,
    are_read: bool = True,
    merged: int = 0,
    window: float | None = None,
) -> tuple[UnitigGraph, SourceUnitigs, Removed]:
    """Remove errors, and variants that the mode does not keep, from a graph.

    Parameters
    ----------
    graph
        The graph.
    mode
        Mode of the sample.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    keep_isolated
        Whether isolated unitigs are kept, as while mercy k-mers may still connect them.
    few
        Depth of a few reads, which one error may explain.
    windows_are_dense
        Whether k is small compared with the reads: see `gpuasm.assembly.simplification.tips.find_tips`.
    reach
        k-mers that one error spoils, see `find_tips`; None takes the graph's k.
    protected_depth
        Depth from which a unitig is kept whatever the depth of competing branches.
    are_read
        Whether k-mers are windows of reads; those of fragments may contain the bases of another copy.
    merged
        Unitigs of superbubbles removed from earlier graphs: if these are many, the sample is a mixture.
    window
        Depth that one read, or one fragment, gives each of its k-mers; None takes a third of ``few``.

    Returns
    -------
    The cleaned graph, its source unitigs in ``graph``, and what each rule removed.
    """
    sources, removed = SourceUnitigs.identity(graph.n), Removed()
    active = mode.rules((*without, "isolated-unitigs") if keep_isolated else without)
    rules = _Rules(
        mode,
        active,
        few=few,
        windows_are_dense=windows_are_dense,
        reach=reach,
        protected_depth=protected_depth,
        merged=merged if are_read else None,
        window=few / COVERAGE.few_reads if window is None else window,
    )
    for strictness in SIMPLIFICATION.round_strictness:
        before = removed.total
        graph, sources = rules.one_round(graph, sources, strictness=strictness, removed=removed)
        removed.rounds += 1
        if strictness == 1.0 and removed.total == before:
            break
    return graph, sources, removed


class _Rules:
    """The active rules of simplification, with the thresholds of one mode."""

    def __init__(
        self,
        mode: Mode,
        active: frozenset[str],
        *,
        few: float,
        windows_are_dense: bool,
        reach: int | None,
        protected_depth: float,
        merged: int | None,
        window: float,
    ) -> None:
        few_reads: dict[str, Any] = {"few": few, "judges_few": "few-reads" in active}
        self.parameters, self.active, self.protected_depth = mode.parameters, active, protected_depth
        keeps_variants, keeps_minor = self.parameters.keeps_variants, self.parameters.keeps_minor_genomes
        variants: dict[str, Any] = {"keeps_variants": keeps_variants, "error_rate": mode.error_rate}
        # A minor genome's branch is rare next to a related dominant one, but no error; strains are merged below.
        branches = variants | {"keeps_variants": keeps_variants or keeps_minor}
        every: tuple[tuple[str, Callable[..., np.ndarray]], ...] = (
            (
                "low_coverage_edges",
                partial(find_low_coverage_edges, keeps_relatives=keeps_minor, **few_reads, **variants),
            ),
            ("tips", partial(find_tips, windows_are_dense=windows_are_dense, reach=reach, **few_reads)),
            ("bubbles", partial(find_bubbles, **few_reads, **branches)),
        )
        self.local_rules = [(name, rule) for name, rule in every if name.replace("_", "-") in active]
        self.window, self.error_rate = window, mode.error_rate
        self.merged = merged
        self._known: tuple[UnitigGraph, np.ndarray] | None = None
        self.keeps_supported = "supported-branches" in active
        self.merges_variants = "superbubbles" in active
        self.merges_dead_ends = self.parameters.merges_dead_ends and "dead-end-variants" in active

    def one_round(
        self, graph: UnitigGraph, sources: SourceUnitigs, *, strictness: float, removed: Removed
    ) -> tuple[UnitigGraph, SourceUnitigs]:
        for name, rule in self.local_rules:
            marked = rule(graph, self._nearby(graph), strictness=strictness) & (graph.depth < self.protected_depth)
            if self.keeps_supported and marked.any():
                nearby = self._nearby(graph)
                marked &= ~find_supported(graph, nearby, window=self.window, error_rate=self.error_rate)
            graph, sources = self._remove(marked, (graph, sources), name, removed)
        if strictness == 1.0 and self.merges_variants:
            marked = self._superbubble_variants(graph, removed)
            graph, sources = self._remove(marked, (graph, sources), "superbubbles", removed)
        if strictness == 1.0 and self.merges_dead_ends:
            marked = find_dead_end_variants(graph)
            graph, sources = self._remove(marked, (graph, sources), "dead_end_variants", removed)
        removes_isolated = "isolated-unitigs" in self.active
        marked = find_isolated(graph) if removes_isolated else np.zeros(graph.n, dtype=bool)
        return self._remove(marked, (graph, sources), "isolated_unitigs", removed)

    def _superbubble_variants(self, graph: UnitigGraph, removed: Removed) -> np.ndarray:
        minor_share = np.inf
        if self.merged is not None:
            n_merged = self.merged + removed.superbubbles
            is_mixture = n_merged * SIMPLIFICATION.superbubble_spacing > graph.n_kmers.sum()
            minor_share = np.inf if is_mixture else self.parameters.minor_variant_share
        # A larger k resolves the genomes of a community; the rest is merged in the last graph (`contained_variants`).
        copy = one_copy_depth(graph, self.parameters.depth_model)
        ends_below = self.parameters.superbubble_max_depth
        return find_superbubble_variants(graph, copy, minor_share=minor_share, ends_below=ends_below)

    @staticmethod
    def _remove(
        marked: np.ndarray, made: tuple[UnitigGraph, SourceUnitigs], rule: str, removed: Removed
    ) -> tuple[UnitigGraph, SourceUnitigs]:
        setattr(removed, rule, getattr(removed, rule) + int(marked.sum()))
        return compact(*made, is_removed=marked) if marked.any() else made

    def _nearby(self, graph: UnitigGraph) -> np.ndarray:
        if self._known is None or self._known[0] is not graph:  # a rule that marks nothing returns the same graph
            self._known = graph, local_depth(graph, self.parameters.depth_model)
        return self._known[1]


def note_simplified(stage: Stage, graph: UnitigGraph, removed: Removed) -> None:
    """Note in a stage the size of the cleaned graph and what each rule removed."""
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
