"""The recipe: reads to contigs, top to bottom.

1. Count 31-mers; the spectrum says which are solid.
2. The graph of the solid k-mers and the edges seen in reads; its unitigs; clean-up.
3. For each larger k: keep the reads that cross a junction, carry the unitigs, count, and build and clean the graph.
4. The unitigs of the last graph are the contigs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import numpy as np

from gpuasm.arrays import Array, to_host
from gpuasm.assembly.cleaning import Removed, clean
from gpuasm.assembly.contigs import Contig, make_contigs
from gpuasm.assembly.debruijn import find_neighbours
from gpuasm.assembly.levels import Level, crossing_named_reads, crossing_reads, make_level, name_reads, next_text, set_carried
from gpuasm.assembly.unitig_graph import UnitigGraph
from gpuasm.assembly.unitigs import build_unitigs
from gpuasm.errors import DataError, UsageError
from gpuasm.kmers.keys import check_k
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.tally import tally_kmers
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

FIRST_K = 31
_LADDER = (31, 61, 91, 127, 141, 181, 225)


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
    """Choose values of k for reads of the given lengths: 31, 61, 91, 127, 141, 181, 225, as far as reads allow.

    Parameters
    ----------
    lengths : (max + 1,) int64
        How many pieces of reads there are of each length.

    Returns
    -------
    tuple of int: those of the ladder that leave at least nine windows in a read of the length that half of all bases
    reach; one k of at most 31 where reads are shorter.
    """
    bases = np.cumsum((lengths * np.arange(lengths.size))[::-1])[::-1]
    typical = int(np.flatnonzero(bases >= (bases[0] + 1) // 2)[-1]) if bases.size and bases[0] else 0
    chosen = tuple(k for k in _LADDER if k <= typical - 9)
    if chosen:
        return chosen
    shorter = min(FIRST_K, max(11, typical * 2 // 3))
    return (shorter - 1 + shorter % 2,)


def check_ladder(k: tuple[int, ...]) -> None:
    """Raise UsageError unless each k can be named from the one before."""
    for one in k:
        check_k(one)
    if not k or k[0] > FIRST_K:
        raise UsageError(f"a first k of at most {FIRST_K}", f"{k[0] if k else 'none'}", f"begin the list with {FIRST_K}")
    for before, after in zip(k, k[1:], strict=False):
        if not before < after <= 2 * before:
            raise UsageError(
                "ascending values of k, each at most twice the one before", f"{before},{after}", "add a value between them"
            )


def assemble(
    reads: Reads,
    options: AssemblyOptions | None = None,
    *,
    stages: Stages | None = None,
    keep_level: Callable[[int, UnitigGraph], None] | None = None,
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
    keep_level
        Called with each k and its cleaned graph.

    Raises
    ------
    DataError
        If no read is as long as k, or no k-mer is solid.
    UsageError
        If the values of k cannot be used one after the other.
    """
    options, stages = options or AssemblyOptions(), stages or Stages()
    lengths = np.bincount(to_host(reads.length)) if reads.n_pieces else np.zeros(1, np.int64)
    ladder = options.k or choose_k(lengths)
    check_ladder(ladder)
    windows_at = count_windows(lengths, ladder[-1])
    _require_windows(windows_at, lengths, ladder[0])
    report: dict[int, dict[str, int]] = {}
    level, spectrum = _first_level(reads, ladder[0], options, stages=stages, report=report)
    if keep_level:
        keep_level(ladder[0], level.graph)
    crossing, names = reads, None
    for k in ladder[1:]:
        with stages.stage("find reads across junctions", k=level.graph.k) as stage:
            crossing, names = _crossing(crossing, names, level)
            stage.note(reads=crossing.n_pieces)
        level = _next_level(crossing, names, level, k=k, windows_at=windows_at, stages=stages, report=report)
        if keep_level:
            keep_level(k, level.graph)
    scale = reads.n_bases / max(1, int(windows_at[level.graph.k]))
    contigs = make_contigs(level.graph, min_length=options.min_contig_length, depth_scale=scale)
    return Assembly(contigs, level.graph, spectrum, ladder, report)


