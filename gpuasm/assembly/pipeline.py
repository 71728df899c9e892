"""The assembly pipeline: from reads to contigs and scaffolds.

1. Count k-mers of the first k; the spectrum determines which are solid.
2. Build the graph of the solid k-mers and of the edges that reads support, simplify it, and add mercy k-mers.
3. For each larger k: select the junction-spanning reads, pass the unitigs on, count, build and simplify the graph.
4. Join pairs into fragments, which allow values of k beyond the read length. Resolve repeats of the last graph by pair
   links. In a community, merge variants before, and join dominant paths after.
5. Make contigs of the unitigs. Align the reads to them for correction and depth; join contigs into scaffolds by pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gpuasm.arrays import release_device_memory
from gpuasm.assembly.contig import Contig, make_contigs
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.ends.end_joining import close_gaps
from gpuasm.assembly.graph.unitig_graph import CountedGraph, UnitigGraph
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.fragment_graphs import with_fragments
from gpuasm.assembly.iteration.next_graph import build_next_graph
from gpuasm.assembly.options import STAGES, AssemblyOptions
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.link_evidence import Gap, Resolved, move_gaps
from gpuasm.assembly.paths.dominant_paths import copy_shared_stretches, follow_dominant_paths
from gpuasm.assembly.paths.repeat_resolution import resolve_pairs
from gpuasm.assembly.scaffold import Scaffold, make_scaffolds
from gpuasm.assembly.simplification.engine import merge_final_variants, note_simplified
from gpuasm.assembly.state import AssemblyState
from gpuasm.assembly.verification.contig_checks import Checked, check_contigs
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
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
        The contigs, corrected and measured by the reads aligned to them.
    graph : UnitigGraph
        The last cleaned graph, resolved by pairs; contigs are its longer unitigs.
    spectrum : Spectrum
        Of the first k.
    k : tuple of int
        The values of k used.
    removed : dict
        Unitigs that each rule of simplification removed, for each k.
    scaffolds : list of Scaffold, longest first
        Contigs in order, with gaps between them; without pairs each scaffold is one contig.
    mode : Mode
        The mode of the sample.
    state : AssemblyState, or None
        The state to resume from, if the assembly was stopped before its last stage.
    inserts : InsertSizes, or None
        Insert sizes of pairs within unitigs, if enough were measured.
    """

    checked: Checked
    graph: UnitigGraph
    spectrum: Spectrum
    k: tuple[int, ...]
    removed: dict[int, dict[str, int]] = field(default_factory=dict)
    scaffolds: list[Scaffold] = field(default_factory=list)
    mode: Mode = ISOLATE
    state: AssemblyState | None = None
    inserts: InsertSizes | None = None

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
    first_graph: CountedGraph | None = None,
    devices: DeviceGroup = ONE_DEVICE,
) -> Assembly:
    """Assemble reads into contigs; the same bytes on every device, for any number of threads and order of reads.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device, where the assembly then runs.
    options
        Options of the assembly.
    stages
        Where to report progress and timings.
    keep_state
        Called after each k with a state for `resume`.
    first_graph
        The first graph of the reads, if they were counted elsewhere.
    devices
        Devices that share the counting and compaction of the first k. All other steps run where the reads are.

    Raises
    ------
    DataError
        If no read is as long as k, or no k-mer is solid.
    UsageError
        If the values of k cannot follow each other, or the arguments are not reads and options.
    """
    if not isinstance(reads, Reads):
        raise UsageError("reads, as read_reads(...).reads", f"a {type(reads).__name__}", "take them out of a ReadSet")
    if options is not None and not isinstance(options, AssemblyOptions):
        raise UsageError("AssemblyOptions", f"a {type(options).__name__}", "write AssemblyOptions(k=(31, 61))")
    options, stages = options or AssemblyOptions(), stages or Stages()
    held = [build_first_graph(reads, options, stages, graph=first_graph, devices=devices)]
    return resume(held.pop(), reads, options, stages=stages, keep_state=keep_state)


