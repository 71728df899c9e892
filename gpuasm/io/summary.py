"""Summaries of input files: reads, bases, lengths and qualities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpuasm.io.length_statistics import n50_and_l50
from gpuasm.io.parsing import Statistics
from gpuasm.io.read_texts import ReadTexts
from gpuasm.sequence.reads import Reads

_LOWEST_SOLEXA, _LOWEST_ILLUMINA_1, _HIGHEST_SANGER, _HIGHEST_ILLUMINA_1 = 59, 64, 84, 104
_GOOD_QUALITY = 30
_NOT_IN_JSON = {"length_histogram", "first_names", "warnings"}


@dataclass(frozen=True)
class FileSummary:
    """One input file.

    Attributes
    ----------
    path : str
    format : str
        fastq, fasta, bam, cram or sam; empty for a file without records.
    compression : str
        none, gzip, bgzip, zstd, bzip2 or xz.
    size : int
        Bytes of the file as it is.
    sha256 : str
        Of these bytes.
    n_reads, n_bases : int
        Reads, and letters in them, those that are no bases included.
    n_non_acgt : int
        Letters that are no A, C, G, T or U nor an IUPAC code of two bases; reads are cut at them.
    min_length, n50_length, max_length : int
        Shortest read, length at which longer reads hold half of the letters, longest read.
    mean_quality : float or None
        Mean Phred quality of a sample of the reads; None where there are none or their coding is unclear.
    expected_errors : float or None
        Errors expected in 100 bases by the same qualities.
    q30_share : float or None
        Share of the bases in that sample with a quality of at least 30.
    quality_offset : int or None
        33 or 64; None where there are no qualities or it is unclear.
    quality_range : tuple of int or None
        Lowest and highest quality byte in the sample.
    length_histogram : (max_length + 1,) int64
        Reads of each number of letters; those of 2**20 letters or more count as 2**20.
    first_names : tuple of str
        Names of the first 100 records.
    warnings : tuple of str
        What was noticed while the file was read.
    """

    path: str
    format: str
    compression: str
    size: int
    sha256: str
    n_reads: int
    n_bases: int
    n_non_acgt: int
    min_length: int
    n50_length: int
    max_length: int
    mean_quality: float | None
    expected_errors: float | None
    q30_share: float | None
    quality_offset: int | None
    quality_range: tuple[int, int] | None
    length_histogram: np.ndarray = field(repr=False, compare=False)
    first_names: tuple[str, ...] = field(default=(), repr=False, compare=False)
    warnings: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def of_empty(cls, path: str) -> FileSummary:
        """Return the summary of a file without any record."""
        return summarize(path, ("empty", "none"), (0, ""), Statistics.empty())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON knows them; histogram, names and warnings are left out."""
        return {name: value for name, value in vars(self).items() if name not in _NOT_IN_JSON}


@dataclass(frozen=True)
class ReadSet:
    """All reads of a run.

    Attributes
    ----------
    reads : Reads
        Pairs first, mates as reads 2i and 2i + 1, then reads without a mate; ``reads.paired`` if there are no others
        than pairs.
    files : list of FileSummary
    length_histogram : (max_length + 1,) int64
        Reads of each number of letters; those of 2**20 letters or more count as 2**20.
    n_pairs : int
        Pairs of mates: reads 0 to 2 * n_pairs - 1.
    removed : tuple of str
        What was removed from the reads: "adapters", "PhiX174", "reads of host.fasta".
    texts : ReadTexts or None
        Names and qualities, if they were to be kept.
    """

    reads: Reads
    files: list[FileSummary]
    length_histogram: np.ndarray
    n_pairs: int
    removed: tuple[str, ...] = ()
    texts: ReadTexts | None = None


def summarize(
    path: str, kind: tuple[str, str], raw: tuple[int, str], statistics: Statistics, *, warnings: Iterable[str] = ()
) -> FileSummary:
    """Make the summary of a file.

    Parameters
    ----------
    path
        Of the file.
    kind
        Format and compression.
    raw
        Size in bytes and sha256.
    statistics
        What was counted.
    warnings
        What was noticed.
    """
    counts = statistics.quality_counts
    lengths, n_of_length = statistics.lengths
    n_letters = int(lengths @ n_of_length)
    present = np.flatnonzero(counts)
    offset = quality_offset(counts)
    quality = expected = q30 = None
    if offset is not None:
        total = counts.sum()
        phred = np.maximum(np.arange(256) - offset, 0)
        quality = round(float(counts @ phred / total), 2)
        expected = round(float(100 * (counts @ np.power(10.0, -phred / 10)) / total), 4)
        q30 = round(float(counts[phred >= _GOOD_QUALITY].sum() / total), 4)
    return FileSummary(
        path=path,
        format=kind[0],
        compression=kind[1],
        size=raw[0],
        sha256=raw[1],
        n_reads=statistics.n_reads,
        n_bases=n_letters,
        n_non_acgt=n_letters - statistics.n_acgt,
        min_length=int(lengths[0]) if lengths.size else 0,
        n50_length=n50_and_l50(lengths, n_of_length)[0],
        max_length=int(lengths[-1]) if lengths.size else 0,
        mean_quality=quality,
        expected_errors=expected,
        q30_share=q30,
        quality_offset=offset,
        quality_range=(int(present[0]), int(present[-1])) if present.size else None,
        length_histogram=statistics.length_histogram,
        first_names=tuple(statistics.first_names),
        warnings=tuple(warnings),
    )


def quality_offset(counts: np.ndarray) -> int | None:
    """Return the offset of the quality encoding, 33 or 64, by the (256,) counts of the bytes; None if it is unclear.

    Bytes below 59 occur in Phred+33 only; so do bytes above 104 (long reads). No reads worth sequencing have all their
    bytes up to 84, which in Phred+64 were qualities up to 20; in Phred+33 recent sequencers give up to 50 (83), and
    trimming by quality removes the bytes below 59. Otherwise, bytes from 59 to 63 mean Solexa's own scale
    (10.1093/nar/gkp1137) or Phred+33: unclear.
    """
    present = np.flatnonzero(counts)
    if not present.size:
        return None
    lowest, highest = int(present[0]), int(present[-1])
    if lowest < _LOWEST_SOLEXA or highest > _HIGHEST_ILLUMINA_1 or highest <= _HIGHEST_SANGER:
        return 33
    return 64 if lowest >= _LOWEST_ILLUMINA_1 else None
