"""The first k-mer graph, built from solid k-mers, cleaned, its gaps bridged, and its junction-spanning reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.alignment.reads_on_unitigs import UnitigAlignments, align_to_unitigs
from gpuasm.assembly.coverage.graph_depth import DEPTH_SCALE, bounded_weight
from gpuasm.assembly.coverage.sample_mode import Mode, choose_mode
from gpuasm.assembly.ends.end_joining import overlapping_end_segments
from gpuasm.assembly.ends.mercy_kmers import add_mercy_kmers, bridging_segments
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.kmer_graph import KmerGraph, cleaned_columns
from gpuasm.assembly.graph.piece_joining import PieceLinks, all_pieces, join_pieces, pieces_of_unitigs
from gpuasm.assembly.graph.unitig_graph import CountedGraph, JoinedGraph, UnitigGraph
from gpuasm.assembly.iteration.first_kmer_size import (
    FirstCount,
    count_anew,
    count_elsewhere,
    count_first,
    misses_minor_genomes,
)
from gpuasm.assembly.iteration.fragment_graphs import k_values_of_reads
from gpuasm.assembly.iteration.junction_reads import select_junction_reads
from gpuasm.assembly.iteration.read_correction import correct_reads
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.pairs.links import SpanningPairs, spanning_pairs
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.assembly.simplification.engine import Removed, clean, note_simplified
from gpuasm.assembly.state import AssemblyState
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.kmers.counting import count_followers
from gpuasm.kmers.pieces import Pieces, compact_kmers, compact_tables
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.reads import Reads, count_windows, lengths_of
from gpuasm.stages import Stage, Stages


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
    lengths = lengths_of(reads)
    n_bases = count_windows(lengths, 1)
    if graph:
        counted, rules, first = _start_from(graph, reads, options, stages)
        del graph
    else:
        counted, rules, first = _start(reads, lengths, options, stages=stages, devices=devices)
    k, is_low_coverage = counted.k, counted.is_low_coverage
    k_values, spectrum = counted.k_values, counted.spectrum
    aligned, junction_reads, names = _first_junction_reads(reads, first.kmer_graph, stages)
    steps = _steps(options)
    # At low coverage many true ends look like tips until gaps are bridged; clean-up would remove them too early.
    for step, (name, find_segments) in enumerate(steps[:1] + steps if is_low_coverage else steps):
        with stages.stage(name, k=k) as stage:
            segments = find_segments(reads, (aligned, junction_reads, names), first.kmer_graph)
            stage.note(bridges=segments.n_segments)
        if segments.n_segments or (is_low_coverage and find_segments is _bridging):
            before, held = first.removed, first.held
            rules = replace(rules, mode=first.mode, merged=before.superbubbles)
            pieces = partial(_with_mercy, held, add_mercy_kmers(held[0], first.kmer_graph, segments))
            del first, aligned, junction_reads, names  # the next ones take as much memory
            keeps = is_low_coverage and step == 0  # isolated_unitigs may still be bridged to others
            cleaned = _clean_graph(pieces, reads, rules, stages=stages, has_mercy=True, keep_isolated=keeps)
            first = _index_kmers(cleaned, array_namespace(reads.packed))
            del cleaned, pieces
            first = replace(first, removed=before + first.removed)
            aligned, junction_reads, names = _first_junction_reads(reads, first.kmer_graph, stages)
    first.held.clear()
    rules_of_mode = first.mode.rules(options.without)
    if "read-correction" in rules_of_mode:
        junction_reads, names, n_bases = _corrected((junction_reads, names), first.kmer_graph, n_bases, stages=stages)
    with stages.stage("find pairs across junctions", k=k) as stage:
        spanning = spanning_pairs(reads, aligned, first.kmer_graph)
        _note_pairs(stage, spanning)
    high_coverage_k: tuple[int, ...] = ()
    if spanning and options.may_use_fragments:
        is_one = not first.mode.is_community
        k_values, high_coverage_k = k_values_of_reads(
            k_values, first.kmer_graph.graph, spanning, lengths=lengths, is_one_organism=is_one
        )
        high_coverage_k = high_coverage_k if "high-coverage-reads" in rules_of_mode else ()
    removed = {k: asdict(first.removed)}
    known = (
        k_values,
        lengths,
        spectrum,
        removed,
        replace(first.kmer_graph, index=None),
        junction_reads,
        names,
        n_bases,
    )
    return AssemblyState(
        *known, mode=first.mode, without=options.without, spanning=spanning, high_coverage_k=high_coverage_k
    )


def _start(
    reads: Reads, lengths: np.ndarray, options: AssemblyOptions, *, stages: Stages, devices: DeviceGroup
) -> tuple[FirstCount, _Rules, _FirstGraph]:
    """Count the first k and build its graph; again with a smaller k where minor genomes need one.

    The tables of the count are emptied.
    """
    counted, xp = count_first(reads, options, stages, devices=devices), array_namespace(reads.packed)
    rules = _Rules.of(counted, options.mode, options.without)
    pieces = partial(compact_tables, counted.tallies, xp, devices=devices)
    cleaned = _clean_graph(pieces, reads, rules, stages=stages, cleans=not counted.is_low_coverage)
    n_kmers = cleaned.joined[0].count.size
    if cleaned.mode.is_community and misses_minor_genomes(counted, n_kmers, cleaned.graph, options):
        mode, held = cleaned.mode, cleaned.joined
        del cleaned  # the next one takes as much memory
        counted = count_anew(reads, held, lengths, options=options, stages=stages, devices=devices)
        rules = _Rules.of(counted, mode, options.without)
        pieces = partial(compact_tables, counted.tallies, xp, devices=devices)
        cleaned = _clean_graph(pieces, reads, rules, stages=stages, cleans=False)
    return counted, rules, _index_kmers(cleaned, xp)


def _start_from(
    graph: CountedGraph, reads: Reads, options: AssemblyOptions, stages: Stages
) -> tuple[FirstCount, _Rules, _FirstGraph]:
    """Build the first graph from one in counts of reads."""
    counted, held = count_elsewhere(reads, options, graph), [graph.joined]
    rules = _Rules.of(counted, options.mode, options.without)
    cleaned = _clean_graph(
        lambda: [pieces_of_unitigs(held.pop())], reads, rules, stages=stages, cleans=not counted.is_low_coverage
    )
    return counted, rules, _index_kmers(cleaned, array_namespace(reads.packed))


def _with_mercy(held: list[JoinedGraph], new: Tally) -> list[Pieces]:
    """Return the pieces of a graph, which is taken out of its list, and of its new k-mers."""
    return [pieces_of_unitigs(held.pop()), compact_kmers(new, is_two_sided=True)]


_Found = tuple[UnitigAlignments, Reads, Array]
"""Alignments of reads to unitigs, the junction-spanning reads, and the names of their windows."""
_Step = tuple[str, Callable[[Reads, _Found, KmerGraph], Reads]]


def _steps(options: AssemblyOptions) -> tuple[_Step, ...]:
    """Return the functions that find segments across the gaps of the first graph, by the names of their stages."""
    steps = (("bridge gaps", "mercy-kmers", _bridging), ("join overlapping ends", "end-overlaps", _overlapping))
    return tuple((name, _no_segments if rule in options.without else find) for name, rule, find in steps)


def _bridging(_: Reads, found: _Found, kmer_graph: KmerGraph) -> Reads:
    return bridging_segments(*found[1:], kmer_graph)


def _no_segments(reads: Reads, found: _Found, _: KmerGraph) -> Reads:  # noqa: ARG001 - as the others are called
    return found[1].select(slice(0))


def _overlapping(reads: Reads, found: _Found, kmer_graph: KmerGraph) -> Reads:
    return overlapping_end_segments(reads, found[0], kmer_graph)


def _note_pairs(stage: Stage, spanning: SpanningPairs | None) -> None:
    if spanning:
        inserts = spanning.inserts
        stage.note(
            pairs=spanning.reads.n_segments // 2, insert_mean=round(inserts.mean, 1), insert_sd=round(inserts.sd, 1)
        )


@dataclass(frozen=True)
class _Cleaned:
    """The graph of the first k before simplification, in a list, and after it."""

    joined: list[JoinedGraph]
    graph: UnitigGraph
    sources: SourceUnitigs
    removed: Removed
    mode: Mode


@dataclass(frozen=True)
class _FirstGraph:
    """The cleaned graph of the first k, and in a list the counts and edges of its windows."""

    kmer_graph: KmerGraph
    removed: Removed
    held: list[JoinedGraph]
    mode: Mode


@dataclass(frozen=True)
class _Rules:
    """How to build and clean the first graph.

    Its k, how often an edge must occur, the depth of one window in units, the mode if known, the rules to leave out,
    the depth of the rarest solid k-mers, substitutions a base, and how many k-mers of superbubbles were removed before.
    """

    k: int
    min_follow: int
    weight: int
    mode: Mode | str
    without: tuple[str, ...]
    least_depth: float
    error_rate: float
    merged: int = 0

    @classmethod
    def of(cls, counted: FirstCount, mode: Mode | str, without: tuple[str, ...]) -> _Rules:
        spectrum, weight = counted.spectrum, counted.weight
        error_rate = spectrum.error_rate or 0.0
        if isinstance(mode, Mode):
            mode = replace(mode, error_rate=error_rate)
        least_depth = spectrum.threshold * weight / DEPTH_SCALE
        return cls(counted.k, min(2, spectrum.threshold), weight, mode, without, least_depth, error_rate)


def _clean_graph(
    make_pieces: Callable[[], list[Pieces]],
    reads: Reads,
    rules: _Rules,
    *,
    stages: Stages,
    has_mercy: bool = False,
    keep_isolated: bool = False,
    cleans: bool = True,
) -> _Cleaned:
    """Build the graph of pieces of unitigs, and simplify it."""
    k = rules.k
    with stages.stage("build graph", k=k) as stage:
        held, xp = [all_pieces(make_pieces())], array_namespace(reads.packed)
        weight, followers = bounded_weight(held[0], rules.weight), partial(count_followers, reads, k)
        links = PieceLinks.of(held[0], xp, min_follow=rules.min_follow, is_two_sided=has_mercy, followers=followers)
        joined = join_pieces(held, links, unit=DEPTH_SCALE, weight=weight)
        del links
        stage.note(unitigs=joined.graph.n)
    mode = rules.mode
    if isinstance(mode, str):
        mode = choose_mode(mode, joined.graph, least_depth=rules.least_depth)
        mode = replace(mode, error_rate=rules.error_rate)
    graph, sources, removed = joined.graph, SourceUnitigs.identity(joined.graph.n), Removed()
    with stages.stage("clean graph", k=k) as stage:
        if cleans:
            graph, sources, removed = clean(
                graph,
                mode=mode,
                without=rules.without,
                keep_isolated=keep_isolated,
                few=COVERAGE.few_reads * rules.weight / DEPTH_SCALE,
                windows_are_dense=True,
                merged=rules.merged,
            )
        note_simplified(stage, graph, removed)
    return _Cleaned([joined], graph, sources, removed, mode)


def _index_kmers(cleaned: _Cleaned, xp: Any) -> _FirstGraph:
    """Return the cleaned graph with its k-mers numbered along its unitigs; that before simplification is freed."""
    held = [cleaned_columns(cleaned.joined, (cleaned.graph, cleaned.sources))]
    return _FirstGraph(KmerGraph.of(cleaned.graph, xp).with_index(), cleaned.removed, held, cleaned.mode)


def _first_junction_reads(reads: Reads, kmer_graph: KmerGraph, stages: Stages) -> _Found:
    with stages.stage("find reads across junctions", k=kmer_graph.graph.k) as stage:
        aligned = align_to_unitigs(reads, kmer_graph)
        junction_reads = select_junction_reads(reads, aligned)
        stage.note(reads=junction_reads.n_segments)
        return aligned, junction_reads, kmer_graph.text_index.name_windows(junction_reads)


def _corrected(
    junction_reads: tuple[Reads, Array], kmer_graph: KmerGraph, n_bases: int, *, stages: Stages
) -> tuple[Reads, Array, int]:
    """Return the junction-spanning reads without their errors, and the bases of all reads in windows without errors.

    Depths come from the first graph, which has no window with an error; corrected reads must not count for more. In a
    community the k-mers of minor genomes look like errors, so its reads are not corrected.
    """
    with stages.stage("correct reads", k=kmer_graph.graph.k) as stage:
        found = correct_reads(*junction_reads, kmer_graph)
        stage.note(bases=found.n_corrected, windows=found.n_named, windows_added=found.n_added)
    if found.n_added:
        n_bases = n_bases * found.n_named // (found.n_named + found.n_added)
    return found.reads, found.names, n_bases