def count_windows(lengths: np.ndarray, k_max: int) -> np.ndarray:
    """Return (k_max + 1,) int64: how many windows of each length reads of the given lengths have."""
    size = np.arange(lengths.size)
    return np.array([int((np.maximum(size - k + 1, 0) * lengths).sum()) for k in range(k_max + 1)], dtype=np.int64)


def _require_windows(windows_at: np.ndarray, lengths: np.ndarray, k: int) -> None:
    if windows_at[k] == 0:
        longest = int(np.flatnonzero(lengths)[-1]) if lengths.any() else 0
        raise DataError(
            f"reads of at least k = {k} bases", f"no read longer than {longest}", "give longer reads, or a smaller -k"
        )


def _first_level(
    reads: Reads, k: int, options: AssemblyOptions, *, stages: Stages, report: dict[int, dict[str, int]]
) -> tuple[Level, Spectrum]:
    with stages.stage("count k-mers", k=k) as stage:
        tally = tally_kmers(reads, k, min_count=options.min_count or 2)
        spectrum = analyse_spectrum(tally.histogram, k, min_count=options.min_count)
        tally = tally.at_least(spectrum.threshold)
        stage.note(distinct=int(spectrum.histogram.sum()), solid=tally.n, threshold=spectrum.threshold)
    if tally.n == 0:
        raise DataError(
            f"k-mers that occur at least {spectrum.threshold} times",
            f"none among {int(spectrum.histogram.sum())} distinct {k}-mers",
            "give more reads, or set --min-count 1",
        )
    with stages.stage("build graph", k=k) as stage:
        dictionary = Dictionary.of(tally.keys, k=k, k0=0)
        min_follow = min(2, spectrum.threshold)
        neighbour = find_neighbours(reads.words, tally, dictionary, min_follow=min_follow)
        unitigs = build_unitigs(reads.words, tally, neighbour)
        stage.note(unitigs=unitigs.graph.n)
    with stages.stage("clean graph", k=k) as stage:
        graph, pieces, removed = clean(unitigs.graph)
        _note(stage, report, graph, removed)
        return make_level(unitigs, tally, (graph, pieces), k0=0), spectrum


def _crossing(reads: Reads, names: Array | None, level: Level) -> tuple[Reads, Array]:
    if names is None:
        kept = crossing_reads(reads, level)
        return kept, name_reads(kept, level, None)
    names = name_reads(reads, level, names)
    return crossing_named_reads(reads, names, level), names


def _next_level(
    reads: Reads,
    names: Array,
    level: Level,
    *,
    k: int,
    windows_at: np.ndarray,
    stages: Stages,
    report: dict[int, dict[str, int]],
) -> Level:
    k0 = level.graph.k
    with stages.stage("count k-mers", k=k) as stage:
        text = next_text(reads, names, level, k=k, windows_at=windows_at)
        tally = tally_kmers(text.reads, k, text.names, k0=k0)
        stage.note(distinct=tally.n)
    with stages.stage("build graph", k=k) as stage:
        dictionary = Dictionary.of(tally.keys, k=k, k0=k0)
        set_carried(text, tally, dictionary)
        neighbour = find_neighbours(text.reads.words, tally, dictionary, lower=level.neighbour, min_follow=1)
        unitigs = build_unitigs(text.reads.words, tally, neighbour)
        stage.note(unitigs=unitigs.graph.n)
    with stages.stage("clean graph", k=k) as stage:
        graph, pieces, removed = clean(unitigs.graph)
        _note(stage, report, graph, removed)
        return make_level(unitigs, tally, (graph, pieces), k0=k0)


def _note(stage, report: dict[int, dict[str, int]], graph: UnitigGraph, removed: Removed) -> None:
    report[graph.k] = asdict(removed)
    stage.note(unitigs=graph.n, longest=int(graph.length.max()) if graph.n else 0, **asdict(removed))
