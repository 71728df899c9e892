"""The values of k of the reads: the first k from the coverage, the others from the lengths of the reads.

The first k is 31 at high coverage, and smaller at low coverage, or where that of some genomes of a community is low. A
spectrum shows low coverage of an isolate. In a community it may show the peak of the dominant genomes only, and count
the windows of minor ones as errors. The first graph contains unitigs of these, and their depth shows how much is
missing between them. Where that is more than the allowed share, the assembly starts again with a smaller k.
"""

from __future__ import annotations

import itertools
import logging
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.assembly.coverage.depth_units import DEPTH_SCALE, count_windows, window_weight
from gpuasm.assembly.coverage.local_depth import missed_share
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.iteration.chimeric_libraries import BOTH_MATES, count_chimeric_fragments
from gpuasm.assembly.iteration.merged_mates import merge_mates, overlapping_mates
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.parameters import ITERATION
from gpuasm.errors import DataError, UsageError
from gpuasm.kmers.counting import sorted_by_place, tally_kmers
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.tally import Tally
from gpuasm.kmers.windows import require_windows
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


def first_k(least: int, n_kmers: int) -> int:
    """Return the first k from ``least`` on, 31 at most, at which few k-mers are equal by chance.

    Of n distinct canonical k-mers of random bases, n^2 / 4^k pairs are expected to be equal by chance.

    Parameters
    ----------
    least
        The first k of a small genome.
    n_kmers
        Distinct k-mers of the sample.
    """
    k = least
    while k < ITERATION.first_k and n_kmers**2 > ITERATION.chance_repeats * 4**k:
        k += 2
    return k


