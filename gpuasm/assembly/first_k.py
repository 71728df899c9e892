"""The first k: 31 where coverage is deep; less where it is thin, or that of some members of a community.

A spectrum tells of thin coverage where one depth stands for all. In a community it may show a peak of the deep members
only, beside which the windows of thin ones pass for errors. Its first graph shows them: of an *E. coli* read 4-fold
there are unitigs, and their depth says how much lies between them. So where the unitigs of several organisms miss more
than a window in a thousand, the assembly begins anew, as it would have begun had the spectrum said so.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.assembly.consensus.chimeras import CHIMERIC, TWICE, count_chimeras
from gpuasm.assembly.consensus.merged_mates import merge_mates, overlapping_mates
from gpuasm.assembly.graph.depth_units import UNIT, count_windows, window_worth
from gpuasm.assembly.graph.local_depth import missed_share
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.ladder import (
    FIRST_K_WHERE_SPARSE,
    FIRST_K_WHERE_THIN,
    SPARSE,
    check_ladder,
    choose_k,
    first_k,
)
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.errors import DataError
from gpuasm.kmers.spectrum import Spectrum, analyse_spectrum
from gpuasm.kmers.tally import Tally, tally_kmers
from gpuasm.kmers.windows import require_windows
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class FirstCount:
    """What the first graph is made of.

    Attributes
    ----------
    reads : Reads
        The text: all reads, or with merged mates.
    ladder : tuple of int
        The values of k, the first of which is counted.
    is_thin : bool
        Whether coverage is thin, or that of some members.
    tally : Tally
        The solid k-mers of the text.
    spectrum : Spectrum
        Of these k-mers.
    worth : int
        What a window counts as, in units of depth.
    """

    reads: Reads
    ladder: tuple[int, ...]
    is_thin: bool
    tally: Tally
    spectrum: Spectrum
    worth: int

    @property
    def k(self) -> int:
        return self.ladder[0]


def lengths_of(reads: Reads) -> np.ndarray:
    """Return how many pieces of reads there are of each length: (max + 1,) int64, on the host."""
    xp = array_namespace(reads.length)
    return to_host(xp.bincount(reads.length)) if reads.n_pieces else np.zeros(1, np.int64)


def count_first(reads: Reads, options: AssemblyOptions, stages: Stages) -> FirstCount:
    """Choose values of k and count the first.

    Where coverage is thin the first k is less, and what a fragment shows counts once, though both mates may show it.
    """
    lengths = lengths_of(reads)
    ladder = options.k or choose_k(lengths)
    check_ladder(ladder)
    for one in ladder:
        require_windows(reads, one)
    tally, spectrum = _count(reads, ladder[0], options, stages)
    is_sparse = spectrum.rare_share() > SPARSE or options.mode == "meta"  # some members are, whatever the spectrum
    is_thin = spectrum.is_thin or is_sparse
    if not is_thin or not _may_be_less(options) or ladder[0] <= _smaller_k(tally.n, is_sparse=is_sparse):
        worth = window_worth(lengths, ladder[0], n_bases=count_windows(lengths, 1))
        return FirstCount(reads, ladder, is_thin, tally, spectrum, worth)
    text = _fragments(reads, tally, spectrum.threshold, options=options, stages=stages)
    told = count_windows(lengths_of(text), ladder[0]) / count_windows(lengths, ladder[0])
    k = _smaller_k(tally.n, is_sparse=is_sparse or spectrum.rare_share(told) > SPARSE)
    del tally  # the next one takes as much memory
    return _count_less(text, k, lengths, options=options, stages=stages)


def misses_members(counted: FirstCount, graph: UnitigGraph, options: AssemblyOptions) -> bool:
    """Tell whether the first graph of several organisms shows thin ones, and a smaller k that suits them is left."""
    if not _may_be_less(options) or counted.k <= _smaller_k(counted.tally.n, is_sparse=True):
        return False
    missed = missed_share(graph, windows=UNIT / counted.worth)
    if missed > SPARSE:
        told = f"{missed:.2%}"
        _LOG.info("beginning anew with a smaller k: by the depth of unitigs %s of all windows are missed", told)
    return missed > SPARSE


def count_anew(held: list[FirstCount], lengths: np.ndarray, options: AssemblyOptions, stages: Stages) -> FirstCount:
    """Count the k that suits thin members; what was counted before is taken out of a list, so that it is freed."""
    counted = held.pop()
    k, text = _smaller_k(counted.tally.n, is_sparse=True), counted.reads
    if not counted.is_thin:
        text = _fragments(text, counted.tally, counted.spectrum.threshold, options=options, stages=stages)
    del counted
    return _count_less(text, k, lengths, options=options, stages=stages)


def _smaller_k(n_kmers: int, *, is_sparse: bool) -> int:
    return first_k(FIRST_K_WHERE_SPARSE if is_sparse else FIRST_K_WHERE_THIN, n_kmers)


def _may_be_less(options: AssemblyOptions) -> bool:
    return options.k is None and "smaller-k" not in options.without


def _fragments(reads: Reads, tally: Tally, threshold: int, *, options: AssemblyOptions, stages: Stages) -> Reads:
    """Return the reads, their mates merged where fragments are chimeric, or where nothing tells whether they are."""
    if not reads.paired or "merged-mates" in options.without:
        return reads
    with stages.stage("merge mates") as stage:
        mates = overlapping_mates(reads, FIRST_K_WHERE_THIN)
        judged, chimeric = count_chimeras(reads, mates, tally) if threshold <= TWICE else (0, 0)
        text = merge_mates(reads, mates) if chimeric >= CHIMERIC * judged else reads
        stage.note(overlapping=mates.n, judged=judged, chimeric=chimeric, pairs=reads.n_pieces - text.n_pieces)
    return text


def _count_less(text: Reads, k: int, lengths: np.ndarray, *, options: AssemblyOptions, stages: Stages) -> FirstCount:
    """Count a k for thin coverage; of a text whose mates may be merged, ``lengths`` are those of all reads."""
    ladder = choose_k(lengths, first=k)
    tally, spectrum = _count(text, ladder[0], options, stages, is_thin=True)
    worth = window_worth(lengths_of(text), ladder[0], n_bases=count_windows(lengths, 1))
    return FirstCount(text, ladder, is_thin=True, tally=tally, spectrum=spectrum, worth=worth)


def _count(
    reads: Reads, k: int, options: AssemblyOptions, stages: Stages, *, is_thin: bool = False
) -> tuple[Tally, Spectrum]:
    windows = count_windows(lengths_of(reads), k)
    with stages.stage("count k-mers", k=k, total=2 * windows, unit="windows") as stage:
        tally = tally_kmers(reads, k, min_count=options.min_count or 2, progress=stage.advance)
        spectrum = analyse_spectrum(tally.histogram, k, min_count=options.min_count)
        if is_thin and not options.min_count:
            spectrum = replace(spectrum, threshold=2, reason="2, as coverage is thin, or that of some members")
        tally = tally.at_least(spectrum.threshold)
        stage.note(distinct=int(spectrum.histogram.sum()), solid=tally.n, threshold=spectrum.threshold)
    if tally.n == 0:
        raise DataError(
            f"k-mers that occur at least {spectrum.threshold} times",
            f"none among {int(spectrum.histogram.sum())} distinct {k}-mers",
            "give more reads, or set --min-count 1",
        )
    return tally, spectrum
