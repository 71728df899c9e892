"""Genomes from FASTA files: whole sequences as codes, with what their headers say of shape and copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.sources import read_whole
from gpuasm.sequence.encoding import ACGT_CODE_OF_BYTE, CODE_OF_BYTE
from gpuasm.sequence.genomes import Molecule

_CIRCULAR = re.compile(rb"\b(?:circular=(?:yes|true)|topology=circular)\b", re.IGNORECASE)
_COPIES = re.compile(rb"\bcopies=([0-9.]+)")
_WHITE_SPACE = b" \t\r\n"


def read_genome(path: str | Path, *, circular: bool = False) -> list[Molecule]:
    """Read the sequences of a FASTA file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input. A header may say ``circular=yes`` and ``copies=3``.
    circular
        Whether all sequences are circular whatever their headers say.

    Raises
    ------
    DataError
        If the file is no FASTA, holds no sequence, or is cut off.
    NoInputError
        If it is not there.
    """
    return [_molecule(record, circular=circular) for record in fasta_records(path)]


@dataclass(frozen=True)
class Record:
    """A sequence of a FASTA file: its name, the whole header behind the ``>``, and its codes."""

    name: str
    header: bytes
    codes: np.ndarray


def fasta_records(path: str | Path, *, acgt_only: bool = False) -> Iterator[Record]:
    """Read whole sequences of a FASTA file, plain or compressed.

    Parameters
    ----------
    path
        The file; "-" is standard input.
    acgt_only
        Whether all letters but A, C, G and T are no bases, as k-mers of other programs have it.

    Raises
    ------
    DataError
        If the file is no FASTA, holds no sequence, or is cut off.
    NoInputError
        If it is not there.
    """
    text = read_whole(path)
    if not text.lstrip().startswith(b">"):
        found = repr(text[:1].decode("latin-1")) if text else "an empty file"
        raise DataError("FASTA, whose first letter is >", found, "give a FASTA file", path=path)
    for number, record in enumerate(re.split(rb"^>", text, flags=re.MULTILINE)[1:], start=1):
        yield _record(record, number, path, ACGT_CODE_OF_BYTE if acgt_only else CODE_OF_BYTE)


def _record(record: bytes, number: int, path: str | Path, code_of_byte: np.ndarray) -> Record:
    header, _, body = record.partition(b"\n")
    bases = body.translate(None, delete=_WHITE_SPACE)
    name = header.split(maxsplit=1)[0].decode("utf-8", "replace") if header.split() else f"sequence_{number}"
    if not bases:
        found = f"none after the header {name}"
        raise DataError("a sequence", found, "complete the file", path=path, place=f"record {number}")
    return Record(name, header, code_of_byte[np.frombuffer(bases, dtype=np.uint8)])


def _molecule(record: Record, *, circular: bool) -> Molecule:
    copies = _COPIES.search(record.header)
    is_circular = circular or says_circular(record.header)
    return Molecule(record.name, record.codes, is_circular, float(copies.group(1)) if copies else 1.0)


def says_circular(header: bytes) -> bool:
    """Tell whether a header says that its sequence is a circle."""
    return bool(_CIRCULAR.search(header))
