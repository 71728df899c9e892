"""FASTQ and FASTA read line by line in plain Python."""

from __future__ import annotations

import numpy as np

from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads


def pieces_of_text(text: str) -> list[tuple[int, str]]:
    """Return read numbers and upper-case pieces of a text of FASTQ with four lines a record, or of FASTA."""
    lines = text.replace("\r\n", "\n").split("\n")
    if text.startswith(">"):
        sequences = ["".join(record.split("\n")[1:]) for record in "\n".join(lines)[1:].split("\n>")]
    else:
        sequences = [lines[i + 1] for i in range(0, len(lines) - 1, 4) if lines[i].startswith("@")]
    return [(number, piece) for number, sequence in enumerate(sequences) for piece in pieces_of_sequence(sequence)]


def pieces_of_sequence(sequence: str) -> list[str]:
    """Cut a sequence at letters that are no bases; of a code of two bases one is taken."""
    upper = sequence.upper().translate(str.maketrans("URYKMSW", "TATGCCA"))
    return "".join(letter if letter in "ACGT" else " " for letter in upper).split()


def pieces_of_reads(reads: Reads) -> list[tuple[int, str]]:
    """Return the same of packed reads."""
    return [
        (int(number), decode(unpack(reads.packed, int(start), int(length))))
        for start, length, number in zip(reads.start, reads.length, reads.read, strict=True)
    ]


def fastq(sequences: list[str], *, names: list[str] | None = None, quality: str = "I", end: str = "\n") -> str:
    """Write FASTQ."""
    names = names or [f"read_{i}" for i in range(len(sequences))]
    lines = [(f"@{n}", s, "+", quality * len(s)) for n, s in zip(names, sequences, strict=True)]
    return "".join(line + end for record in lines for line in record)


def fasta(sequences: list[str], *, width: int = 60, end: str = "\n") -> str:
    """Write FASTA with lines of ``width`` bases."""
    parts = []
    for i, sequence in enumerate(sequences):
        parts.append(f">read_{i} length={len(sequence)}{end}")
        parts += [sequence[at : at + width] + end for at in range(0, len(sequence), width)]
    return "".join(parts)


def random_sequences(seed: int, n: int, length: int = 100) -> list[str]:
    """Return n random sequences of one length."""
    rng = np.random.default_rng(seed)
    return ["".join("ACGT"[code] for code in row) for row in rng.integers(0, 4, (n, length))]
