"""Errors about files of reads: the record, what was expected, what was found, and the remedy."""

from __future__ import annotations

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io import scan

_SHOWN_CHARACTERS = 60

_OTHER_FORMATS = (
    (b"BAM\x01", "BAM", "give it with --bam"),
    (b"CRAM", "CRAM", "give it with --bam"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first"),
    (b"NCBI.sra", "an SRA file", "convert it with fasterq-dump first"),
    (b"<", "a web page or XML", "download the file itself"),
    (b"\xef\xbb\xbf", "a text with a byte order mark", "save it as plain ASCII"),
)
_SAM_HEADERS = (b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t")

_COPY_AGAIN = "copy or download the file again, and compare its checksum"


def format_of(head: bytes, path: str) -> str:
    """Name the format of a text by its first bytes: "fastq" or "fasta".

    Raises
    ------
    DataError
        If it is another one, or the text is empty.
    """
    if not head.strip():
        raise DataError("reads in FASTQ or FASTA", "an empty file", "check how the file was made or copied", path=path)
    if head.startswith(_SAM_HEADERS):
        raise DataError("reads in FASTQ or FASTA", "SAM", "give it with --bam", path=path)
    if head[:1] in (b"@", b">"):
        return "fastq" if head[:1] == b"@" else "fasta"
    for magic, name, remedy in _OTHER_FORMATS:
        if head.startswith(magic):
            raise DataError("reads in FASTQ or FASTA", name, remedy, path=path)
    raise DataError(
        "a first line that begins with '@' (FASTQ) or '>' (FASTA)",
        shown(head.partition(b"\n")[0]),
        "check that this is a file of reads",
        path=path,
        place="record 1",
    )


def scan_error(text: np.ndarray, at: int, wrong: int, *, path: str, record: int, fmt: str) -> DataError:
    """Explain what a scan found wrong with the record at offset ``at`` of a block."""
    lines = text[at : at + (1 << 20)].tobytes().split(b"\n")
    if wrong == scan.NO_HEADER:
        mark = "'@'" if fmt == "fastq" else "'>'"
        expected, found = f"a header line beginning with {mark}", shown(lines[0])
        remedy = "look for a lost or an extra line before this record"
    elif wrong == scan.NO_PLUS:
        expected, found = "a line beginning with '+' after the bases", shown(lines[2])
        remedy = "repair the record or make the file again"
    elif wrong == scan.WRONG_QUALITY and len(lines) > 3:
        n_bases, n_qualities = len(lines[1].rstrip(b"\r")), len(lines[3].rstrip(b"\r"))
        expected = f"as many qualities as bases ({n_bases})"
        found = f"{n_qualities}" if n_bases != n_qualities else "another number, or characters that are no qualities"
        is_at_end = len(lines) == 4
        remedy = _COPY_AGAIN if is_at_end else "repair the record or make the file again"
    else:
        expected, found = "a whole record of four lines", "the end of the file within it"
        remedy = f"the file is cut off: {_COPY_AGAIN}"
    return DataError(expected, found, remedy, path=path, place=f"record {record}")


def letter_error(text: np.ndarray, at: int, *, path: str, record: int) -> DataError:
    """Explain a byte that no sequence holds."""
    return DataError(
        "letters of nucleotides (A, C, G, T, U, N and the IUPAC codes)",
        f"{shown(text[at : at + 1].tobytes())} in the sequence",
        "make sure that these are nucleotides, and the file is not damaged",
        path=path,
        place=f"record {record}",
    )


def broken_stream_error(found: str, *, path: str, n_records: int) -> DataError:
    """Explain a compressed file that is cut off or damaged."""
    return DataError(
        "a whole compressed file",
        found,
        f"the last good record is {n_records}: {_COPY_AGAIN}",
        path=path,
        place=f"after record {n_records}",
    )


def strangers_error(name_1: str, name_2: str, *, path: str, record: int) -> DataError:
    """Explain mates whose names differ."""
    return DataError(
        "mates with the same name",
        f"'{name_1}' and '{name_2}'",
        "bring the files back into step (for example with a tool that repairs pairs), or give the reads with --single",
        path=path,
        place=f"record {record}",
    )


def unequal_mates_error(n_1: int, n_2: int, *, path: str) -> DataError:
    """Explain a different number of first and second mates."""
    return DataError(
        "as many second as first mates",
        f"{n_1} first and {n_2} second mates",
        "check whether one of the files is cut off, or keep only reads that have both mates",
        path=path,
        place=f"after record {min(n_1, n_2)}",
    )


def shown(line: bytes) -> str:
    """Return the beginning of a line, quoted and printable."""
    text = line[:_SHOWN_CHARACTERS].decode("latin-1")
    return repr(text + ("..." if len(line) > _SHOWN_CHARACTERS else "")) if line.strip() else "an empty line"
