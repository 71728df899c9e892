"""Read genomes and contigs: FASTA, GenBank and EMBL files, by Bio.SeqIO (doi:10.1093/bioinformatics/btp163).

Sequences become codes. The topology and the number of copies come from the headers.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.diagnosis import letter_error, shown
from gpuasm.io.numbers import real_number
from gpuasm.io.sources import read_whole
from gpuasm.sequence.encoding import ACGT_CODE_OF_BYTE, CODE_OF_BYTE
from gpuasm.sequence.genomes import Molecule

_CIRCULAR = re.compile(r"\b(?:circular=(?:yes|true)|topology=circular)\b", re.IGNORECASE | re.ASCII)
_COPIES = re.compile(r"\bcopies=([^\s,;|\])}]*)", re.ASCII)
_TIMES_TEXT = 6  # text, stream, lines and records of the parser, codes
_WHITE_SPACE = b" \t\r\n"
_ALL_BUT_AMINO_ACIDS = bytes(set(range(256)) - set(b"EFIJLOPQZefijlopqz"))
"""Other letters for nucleotides, or for masked ones."""
_FORMATS = {b">": "fasta", b"LOCUS ": "genbank", b"ID ": "embl"}
_TITLES = {"fasta": "FASTA", "genbank": "GenBank", "embl": "EMBL"}


@dataclass(frozen=True)
class Record:
    """A sequence of a file.

    Attributes
    ----------
    name
        A FASTA header up to its first blank, or the accession with its version.
    description
        The whole FASTA header behind the ``>``, or the definition.
    codes : (n,) uint8
    is_circular
        Whether the record is marked as circular.
    """

    name: str
    description: str
    codes: np.ndarray
    is_circular: bool


def read_genome(path: str | Path, *, circular: bool = False) -> list[Molecule]:
    """Read the sequences of a FASTA, GenBank or EMBL file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input. A FASTA header may contain ``circular=yes`` and ``copies=3``.
    circular
        Whether all sequences are circular, whatever the file states.

    Raises
    ------
    DataError
        If the file has another format, contains no sequence, or is cut off.
    NoInputError
        If it is not there.
    """
    text = read_whole(path, copies=_TIMES_TEXT)
    chosen = next((name for magic, name in _FORMATS.items() if text.lstrip().startswith(magic)), None)
    if chosen is None:
        raise DataError(
            "a genome in FASTA, GenBank or EMBL format", _beginning(text), "give a file of one of these", path=path
        )
    return [_molecule(record, path, circular=circular) for record in _records(text, chosen, path, CODE_OF_BYTE)]


def fasta_records(path: str | Path, *, acgt_only: bool = False) -> Iterator[Record]:
    """Read whole sequences of a FASTA file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    acgt_only
        Whether all letters but A, C, G and T are no bases, as in the k-mers of other programs.

    Raises
    ------
    DataError
        If the file is no FASTA, contains no sequence, or is cut off.
    NoInputError
        If it is not there.
    """
    yield from _records(_fasta(path), "fasta", path, ACGT_CODE_OF_BYTE if acgt_only else CODE_OF_BYTE)


def fasta_texts(path: str | Path, text: bytes | None = None) -> list[tuple[str, str]]:
    """Return the name and the letters of each sequence of a FASTA file; errors are those of `fasta_records`.

    Parameters
    ----------
    path
        The file.
    text
        Its content, if it has been read.
    """
    records = enumerate(_parsed(_fasta(path) if text is None else text, "fasta", path), start=1)
    return [(record.id, _bases_of(record, record.id, path, number).decode("latin-1")) for number, record in records]


def _fasta(path: str | Path) -> bytes:
    text = read_whole(path, copies=_TIMES_TEXT)
    if not text.lstrip().startswith(b">"):
        raise DataError("FASTA, whose first letter is >", _beginning(text), "give a FASTA file", path=path)
    return text


def _beginning(text: bytes) -> str:
    return repr(text[:1].decode("latin-1")) if text else "an empty file"


def _records(text: bytes, file_format: str, path: str | Path, code_of_byte: np.ndarray) -> Iterator[Record]:
    number = 0
    for number, record in enumerate(_parsed(text, file_format, path), start=1):
        name = record.id if record.id not in ("", "<unknown id>") else f"sequence_{number}"
        bases = _bases_of(record, name, path, number)
        _refuse_protein(bases, path, number)
        is_circular = record.annotations.get("topology") == "circular" or bool(_CIRCULAR.search(record.description))
        codes = code_of_byte[np.frombuffer(bases, dtype=np.uint8)]
        yield Record(name, record.description, codes, is_circular)
    if number == 0:
        raise DataError(f"a record in {_TITLES[file_format]} format", "none", "complete the file", path=path)


def _parsed(text: bytes, file_format: str, path: str | Path) -> list[Any]:
    """Return the records as Bio.SeqIO reads them; it is an error if it refuses them, or a length is not as stated."""
    from Bio import BiopythonWarning, SeqIO  # noqa: PLC0415 - only where genomes are read

    lines = io.TextIOWrapper(io.BytesIO(text.lstrip()), encoding="utf-8", errors="replace", newline="\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BiopythonWarning)
            warnings.filterwarnings("error", "Expected sequence length", BiopythonWarning)
            return list(SeqIO.parse(lines, file_format))
    except (ValueError, OverflowError, BiopythonWarning) as error:  # a stated length may be any number
        found = f"another text ({' '.join(str(error).split())})"
        raise DataError(f"a complete {_TITLES[file_format]} file", found, "fetch the file again", path=path) from error


def _bases_of(record: Any, name: str, path: str | Path, number: int) -> bytes:
    place = f"record {number}"
    if record.annotations.get("molecule_type") == "protein":
        raise DataError("a sequence of nucleotides", f"a protein, {name}", "give the genome", path=path, place=place)
    try:
        bases = bytes(record.seq).translate(None, delete=_WHITE_SPACE)
    except ValueError:  # Bio.Seq.UndefinedSequenceError: of a known length, without bases
        bases = b""
    if not bases:
        raise DataError("a sequence", f"none after the header {name}", "complete the file", path=path, place=place)
    return bases


def _refuse_protein(bases: bytes, path: str | Path, number: int) -> None:
    """Raise DataError if letters are those of amino acids only: all would be read as N."""
    letters = bases.translate(None, delete=_ALL_BUT_AMINO_ACIDS)
    if letters:
        raise letter_error(np.frombuffer(bases, np.uint8), bases.index(letters[:1]), path=str(path), record=number)


def _molecule(record: Record, path: str | Path, *, circular: bool) -> Molecule:
    found = _COPIES.search(record.description)
    copies = real_number(found[1]) if found else 1.0
    if copies is None or not (math.isfinite(copies) and copies > 0):
        place = f"the header of {shown(record.name.encode())}"
        raise DataError("a number of copies", "another", "write for example copies=3", path=path, place=place)
    return Molecule(record.name, record.codes, circular or record.is_circular, copies)
