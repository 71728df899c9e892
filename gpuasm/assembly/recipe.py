"""The recipe: reads to contigs, top to bottom.

1. Count 31-mers; the spectrum says which are solid.
2. The graph of the solid k-mers and the edges seen in reads; its unitigs; clean-up; gaps that single reads bridge.
3. For each larger k: keep the reads that cross a junction, carry the unitigs, count, and build and clean the graph.
4. The unitigs of the last graph are the contigs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.carrying import Text, next_text, set_carried, too_short_to_carry
from gpuasm.assembly.cleaning import Removed, clean
from gpuasm.assembly.contigs import Contig, make_contigs
from gpuasm.assembly.crossing import crossing_named_reads, crossing_reads
from gpuasm.assembly.debruijn import find_neighbours, two_sided
from gpuasm.assembly.levels import Level, make_level, vertices_along
from gpuasm.assembly.mercy import bridging_pieces, with_mercy
from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.assembly.unitigs import Unitigs, build_unitigs
from gpuasm.errors import DataError, UsageError
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k
from gpuasm.kmers.names import Dictionary, name_windows
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.tally import Tally, tally_kmers
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stage, Stages

FIRST_K = 31
_UNIT = 32
"""Depths are kept in units of 1 / 32."""
_TWO_READS = 1.75
"""Windows a position that tell two reads from one that another touches."""
_SPARE_WINDOWS = 9
_SHORTEST_STEP, _LONGEST_STEP = 8, 36


@dataclass(frozen=True)
class AssemblyOptions:
    """What an assembly depends on, besides the reads.

    Attributes
    ----------
    k : tuple of int, or None
        Ascending odd values, the first at most 31, each at most twice the one before; None chooses by read length.
    min_count : int or None
        Least multiplicity of a solid k-mer; None takes it from the spectrum.
    min_contig_length : int
        Shorter contigs are left out of the contigs, not of the graph.
    """

    k: tuple[int, ...] | None = None
    min_count: int | None = None
    min_contig_length: int = 200


@dataclass(frozen=True)
class Assembly:
    """The result of `assemble`.

    Attributes
    ----------
    contigs : list of Contig, longest first
    graph : UnitigGraph
        The last cleaned graph; contigs are its longer unitigs.
    spectrum : Spectrum
        Of the first k.
    k : tuple of int
        The values of k used.
    removed : dict
        For each k, what each clean-up rule removed.
    """

    contigs: list[Contig]
    graph: UnitigGraph
    spectrum: Spectrum
    k: tuple[int, ...]
    removed: dict[int, dict[str, int]] = field(default_factory=dict)


def choose_k(lengths: np.ndarray) -> tuple[int, ...]:
    """Choose values of k for reads of the given lengths: from 31 to 9 less than the typical read.

    Steps are at most 36 and shrink to four sevenths of what is left of the read, since windows across a repeat come
    from reads only, and the fewer windows a read has, the less may be left to the next k.

    Parameters
    ----------
    lengths : (max + 1,) int64
        How many pieces of reads there are of each length.

    Returns
    -------
    tuple of int: ascending and odd, 31, 61, 97, 127, 139 for reads of 150 bases; one k of at most 31 where reads are
    short. The typical read has the length that half of all bases reach.
    """
    bases = np.cumsum((lengths * np.arange(lengths.size))[::-1])[::-1]
    typical = int(np.flatnonzero(bases >= (bases[0] + 1) // 2)[-1]) if bases.size and bases[0] else 0
    last = typical - _SPARE_WINDOWS
    if last <= FIRST_K:
        shorter = min(FIRST_K, max(11, typical * 2 // 3))
        return (shorter - 1 + shorter % 2,)
    chosen = [FIRST_K]
    while last - chosen[-1] >= _SHORTEST_STEP:
        k = chosen[-1]
        step = min(_LONGEST_STEP, max(_SHORTEST_STEP, (typical - k) * 4 // 7))
        following = min(k + step, 2 * k - 1, last)
        chosen.append(following - 1 + following % 2)
    return tuple(chosen)


def check_ladder(k: tuple[int, ...]) -> None:
    """Raise UsageError unless each k can be named from the one before."""
    for one in k:
        check_k(one)
    if not k or k[0] > FIRST_K:
        raise UsageError(
            f"a first k of at most {FIRST_K}", f"{k[0] if k else 'none'}", f"begin the list with {FIRST_K}"
        )
    if len(k) > 1 and k[1] <= MAX_PLAIN_K:
        raise UsageError(f"a second k above {MAX_PLAIN_K}", f"{k[1]}", f"leave {k[1]} out")
    for before, after in itertools.pairwise(k):
        if not before < after <= 2 * before:
            raise UsageError(
                "ascending values of k, each at most twice the one before",
                f"{before},{after}",
                "add a value between them",
            )


@dataclass(frozen=True)
class AssemblyState:
    """All that an assembly knows after the graph of one k: enough to go on from.

    Attributes
    ----------
    ladder : tuple of int
        All values of k of the assembly.
    lengths : (max + 1,) int64
        How many pieces of reads there are of each length.
    spectrum : Spectrum
    removed : dict
        For each k so far, what each clean-up rule removed.
    level : Level
        The cleaned graph of the last k so far.
    crossing : Reads
        The reads that lie across its junctions; after the last k, whatever was left before it.
    names : (32 * n_words,) int32
        Names of their windows at the level's k.
    set_aside : tuple of UnitigGraph
        Unconnected unitigs of earlier graphs, too short for the next k.
    """

    ladder: tuple[int, ...]
    lengths: np.ndarray
    spectrum: Spectrum
    removed: dict[int, dict[str, int]]
    level: Level
    crossing: Reads
    names: Array
    set_aside: tuple[UnitigGraph, ...] = ()

    @property
    def remaining(self) -> tuple[int, ...]:
        """The values of k still to come."""
        return tuple(k for k in self.ladder if k > self.level.graph.k)


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
        What to do; the defaults fit isolates.
    stages
        Where to report progress and timings.
    keep_state
        Called after each k with what `resume` can go on from.

    Raises
    ------
    DataError
        If no read is as long as k, or no k-mer is solid.
    UsageError
        If the values of k cannot be used one after the other.
    """
    options, stages = options or AssemblyOptions(), stages or Stages()
    state = _begin(reads, options, stages)
    return resume(state, options, stages=stages, keep_state=keep_state)


