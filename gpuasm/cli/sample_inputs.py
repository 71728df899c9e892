"""Samples that a command line names: assemblies, reads, sketches of others, or a sheet of them."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuasm.cli.file_uses import note_input
from gpuasm.errors import DataError, NoInputError, UsageError

if TYPE_CHECKING:
    from gpuasm.sequence.reads import Reads

_LOG = logging.getLogger(__name__)
_SUFFIXES = {".gz", ".bgz", ".zst", ".bz2", ".xz", ".fa", ".fasta", ".fna", ".ffn", ".fastq", ".fq", ".sig", ".json"}
_FILE_COLUMNS = ("file", "contigs", "assembly", "genome", "reads_1")


@dataclass(frozen=True)
class SampleFiles:
    """The files of a sample: its name, "" if its file contains it, and one file, or one for each mate."""

    name: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class Sample:
    """What was read of a sample.

    Attributes
    ----------
    name, file, kind : str
        The kind is "assembly", "reads" or "sketch".
    sequences, bases : int or None
        None where only a sketch is known.
    min_count : int or None
        How often a k-mer of reads must occur to count.
    content
        Reads, k-mers or a signature; taken out once it is sketched.
    """

    name: str
    file: str
    kind: str
    sequences: int | None
    bases: int | None
    min_count: int | None
    content: Any

    def without_content(self) -> Sample:
        return replace(self, content=None)


def find_samples(arguments: tuple[str, ...]) -> list[SampleFiles]:
    """Return the files behind FILE, NAME=FILE and sheets, in their order.

    Raises
    ------
    DataError, UsageError
        If a sheet is wrong, or a file is an output as well.
    NoInputError
        If a file is not there.
    """
    found: list[SampleFiles] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or os.path.exists(argument):  # noqa: PTH110 - pathlib raises errors for long names
            name, path = "", argument
        note_input(Path(path))
        if not name and _is_sheet(_head_of(path)):
            found += _read_sheet(path)
        else:
            found.append(SampleFiles(name, (path,)))
    for files in found:
        for path in files.paths:
            note_input(Path(path))
    return found


def read_samples(files: SampleFiles, *, k: int, min_count: int | None, each_sequence: bool) -> Iterator[Sample]:
    """Read the samples of a file: one, or one for each sequence or sketch in it.

    Parameters
    ----------
    files
        Where.
    k
        Of the k-mers; the sketches of a file that have another k are passed over.
    min_count
        How often a k-mer of reads must occur to count; None takes it from the spectrum.
    each_sequence
        Whether each sequence of a FASTA file is a sample.

    Raises
    ------
    DataError
        If a file is no FASTA, FASTQ or signature, is damaged, or has no k-mer.
    NoInputError
        If it is not there.
    """
    path = files.paths[0]
    head = _head_of(path)
    first = head.lstrip()[:1]
    if first in {b"[", b"{"}:
        yield from _sketches_of(files, k)
    elif len(files.paths) == 2 or first == b"@":
        yield _reads_of(files, k, min_count)
    elif first == b">":
        yield from _assemblies_of(files, k, each_sequence=each_sequence)
    else:
        found = "an empty file" if not head else f"a file that begins with {head[:12]!r}"
        remedy = "give another file; a sheet's first line names its columns: sample, tab, file"
        raise DataError("FASTA, FASTQ, a signature or a sample sheet", found, remedy, path=path)


def _head_of(path: str) -> bytes:
    from gpuasm.io.compression import BrokenStreamError
    from gpuasm.io.sources import Source, check_inputs

    check_inputs([path])
    if path == "-":
        raise UsageError("files", "standard input", "write the sample to a file: the content determines its kind")
    blocks = Source(path, block_bytes=1 << 12).blocks()
    try:
        return next(blocks, b"")
    except BrokenStreamError:
        return b""
    finally:
        blocks.close()  # type: ignore[attr-defined]


def _is_sheet(head: bytes) -> bool:
    """Return whether a file is a sample sheet, by its first line that is no comment."""
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return next((line for line in lines if line.strip() and line[0] != "#"), "").startswith("sample\t")


def _read_sheet(path: str) -> list[SampleFiles]:
    from gpuasm.io.sources import check_inputs
    from gpuasm.io.text_tables import read_table

    found: list[SampleFiles] = []
    for row in read_table(path, comments=True, padded=True, remedy="write a title for each cell"):
        cells = row.cells
        columns = [name for name in _FILE_COLUMNS if name in cells]
        if not columns:
            raise DataError("a column file, or reads_1 and reads_2", "none", "name the files of each sample", path=path)
        first = next((cells[name] for name in columns if cells[name]), "")
        if not cells["sample"] or not first:
            raise row.error("a name and a file", repr(cells["sample"]), "fill both in")
        second = cells.get("reads_2", "")
        check_inputs([first])  # at the first file that is not there, however long the sheet is
        found.append(SampleFiles(cells["sample"], (first, second) if second else (first,)))
    if not found:
        raise DataError("a sample", "none", "add a line for each", path=path)
    return found


def _name_of(files: SampleFiles) -> str:
    return files.name or _stem_of(files.paths[0])


def _stem_of(file: str) -> str:
    path = Path(file)
    while path.suffix.lower() in _SUFFIXES:
        path = path.with_suffix("")
    return path.name


def _assemblies_of(files: SampleFiles, k: int, *, each_sequence: bool) -> Iterator[Sample]:
    from gpuasm.io.genomes import fasta_records
    from gpuasm.sequence.reads import Reads

    path = files.paths[0]
    records = fasta_records(path, acgt_only=True)
    if each_sequence:
        for record in records:
            text = Reads.from_codes([record.codes])
            _check_has_kmer(text, k, path, record.name)
            yield Sample(record.name, path, "assembly", 1, record.codes.size, None, text)
        return
    codes = [record.codes for record in records]
    text = Reads.from_codes(codes)
    _check_has_kmer(text, k, path, None)
    yield Sample(_name_of(files), path, "assembly", len(codes), sum(code.size for code in codes), None, text)


def _check_has_kmer(text: Reads, k: int, path: str, place: str | None) -> None:
    longest = int(text.length.max()) if text.n_segments else 0
    if longest < k:
        raise DataError(
            f"{k} bases A, C, G or T in a row", f"{longest}", "leave the sample out, or take a smaller -k",
            path=path, place=place,
        )  # fmt: skip


def _reads_of(files: SampleFiles, k: int, min_count: int | None) -> Sample:
    from gpuasm.io import read_reads
    from gpuasm.kmers import analyse_spectrum, tally_kmers
    from gpuasm.kmers.keys import check_k

    check_k(k)
    paths = files.paths
    read_set = read_reads(**({"pairs": [paths]} if len(paths) == 2 else {"single": paths}))
    tally = tally_kmers(read_set.reads, k, min_count=min_count or 2, with_followers=False)
    least = analyse_spectrum(tally.histogram, k, min_count=min_count).threshold
    solid = tally.keys[tally.count >= least]
    if not solid.size:
        raise DataError(
            f"{k}-mers that occur {least} times or more", "none", "leave the sample out, or lower --min-count",
            path=paths[0],
        )  # fmt: skip
    reads = read_set.reads
    return Sample(_name_of(files), paths[0], "reads", reads.n_reads, reads.n_bases, least, solid)


def _sketches_of(files: SampleFiles, k: int) -> Iterator[Sample]:
    from gpuasm.io.signatures import read_signatures

    path = files.paths[0]
    signatures = read_signatures(path)
    chosen = [signature for signature in signatures if signature.k == k]
    if not chosen:
        there = ", ".join(sorted({str(signature.k) for signature in signatures}))
        raise DataError(f"a sketch of k = {k}", f"k = {there}", f"ask for -k {signatures[0].k}", path=path)
    for signature in chosen:
        name = files.name if files.name and len(chosen) == 1 else signature.name
        yield Sample(name or _stem_of(signature.file or path), path, "sketch", None, None, None, signature)


def read_all(
    every: list[SampleFiles], *, k: int, min_count: int | None, each_sequence: bool, skip_bad: bool, left_out: list[Any]
) -> Iterator[Sample]:
    """Read the samples of all files; those that cannot be used are an error, or listed in ``left_out``.

    Raises
    ------
    GpuasmError
        As `read_samples`; if a name is not unique, or not to be written in a list of edges.
    """
    files_of: dict[str, str] = {}
    for files in every:
        try:
            for sample in read_samples(files, k=k, min_count=min_count, each_sequence=each_sequence):
                _check_name(sample, files_of)
                files_of[sample.name] = sample.file
                yield sample
        except (DataError, NoInputError) as error:
            if not skip_bad:
                raise
            left_out.append({"sample": _name_of(files), "reason": str(error)})
            _LOG.warning("left out: %s", error)


def _check_name(sample: Sample, files_of: dict[str, str]) -> None:
    name, path = sample.name, sample.file
    if name in files_of:
        raise _NameError(
            "a name of its own for each sample", f"{name!r} in {files_of[name]} too",
            "write NAME=FILE to name a sample, or rename it", path=path,
        )  # fmt: skip
    if not name or name[0] in "#%" or any(_is_refused(letter) for letter in name):
        raise _NameError(
            "a name without blanks and commas, of letters that can be shown",
            repr(name),
            "write NAME=FILE to name the sample, or rename it",
            path=path,
        )


def _is_refused(letter: str) -> bool:
    """Return whether a letter would break the rows of tables, or control the terminal that shows them."""
    return letter.isspace() or letter == "," or not letter.isprintable()


class _NameError(UsageError):
    """A name that would do harm to other samples: no reason to leave the sample out in silence."""


__all__ = ["Sample", "SampleFiles", "find_samples", "read_all", "read_samples"]
