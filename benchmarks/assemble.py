"""Time ``gpuasm assemble`` as a whole process on each device, and compare the contigs byte for byte.

    python benchmarks/assemble.py reads_1.fastq.gz reads_2.fastq.gz --runs cpu:1 cpu:2 cuda:2 --json figures.json

Each run is DEVICE:THREADS, with ``:shuffled`` behind it for the same pairs in another order.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import record
from run_files import figures_of_run, times_of_stages


def shuffled(pair: list[Path], folder: Path) -> list[Path]:
    """Write the pairs in another order."""
    records = []
    for path in pair:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as file:
            lines = file.read().split(b"\n")
        records.append([b"\n".join(lines[i : i + 4]) for i in range(0, len(lines) - 3, 4)])
    order = list(range(len(records[0])))
    random.Random(7).shuffle(order)
    out = []
    for mate, own in enumerate(records, start=1):
        out.append(folder / f"shuffled_{mate}.fastq")
        out[-1].write_bytes(b"".join(own[i] + b"\n" for i in order))
    return out


def run(pair: list[Path], device: str, threads: str, folder: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "gpuasm", "assemble", "-1", *map(str, pair[:1]), "-2", *map(str, pair[1:]),
               "-o", str(folder), "--device", device, "-t", threads, "--progress", "none"]  # fmt: skip
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return {
        "device": device,
        "threads": int(threads),
        "wall_s": round(wall, 2),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_rss_mb": round(usage.ru_maxrss / 1024),
        "sha256": hashlib.sha256((folder / "contigs.fasta").read_bytes()).hexdigest(),
        "graph_sha256": hashlib.sha256((folder / "graph.gfa").read_bytes()).hexdigest(),
        "scaffolds_sha256": hashlib.sha256((folder / "scaffolds.fasta").read_bytes()).hexdigest(),
        **figures_of_run(folder / "run.json"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", type=Path, nargs=2)
    parser.add_argument("--runs", nargs="+", default=["cpu:2"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        other = shuffled(options.pair, folder) if any(r.endswith("shuffled") for r in options.runs) else []
        for number, text in enumerate(options.runs):
            device, threads, *order = text.rsplit(":", 2) if text.endswith("shuffled") else text.rsplit(":", 1)
            row = run(other if order else options.pair, device, threads, folder / str(number))
            rows.append({**row, "order": "shuffled" if order else "as given"})
            print(rows[-1], flush=True)
            for stage in times_of_stages(folder / str(number) / "run.json"):
                print("   ", *stage)
    record(options.json, "assemble", {"reads": [path.name for path in options.pair]}, rows)
    if len({row["sha256"] for row in rows}) != 1:
        sys.exit("the contigs differ")


if __name__ == "__main__":
    main()
