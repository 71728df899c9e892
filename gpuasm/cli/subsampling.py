"""Keep so many reads that they cover the genome about N times."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from gpuasm.io.read_cleaning import without_reads
from gpuasm.io.subsampling import choose_reads
from gpuasm.kmers.estimate import estimate_spectrum
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.spectrum import analyse_spectrum

if TYPE_CHECKING:
    from gpuasm.io import ReadSet
    from gpuasm.sequence.reads import Reads
    from gpuasm.stages import Stages

_LOG = logging.getLogger(__name__)


def subsampled(read_set: ReadSet, depth: float, *, genome_size: int | None, stages: Stages) -> ReadSet:
    """Return a random choice of the reads, mates together, that covers the genome about ``depth`` times.

    All reads are kept if they cover it less often, or if its size is not known.

    Parameters
    ----------
    read_set
        Reads on the host.
    depth
        Bases of reads for each base of the genome.
    genome_size
        Bases of the genome; None: estimate it by the spectrum of k-mers.
    stages
        Records a stage, with the numbers of reads.
    """
    reads = read_set.reads
    with stages.stage("sub-sample reads", depth=depth) as stage:
        size = genome_size or estimate_genome_size(reads)
        stage.note(reads=reads.n_reads, kept_reads=reads.n_reads)
        if size is None:
            _LOG.warning("k-mers do not show the size of the genome, so --depth keeps all reads; give --genome-size")
            return read_set
        before = reads.n_bases / size
        stage.note(genome_size=size, depth_before=round(before, 2), depth_after=round(before, 2))
        if before <= depth:
            return read_set
        is_kept = choose_reads(reads, read_set.n_pairs, depth / before)
        kept = without_reads(read_set, ~is_kept, "what exceeds --depth")
        stage.note(kept_reads=int(is_kept.sum()), depth_after=round(kept.reads.n_bases / size, 2))
        return kept


def estimate_genome_size(reads: Reads) -> int | None:
    """Estimate the size of the genome by a sample of its 31-mers; None if their spectrum has no peak."""
    return analyse_spectrum(estimate_spectrum(reads, MAX_PLAIN_K), MAX_PLAIN_K).genome_size