def resume(
    state: AssemblyState,
    reads: Reads,
    options: AssemblyOptions,
    *,
    stages: Stages,
    keep_state: Callable[[AssemblyState], None] | None = None,
) -> Assembly:
    """Continue from a state, and the reads that it was made of, to the contigs; see `assemble`.

    A state beyond the stage that `options` stop after is not changed. A caller that does not need the state should not
    keep a reference to it, so that the arrays of each k are freed once the next k does not need them.
    """
    held = [state]
    del state
    if options.has("reads"):
        _build_all(held, stages, keep_state)
    while options.has("fragments") and held[0].waits_for_fragments:
        held[0] = with_fragments(held[0], stages)
        _build_all(held, stages, keep_state)
    state = held.pop()
    if options.stop_after == STAGES[-1]:
        state = state.without_windows()
    last = state
    if options.reaches("pairs") and state.mode.parameters.merges_final_variants and "bubbles" in state.rules:
        with stages.stage("merge final variants") as stage:
            merged, removed = merge_final_variants(state.kmer_graph.graph, state.mode)
            note_simplified(stage, merged, removed)
        last = replace(state, kmer_graph=replace(state.kmer_graph, graph=merged))
    resolved = resolve_pairs(last, stages) if options.has("pairs") else Resolved(last.kmer_graph.graph)
    graph, gaps = resolved.graph, resolved.gaps
    inserts = state.spanning.inserts if state.spanning else None
    if "gap-closing" in state.rules:
        isolated, rules = state.isolated, state.rules
        graph, gaps = close_gaps(resolved, reads, isolated=isolated, stages=stages, inserts=inserts, rules=rules)
    is_abandoned = None
    if options.reaches("pairs") and "dominant-paths" in state.rules:
        graph, gaps, is_abandoned = _join_dominant_paths((graph, gaps), stages)
    contigs = make_contigs(graph, state.isolated, min_length=1, is_abandoned=is_abandoned)
    checked = _check(contigs, reads, options, state=state, stages=stages)
    scaffolds = make_scaffolds(checked.contigs, gaps, graph)
    kept = None if options.stop_after == STAGES[-1] else state
    return Assembly(checked, graph, state.spectrum, state.k_done, state.removed, scaffolds, state.mode, kept, inserts)


def _join_dominant_paths(
    resolved: tuple[UnitigGraph, list[Gap]], stages: Stages
) -> tuple[UnitigGraph, list[Gap], np.ndarray]:
    """Return the graph of a community joined along dominant paths, its gaps, and the ends that dominant paths left."""
    graph, gaps = resolved
    with stages.stage("join dominant paths") as stage:
        shared, gaps, n = copy_shared_stretches(graph, gaps)
        joined, sources, is_abandoned = follow_dominant_paths(shared)
        stage.note(shared=n, joined=shared.n - joined.n, abandoned=int(is_abandoned.sum()))
    return joined, move_gaps(gaps, joined, sources), is_abandoned


def _check(
    contigs: list[Contig], reads: Reads, options: AssemblyOptions, *, state: AssemblyState, stages: Stages
) -> Checked:
    if not options.has("check"):
        return Checked.by_kmers(contigs, min_length=options.min_contig_length)
    with stages.stage("align reads to contigs") as stage:
        by_pairs = state.mode.parameters.breaks_by_pairs
        least, rules = options.min_contig_length, state.rules
        checked = check_contigs(contigs, reads, min_length=least, rules=rules, breaks_by_pairs=by_pairs)
        stage.note(**checked.counts)
    return checked


def _build_all(held: list[AssemblyState], stages: Stages, keep_state: Callable[[AssemblyState], None] | None) -> None:
    """Build the graphs up to the last k; the list hands over its one state, so that its arrays can be freed."""
    for k in held[0].remaining:
        if keep_state:
            keep_state(held[0])
        release_device_memory()  # arrays of this k have other sizes: free blocks of the last one would lie idle
        held.append(build_next_graph(held.pop(), k, stages))
