"""The graph of the first k: solid k-mers, unitigs, clean-up, bridged gaps, and the reads that go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.assembly.carrying.correcting import correct_reads
from gpuasm.assembly.carrying.crossing import OnUnitigs, crossing_reads, find_on_unitigs
from gpuasm.assembly.carrying.mates import SpanningPairs, spanning_pairs
from gpuasm.assembly.carrying.mercy import bridging_pieces, with_mercy
from gpuasm.assembly.cleaning.cleaning import Removed, clean, note_clean
from gpuasm.assembly.cleaning.few_reads import FEW_READS
from gpuasm.assembly.consensus.meeting_ends import meeting_pieces
from gpuasm.assembly.first_k import FirstCount, count_anew, count_first, lengths_of, misses_members
from gpuasm.assembly.fragment_levels import ladder_of_reads
from gpuasm.assembly.graph.compaction import Pieces
from gpuasm.assembly.graph.debruijn import find_neighbours, two_sided
from gpuasm.assembly.graph.depth_units import UNIT, count_windows, worth_within
from gpuasm.assembly.graph.levels import Level, make_level, vertices_along
from gpuasm.assembly.graph.unitigs import build_unitigs
from gpuasm.assembly.modes import Mode, choose_mode
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stage, Stages


def begin(reads: Reads, options: AssemblyOptions, stages: Stages) -> AssemblyState:
    """Build the graph of the first k and find the reads that go on."""
    all_reads, lengths = reads, lengths_of(reads)
    n_bases = count_windows(lengths, 1)
    counted, rules, first = _start(reads, lengths, options, stages)
    reads, tally, k, is_thin = counted.reads, counted.tally, counted.k, counted.is_thin
    ladder, spectrum, min_follow = counted.ladder, counted.spectrum, rules.min_follow
    del counted
    laid, crossing, names = _first_crossing(reads, first.level, stages)
    steps = _steps(options)
    # Where coverage is thin, much that looks like a tip before bridges come is true, and gone before the others come.
    for step, (name, find_pieces) in enumerate(steps[:1] + steps if is_thin else steps):
        with stages.stage(name, k=k) as stage:
            pieces = find_pieces(reads, (laid, crossing, names), first.level)
            stage.note(bridges=pieces.n_pieces)
        if pieces.n_pieces or (is_thin and find_pieces is _bridging):
            tally = tally.narrowed(first.is_kept)
            before, rules = first.removed, replace(rules, mode=first.mode, merged=first.removed.similar_ways)
            del first, laid, crossing, names  # the next ones take as much memory
            reads, tally = with_mercy(reads, tally, pieces, min_follow=min_follow)
            keeps = is_thin and step == 0  # islands may still be bridged to others
            first = _first_graph(reads, tally, rules, stages=stages, has_mercy=True, keep_islands=keeps)
            first = replace(first, removed=before + first.removed)
            laid, crossing, names = _first_crossing(reads, first.level, stages)
    if reads.n_pieces < all_reads.n_pieces:  # mates were merged
        laid, crossing, names = _first_crossing(all_reads, first.level, stages)
    if first.mode.is_isolate and "read-errors" not in options.without:
        crossing, names, n_bases = _corrected((crossing, names), first.level, n_bases, stages=stages)
    with stages.stage("find pairs across junctions", k=k) as stage:
        spanning = spanning_pairs(all_reads, laid, first.level)
        _note_pairs(stage, spanning)
    deeper: tuple[int, ...] = ()
    if spanning and options.may_use_fragments:
        is_one = first.mode.is_one_organism
        ladder, deeper = ladder_of_reads(ladder, first.level.graph, spanning, lengths=lengths, is_one_organism=is_one)
        deeper = () if "deep-reads" in options.without else deeper
    removed = {k: asdict(first.removed)}
    known = (ladder, lengths, spectrum, removed, first.level, crossing, names, n_bases)
    return AssemblyState(*known, mode=first.mode, without=options.without, spanning=spanning, deeper=deeper)


def _start(
    reads: Reads, lengths: np.ndarray, options: AssemblyOptions, stages: Stages
) -> tuple[FirstCount, _Rules, _FirstGraph]:
    """Count the first k and make its graph; anew with a smaller k where the graph tells that thin members need one."""
    counted = count_first(reads, options, stages)
    rules = _Rules.of(counted, options.mode, options.without)
    first = _first_graph(counted.reads, counted.tally, rules, stages=stages, cleans=not counted.is_thin)
    if first.mode.is_one_organism or not misses_members(counted, first.level.graph, options):
        return counted, rules, first
    mode, held = first.mode, [counted]
    del first, counted  # the next ones take as much memory
    counted = count_anew(held, lengths, options, stages)
    rules = _Rules.of(counted, mode, options.without)
    return counted, rules, _first_graph(counted.reads, counted.tally, rules, stages=stages, cleans=False)


_Found = tuple[OnUnitigs, Reads, Array]
"""Where reads lie on unitigs, the reads across junctions, and the names of their windows."""
_Step = tuple[str, Callable[[Reads, _Found, Level], Reads]]


def _steps(options: AssemblyOptions) -> tuple[_Step, ...]:
    """Return what finds text for the gaps of the first graph, by the names of their stages."""
    steps: tuple[_Step, ...] = (("bridge gaps", _bridging), ("join meeting ends", _meeting))
    rules = ("bridges", "meeting-ends")
    return tuple(
        (name, _no_pieces if rule in options.without else find) for (name, find), rule in zip(steps, rules, strict=True)
    )


def _bridging(_: Reads, found: _Found, level: Level) -> Reads:
    return bridging_pieces(*found[1:], level)


def _no_pieces(reads: Reads, found: _Found, _: Level) -> Reads:  # noqa: ARG001 - as the others are called
    return found[1].select(slice(0))


def _meeting(reads: Reads, found: _Found, level: Level) -> Reads:
    return meeting_pieces(reads, found[0], level)


def _note_pairs(stage: Stage, spanning: SpanningPairs | None) -> None:
    if spanning:
        inserts = spanning.inserts
        stage.note(
            pairs=spanning.reads.n_pieces // 2, insert_mean=round(inserts.mean, 1), insert_sd=round(inserts.sd, 1)
        )


@dataclass(frozen=True)
class _FirstGraph:
    """The cleaned graph of the first k, and which k-mers of the tally are in it."""

    level: Level
    removed: Removed
    is_kept: Array
    mode: Mode


@dataclass(frozen=True)
class _Rules:
    """How to build and clean the first graph.

    How often an edge must have been seen, what a window is worth in units of depth, the mode if it is known, what to
    leave out, the depth of the rarest solid k-mers, substitutions a base, and what similar ways took out before.
    """

    min_follow: int
    worth: int
    mode: Mode | str
    without: tuple[str, ...]
    least_depth: float
    error_rate: float
    merged: int = 0

    @classmethod
    def of(cls, counted: FirstCount, mode: Mode | str, without: tuple[str, ...]) -> _Rules:
        spectrum, worth = counted.spectrum, counted.worth
        error_rate = spectrum.error_rate or 0.0
        if isinstance(mode, Mode):
            mode = replace(mode, error_rate=error_rate)
        return cls(min(2, spectrum.threshold), worth, mode, without, spectrum.threshold * worth / UNIT, error_rate)


def _first_graph(
    reads: Reads,
    tally: Tally,
    rules: _Rules,
    *,
    stages: Stages,
    has_mercy: bool = False,
    keep_islands: bool = False,
    cleans: bool = True,
) -> _FirstGraph:
    k = tally.k
    with stages.stage("build graph", k=k) as stage:
        dictionary = Dictionary.of(tally.keys, k=k, k0=0)
        neighbour = find_neighbours(reads.words, tally, dictionary, min_follow=rules.min_follow)
        if has_mercy:
            neighbour = two_sided(reads.words, tally, neighbour)
        del dictionary
        unitigs = build_unitigs(reads.words, tally, neighbour, unit=UNIT, worth=worth_within(tally, rules.worth))
        del neighbour
        stage.note(unitigs=unitigs.graph.n)
    mode = rules.mode
    if isinstance(mode, str):
        mode = choose_mode(mode, unitigs.graph, least_depth=rules.least_depth)
        mode = replace(mode, error_rate=rules.error_rate)
    graph, pieces, removed = unitigs.graph, Pieces.identity(unitigs.graph.n), Removed()
    with stages.stage("clean graph", k=k) as stage:
        if cleans:
            graph, pieces, removed = clean(
                graph,
                mode=mode,
                without=rules.without,
                keep_islands=keep_islands,
                few=FEW_READS * rules.worth / UNIT,
                windows_are_dense=True,
                merged=rules.merged,
            )
        note_clean(stage, graph, removed)
        level = make_level(unitigs, tally, (graph, pieces), k0=0)
        is_kept = array_namespace(tally.keys).zeros(tally.n, dtype=bool)
        is_kept[vertices_along(unitigs, pieces) >> 1] = True
    return _FirstGraph(level, removed, is_kept, mode)


def _first_crossing(reads: Reads, level: Level, stages: Stages) -> _Found:
    with stages.stage("find reads across junctions", k=level.graph.k) as stage:
        laid = find_on_unitigs(reads, level)
        crossing = crossing_reads(reads, laid)
        stage.note(reads=crossing.n_pieces)
        return laid, crossing, name_windows(crossing, level.dictionary)


def _corrected(
    crossing: tuple[Reads, Array], level: Level, n_bases: int, *, stages: Stages
) -> tuple[Reads, Array, int]:
    """Return crossing reads without their errors, and bases of all reads, as many as windows without errors tell.

    Depth is known from the first graph, which has no window with an error; those of corrected reads must not count for
    more. Rare members of a community look like errors: its reads stay as they are.
    """
    with stages.stage("correct reads", k=level.graph.k) as stage:
        found = correct_reads(*crossing, level)
        stage.note(bases=found.n_corrected, windows=found.n_named, windows_added=found.n_added)
    if found.n_added:
        n_bases = n_bases * found.n_named // (found.n_named + found.n_added)
    return found.reads, found.names, n_bases
