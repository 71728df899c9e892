"""Files of simulated pairs, for tests of whole commands."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from gpuasm.sequence.encoding import decode, reverse_complement
from tests.oracles.reads import fastq
from tests.samples import simulated_genome

Pairs = list[tuple[str, str]]
SEQUENCE_OUTPUTS = [
    "contigs.fasta",
    "contigs.tsv",
    "depth.tsv",
    "depth_windows.tsv",
    "gaps.tsv",
    "graph.gfa",
    "insert_sizes.tsv",
    "scaffolds.agp",
    "scaffolds.fasta",
    "spectrum.tsv",
]
OUTPUTS = sorted([*SEQUENCE_OUTPUTS, "assemble.log", "report.html", "run.json"])
"""All that `gpuasm assemble` writes; the bytes of those above depend on reads and options only."""


def genome_text(*, length: int = 4000, seed: int = 3, repeats: int = 0) -> str:
    """Return a random genome."""
    return decode(simulated_genome(length=length, seed=seed, repeats=repeats, repeat_length=300))


def simulated_pairs(
    genome: str, *, fold: float = 40, length: int = 100, circular: bool = True, error_rate: float = 0.003, seed: int = 1
) -> Pairs:
    """Return pairs of reads that look at each other from the ends of fragments of 200 to 300 bases."""
    rng, pairs = np.random.default_rng(seed), []
    text = genome + genome[:300] if circular else genome
    codes = np.frombuffer(text.encode().translate(bytes.maketrans(b"ACGT", bytes(range(4)))), np.uint8)
    for _ in range(int(fold * len(genome) / (2 * length))):
        size = int(rng.integers(200, 301))
        start = int(rng.integers(0, codes.size - size + 1))
        fragment = codes[start : start + size]
        mates = fragment[:length], reverse_complement(fragment)[:length]
        first, second = (decode(_with_errors(mate, error_rate, rng)) for mate in mates)
        pairs.append((second, first) if rng.random() < 0.5 else (first, second))
    return pairs


def _with_errors(codes: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    wrong = rng.random(codes.size) < rate
    return np.where(wrong, (codes + rng.integers(1, 4, codes.size)) % 4, codes).astype(np.uint8)


def write_pairs(folder: Path, pairs: Pairs, *, name: str = "reads", compress: bool = False) -> tuple[Path, Path]:
    """Write first and second mates to two files of FASTQ."""
    folder.mkdir(exist_ok=True)
    end = ".fastq.gz" if compress else ".fastq"
    paths = folder / f"{name}_1{end}", folder / f"{name}_2{end}"
    for mate, path in enumerate(paths):
        text = fastq([pair[mate] for pair in pairs], names=[f"r{i}/{mate + 1}" for i in range(len(pairs))]).encode()
        path.write_bytes(gzip.compress(text) if compress else text)
    return paths


def files_in(folder: Path) -> list[str]:
    """Return the names of all files of a folder, hidden ones included."""
    return sorted(path.name for path in folder.iterdir())


def outputs_of(folder: Path) -> dict[str, bytes]:
    """Return the outputs that must be the same bytes in every run."""
    return {name: (folder / name).read_bytes() for name in SEQUENCE_OUTPUTS}


def fasta_records(path: Path) -> list[tuple[str, str]]:
    """Return header and sequence of each record."""
    records = path.read_text().split(">")[1:]
    return [(record.split("\n")[0], "".join(record.split("\n")[1:])) for record in records]
