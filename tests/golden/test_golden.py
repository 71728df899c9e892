"""One fixed input whose results are kept, byte for byte.

A change of the algorithm may change them; then look at the difference, and if it is meant, write them anew:

    python -m tests.golden.test_golden
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
READS = FOLDER / "reads.fastq.gz"
KEPT = ["contigs.fasta", "contigs.tsv", "depth.tsv", "depth_windows.tsv", "graph.gfa", "spectrum.tsv"]


def arguments(output: Path) -> list[str]:
    return ["assemble", "-q", "--interleaved", str(READS), "--mode", "isolate", "--device", "cpu", "-o", str(output)]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bytes_as_ever(run_cli, tmp_path, threads):
    assert run_cli(*arguments(tmp_path), "-t", threads)[0] == 0
    for name in KEPT:
        assert (tmp_path / name).read_text() == (FOLDER / name).read_text(), name


def write_anew() -> None:
    """Simulate the reads, if they are not there, and keep what they are assembled into."""
    from tempfile import TemporaryDirectory

    from gpuasm.cli import main

    if not READS.exists():
        READS.write_bytes(gzip.compress(simulated_reads().encode(), mtime=0))
    with TemporaryDirectory() as folder:
        try:
            main(arguments(Path(folder)))
        except SystemExit as end:
            if end.code:
                raise
        for name in KEPT:
            (FOLDER / name).write_bytes((Path(folder) / name).read_bytes())


def simulated_reads() -> str:
    """Return pairs of a chromosome with repeats and thin ends, and of a plasmid of three copies."""
    from tests.oracles.reads import fastq
    from tests.read_files import genome_text, simulated_pairs

    chromosome, plasmid = genome_text(length=6000, repeats=4, seed=41), genome_text(length=900, seed=42)
    pairs = simulated_pairs(chromosome, circular=False, fold=25, error_rate=0.004, seed=43)
    pairs += simulated_pairs(plasmid, fold=75, error_rate=0.004, seed=44)
    names = [f"r{i}/{mate}" for i in range(len(pairs)) for mate in (1, 2)]
    return fastq([read for pair in pairs for read in pair], names=names)


if __name__ == "__main__":
    write_anew()
