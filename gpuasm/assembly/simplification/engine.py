"""Simplification of a unitig graph: rules that remove errors and variants, in rounds of increasing strictness.

In a community variants are kept at each k: reads and fragments of a larger k show which of them are adjacent, and
merging at a small k would leave gaps in the minor genome. Only superbubbles of low depth are merged at each k, as no
larger k resolves them. In the last graph, before pairs are used, superbubble variants and dead-end variants are merged.
A branch of twice the depth of its sibling is left to the dominant paths, which keep both.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace

import numpy as np

from gpuasm.assembly.coverage.copy_number import local_depth, one_copy_depth
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, PATHS, SIMPLIFICATION, ModeParameters
from gpuasm.assembly.simplification.branches import (
    RuleLimits,
    find_isolated,
    find_low_coverage_edges,
    find_supported,
    find_tips,
)
from gpuasm.assembly.simplification.sibling_branches import find_bubbles, find_dead_end_variants
from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.stages import Stage

_LOCAL_RULES = {"low_coverage_edges": find_low_coverage_edges, "tips": find_tips, "bubbles": find_bubbles}
"""The rules that compare a branch with its surroundings, in their order."""


@dataclass
class Removed:
    """How many unitigs each rule removed, and in how many rounds."""

    tips: int = 0
    low_coverage_edges: int = 0
    bubbles: int = 0
    superbubbles: int = 0
    dead_end_variants: int = 0
    isolated_unitigs: int = 0
    rounds: int = 0

    @property
    def total(self) -> int:
        return sum(vars(self).values()) - self.rounds

    def __add__(self, other: Removed) -> Removed:
        """Return the sums of two simplifications of one k."""
        return Removed(*(own + its for own, its in zip(vars(self).values(), vars(other).values(), strict=True)))


class _Cleaning:
    """A graph while rules remove unitigs from it."""

    def __init__(self, graph: UnitigGraph, parameters: ModeParameters) -> None:
        self.graph, self.sources, self.removed = graph, SourceUnitigs.identity(graph.n), Removed()
        self.parameters, self._is_compact = parameters, False
        self._nearby: np.ndarray | None = None

    @property
    def nearby(self) -> np.ndarray:
        """The local depth in the graph as it is."""
        if self._nearby is None:
            self._nearby = local_depth(self.graph, self.parameters.depth_model)
        return self._nearby

    @property
    def one_copy(self) -> np.ndarray:
        """The depth of one copy in the graph as it is."""
        return one_copy_depth(self.graph, self.parameters.depth_model)

    def remove(self, rule: str, marked: np.ndarray) -> None:
        """Remove the unitigs that a rule marked."""
        if marked.any():
            setattr(self.removed, rule, getattr(self.removed, rule) + int(marked.sum()))
            graph, is_compact = self.graph, self._is_compact
            self.graph, self.sources = compact(graph, self.sources, is_removed=marked, is_compact=is_compact)
            self._nearby, self._is_compact = None, True


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
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`.
    keep_isolated
        Whether isolated unitigs are kept, as while mercy k-mers may still connect them.
    few
        Depth of a few reads, which one error may explain.
    windows_are_dense
        Whether k is small compared with the reads: see `gpuasm.assembly.simplification.branches.RuleLimits`.
    reach
        k-mers that one error spoils, see `RuleLimits`; None takes the graph's k.
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
    parameters, active = mode.parameters, mode.rules(without)
    done, merges_variants = _Cleaning(graph, parameters), "bubbles" in active
    window = few / COVERAGE.few_reads if window is None else window
    local_rules = {name: rule for name, rule in _LOCAL_RULES.items() if name.replace("_", "-") in active}
    limits = RuleLimits(
        few=few,
        with_few="few-reads" in active,
        keeps_variants=parameters.keeps_variants,
        keeps_minor=parameters.keeps_minor_genomes,
        error_rate=mode.error_rate,
        windows_are_dense=windows_are_dense,
        reach=reach,
    )
    for strictness in SIMPLIFICATION.round_strictness:
        before, limits = done.removed.total, replace(limits, strictness=strictness)
        for name, rule in local_rules.items():
            marked = rule(done.graph, done.nearby, limits) & (done.graph.depth < protected_depth)
            if "supported-branches" in active and marked.any():
                marked &= ~find_supported(done.graph, done.nearby, window=window, error_rate=mode.error_rate)
            done.remove(name, marked)
        if limits.is_full and merges_variants and parameters.merges_superbubbles:
            _merge_superbubbles(done, merged=merged if are_read else None)
        if limits.is_full and merges_variants and parameters.merges_dead_ends:
            done.remove("dead_end_variants", find_dead_end_variants(done.graph))
        if "isolated-unitigs" in active and not keep_isolated:
            done.remove("isolated_unitigs", find_isolated(done.graph))
        done.removed.rounds += 1
        if limits.is_full and done.removed.total == before:
            break
    return done.graph, done.sources, done.removed


def _merge_superbubbles(done: _Cleaning, *, merged: int | None) -> None:
    """Merge superbubbles; of an isolate, those of similar branches only where there are many, as in a mixture."""
    minor_share = np.inf
    if merged is not None:
        n_merged = merged + done.removed.superbubbles
        is_mixture = n_merged * SIMPLIFICATION.superbubble_spacing > done.graph.n_kmers.sum()
        minor_share = np.inf if is_mixture else done.parameters.minor_variant_share
    ends_below = done.parameters.superbubble_max_depth
    marked = find_superbubble_variants(done.graph, done.one_copy, minor_share=minor_share, ends_below=ends_below)
    done.remove("superbubbles", marked)


def merge_final_variants(graph: UnitigGraph, mode: Mode) -> tuple[UnitigGraph, Removed]:
    """Remove variants from the cleaned last graph of a community until no more are found."""
    done, before = _Cleaning(graph, mode.parameters), -1
    while done.removed.total != before:
        before = done.removed.total
        done.remove("superbubbles", find_superbubble_variants(done.graph, done.one_copy))
        # One difference spoils k k-mers: a longer dead end contains sequence of its own.
        marked = find_dead_end_variants(done.graph, longest=graph.k, max_ratio=PATHS.dominant_min_ratio)
        done.remove("dead_end_variants", marked)
        done.removed.rounds += 1
    return done.graph, done.removed


def note_simplified(stage: Stage, graph: UnitigGraph, removed: Removed) -> None:
    """Note in a stage the size of the cleaned graph and what each rule removed."""
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
