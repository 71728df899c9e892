"""Write FASTA."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from gpuasm.io.output import atomic_output
from gpuasm.sequence.encoding import decode

Sequence = str | bytes | np.ndarray
"""Bases as text, or as (n,) uint8 codes."""


def write_fasta(
    path: str | os.PathLike[str],
    names: Iterable[str],
    descriptions: Iterable[str],
    sequences: Iterable[Sequence],
    *,
    width: int = 80,
) -> None:
    """Write sequences as FASTA.

    Parameters
    ----------
    path
        The file; "-" is standard output.
    names, descriptions
        Name and description of each header line; the description may be empty.
    sequences
        Text or (n,) uint8 codes.
    width
        Bases in a line; 0 for all in one.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    with atomic_output(path) as file:
        for name, description, sequence in zip(names, descriptions, sequences, strict=True):
            text = as_text(sequence)
            file.write(f">{name} {description}".rstrip() + "\n")
            file.write(_in_lines(text, width or len(text)))


def _in_lines(text: str, width: int) -> str:
    """Return text in lines of ``width`` letters, each with its end."""
    whole = len(text) // max(1, width)
    lines = np.full((whole, width + 1), ord("\n"), np.uint8)
    lines[:, :-1] = np.frombuffer(text.encode("ascii"), np.uint8)[: whole * width].reshape(whole, width)
    rest = text[whole * width :]
    return lines.tobytes().decode("ascii") + (rest and rest + "\n")


def as_text(sequence: Sequence) -> str:
    """Return bases as text."""
    if isinstance(sequence, str):
        return sequence
    return sequence.decode("ascii") if isinstance(sequence, bytes) else decode(sequence)