def resume(
    state: AssemblyState,
    options: AssemblyOptions,
    *,
    stages: Stages,
    keep_state: Callable[[AssemblyState], None] | None = None,
) -> Assembly:
    """Go on from a state to the contigs; see `assemble`."""
    for k in state.remaining:
        if keep_state:
            keep_state(state)
        state = _climb(state, k, stages)
    graph = state.level.graph
    contigs = make_contigs(graph, state.set_aside, min_length=options.min_contig_length)
    return Assembly(contigs, graph, state.spectrum, state.ladder, state.removed)


def _count_windows(lengths: np.ndarray, k: int) -> int:
    return int((np.maximum(np.arange(lengths.size) - k + 1, 0) * lengths).sum())


def _window_worth(lengths: np.ndarray, k: int) -> int:
    """Return what a window of k bases counts as, in units: the bases of the reads for each of their windows."""
    return _UNIT * _count_windows(lengths, 1) // max(1, _count_windows(lengths, k))


def _scaled(tally: Tally, worth: int) -> Tally:
    """Turn multiplicities into depth in units; a k that hardly any read reaches is bounded by what 32 bits hold."""
    most = int(tally.count.max()) if tally.n else 1
    factor = np.uint32(max(1, min(worth, (1 << 31) // most)))
    return replace(tally, count=tally.count * factor, followers=tally.followers * factor)


def _require_windows(lengths: np.ndarray, k: int) -> None:
    if _count_windows(lengths, k) == 0:
        longest = int(np.flatnonzero(lengths)[-1]) if lengths.any() else 0
        raise DataError(
            f"reads of at least k = {k} bases", f"no read longer than {longest}", "give longer reads, or a smaller -k"
        )


def _begin(reads: Reads, options: AssemblyOptions, stages: Stages) -> AssemblyState:
    """Build the graph of the first k and find the reads that go on."""
    lengths = np.bincount(to_host(reads.length)) if reads.n_pieces else np.zeros(1, np.int64)
    ladder = options.k or choose_k(lengths)
    check_ladder(ladder)
    k = ladder[0]
    for one in ladder:
        _require_windows(lengths, one)
    tally, spectrum = _count_first(reads, k, options, stages)
    min_follow = min(2, spectrum.threshold)
    worth = _window_worth(lengths, k)
    first = _first_graph(reads, tally, min_follow=min_follow, worth=worth, stages=stages)
    crossing, names = _first_crossing(reads, first.level, stages)
    with stages.stage("bridge gaps", k=k) as stage:
        pieces = bridging_pieces(crossing, names, first.level)
        stage.note(bridges=pieces.n_pieces)
    if pieces.n_pieces:
        reads, tally = with_mercy(reads, tally.where(first.is_kept), pieces, min_follow=min_follow)
        first = _first_graph(reads, tally, min_follow=min_follow, worth=worth, stages=stages, has_mercy=True)
        crossing, names = _first_crossing(reads, first.level, stages)
    return AssemblyState(ladder, lengths, spectrum, {k: asdict(first.removed)}, first.level, crossing, names)


@dataclass(frozen=True)
class _FirstGraph:
    """The cleaned graph of the first k, and which k-mers of the tally are in it."""

    level: Level
    removed: Removed
    is_kept: Array


def _first_graph(
    reads: Reads, tally: Tally, *, min_follow: int, worth: int, stages: Stages, has_mercy: bool = False
) -> _FirstGraph:
    k = tally.k
    with stages.stage("build graph", k=k) as stage:
        dictionary = Dictionary.of(tally.keys, k=k, k0=0)
        neighbour = find_neighbours(reads.words, tally, dictionary, min_follow=min_follow)
        if has_mercy:
            neighbour = two_sided(reads.words, tally, neighbour)
        scaled = _scaled(tally, worth)
        unitigs = build_unitigs(reads.words, scaled, neighbour, unit=_UNIT)
        stage.note(unitigs=unitigs.graph.n)
    with stages.stage("clean graph", k=k) as stage:
        graph, pieces, removed = clean(unitigs.graph)
        _note_clean(stage, graph, removed)
        level = make_level(unitigs, scaled, (graph, pieces), k0=0)
        is_kept = array_namespace(tally.keys).zeros(tally.n, dtype=bool)
        is_kept[vertices_along(unitigs, pieces) >> 1] = True
    return _FirstGraph(level, removed, is_kept)


def _first_crossing(reads: Reads, level: Level, stages: Stages) -> tuple[Reads, Array]:
    with stages.stage("find reads across junctions", k=level.graph.k) as stage:
        crossing = crossing_reads(reads, level)
        stage.note(reads=crossing.n_pieces)
        return crossing, name_windows(crossing, level.dictionary)


def _count_first(reads: Reads, k: int, options: AssemblyOptions, stages: Stages) -> tuple[Tally, Spectrum]:
    windows = _count_windows(np.bincount(to_host(reads.length)), k)
    with stages.stage("count k-mers", k=k, total=2 * windows, unit="windows") as stage:
        tally = tally_kmers(reads, k, min_count=options.min_count or 2, progress=stage.advance)
        spectrum = analyse_spectrum(tally.histogram, k, min_count=options.min_count)
        tally = tally.at_least(spectrum.threshold)
        stage.note(distinct=int(spectrum.histogram.sum()), solid=tally.n, threshold=spectrum.threshold)
    if tally.n == 0:
        raise DataError(
            f"k-mers that occur at least {spectrum.threshold} times",
            f"none among {int(spectrum.histogram.sum())} distinct {k}-mers",
            "give more reads, or set --min-count 1",
        )
    return tally, spectrum


def _climb(state: AssemblyState, k: int, stages: Stages) -> AssemblyState:
    """Build the graph of the next k from the one before."""
    before, k0 = state.level, state.level.graph.k
    two_reads = _TWO_READS * _window_worth(state.lengths, k0) / _UNIT
    set_aside = (*state.set_aside, too_short_to_carry(before.graph, k, min_depth=two_reads))
    with stages.stage("count k-mers", k=k) as stage:
        text = next_text(state.crossing, state.names, before, k=k)
        tally = tally_kmers(text.reads, k, text.names, k0=k0).in_text_order()
        stage.note(distinct=tally.n)
    with stages.stage("build graph", k=k) as stage:
        tally, dictionary = _kept(text, tally, state, k0=k0)
        neighbour = find_neighbours(text.reads.words, tally, dictionary, lower=before.neighbour, min_follow=1)
        unitigs = build_unitigs(text.reads.words, tally, neighbour, unit=_UNIT)
        stage.note(unitigs=unitigs.graph.n)
    level, removed = _clean(unitigs, tally, k0=k0, stages=stages)
    crossing, names = state.crossing, state.names
    if k != state.ladder[-1]:
        with stages.stage("find reads across junctions", k=k) as stage:
            names = name_windows(crossing, level.dictionary, names)
            crossing = crossing_named_reads(crossing, names, level)
            stage.note(reads=crossing.n_pieces)
    return replace(
        state,
        level=level,
        crossing=crossing,
        names=names,
        removed={**state.removed, k: asdict(removed)},
        set_aside=set_aside,
    )


def _kept(text: Text, tally: Tally, state: AssemblyState, *, k0: int) -> tuple[Tally, Dictionary]:
    """Scale a tally, give what is carried its depth, and drop k-mers that are neither carried nor frequent enough.

    Both halves of a k-mer are solid already, so one occurrence suffices, unless the reads are so deep that errors
    meet: the solid threshold of the first k, halved, and lowered as windows become fewer.
    """
    first = state.ladder[0]
    windows = _count_windows(state.lengths, tally.k), max(1, _count_windows(state.lengths, first))
    least = max(1, state.spectrum.threshold * windows[0] // (2 * windows[1]))
    is_kept = (tally.count >= least).astype(np.uint8)
    tally = _scaled(tally, _window_worth(state.lengths, tally.k))
    dictionary = Dictionary.of(tally.keys, k=tally.k, k0=k0)
    set_carried(text, tally, dictionary, is_kept=is_kept)
    if least == 1:
        return tally, dictionary
    tally = tally.where(is_kept == 1)
    return tally, Dictionary.of(tally.keys, k=tally.k, k0=k0)


def _clean(unitigs: Unitigs, tally: Tally, *, k0: int, stages: Stages) -> tuple[Level, Removed]:
    with stages.stage("clean graph", k=unitigs.graph.k) as stage:
        graph, pieces, removed = clean(unitigs.graph)
        _note_clean(stage, graph, removed)
        return make_level(unitigs, tally, (graph, pieces), k0=k0), removed


def _note_clean(stage: Stage, graph: UnitigGraph, removed: Removed) -> None:
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
