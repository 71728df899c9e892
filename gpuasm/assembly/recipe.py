"""The recipe: reads to contigs, top to bottom.

1. Count 31-mers; the spectrum says which are solid.
2. The graph of the solid k-mers and the edges seen in reads; its unitigs; clean-up; gaps that single reads bridge.
3. For each larger k: keep the reads that cross a junction, carry the unitigs, count, and build and clean the graph.
4. Pairs are joined to fragments, which carry k beyond the reads; the last graph is resolved by what pairs link. In a
   community variants that no k tells apart are merged before, and what is deep goes on into what is deep after it.
5. The unitigs of that graph are the contigs. Reads laid back on them mend what is wrong and tell their depth; where
   pairs tell the distance only, contigs make scaffolds with gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.assembly.cleaning.cleaning import note_clean
from gpuasm.assembly.cleaning.last_variants import merge_last_variants
from gpuasm.assembly.consensus.consensus import Checked, check_contigs
from gpuasm.assembly.consensus.guesses import GUESSES
from gpuasm.assembly.consensus.variants import find_variants
from gpuasm.assembly.contigs import Contig, make_contigs
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.fragment_levels import with_fragments
from gpuasm.assembly.gap_closing import close_gaps
from gpuasm.assembly.graph.deep_ways import follow_deep_ways
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import ISOLATE, Mode
from gpuasm.assembly.next_level import climb
from gpuasm.assembly.options import STAGES, AssemblyOptions
from gpuasm.assembly.pairs.gaps import Gap, moved
from gpuasm.assembly.pairs.resolving import Resolved, resolve_pairs
from gpuasm.assembly.pairs.shallow_ways import tell_shared
from gpuasm.assembly.scaffolds import Scaffold, make_scaffolds
from gpuasm.assembly.state import AssemblyState
from gpuasm.errors import UsageError
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


@dataclass(frozen=True)
class Assembly:
    """The result of `assemble`.

    Attributes
    ----------
    checked : Checked
        The contigs and what the reads on them say.
    graph : UnitigGraph
        The last cleaned graph, resolved by pairs; contigs are its longer unitigs.
    spectrum : Spectrum
        Of the first k.
    k : tuple of int
        The values of k used.
    removed : dict
        For each k, what each clean-up rule removed.
    scaffolds : list of Scaffold, longest first
        Contigs in order, with gaps between; without pairs each contig by itself.
    mode : Mode
        What the sample was taken for.
    state : AssemblyState, or None
        What to go on from, where the assembly was stopped before its last stage.
    """

    checked: Checked
    graph: UnitigGraph
    spectrum: Spectrum
    k: tuple[int, ...]
    removed: dict[int, dict[str, int]] = field(default_factory=dict)
    scaffolds: list[Scaffold] = field(default_factory=list)
    mode: Mode = ISOLATE
    state: AssemblyState | None = None

    @property
    def contigs(self) -> list[Contig]:
        """The contigs, longest first."""
        return self.checked.contigs


def assemble(
    reads: Reads,
    options: AssemblyOptions | None = None,
    *,
    stages: Stages | None = None,
    keep_state: Callable[[AssemblyState], None] | None = None,
) -> Assembly:
    """Assemble reads into contigs; the same bytes on every device, for any number of threads and order of reads.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device; the work is done where they are.
    options
        What to do.
    stages
        Where to report progress and timings.
    keep_state
        Called after each k with what `resume` can go on from.

    Raises
    ------
    DataError
        If no read is as long as k, or no k-mer is solid.
    UsageError
        If the values of k cannot be used one after the other, or these are no reads or options.
    """
    if not isinstance(reads, Reads):
        raise UsageError("reads, as read_reads(...).reads", f"a {type(reads).__name__}", "take them out of a ReadSet")
    if options is not None and not isinstance(options, AssemblyOptions):
        raise UsageError("AssemblyOptions", f"a {type(options).__name__}", "write AssemblyOptions(k=(31, 61))")
    options, stages = options or AssemblyOptions(), stages or Stages()
    return resume(begin(reads, options, stages), reads, options, stages=stages, keep_state=keep_state)


def resume(
    state: AssemblyState,
    reads: Reads,
    options: AssemblyOptions,
    *,
    stages: Stages,
    keep_state: Callable[[AssemblyState], None] | None = None,
) -> Assembly:
    """Go on from a state, and the reads that it was made of, to the contigs; see `assemble`.

    A state beyond the stage that `options` stop after stays as it is. Whoever has no other use for it should not hold
    it meanwhile: the arrays of each k are then freed as soon as the next k does without them.
    """
    held = [state]
    del state
    if options.has("reads"):
        _climb_all(held, stages, keep_state)
    while options.has("fragments") and held[0].waits_for_fragments:
        held[0] = with_fragments(held[0], stages)
        _climb_all(held, stages, keep_state)
    state = held.pop()
    last = state
    if options.reaches("pairs") and not state.mode.is_one_organism and state.mode.merges_variants:
        last = _without_last_variants(state, stages)
    resolved = resolve_pairs(last, stages) if options.has("pairs") else Resolved(last.level.graph)
    graph, gaps = resolved.graph, resolved.gaps
    if "gap-closing" not in options.without:
        inserts = state.spanning.inserts if state.spanning else None
        aside, without = state.set_aside, options.without
        graph, gaps = close_gaps(resolved, reads, set_aside=aside, stages=stages, inserts=inserts, without=without)
    is_left = None
    if options.reaches("pairs") and not (state.mode.is_one_organism or "deep-ways" in state.without):
        graph, gaps, is_left = _along_deep_ways((graph, gaps), stages, without=state.without)
    contigs = make_contigs(graph, state.set_aside, min_length=1, is_left=is_left)
    contigs = _told_once(contigs, state, stages, xp=array_namespace(reads.words))
    checked = _check(contigs, reads, options, mode=state.mode, stages=stages)
    scaffolds = make_scaffolds(checked.contigs, gaps, graph, within=checked.joins)
    left = None if options.stop_after == STAGES[-1] else state
    return Assembly(checked, graph, state.spectrum, state.climbed, state.removed, scaffolds, state.mode, left)


def _without_last_variants(state: AssemblyState, stages: Stages) -> AssemblyState:
    """Return the state of a community with the variants of its last graph merged."""
    with stages.stage("merge last variants") as stage:
        graph, removed = merge_last_variants(state.level.graph, state.mode, without=state.without)
        note_clean(stage, graph, removed)
    return replace(state, level=replace(state.level, graph=graph))


def _along_deep_ways(
    resolved: tuple[UnitigGraph, list[Gap]], stages: Stages, *, without: Collection[str]
) -> tuple[UnitigGraph, list[Gap], np.ndarray]:
    """Return the graph of a community joined along its deep ways, the gaps in it, and the ends that others left."""
    graph, gaps = resolved
    with stages.stage("follow deep ways") as stage:
        shared, n = graph, 0
        if "shallow-ways" not in without:
            shared, gaps, n = tell_shared(graph, gaps)
        joined, pieces, is_left = follow_deep_ways(shared)
        stage.note(shared=n, joined=shared.n - joined.n, left=int(is_left.sum()))
    return joined, moved(gaps, joined, pieces), is_left


def _told_once(contigs: list[Contig], state: AssemblyState, stages: Stages, *, xp: Any) -> list[Contig]:
    if "variants" in state.without:
        return contigs
    with stages.stage("leave out variants") as stage:
        is_variant = find_variants(contigs, state.mode, xp=xp)
        stage.note(variants=int(is_variant.sum()))
    return [contig for contig, left_out in zip(contigs, is_variant.tolist(), strict=True) if not left_out]


def _check(contigs: list[Contig], reads: Reads, options: AssemblyOptions, *, mode: Mode, stages: Stages) -> Checked:
    if not options.has("check"):
        return Checked.by_kmers(contigs, min_length=options.min_contig_length)
    # How many fragments should span a place, and how deep a copy is, is known where all contigs are of one depth.
    rest = () if mode.is_isolate else (*GUESSES, "doubled-ends")
    without = (*options.without, *rest)
    with stages.stage("lay reads back") as stage:
        checked = check_contigs(contigs, reads, min_length=options.min_contig_length, without=without)
        stage.note(**checked.counts)
    return checked


def _climb_all(held: list[AssemblyState], stages: Stages, keep_state: Callable[[AssemblyState], None] | None) -> None:
    """Bring the one state of a list to the last k; it is taken out meanwhile, so that nobody else holds it."""
    for k in held[0].remaining:
        if keep_state:
            keep_state(held[0])
        held.append(climb(held.pop(), k, stages))
