"""Time many ``gpuasm assemble`` of one pair of files side by side: what a machine does with hundreds of samples.

    python benchmarks/side_by_side.py reads_1.fastq.gz reads_2.fastq.gz --runs cuda:1:16 cuda:8:2 --json figures.json

Each run is DEVICE:JOBS:THREADS, threads for each job. All jobs begin at once, and all contigs must be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import record


def run(pair: list[Path], text: str, folder: Path) -> dict[str, object]:
    """Assemble the pair several times at the same time."""
    device, jobs, threads = text.split(":")
    command = [sys.executable, "-m", "gpuasm", "assemble", "-1", str(pair[0]), "-2", str(pair[1]),
               "--device", device, "-t", threads, "--progress", "none", "-o"]  # fmt: skip
    folders = [folder / f"{device}_{jobs}_{threads}" / str(job) for job in range(int(jobs))]
    began = time.perf_counter()
    processes = [subprocess.Popen([*command, str(own)], stdout=subprocess.DEVNULL) for own in folders]
    usage = [os.wait4(process.pid, 0)[1:] for process in processes]
    wall = time.perf_counter() - began
    if any(status for status, _ in usage):
        sys.exit(f"a job of {text} failed")
    sums = {hashlib.sha256((own / "contigs.fasta").read_bytes()).hexdigest() for own in folders}
    if len(sums) != 1:
        sys.exit(f"the contigs of {text} differ")
    return {
        "device": device,
        "jobs": int(jobs),
        "threads": int(threads),
        "wall_s": round(wall, 2),
        "wall_per_sample_s": round(wall / int(jobs), 2),
        "cpu_per_sample_s": round(sum(own.ru_utime + own.ru_stime for _, own in usage) / int(jobs), 2),
        "sha256": sums.pop(),
    }


def main() -> None:
    """Run all and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", type=Path, nargs=2)
    parser.add_argument("--runs", nargs="+", default=["cpu:1:2", "cpu:2:1"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for text in options.runs:
            rows.append(run(options.pair, text, Path(name)))
            print(rows[-1], flush=True)
    record(options.json, "side_by_side", {"reads": [path.name for path in options.pair]}, rows)
    if len({row["sha256"] for row in rows}) != 1:
        sys.exit("the contigs of the runs differ")


if __name__ == "__main__":
    main()
