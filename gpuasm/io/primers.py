"""Cut the primers of amplicons from both ends of reads, by cutadapt (doi:10.14806/ej.17.1.200)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpuasm.errors import DataError, UsageError
from gpuasm.io.diagnosis import shown
from gpuasm.io.genomes import fasta_texts
from gpuasm.io.numbers import whole_number
from gpuasm.io.sources import read_whole
from gpuasm.io.trimming import bases_before_segments, cut_reads, spelled_reads
from gpuasm.sequence.reads import Reads

LEAST_BASES = 10
"""Bases of a primer, N not counted: a shorter one would be found by chance."""
_ERRORS = 0.1
_CACHED = 1 << 16
_TIMES_TEXT = 6  # text, stream, lines and records of the parser
_BED_COLUMNS, _STRAND, _SEQUENCE = 6, 5, 6
_COMMENTS = (b"#", b"track", b"browser")
_LETTERS = "ACGTRYKMSWBDHVN"
_COMPLEMENT = str.maketrans(_LETTERS, "TGCAYRMKSWVHDBN")


def read_primers(path: str | Path, reference: str | Path | None = None) -> list[str]:
    """Read primers from FASTA or BED, plain or compressed.

    Parameters
    ----------
    path
        FASTA, or BED of at least six columns. The bases of a primer in BED are its seventh column, or those of
        ``reference`` at its place, on its strand.
    reference
        FASTA whose sequences the first column of BED names.

    Returns
    -------
    list of str: different primers in the order of the file, from 5' to 3', IUPAC codes included.

    Raises
    ------
    DataError
        If a file has another format, a primer is too short, or lies outside of the reference.
    NoInputError
        If a file is not there.
    UsageError
        If BED has no bases and there is no reference.
    """
    text = read_whole(path, copies=_TIMES_TEXT)
    if text.lstrip().startswith(b">"):
        found = [(bases, f"the primer {shown(name.encode())}") for name, bases in fasta_texts(path, text)]
    else:
        found = _primers_of_bed(text, path, dict(fasta_texts(reference)) if reference else None)
    primers = [(bases.upper().replace("U", "T"), place) for bases, place in found]
    for bases, place in primers:
        if len(bases) - bases.count("N") < LEAST_BASES or not set(bases) <= set(_LETTERS):
            expected = f"a primer of at least {LEAST_BASES} bases"
            raise DataError(expected, shown(bases.encode()), "correct the file", path=path, place=place)
    if not primers:
        raise DataError("primers", "none", "give FASTA or BED with at least one", path=path)
    return list(dict.fromkeys(bases for bases, _ in primers))


def cut_primers(reads: Reads, primers: list[str]) -> tuple[Reads, np.ndarray]:
    """Cut primers at the beginnings of reads, and reverse complements of primers at their ends.

    A primer must lie there as a whole, with one error in ten bases, indels included.

    Parameters
    ----------
    reads : Reads
        On the host, without adapters.
    primers
        Their bases, from 5' to 3'.

    Returns
    -------
    Reads
        Over the same packed bases; reads that consist of primers alone are empty.
    cut : (2, n_reads) int32
        Bases cut from the beginning and from the end of each read.
    """
    first, last = _searches(primers)
    window = max(map(len, primers))
    window += int(_ERRORS * window) + 1
    cut = np.zeros((2, reads.n_reads), np.int32)
    for numbers, text, offsets in spelled_reads(reads, np.arange(reads.n_reads)):
        for number, begin, end in zip(numbers, offsets, offsets[1:], strict=False):
            middle = min(begin + window, end), max(end - window, begin)
            cut[0, number], cut[1, number] = first(text[begin : middle[0]]), last(text[middle[1] : end])
    size = np.zeros(reads.n_reads, np.int64)
    np.add.at(size, reads.read, reads.length)
    kept = cut_reads(reads, np.maximum(size - cut[1], 0).astype(np.int32))
    return _without_first(kept, cut[0]), cut


def reverse_complement(bases: str) -> str:
    """Return the reverse complement of a text of bases and IUPAC codes."""
    return bases.translate(_COMPLEMENT)[::-1]


def _without_first(reads: Reads, drop: np.ndarray) -> Reads:
    """Return the reads without their first (n_reads,) ``drop`` bases."""
    dropped = np.clip(drop[reads.read] - bases_before_segments(reads), 0, reads.length)
    cut = replace(reads, start=reads.start + dropped, length=(reads.length - dropped).astype(np.int32))
    return cut.select(cut.length > 0)


def _searches(primers: list[str]) -> tuple[Callable[[str], int], Callable[[str], int]]:
    """Return functions of the first and of the last letters of a read: how many bases of them are primer."""
    from cutadapt.adapters import MultipleAdapters, PrefixAdapter, SuffixAdapter  # noqa: PLC0415 - only with primers

    starts = MultipleAdapters([PrefixAdapter(bases, max_errors=_ERRORS) for bases in primers])
    ends = MultipleAdapters([SuffixAdapter(reverse_complement(bases), max_errors=_ERRORS) for bases in primers])

    # Reads of amplicons have few different beginnings and ends.
    @functools.lru_cache(_CACHED)
    def of_start(text: str) -> int:
        match = starts.match_to(text)
        return match.rstop - text.count("N", 0, match.rstop) if match else 0

    @functools.lru_cache(_CACHED)
    def of_end(text: str) -> int:
        match = ends.match_to(text)
        return len(text) - match.rstart - text.count("N", match.rstart) if match else 0

    return of_start, of_end


def _primers_of_bed(text: bytes, path: str | Path, reference: dict[str, str] | None) -> list[tuple[str, str]]:
    """Return the bases of each line of BED, and the line for messages."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith(_COMMENTS):
            continue
        place = f"line {number}"
        cells = [cell.strip().decode("utf-8", "replace") for cell in line.split(b"\t")]
        ends = [whole_number(cell) for cell in cells[1:3]]
        if len(cells) < _BED_COLUMNS or None in ends or cells[_STRAND] not in ("+", "-"):
            expected = "FASTA, or BED of at least six columns separated by tabs"
            raise DataError(expected, shown(line), "correct the file", path=path, place=place)
        if len(cells) > _SEQUENCE and cells[_SEQUENCE]:
            found.append((cells[_SEQUENCE], place))
            continue
        if reference is None:
            raise UsageError(
                "the bases of primers in BED", f"no seventh column in {Path(path).name}", "give --primers-reference"
            )
        begin, end = (int(value) for value in ends if value is not None)
        bases = reference.get(cells[0], "")[begin:end].upper()
        if not bases or len(bases) < end - begin:
            expected = f"a place in a sequence {shown(cells[0].encode())} of the reference"
            raise DataError(expected, f"{begin} to {end}", "give the reference of this file", path=path, place=place)
        found.append((bases if cells[_STRAND] == "+" else reverse_complement(bases), place))
    return found
