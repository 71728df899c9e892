"""Run the workflow on many small samples, and show how much memory Snakemake and the jobs take as samples are finished.

    python benchmarks/workflow_soak.py --samples 500 --cores 16 --json benchmarks/results/workflow_soak.json

The memory of Snakemake after the last sample may exceed that after the tenth by no more than ``--slack``, and so may
that of the largest job of each sample; otherwise the exit code is 1. ``--folder`` keeps the project: another run with
it goes on where one was ended.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from record import record

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.fuzz.small_workflow import snakemake, write_project  # noqa: E402 - no installed package has it
from tests.read_files import genome_text, simulated_pairs, write_pairs  # noqa: E402 - likewise

SETTLED = 10
_SECONDS_BETWEEN = 1.0
_LENGTH = 3000


def write_samples(folder: Path, n: int) -> None:
    """Write a project of so many samples, each with reads of its own genome."""
    names = [f"sample_{number:03d}" for number in range(n)]
    write_project(folder, {name: (f"reads/{name}_1.fastq", f"reads/{name}_2.fastq") for name in names})
    for number, name in enumerate(names):
        write_pairs(folder / "reads", simulated_pairs(genome_text(length=_LENGTH, seed=number), fold=25), name=name)


def memory_by_sample(folder: Path, command: list[str]) -> Iterator[tuple[int, int]]:
    """Run the workflow; yield the number of finished samples and the bytes that Snakemake holds, whenever one is.

    Raises
    ------
    RuntimeError
        If the workflow fails.
    """
    n_before = 0
    with (folder / "snakemake.log").open("w") as log:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        while process.poll() is None:
            time.sleep(_SECONDS_BETWEEN)
            n_done, resident = len(list(folder.glob("results/*/status/assemble_contigs.json"))), _resident(process.pid)
            if n_done > n_before and resident:
                n_before = n_done
                yield n_done, resident
    if process.returncode:
        raise RuntimeError((folder / "snakemake.log").read_text()[-500:])


def _resident(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS")), 0)


def largest_jobs(folder: Path) -> list[float]:
    """Return the MiB of the largest job of each sample, in the order in which samples were finished."""
    assemblies = folder.glob("results/*/benchmarks/assemble_contigs.tsv")
    folders = [path.parent for path in sorted(assemblies, key=lambda path: path.stat().st_mtime_ns)]
    return [max(_peaks(files)) for files in folders]


def _peaks(folder: Path) -> Iterator[float]:
    """Yield the memory of each job; Snakemake measures none that ends at once."""
    yield 0.0
    for path in folder.glob("*.tsv"):
        for row in csv.DictReader(path.read_text().splitlines(), delimiter="\t"):
            yield float(row["max_rss"]) if row["max_rss"] not in ("-", "NA") else 0.0


def figures(held: list[tuple[int, int]], jobs: list[float]) -> dict[str, float]:
    """Return the row of results: MiB after the tenth sample, and how much more after the last."""
    settled = next(resident for n, resident in held if n >= SETTLED) / 2**20
    first, last = sorted(jobs[SETTLED : SETTLED + 5])[2], sorted(jobs[-5:])[2]
    return {
        "samples": held[-1][0],
        "settled_mb": round(settled, 1),
        "growth_mb": round(held[-1][1] / 2**20 - settled, 1),
        "most_mb": round(max(resident for _, resident in held) / 2**20, 1),
        "job_settled_mb": round(first, 1),
        "job_growth_mb": round(last - first, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--slack", type=int, default=16, help="MiB")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name) / "project"
        if not folder.exists():
            write_samples(folder, options.samples)
        held, row = [], {}
        for n_done, resident in memory_by_sample(folder, snakemake(folder, cores=options.cores)):
            held.append((n_done, resident))
            print(f"{n_done}\t{resident >> 20} MiB", file=sys.stderr, flush=True)
            jobs = largest_jobs(folder)
            if len(jobs) > SETTLED + 5:
                row = figures(held, jobs)
                record(options.json, "workflow_soak", {"cores": options.cores}, [row])
    print(row or f"fewer than {SETTLED + 6} samples: nothing to compare")
    return int(any(row.get(name, 0) > options.slack for name in ("growth_mb", "job_growth_mb")))


if __name__ == "__main__":
    sys.exit(main())
