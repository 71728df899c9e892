"""Run small assemblies one after another in one process, and show how much memory the process holds after each.

``python benchmarks/soak.py --runs 500``: the memory after the last run may exceed that after the tenth by no more than
``--slack``; otherwise the exit code is 1. Runs differ in their reads, so no result is that of an earlier one.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from gpuasm.cli import main
from gpuasm.resources import resident_bytes, return_freed_memory

SETTLED = 10
"""Runs after which everything is loaded, compiled and cached."""

_KINDS = ("assemble", "check", "count", "unitigs")


def soak(runs: int, folder: Path, *, kinds: tuple[str, ...] = _KINDS) -> Iterator[tuple[int, int, int]]:
    """Run each kind of command on new reads, so many times.

    Yields
    ------
    Number of the run, bytes that the process holds after it, and its threads.

    Raises
    ------
    RuntimeError
        If a command fails.
    """
    for number in range(1, runs + 1):
        _one(number, folder, kinds)
        gc.collect()
        return_freed_memory()
        yield number, resident_bytes(), threading.active_count()


def growth(memory: list[int]) -> int:
    """Return the bytes by which the last runs exceed those after the runs that settle: medians of five each."""
    return sorted(memory[-5:])[2] - sorted(memory[SETTLED : SETTLED + 5])[2]


def _one(number: int, folder: Path, kinds: tuple[str, ...]) -> None:
    genome, reads = folder / "genome.fasta", folder / "reads.fastq"
    _run("simulate", "genome", "--length", "6000", "--seed", str(number), "-o", str(genome))
    _run("simulate", "reads", str(genome), "--fold", "30", "--single", "--seed", str(number), "-1", str(reads))
    for kind in kinds:
        target = ["--json" if kind == "check" else "-o", str(folder / kind)]
        _run(kind, "--single", str(reads), *target, "-t", "2", "-q", "--device", "cpu")


def _run(*arguments: str) -> None:
    try:
        main(list(arguments))
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{' '.join(arguments)}: exit code {end.code}") from end


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--slack", type=int, default=16 << 20, help="bytes")
    return parser.parse_args()


if __name__ == "__main__":
    asked = _arguments()
    held = []
    with tempfile.TemporaryDirectory() as name:
        for run, resident, threads in soak(asked.runs, Path(name)):
            held.append(resident)
            print(f"{run}\t{resident >> 20} MiB\t{threads} threads", file=sys.stderr)
    if len(held) > SETTLED + 5:
        print(f"growth after run {SETTLED}: {growth(held) / 2**20:.1f} MiB")
        sys.exit(growth(held) > asked.slack)
