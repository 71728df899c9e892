"""Compare where reads are cut with where their inserts end: gpuasm's trimming, and cutadapt's by known adapters.

Inserts of a genome with errors that rise along the reads, a fifth of them shorter than the reads; TruSeq adapters, and
two that nobody knows.

python benchmarks/trimming.py config/example/lambda.fasta.gz --json results/trimming.json
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from record import record

from gpuasm.io import read_reads
from gpuasm.io.adapters import ADAPTERS, survey_adapters
from gpuasm.io.genomes import read_genome
from gpuasm.io.trimming import trim_reads
from gpuasm.sequence.encoding import decode, encode, reverse_complement

LENGTH, MEAN, DEVIATION = 150, 220, 90
ERROR_RATES = (0.001, 0.010), (0.002, 0.030)  # of first and second mates, at their beginnings and ends
KITS = {
    "TruSeq": ADAPTERS["Illumina TruSeq"],
    "unknown": ("CATTGCGGCATACTTGAGGACCATAGTTCAGG", "GTTACGCCAATGAACTCGTTGACCGATACTTC"),
}


def simulate(genome: np.ndarray, adapters: tuple[str, str], n: int, paths: tuple[Path, Path]) -> np.ndarray:
    """Write n pairs; return the bases of the insert in each read."""
    rng = np.random.default_rng(7)
    sizes = np.maximum(0, rng.normal(MEAN, DEVIATION, n)).astype(int)
    starts = rng.integers(0, genome.size - sizes)
    rates = [np.linspace(*rate, LENGTH) for rate in ERROR_RATES]
    with paths[0].open("w") as first, paths[1].open("w") as second:
        for number, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            insert = genome[start : start + size]
            for mate, strand in enumerate((insert, reverse_complement(insert))):
                rest = rng.integers(0, 4, LENGTH, dtype=np.uint8)
                read = np.concatenate([strand, encode(adapters[mate]), rest])[:LENGTH]
                wrong = rng.random(LENGTH) < rates[mate]
                read[wrong] = (read[wrong] + rng.integers(1, 4, int(wrong.sum()))) % 4
                (first, second)[mate].write(f"@{number}\n{decode(read)}\n+\n{'I' * LENGTH}\n")
    return np.repeat(np.minimum(sizes, LENGTH), 2)


def by_gpuasm(paths: tuple[Path, Path], adapters: tuple[str, str]) -> np.ndarray:  # noqa: ARG001 - gpuasm finds them
    read_set = read_reads(pairs=[paths])
    reads = trim_reads(read_set.reads, survey_adapters(read_set.reads, read_set.n_pairs))
    return np.bincount(reads.read, reads.length, reads.n_reads).astype(np.int64)


def by_cutadapt(paths: tuple[Path, Path], adapters: tuple[str, str]) -> np.ndarray:
    out = [path.with_suffix(".cut") for path in paths]
    files = ["-o", str(out[0]), "-p", str(out[1]), *map(str, paths)]
    command = [sys.executable, "-m", "cutadapt", "--quiet", "-a", adapters[0], "-A", adapters[1], *files]
    subprocess.run(command, check=True)
    lengths = [[len(line) for line in path.read_text().split("\n")[1::4]] for path in out]
    return np.ravel(lengths, order="F")


def compared(left: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    difference, short = left - truth, truth < LENGTH
    return {
        "reads_that_read_through": int(short.sum()),
        "exact_share": float(np.mean(difference[short] == 0)),
        "adapter_bases_left": int(np.maximum(difference, 0).sum()),
        "own_bases_lost": int(np.maximum(-difference, 0).sum()),
        "other_reads_cut_share": float(np.mean(difference[~short] < 0)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("genome", type=Path)
    parser.add_argument("--pairs", type=int, default=40_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    genome, rows = read_genome(options.genome)[0].codes, []
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "1.fastq", Path(folder) / "2.fastq"
        for kit, adapters in KITS.items():
            truth = simulate(genome, adapters, options.pairs, paths)
            for name, trim in (("gpuasm", by_gpuasm), ("cutadapt", by_cutadapt)):
                trim(paths, adapters)  # compiles
                began = time.perf_counter()
                row = {"adapters": kit, "by": name, **compared(trim(paths, adapters), truth)}
                rows.append({**row, "wall_s": round(time.perf_counter() - began, 3)})
                print(rows[-1], flush=True)
    record(options.json, "trimming", {"pairs": options.pairs, "genome": options.genome.name}, rows)


if __name__ == "__main__":
    main()
