"""The first k-mer graph, built from solid k-mers, cleaned, its gaps bridged, and its junction-spanning reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments, align_to_unitigs, repack
from gpuasm.assembly.coverage.graph_depth import bounded_weight
from gpuasm.assembly.coverage.sample_mode import Mode, choose_mode
from gpuasm.assembly.ends.end_joining import overlapping_end_segments
from gpuasm.assembly.ends.mercy_kmers import add_mercy_kmers, bridging_segments
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.kmer_graph import KmerGraph, cleaned_columns
from gpuasm.assembly.graph.piece_joining import PieceLinks, all_pieces, join_pieces, pieces_of_unitigs
from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE, CountedGraph, JoinedGraph, UnitigGraph
from gpuasm.assembly.iteration.first_kmer_size import (
    FirstCount,
    count_elsewhere,
    count_first,
    count_solid,
    k_for_minor_genomes,
)
from gpuasm.assembly.iteration.fragment_graphs import k_values_of_reads
from gpuasm.assembly.iteration.k_values import choose_k
from gpuasm.assembly.iteration.read_correction import correct_reads
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.pairs.links import spanning_pairs
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.assembly.simplification.engine import Removed, clean, note_simplified
from gpuasm.assembly.state import AssemblyState
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.kmers.counting import count_followers
from gpuasm.kmers.pieces import Pieces, compact_kmers, compact_tables
from gpuasm.kmers.tally import Tally
from gpuasm.primitives.counting import count_true
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


def build_first_graph(
    reads: Reads,
    options: AssemblyOptions,
    stages: Stages,
    *,
    graph: CountedGraph | None = None,
    devices: DeviceGroup = ONE_DEVICE,
) -> AssemblyState:
    """Build the k-mer graph of the first k, and select its junction-spanning reads and its spanning pairs.

    ``graph`` is that of the reads, if they were counted elsewhere; ``devices`` share the buckets of k-mers.
    """
    if graph:
        counted, held = count_elsewhere(reads, options, graph), [graph.joined]
        del graph
        first = _clean_graph(lambda: [pieces_of_unitigs(held.pop())], reads, counted, options, stages)
    else:
        counted, first = _start(reads, options, stages, devices=devices)
    k, k_values, n_bases, is_low_coverage = counted.k, counted.k_values, counted.n_bases, counted.is_low_coverage
    kmer_graph, found = _first_junction_reads(reads, first.graph, stages)
    # At low coverage many true ends look like tips until gaps are bridged; clean-up would remove them too early.
    for step, (name, rule) in enumerate(_STEPS[:1] + _STEPS if is_low_coverage else _STEPS):
        is_used = rule not in options.without
        with stages.stage(name, k=k) as stage:
            segments = _segments_across_gaps(rule, reads, found, kmer_graph) if is_used else found[1].select(slice(0))
            stage.note(bridges=segments.n_segments)
        if segments.n_segments or (is_low_coverage and rule == "mercy-kmers" and is_used):
            removed, mode, held = first.removed, first.mode, first.held
            pieces = partial(_with_mercy, held, add_mercy_kmers(held[0], kmer_graph, segments))
            del first, kmer_graph, found, segments  # the next ones take as much memory
            keeps = is_low_coverage and step == 0  # isolated unitigs may still be bridged to others
            first = _clean_graph(
                pieces, reads, counted, options, stages, mode=mode, before=removed, keep_isolated=keeps
            )
            del pieces
            kmer_graph, found = _first_junction_reads(reads, first.graph, stages)
    first.held.clear()
    aligned, junction_reads, names = found
    del found
    rules_of_mode = first.mode.rules(options.without)
    if "read-correction" in rules_of_mode:
        junction_reads, names, n_bases = _corrected((junction_reads, names), kmer_graph, n_bases, stages=stages)
    with stages.stage("find pairs across junctions", k=k) as stage:
        spanning = spanning_pairs(reads, aligned, kmer_graph)
        if spanning:
            mean, sd = round(spanning.inserts.mean, 1), round(spanning.inserts.sd, 1)
            stage.note(pairs=spanning.reads.n_segments // 2, insert_mean=mean, insert_sd=sd)
    high_coverage_k: tuple[int, ...] = ()
    if spanning and options.may_use_fragments:
        is_one = not first.mode.is_community
        k_values, high_coverage_k = k_values_of_reads(
            k_values, kmer_graph.graph, spanning, lengths=counted.lengths, is_one_organism=is_one
        )
    return AssemblyState(
        k_values=k_values,
        lengths=counted.lengths,
        spectrum=counted.spectrum,
        removed={k: asdict(first.removed)},
        kmer_graph=replace(kmer_graph, index=None),
        junction_reads=junction_reads,
        names=names,
        n_bases=n_bases,
        mode=first.mode,
        without=options.without,
        spanning=spanning,
        high_coverage_k=high_coverage_k if "high-coverage-reads" in rules_of_mode else (),
    )


def _start(
    reads: Reads, options: AssemblyOptions, stages: Stages, *, devices: DeviceGroup
) -> tuple[FirstCount, _FirstGraph]:
    """Count the first k and build its graph; again with a smaller k where minor genomes need one.

    The tables of the count are emptied.
    """
    counted = count_first(reads, options, stages, devices=devices)
    pieces_of = partial(compact_tables, xp=array_namespace(reads.packed), devices=devices)
    first = _clean_graph(partial(pieces_of, counted.tallies), reads, counted, options, stages)
    mode = first.mode
    k = k_for_minor_genomes(counted, first.graph, options) if mode.is_community else None
    if k is None:
        return counted, first
    del first  # the next one takes as much memory
    k_values = choose_k(counted.lengths, first=k)
    counted = count_solid(
        reads, counted.lengths, k_values, options=options, stages=stages, devices=devices, is_low_coverage=True
    )
    return counted, _clean_graph(partial(pieces_of, counted.tallies), reads, counted, options, stages, mode=mode)


def _with_mercy(held: list[JoinedGraph], new: Tally) -> list[Pieces]:
    """Return the pieces of a graph, which is taken out of its list, and of its new k-mers."""
    return [pieces_of_unitigs(held.pop()), compact_kmers(new, is_two_sided=True)]


_Found = tuple[UnitigAlignments, Reads, Array]
"""Alignments of reads to unitigs, the junction-spanning reads, and the names of their windows."""
_STEPS = (("bridge gaps", "mercy-kmers"), ("join overlapping ends", "end-overlaps"))
"""The stages that fill the gaps of the first graph, and their rules."""


def _segments_across_gaps(rule: str, reads: Reads, found: _Found, kmer_graph: KmerGraph) -> Reads:
    aligned, junction_reads, names = found
    if rule == "mercy-kmers":
        return bridging_segments(junction_reads, names, kmer_graph)
    return overlapping_end_segments(reads, aligned, kmer_graph)


@dataclass(frozen=True)
class _FirstGraph:
    """The cleaned graph of the first k, in a list with the counts and edges of its windows.

    Also the unitigs removed, and the mode.
    """

    held: list[JoinedGraph]
    removed: Removed
    mode: Mode

    @property
    def graph(self) -> UnitigGraph:
        return self.held[0].graph


def _clean_graph(
    make_pieces: Callable[[], list[Pieces]],
    reads: Reads,
    counted: FirstCount,
    options: AssemblyOptions,
    stages: Stages,
    *,
    mode: Mode | None = None,
    before: Removed | None = None,
    keep_isolated: bool = False,
) -> _FirstGraph:
    """Build the graph of pieces of unitigs, and simplify it unless coverage is low.

    Its depth shows the mode, if that is not known. ``before`` was removed from a graph of the same k, whose pieces have
    mercy k-mers; at low coverage these come before the simplification.
    """
    k, spectrum = counted.k, counted.spectrum
    with stages.stage("build graph", k=k) as stage:
        held, xp = [all_pieces(make_pieces())], array_namespace(reads.packed)
        weight, followers = bounded_weight(held[0], counted.weight), partial(count_followers, reads, k)
        least = min(2, spectrum.threshold)
        links = PieceLinks.of(held[0], xp, min_follow=least, is_two_sided=before is not None, followers=followers)
        joined = [join_pieces(held, links, unit=DEPTH_SCALE, weight=weight)]
        del links
        graph = joined[0].graph
        stage.note(unitigs=graph.n)
    if mode is None:
        mode = choose_mode(options.mode, graph, least_depth=spectrum.threshold * counted.weight / DEPTH_SCALE)
    mode = replace(mode, error_rate=spectrum.error_rate or 0.0)
    sources, removed = SourceUnitigs.identity(graph.n), Removed()
    with stages.stage("clean graph", k=k) as stage:
        if before or not counted.is_low_coverage:
            graph, sources, removed = clean(
                graph,
                mode=mode,
                without=options.without,
                keep_isolated=keep_isolated,
                few=COVERAGE.few_reads * counted.weight / DEPTH_SCALE,
                windows_are_dense=True,
                merged=before.superbubbles if before else 0,
            )
        note_simplified(stage, graph, removed)
    removed = before + removed if before else removed
    return _FirstGraph([cleaned_columns(joined, (graph, sources))], removed, mode)


def _first_junction_reads(reads: Reads, graph: UnitigGraph, stages: Stages) -> tuple[KmerGraph, _Found]:
    kmer_graph = KmerGraph.of(graph, array_namespace(reads.packed)).with_index()
    with stages.stage("find reads across junctions", k=graph.k) as stage:
        aligned = align_to_unitigs(reads, kmer_graph)
        junction_reads = repack(reads.select(array_namespace(reads.packed).flatnonzero(~aligned.contained)))
        stage.note(reads=junction_reads.n_segments)
        return kmer_graph, (aligned, junction_reads, kmer_graph.text_index.name_windows(junction_reads))


def _corrected(
    junction_reads: tuple[Reads, Array], kmer_graph: KmerGraph, n_bases: int, *, stages: Stages
) -> tuple[Reads, Array, int]:
    """Return the junction-spanning reads without their errors, and the bases of all reads in windows without errors.

    Depths come from the first graph, which has no window with an error; corrected reads must not count for more. In a
    community the k-mers of minor genomes look like errors, so its reads are not corrected.
    """
    n_named = count_true(junction_reads[1] >= 0)
    with stages.stage("correct reads", k=kmer_graph.graph.k) as stage:
        reads, names, n_corrected = correct_reads(*junction_reads, kmer_graph)
        n_added = count_true(names >= 0) - n_named
        stage.note(bases=n_corrected, windows=n_named, windows_added=n_added)
    if n_added:
        n_bases = n_bases * n_named // (n_named + n_added)
    return reads, names, n_bases
