"""The values of k of the reads: the first k from the coverage, the others from the lengths of the reads.

The first k is 31 at high coverage, and smaller at low coverage, or where that of some genomes of a community is low. A
spectrum shows low coverage of an isolate. In a community it may show the peak of the dominant genomes only, and count
the windows of minor ones as errors. The first graph contains unitigs of these, and their depth shows how much is
missing between them. Where that is more than the allowed share, the assembly starts again with a smaller k.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gpuasm.assembly.coverage.graph_depth import missed_share, window_weight
from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE, CountedGraph, UnitigGraph
from gpuasm.assembly.iteration.k_values import check_k_values, choose_k, first_k
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.parameters import ITERATION
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.errors import DataError, UsageError
from gpuasm.kmers.buckets import buckets_for, free_memory, tally_buckets
from gpuasm.kmers.counting import sorted_by_place
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.tally import Tally, handed_over
from gpuasm.kmers.windows import require_windows
from gpuasm.sequence.reads import Reads, count_windows, lengths_of
from gpuasm.stages import Stages

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class FirstCount:
    """The k-mers and spectrum that the first graph is built from.

    Attributes
    ----------
    lengths : (max + 1,) int64
        How many segments of reads there are of each length.
    k_values : tuple of int
        The values of k, the first of which is counted.
    tallies : list of Tally
        The solid k-mers of the reads: one table, or one for each bucket, as `tally_buckets` returns them.
    spectrum : Spectrum
        The spectrum of their k-mers.
    n_kmers : int
        Number of the solid k-mers.
    is_low_coverage : bool
        Whether coverage is low, or that of some genomes.
    """

    lengths: np.ndarray
    k_values: tuple[int, ...]
    tallies: list[Tally]
    spectrum: Spectrum
    n_kmers: int
    is_low_coverage: bool

    @property
    def k(self) -> int:
        return self.k_values[0]

    @property
    def n_bases(self) -> int:
        """Bases of all reads."""
        return count_windows(self.lengths, 1)

    @property
    def weight(self) -> int:
        """Depth of one window, in units."""
        return window_weight(self.lengths, self.k, n_bases=self.n_bases)


def count_first(
    reads: Reads, options: AssemblyOptions, stages: Stages, *, devices: DeviceGroup = ONE_DEVICE
) -> FirstCount:
    """Choose values of k and count the first on the devices of a group; it is smaller at low coverage."""
    lengths = lengths_of(reads)
    count = partial(count_solid, reads, lengths, options=options, stages=stages, devices=devices)
    k_values = options.k or _k_values_by_useful_reads(lengths, count)
    check_k_values(k_values)
    for one in k_values:
        require_windows(reads, one)
    counted = count(k_values)
    k = _smaller_k(counted, options, is_sparse=_is_sparse(counted.spectrum, options))
    if k is None or not counted.is_low_coverage:
        return counted
    counted.tallies.clear()  # the next ones take as much memory
    return count(choose_k(lengths, first=k), is_low_coverage=True)


def count_elsewhere(reads: Reads, options: AssemblyOptions, graph: CountedGraph) -> FirstCount:
    """Return what `count_first` does, without tables, of reads that were counted elsewhere.

    Raises
    ------
    DataError
        If other reads were counted.
    UsageError
        If the first k, or the least multiplicity, is not that of the options.
    """
    lengths, k = lengths_of(reads), graph.joined.graph.k
    k_values = options.k or choose_k(lengths, first=k)
    check_k_values(k_values)
    if k_values[0] != k:
        raise UsageError(f"{k} as the first k, which the first graph has", f"{k_values[0]}", f"begin -k with {k}")
    windows = count_windows(lengths, k)
    if windows != graph.n_windows:
        expected, found = f"reads with {graph.n_windows} windows of {k} bases, as the first graph", f"{windows}"
        raise DataError(expected, found, "give the same reads, and clean them in the same manner")
    spectrum = analyse_spectrum(graph.histogram, k, min_count=options.min_count)
    if options.min_count is None and spectrum.threshold != graph.min_count:
        spectrum = analyse_spectrum(graph.histogram, k, min_count=graph.min_count)
    if spectrum.threshold != graph.min_count:
        expected, found = f"--min-count {graph.min_count}, as the first graph", f"{options.min_count}"
        raise UsageError(expected, found, "leave --min-count out")
    is_low_coverage = spectrum.is_low_coverage or _is_sparse(spectrum, options)
    return FirstCount(lengths, k_values, [], spectrum, graph.joined.count.size, is_low_coverage)


def _is_sparse(spectrum: Spectrum, options: AssemblyOptions) -> bool:
    """Return whether coverage of some genomes is low: in a community it is, whatever the spectrum shows."""
    return options.mode == "meta" or spectrum.rare_share() > ITERATION.missed_windows_share


def _k_values_by_useful_reads(lengths: np.ndarray, count: Callable[[tuple[int, ...]], FirstCount]) -> tuple[int, ...]:
    """Choose values of k; where most bases are in reads without 31-mers, by the other reads if these suffice.

    Leftovers of trimming may contain most of the bases, but do not help the other reads.
    """
    k_values, useful = choose_k(lengths), lengths.copy()
    useful[:MAX_PLAIN_K] = 0
    longer = choose_k(useful)
    if 2 * count_windows(useful, 1) >= count_windows(lengths, 1) or longer[0] < MAX_PLAIN_K:
        return k_values
    try:
        spectrum = count(longer).spectrum
    except DataError:  # no 31-mer occurs twice
        return k_values
    return k_values if spectrum.peak is None or spectrum.is_low_coverage else longer


def k_for_minor_genomes(counted: FirstCount, graph: UnitigGraph, options: AssemblyOptions) -> int | None:
    """Return the smaller first k that minor genomes need, if the first graph shows any, or None."""
    k = _smaller_k(counted, options, is_sparse=True)
    if k is None:
        return None
    missed = missed_share(graph, windows=DEPTH_SCALE / counted.weight)
    if missed <= ITERATION.missed_windows_share:
        return None
    _LOG.info("starting again with a smaller k: by the depth of unitigs %s of all windows are missing", f"{missed:.2%}")
    return k


def _smaller_k(counted: FirstCount, options: AssemblyOptions, *, is_sparse: bool) -> int | None:
    """Return the first k for low coverage, or for that of some genomes, if it may be less than the counted k."""
    k = first_k(ITERATION.first_k_sparse if is_sparse else ITERATION.first_k_low_coverage, counted.n_kmers)
    is_allowed = options.k is None and "low-coverage-k" not in options.without
    return k if is_allowed and k < counted.k else None


def count_solid(
    reads: Reads,
    lengths: np.ndarray,
    k_values: tuple[int, ...],
    *,
    options: AssemblyOptions,
    stages: Stages,
    devices: DeviceGroup,
    is_low_coverage: bool = False,
) -> FirstCount:
    """Count the first of the values of k, and select the solid k-mers; ``is_low_coverage`` if that is known before."""
    k = k_values[0]
    windows = count_windows(lengths, k)
    with stages.stage("count k-mers", k=k, total=2 * windows, unit="windows") as stage:
        least = options.min_count or 2
        n_buckets = buckets_for(windows, min(devices.each(partial(free_memory, reads))), devices.n)
        tallies = tally_buckets(
            reads, k, n_buckets, min_count=least, min_follow=min(2, least), progress=stage.advance, devices=devices
        )
        histogram = np.sum([tally.histogram for tally in tallies], axis=0)
        spectrum = analyse_spectrum(histogram, k, min_count=options.min_count)
        if is_low_coverage and not options.min_count:
            spectrum = replace(spectrum, threshold=2, reason="2, as coverage is low, or that of some genomes")
        solid_of = partial(sorted_by_place, min_count=spectrum.threshold, keep_places=False)
        tallies = devices.map(lambda: solid_of, handed_over(tallies))
        solid = sum(tally.n for tally in tallies)
        stage.note(distinct=int(spectrum.histogram.sum()), solid=solid, threshold=spectrum.threshold)
    if solid == 0:
        raise DataError(
            f"k-mers that occur at least {spectrum.threshold} times",
            f"none among {int(spectrum.histogram.sum())} distinct {k}-mers",
            "give more reads, or set --min-count 1",
        )
    is_low_coverage = is_low_coverage or spectrum.is_low_coverage or _is_sparse(spectrum, options)
    return FirstCount(lengths, k_values, tallies, spectrum, solid, is_low_coverage)
