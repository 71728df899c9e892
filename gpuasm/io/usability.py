"""Whether reads can be used, and what the user should know about them: the same rules for every command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuasm.errors import DataError
from gpuasm.io.summary import FileSummary, ReadSet
from gpuasm.sequence.reads import Reads

SHORTEST_READ = 11
"""Bases in a row that one read must have: the first k of the shortest reads that are assembled."""
SHORTEST_USEFUL = 31
"""Bases: the first k of an assembly unless most reads are shorter, so shorter reads add nothing to longer ones."""

_LONG_READ = 1000
_LOW_QUALITY = 20.0
_MANY_UNKNOWN, _MANY_SHORT = 0.02, 0.1


def require_bases(read_set: ReadSet, k: int) -> None:
    """Check that a read has at least k bases in a row.

    Parameters
    ----------
    read_set
        Reads on the host, which may have been cleaned.
    k
        Of the smallest k-mers that are counted.

    Raises
    ------
    DataError
        If none has; it names what was removed before.
    """
    longest = longest_read(read_set.reads)
    if longest < k:
        raise too_short_error(longest, k, files=read_set.files, removed=read_set.removed)


def longest_read(reads: Reads) -> int:
    """Return the most bases in a row in a read."""
    return int(reads.length.max()) if reads.n_segments else 0


def too_short_error(longest: int, k: int, *, files: Sequence[FileSummary], removed: Iterable[str]) -> DataError:
    """Explain reads without k bases in a row.

    Parameters
    ----------
    longest
        Most bases in a row of a read.
    k
        Bases that a read needs.
    files
        That were read.
    removed
        What was removed from the reads.
    """
    what = " and ".join(sorted(set(removed)))
    if not any(file.n_bases for file in files) and not longest:
        found, remedy = "reads without a letter", "check how the files were made"
    elif all(file.n_bases == file.n_non_acgt for file in files) and not longest:
        found, remedy = "N and other letters that are no bases in all reads", "check how the files were made"
    elif what and not longest:
        found, remedy = f"nothing but {what}", "check the library, or leave the options out that remove it"
    else:
        found = f"no read longer than {longest}{f' after the removal of {what}' if what else ''}"
        remedy = "give longer reads, or a smaller -k"
    paths = " and ".join(file.path for file in files) or None
    return DataError(f"reads of at least k = {k} bases", found, remedy, path=paths)


def warnings_about(files: Sequence[FileSummary], *, n_pairs: int) -> list[str]:
    """Return what the user should know about files of reads that have so many pairs of mates together."""
    n_single = sum(file.n_reads for file in files) - 2 * n_pairs
    if n_pairs and n_single:
        remedy = "leave these out, so that pairs join unitigs"
        texts = [f"{n_single:,} reads have no mate, and mates are used only where all reads have one: {remedy}"]
    else:
        texts = []
    texts += [f"{file.path}: {text}" for file in files for text in _warnings(file)]
    first_of: dict[str, str] = {}
    for file in files:
        first = first_of.setdefault(file.sha256, file.path)
        if first != file.path and file.n_reads:
            texts.append(f"{first} and {file.path} have the same content: all its reads count twice")
    return texts


def _warnings(file: FileSummary) -> list[str]:
    if not file.n_bases:
        return [f"{'a file of reads without bases' if file.n_reads else 'an empty file'}, which adds nothing"]
    found = list(file.warnings)
    n_short = int(file.length_histogram[:SHORTEST_USEFUL].sum())
    if file.max_length < SHORTEST_USEFUL:
        found.append(f"no read has more than {file.max_length} bases; so short reads give short contigs")
    elif n_short >= _MANY_SHORT * file.n_reads:
        found.append(f"{n_short:,} reads have less than {SHORTEST_USEFUL} bases and add nothing")
    if file.n_non_acgt >= _MANY_UNKNOWN * file.n_bases:
        found.append(f"{file.n_non_acgt:,} letters are not A, C, G or T; reads are cut at them")
    if file.quality_range is not None and file.quality_offset is None:
        low, high = map(chr, file.quality_range)
        found.append(f"qualities from {low!r} to {high!r} fit neither Phred+33 nor Phred+64; they are not used")
    if file.mean_quality is not None and file.mean_quality < _LOW_QUALITY:
        found.append(f"the mean quality is {file.mean_quality:.1f}; trim the reads before assembly")
    if file.n50_length > _LONG_READ:
        found.append("these look like long reads; gpuasm is made for short ones")
    return found