def choose_k(lengths: np.ndarray, *, first: int = ITERATION.first_k) -> tuple[int, ...]:
    """Choose values of k for reads of the given lengths: from 31 (or ``first``) to 9 less than the typical read.

    Steps are at most 36, and at most four sevenths of the bases of a read beyond k: only reads have windows across a
    repeat, and a read with fewer windows must keep a larger share of them.

    Parameters
    ----------
    lengths : (max + 1,) int64
        How many segments of reads there are of each length.
    first
        The first k.

    Returns
    -------
    tuple of int: ascending and odd, 31, 61, 97, 127, 139 for reads of 150 bases; one k of at most 31 where reads are
    short. The typical read has the length that half of all bases reach.
    """
    bases = np.cumsum((lengths * np.arange(lengths.size))[::-1])[::-1]
    typical = int(np.flatnonzero(bases >= (bases[0] + 1) // 2)[-1]) if bases.size and bases[0] else 0
    last = typical - ITERATION.spare_windows
    if last <= ITERATION.first_k:
        part, whole = ITERATION.first_k_read_share
        shorter = min(first, max(ITERATION.first_k_least, typical * part // whole))
        return (shorter - 1 + shorter % 2,)
    chosen = [first]
    part, whole = ITERATION.k_step_read_share
    while last - chosen[-1] >= ITERATION.shortest_k_step:
        k = chosen[-1]
        step = min(ITERATION.longest_k_step, max(ITERATION.shortest_k_step, (typical - k) * part // whole))
        following = min(k + step, 2 * k - 1, last)
        chosen.append(following - 1 + following % 2)
    return tuple(k for k in chosen if k == first or k > MAX_PLAIN_K)


def check_k_values(k: tuple[int, ...]) -> None:
    """Raise UsageError unless each k can be named from the one before."""
    for one in k:
        check_k(one)
    first = ITERATION.first_k
    if not k or k[0] > first:
        raise UsageError(f"a first k of at most {first}", f"{k[0] if k else 'none'}", f"begin the list with {first}")
    if len(k) > 1 and k[1] <= MAX_PLAIN_K:
        raise UsageError(f"a second k above {MAX_PLAIN_K}", f"{k[1]}", f"leave {k[1]} out")
    for before, after in itertools.pairwise(k):
        if not before < after <= 2 * before:
            raise UsageError(
                "ascending values of k, each at most twice the one before",
                f"{before},{after}",
                "add a value between them",
            )


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class FirstCount:
    """The reads, k-mers and spectrum that the first graph is built from.

    Attributes
    ----------
    reads : Reads
        The reads to count, in which mates may be merged.
    k_values : tuple of int
        The values of k, the first of which is counted.
    is_low_coverage : bool
        Whether coverage is low, or that of some genomes.
    tally : Tally
        The solid k-mers of these reads.
    spectrum : Spectrum
        The spectrum of their k-mers.
    worth : int
        Depth of one window, in units.
    """

    reads: Reads
    k_values: tuple[int, ...]
    is_low_coverage: bool
    tally: Tally
    spectrum: Spectrum
    weight: int

    @property
    def k(self) -> int:
        return self.k_values[0]


def lengths_of(reads: Reads) -> np.ndarray:
    """Return how many segments of reads there are of each length: (max + 1,) int64, on the host."""
    xp = array_namespace(reads.length)
    return to_host(xp.bincount(reads.length)) if reads.n_segments else np.zeros(1, np.int64)


def count_first(reads: Reads, options: AssemblyOptions, stages: Stages) -> FirstCount:
    """Choose values of k and count the first.

    At low coverage the first k is smaller, and a k-mer in both mates of one fragment may count once.
    """
    lengths = lengths_of(reads)
    k_values = options.k or _k_values_by_useful_reads(reads, lengths, options, stages)
    check_k_values(k_values)
    for one in k_values:
        require_windows(reads, one)
    tally, spectrum = _count(reads, k_values[0], options, stages)
    is_sparse = spectrum.rare_share() > ITERATION.missed_windows_share
    is_sparse |= options.mode == "meta"  # some genomes are, whatever the spectrum shows
    is_low_coverage = spectrum.is_low_coverage or is_sparse
    if not is_low_coverage or not _allows_smaller_k(options) or k_values[0] <= _smaller_k(tally.n, is_sparse=is_sparse):
        weight = window_weight(lengths, k_values[0], n_bases=count_windows(lengths, 1))
        return FirstCount(reads, k_values, is_low_coverage, tally, spectrum, weight)
    text = _fragments(reads, tally, spectrum.threshold, options=options, stages=stages)
    kept = count_windows(lengths_of(text), k_values[0]) / count_windows(lengths, k_values[0])
    k = _smaller_k(tally.n, is_sparse=is_sparse or spectrum.rare_share(kept) > ITERATION.missed_windows_share)
    del tally  # the next one takes as much memory
    return _count_smaller_k(text, k, lengths, options=options, stages=stages)


def _k_values_by_useful_reads(
    reads: Reads, lengths: np.ndarray, options: AssemblyOptions, stages: Stages
) -> tuple[int, ...]:
    """Choose values of k; where most bases are in reads without 31-mers, by the other reads if these suffice.

    Leftovers of trimming may contain most of the bases, but do not help the other reads.
    """
    k_values, useful = choose_k(lengths), lengths.copy()
    useful[: ITERATION.first_k] = 0
    longer = choose_k(useful)
    if 2 * count_windows(useful, 1) >= count_windows(lengths, 1) or longer[0] < ITERATION.first_k:
        return k_values
    try:
        spectrum = _count(reads, longer[0], options, stages)[1]
    except DataError:  # no 31-mer occurs twice
        return k_values
    return k_values if spectrum.peak is None or spectrum.is_low_coverage else longer


def misses_minor_genomes(counted: FirstCount, n_kmers: int, graph: UnitigGraph, options: AssemblyOptions) -> bool:
    """Return whether the first graph, of so many k-mers, shows minor genomes that need a smaller k than it has."""
    if not _allows_smaller_k(options) or counted.k <= _smaller_k(n_kmers, is_sparse=True):
        return False
    missed = missed_share(graph, windows=DEPTH_SCALE / counted.weight)
    is_sparse = missed > ITERATION.missed_windows_share
    if is_sparse:
        _LOG.info(
            "starting again with a smaller k: by the depth of unitigs %s of all windows are missing", f"{missed:.2%}"
        )
    return is_sparse


def count_anew(
    counted: FirstCount, held: list[Tally], lengths: np.ndarray, *, options: AssemblyOptions, stages: Stages
) -> FirstCount:
    """Count the smaller k of minor genomes; the tally of the earlier count is taken out of its list and freed."""
    tally = held.pop()
    k, text = _smaller_k(tally.n, is_sparse=True), counted.reads
    if not counted.is_low_coverage:
        text = _fragments(text, tally, counted.spectrum.threshold, options=options, stages=stages)
    del tally
    return _count_smaller_k(text, k, lengths, options=options, stages=stages)


def _smaller_k(n_kmers: int, *, is_sparse: bool) -> int:
    return first_k(ITERATION.first_k_sparse if is_sparse else ITERATION.first_k_low_coverage, n_kmers)


def _allows_smaller_k(options: AssemblyOptions) -> bool:
    return options.k is None and "low-coverage-k" not in options.without


def _fragments(reads: Reads, tally: Tally, threshold: int, *, options: AssemblyOptions, stages: Stages) -> Reads:
    """Return the reads, with mates merged where fragments are chimeric, or where counts cannot show it."""
    if not reads.paired or "merged-mates" in options.without:
        return reads
    with stages.stage("merge mates") as stage:
        mates = overlapping_mates(reads, ITERATION.first_k_low_coverage)
        judged, chimeric = count_chimeric_fragments(reads, mates, tally) if threshold <= BOTH_MATES else (0, 0)
        text = merge_mates(reads, mates) if chimeric >= ITERATION.chimeric_share * judged else reads
        stage.note(overlapping=mates.n, judged=judged, chimeric=chimeric, pairs=reads.n_segments - text.n_segments)
    return text


def _count_smaller_k(
    text: Reads, k: int, lengths: np.ndarray, *, options: AssemblyOptions, stages: Stages
) -> FirstCount:
    """Count a k for low coverage, in reads whose mates may be merged; ``lengths`` are those of all reads."""
    k_values = choose_k(lengths, first=k)
    tally, spectrum = _count(text, k_values[0], options, stages, is_low_coverage=True)
    weight = window_weight(lengths_of(text), k_values[0], n_bases=count_windows(lengths, 1))
    return FirstCount(text, k_values, is_low_coverage=True, tally=tally, spectrum=spectrum, weight=weight)


def _count(
    reads: Reads, k: int, options: AssemblyOptions, stages: Stages, *, is_low_coverage: bool = False
) -> tuple[Tally, Spectrum]:
    windows = count_windows(lengths_of(reads), k)
    with stages.stage("count k-mers", k=k, total=2 * windows, unit="windows") as stage:
        least = options.min_count or 2
        held = [tally_kmers(reads, k, min_count=least, min_follow=min(2, least), progress=stage.advance)]
        spectrum = analyse_spectrum(held[0].histogram, k, min_count=options.min_count)
        if is_low_coverage and not options.min_count:
            spectrum = replace(spectrum, threshold=2, reason="2, as coverage is low, or that of some genomes")
        tally = sorted_by_place(held, min_count=spectrum.threshold, keep_places=False)
        stage.note(distinct=int(spectrum.histogram.sum()), solid=tally.n, threshold=spectrum.threshold)
    if tally.n == 0:
        raise DataError(
            f"k-mers that occur at least {spectrum.threshold} times",
            f"none among {int(spectrum.histogram.sum())} distinct {k}-mers",
            "give more reads, or set --min-count 1",
        )
    return tally, spectrum
