"""Depth of given contigs by the reads of a sample, for ``gpuasm depth``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches
from gpuasm.assembly.alignment.seed_index import SeedIndex, Targets, targets_of
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.coverage.contig_depth import Coverage, core_of, summarise
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.io import write_tsv
from gpuasm.io.contigs import read_contigs
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads

SHORTEST_ALIGNED = ALIGNMENT.alignment_min_score
"""Bases of the shortest read that can be aligned."""


@dataclass(frozen=True)
class SampleDepth:
    """Depth of contigs in one sample.

    Attributes
    ----------
    sample : str
    mean, variance : (n,) float64
        Of the reads on the bases of each contig's core, or on all its bases.
    counts : dict
        Reads, aligned ones, and those of several places.
    """

    sample: str
    mean: np.ndarray
    variance: np.ndarray
    counts: dict[str, int]


def contigs_of_file(path: Path) -> list[Contig]:
    """Read contigs to align reads to; see `gpuasm.io.contigs.read_contigs`."""
    return [Contig(own.name, own.codes, 1.0, 1, own.is_circular, -1) for own in read_contigs(path)]


def depth_in_sample(contigs: Sequence[Contig], reads: Reads, *, sample: str) -> SampleDepth:
    """Align the reads of a sample to contigs and compute the depth of these.

    Reads that fit several places equally well are shared in proportion to the depth of the contigs in this sample, by
    all other reads. So the result depends on nothing but the bases of the contigs and the reads.

    Parameters
    ----------
    contigs
        All contigs of an assembly.
    reads
        All reads, on the host or a device.
    sample
        The sample's name.
    """
    targets, index = targets_of(contigs, reads)
    bounds = bounds_of(contigs)
    codes = np.concatenate([np.empty(0, np.uint8), *(contig.codes for contig in contigs)])
    is_base, is_core = codes < NOT_A_BASE, core_of(targets, index, bounds)
    xp = array_namespace(reads.packed)
    unique, shared, repeated = Coverage(targets, xp), Coverage(targets, xp), list[Reads]()
    n_aligned = 0
    for batch in batches(reads):
        first, second = align_reads(batch, targets, index)
        _add(unique, first.where(first.is_unique), second)
        several = first.where(~first.is_unique)
        _add(shared, several)
        repeated.append(batch.select(several.segment))
        n_aligned += first.n
    depth = unique.take()
    n_several = sum(own.n_segments for own in repeated)
    if n_several:
        level = _level(to_host(depth), to_host(shared.take()), (is_base, is_core, bounds))
        depth += _depth_of_several(repeated, _weighted(targets, contigs, level), index)
    table = summarise(to_host(depth), is_base, is_core, bounds)
    counts = {"reads": reads.n_segments, "reads_aligned": n_aligned, "reads_multi_mapped": n_several}
    return SampleDepth(sample, table.mean, table.variance, counts)


def _add(coverage: Coverage, *alignments: Alignments) -> None:
    for aligned in alignments:
        coverage.add(aligned.target, aligned.begin, aligned.end)


def _level(unique: np.ndarray, shared: np.ndarray, places: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the depth of each contig in unique reads, of those without a core in all reads, evenly shared."""
    by_unique = summarise(unique, *places)
    return np.where(by_unique.has_core, by_unique.mean, summarise(unique + shared, *places).mean)


def _weighted(targets: Targets, contigs: Sequence[Contig], level: np.ndarray) -> Targets:
    """Return targets that take reads of several places by the depth of their contigs."""
    shapes = [contig.codes for contig in contigs], [contig.is_circular for contig in contigs]
    known = Targets.of(*shapes, depth=level.tolist(), reach=0, xp=np)
    return replace(targets, weight=known.weight)


def _depth_of_several(repeated: Sequence[Reads], targets: Targets, index: SeedIndex) -> Array:
    """Return the reads on each base, of reads that have several places, shared by the weights of the targets."""
    coverage = Coverage(targets, array_namespace(index.first))
    for reads in repeated:
        _add(coverage, align_reads(reads, targets, index)[0])
    return coverage.take()


def write_depths(path: Path, contigs: Sequence[Contig], found: Sequence[SampleDepth]) -> None:
    """Write a column of depth and one of its variance for each sample, as jgi_summarize_bam_contig_depths does."""
    total = sum((own.mean for own in found), np.zeros(len(contigs)))
    columns: dict[str, Sequence[object]] = {
        "contigName": [contig.name for contig in contigs],
        "contigLen": [contig.length for contig in contigs],
        "totalAvgDepth": _as_texts(total),
    }
    for own in found:
        columns |= {own.sample: _as_texts(own.mean), f"{own.sample}-var": _as_texts(own.variance)}
    write_tsv(path, columns)


def _as_texts(values: np.ndarray) -> list[str]:
    return [f"{value:.4f}" for value in values.tolist()]
