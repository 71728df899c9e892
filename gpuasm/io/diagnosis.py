"""Errors about files of reads: the record, what was expected, what was found, and the remedy."""

from __future__ import annotations

import re

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io import scan
from gpuasm.io.compression import compression_of
from gpuasm.io.mates_by_name import name_of_pair

_SHOWN_CHARACTERS = 60
_SEARCHED_AT_ONCE = 1 << 20

_OTHER_FORMATS = (
    (b"BAM\x01", "BAM", "give it with --bam"),
    (b"CRAM", "CRAM", "give it with --bam"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"\x04\x22\x4d\x18", "lz4 data", "unpack it first"),
    (b"\x1f\x9d", "data of the program compress", "unpack it first"),
    (b"LZIP", "lzip data", "unpack it first"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy data", "unpack it first"),
    (b"NCBI.sra", "an SRA file", "convert it with fasterq-dump first"),
    (b"\x89HDF", "HDF5, as FAST5 is", "call its bases first"),
    (b"<", "a web page or XML", "download the file itself"),
    (b"%PDF", "a PDF document", "give the file of reads itself"),
    (b"\xef\xbb\xbf", "a text with a byte order mark", "save it as plain ASCII"),
    (b"\xff\xfe", "a text in UTF-16 or UTF-32", "save it as plain ASCII"),
    (b"\xfe\xff", "a text in UTF-16", "save it as plain ASCII"),
    (b"\0\0\xfe\xff", "a text in UTF-32", "save it as plain ASCII"),
    (b"@\0", "a text in UTF-16 or UTF-32", "save it as plain ASCII"),
    (b">\0", "a text in UTF-16 or UTF-32", "save it as plain ASCII"),
    (b"\0@", "a text in UTF-16", "save it as plain ASCII"),
    (b"\0>", "a text in UTF-16", "save it as plain ASCII"),
)
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_SAM_HEADERS = (b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t")
_SAM_RECORD = re.compile(rb"[^\t\n]+\t\d{1,5}\t[^\t\n]+\t\d+\t\d{1,3}\t[^\t\n]+\t[^\t\n]+\t\d+\t-?\d+\t")
_RETURN_ALONE = re.compile(rb"\r(?!\n|\Z)")
_NAMES_OF_BYTES = {b" ": "a blank", b"\t": "a tab", b"\0": "a NUL byte"}

_COPY_AGAIN = "copy or download the file again, and compare its checksum"


class EmptyFileError(DataError):
    """A file without any record."""


def is_sam(head: bytes) -> bool:
    """Return whether the first bytes of a text are those of SAM, with or without a header."""
    return head.startswith(_SAM_HEADERS) or _SAM_RECORD.match(head) is not None


def format_of(head: bytes, path: str) -> str:
    """Name the format of a text by its first bytes: "fastq" or "fasta".

    Raises
    ------
    DataError
        If it is another one, or the text is empty.
    """
    if not head.strip():
        remedy = "check how the file was made or copied"
        raise EmptyFileError("reads in FASTQ or FASTA", "an empty file", remedy, path=path)
    if other := _other_format(head):
        raise DataError("reads in FASTQ or FASTA", *other, path=path)
    if head[:1] not in (b"@", b">"):
        raise DataError(
            "a first line that begins with '@' (FASTQ) or '>' (FASTA)",
            shown(head.partition(b"\n")[0]),
            "check that this is a file of reads",
            path=path,
            place="record 1",
        )
    if b"\n" not in head and _RETURN_ALONE.search(head):
        raise _returns_error(path, "record 1")
    return "fastq" if head[:1] == b"@" else "fasta"


def _other_format(head: bytes) -> tuple[str, str] | None:
    """Return the name of another format, and the remedy."""
    if is_sam(head):
        return "SAM", "give it with --bam"
    if (compression := compression_of(head)) != "none":
        return f"{compression} data within other compressed data", "unpack it once"
    if head[_TAR_MARK_AT:].startswith(_TAR_MARK):
        return "a tar archive", "unpack it first (tar -xf)"
    return next(((name, remedy) for magic, name, remedy in _OTHER_FORMATS if head.startswith(magic)), None)


def _returns_error(path: str, place: str) -> DataError:
    found, remedy = "carriage returns alone", "convert the file (for example with mac2unix)"
    return DataError("lines that end in a newline", found, remedy, path=path, place=place)


def scan_error(text: np.ndarray, at: int, wrong: int, *, path: str, record: int, fmt: str) -> DataError:
    """Explain what a scan found wrong with the record at offset ``at`` of a block."""
    header, bases_at = _line(text, at)
    if wrong == scan.NO_HEADER:
        mark = "'@'" if fmt == "fastq" else "'>'"
        expected, found = f"a header line beginning with {mark}", shown(header)
        remedy = "look for a lost or an extra line before this record"
    elif wrong == scan.NO_PLUS:
        expected, found = "a line beginning with '+' after the bases", shown(_first_other_line(text, bases_at))
        remedy = "repair the record or make the file again"
    elif wrong == scan.WRONG_QUALITY and (sizes := _sizes_of_lines(text, bases_at)):
        n_bases, n_qualities, is_at_end = sizes
        expected = f"as many qualities as bases ({n_bases})"
        found = f"{n_qualities}" if n_bases != n_qualities else "another number, or characters that are no qualities"
        remedy = _COPY_AGAIN if is_at_end else "repair the record or make the file again"
    else:
        expected, found = "a whole record of four lines", "the end of the file within it"
        remedy = f"the file is cut off: {_COPY_AGAIN}"
    return DataError(expected, found, remedy, path=path, place=f"record {record}")


def _line(text: np.ndarray, at: int) -> tuple[bytes, int]:
    """Return the beginning of the line at ``at``, without its end, and where the next line begins."""
    end = _line_end(text, at)
    return text[at : min(end, at + 2 * _SHOWN_CHARACTERS)].tobytes().rstrip(b"\r"), end + 1


def _line_end(text: np.ndarray, at: int) -> int:
    for first in range(at, text.size, _SEARCHED_AT_ONCE):
        found = np.flatnonzero(text[first : first + _SEARCHED_AT_ONCE] == ord("\n"))
        if found.size:
            return first + int(found[0])
    return text.size


def _first_other_line(text: np.ndarray, at: int) -> bytes:
    """Return the first line after the first one of the bases that begins with no letter of them."""
    for first in range(_line_end(text, at), text.size, _SEARCHED_AT_ONCE):
        begins = first + 1 + np.flatnonzero(text[first : first + _SEARCHED_AT_ONCE] == ord("\n"))
        begins = begins[begins < text.size]
        others = begins[scan.CLASS_OF_BYTE[text[begins]] == scan.NO_LETTER]
        if others.size:
            return _line(text, int(others[0]))[0]
    return b""


def _sizes_of_lines(text: np.ndarray, bases_at: int) -> tuple[int, int, bool] | None:
    """Return the sizes of the lines of bases and of qualities, and whether the text ends with the latter; or None."""
    plus_at = _line(text, bases_at)[1]
    qualities_at = _line(text, plus_at)[1]
    if qualities_at > text.size:
        return None
    end = _line(text, qualities_at)[1]
    sizes = [
        last - 1 - first - int(text[last - 2] == ord("\r") if last - 2 >= first else 0)
        for first, last in ((bases_at, plus_at), (qualities_at, end))
    ]
    return sizes[0], sizes[1], end > text.size


def letter_error(text: np.ndarray, at: int, *, path: str, record: int) -> DataError:
    """Explain a byte that no sequence holds."""
    place, byte = f"record {record}", text[at : at + 1].tobytes()
    if at and text[at - 1] == ord("\r") and byte in b">@+":
        return _returns_error(path, place)
    return DataError(
        "letters of nucleotides (A, C, G, T, U, N and the IUPAC codes)",
        f"{_NAMES_OF_BYTES.get(byte) or shown(byte)} in the sequence",
        "make sure that these are nucleotides, and the file is not damaged",
        path=path,
        place=place,
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
    """Explain mates whose names differ, or whose marks show that the second mate comes first."""
    remedy = (
        "bring the files back into step (for example with a tool that repairs pairs), or give the reads with --single"
    )
    if name_1 != name_2 and name_of_pair(name_1) == name_of_pair(name_2):
        remedy = "give the first mates first"
    return DataError(
        "mates with the same name",
        f"'{name_1}' and '{name_2}'",
        remedy,
        path=path,
        place=f"record {record}",
    )


def same_reads_error(paths: tuple[str, str]) -> DataError:
    """Explain mates that are the same reads."""
    return DataError(
        "first and second mates",
        "the same reads in both files",
        "give the file of the other mates, or one of the two with --single",
        path=" and ".join(paths),
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
    if not line.strip(b"\0") and line:
        return "a run of NUL bytes, as a disk leaves that failed"
    text = line[:_SHOWN_CHARACTERS].decode("latin-1")
    return repr(text + ("..." if len(line) > _SHOWN_CHARACTERS else "")) if line.strip() else "an empty line"
