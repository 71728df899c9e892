"""Run all kinds of commands one after another in one process, and show how much memory the process holds after each.

    python benchmarks/soak.py --runs 500 --json benchmarks/results/soak.json

The memory after the last run may exceed that after the tenth by no more than ``--slack``; otherwise the exit code is 1.
Runs differ in their reads, so no result is that of an earlier one.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpuasm.cli import main
from gpuasm.resources import resident_bytes, return_freed_memory

SETTLED = 10
"""Runs after which everything is loaded, compiled and cached."""
COMMANDS = {
    "assemble": "assemble --single {folder}/reads.fastq -o {folder}/assembly -t 2 -q --device cpu",
    "bin": "bin {folder}/assembly/contigs.fasta -o {folder}/bins -t 2 -q --device cpu",
    "check": "check --single {folder}/reads.fastq --json {folder}/check.json -t 2 -q --device cpu",
    "count": "count --single {folder}/reads.fastq -o {folder}/counts.npz -t 2 -q --device cpu",
    "unitigs": "unitigs --single {folder}/reads.fastq -o {folder}/unitigs.gfa -t 2 -q --device cpu",
    "relate": "relate one={folder}/genome.fasta two={folder}/reads.fastq -o {folder}/samples -t 2 -q --device cpu",
    "pagerank": "pagerank {folder}/assembly/graph.gfa -o {folder}/ranks.tsv --picture {folder}/ranks.svg -q",
    "geolocate": "geolocate {folder}/samples/graph.npz {folder}/places.tsv -o {folder}/located.tsv"
    " --map {folder}/map.svg -q",
    "som": "som train {folder}/assembly/depth_windows.tsv -o {folder}/map -t 2 -q --device cpu",
    "report": "report {folder}/assembly -o {folder}/report.html",
}
"""Each command of a run, in the order in which their inputs are made."""
_SIMULATIONS = 2
"""Commands that make the inputs of a run."""


def soak(runs: int, folder: Path, *, kinds: Sequence[str] = tuple(COMMANDS)) -> Iterator[tuple[int, int, int]]:
    """Run each kind of command on new reads, so many times.

    Yields
    ------
    Number of the run, bytes that the process holds after it, and its threads.

    Raises
    ------
    RuntimeError
        If a command fails.
    """
    (folder / "places.tsv").write_text("name\tlatitude\tlongitude\none\t47.5\t8.25\n")
    for number in range(1, runs + 1):
        _one(number, folder, kinds)
        gc.collect()
        return_freed_memory()
        yield number, resident_bytes(), threading.active_count()


def growth(memory: list[int]) -> int:
    """Return the bytes by which the last runs exceed those after the runs that settle: medians of five each."""
    return _median(memory[-5:]) - _median(memory[SETTLED : SETTLED + 5])


def figures(memory: list[int], threads: list[int]) -> dict[str, float]:
    """Return the row of results: what the process held, and its threads."""
    return {
        "runs": len(memory),
        "commands": len(memory) * (len(COMMANDS) + _SIMULATIONS),
        "settled_mb": round(_median(memory[SETTLED : SETTLED + 5]) / 2**20, 1),
        "growth_mb": round(growth(memory) / 2**20, 1),
        "most_mb": round(max(memory[SETTLED:]) / 2**20, 1),
        "threads_more": threads[-1] - threads[SETTLED - 1],
    }


def _median(five: list[int]) -> int:
    return sorted(five)[len(five) // 2]


def _one(number: int, folder: Path, kinds: Sequence[str]) -> None:
    genome, reads = folder / "genome.fasta", folder / "reads.fastq"
    _run("simulate", "genome", "--length", "6000", "--seed", str(number), "-o", str(genome))
    _run("simulate", "reads", str(genome), "--fold", "30", "--single", "--seed", str(number), "-1", str(reads))
    for kind in kinds:
        _run(*COMMANDS[kind].format(folder=folder).split())


def _run(*arguments: str) -> None:
    try:
        main(list(arguments))
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{' '.join(arguments)}: exit code {end.code}") from end


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--slack", type=int, default=16 << 20, help="bytes")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    from record import record

    options, held, began = _arguments(), [], time.monotonic()
    counts = []
    with tempfile.TemporaryDirectory() as name:
        for run, resident, threads in soak(options.runs, Path(name)):
            held.append(resident)
            counts.append(threads)
            print(f"{run}\t{resident >> 20} MiB\t{threads} threads\t{time.monotonic() - began:.0f} s", file=sys.stderr)
            if run > SETTLED + 5 and (run % 25 == 0 or run == options.runs):
                record(options.json, "soak", {}, [figures(held, counts)])
    if len(held) > SETTLED + 5:
        print(f"growth after run {SETTLED}: {growth(held) / 2**20:.1f} MiB")
        sys.exit(growth(held) > options.slack)
