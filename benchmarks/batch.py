"""Time ``gpuasm batch`` on many samples, compare its files with those of single runs, and show its memory.

    python benchmarks/batch.py --genomes *.fasta --samples 96 --fold 40 60 --folder work --jobs 8 --single 3
    python benchmarks/batch.py --sheet samples.tsv --folder work --device cuda --jobs 6 8 12 --json figures.json

Without a sheet, reads are simulated from the genomes in turn, each sample with its own seed and depth, and kept in
FOLDER/reads. Each number of jobs is a batch of its own into an empty folder. ``--single`` assembles so many of the
samples by ``gpuasm assemble``, one after another. Their files must be the same bytes. ``--slack`` is the share by which
memory may grow: the peak of samples from the second tenth to the last, and what a worker holds from the 50th sample to
the last. With a larger one the exit code is 1.

``--mps`` starts NVIDIA's Multi-Process Service for the batches, by which kernels of several processes run at the same
time, and ends it; it changes no setting of the device.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from record import record

from gpuasm.cli import simulate
from gpuasm.cli.batch_sheet import SheetSample, read_sheet

GPUASM = [sys.executable, "-m", "gpuasm"]
_ENOUGH = 20
"""Samples from which on tenths of them are compared."""
SETTLED, _AROUND = 50, 10
"""Samples after which a worker has loaded all, and the number of samples of which its memory is the median."""
TIMED = {"run.json", "report.html", "assemble.log"}
"""Files with times or paths."""
_ENDED = re.compile(r"gpuasm: (?!warning:|error:)([^ ]+): ")


def make_sheet(genomes: Sequence[Path], n: int, fold: Sequence[float], folder: Path) -> Path:
    """Simulate reads of n samples that are not there yet, and return a sheet of them."""
    reads = folder / "reads"
    reads.mkdir(parents=True, exist_ok=True)
    lines = ["sample\treads_1\treads_2"]
    tasks = []
    for number in range(n):
        pair = [reads / f"sample{number:03}_{mate}.fastq.gz" for mate in (1, 2)]
        lines.append(f"sample{number:03}\t{pair[0]}\t{pair[1]}")
        depth = fold[0] + (fold[-1] - fold[0]) * number / max(1, n - 1)
        options = ["--fold", str(depth), "--seed", str(number + 1), "-t", "1", "-1", str(pair[0]), "-2", str(pair[1])]
        if not pair[1].exists():
            tasks.append(["reads", str(genomes[number % len(genomes)]), *options])
    with ProcessPoolExecutor() as pool:
        list(pool.map(_simulate, tasks))
    sheet = folder / "samples.tsv"
    sheet.write_text("\n".join(lines) + "\n")
    return sheet


def _simulate(arguments: list[str]) -> None:
    simulate.command.main(arguments, standalone_mode=False)


@contextlib.contextmanager
def process_service(folder: Path, *, is_used: bool) -> Iterator[None]:
    """Let the batches of the block share devices by the Multi-Process Service of this user, if it is used."""
    if not is_used:
        yield
        return
    own = {f"CUDA_MPS_{name}_DIRECTORY": str((folder / name.lower()).absolute()) for name in ("PIPE", "LOG")}
    for path in own.values():
        Path(path).mkdir(parents=True, exist_ok=True)
    os.environ.update(own)
    subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True)
    try:
        yield
    finally:
        subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, check=False)
        for name in own:
            del os.environ[name]


def run_batch(sheet: Path, into: Path, *, jobs: int | None, options: Sequence[str]) -> dict[str, object]:
    """Run a batch, and return its figures; what fails is in its table."""
    shutil.rmtree(into, ignore_errors=True)
    command = [*GPUASM, "batch", str(sheet), "-o", str(into), "--progress", "plain", *options]
    began = time.perf_counter()
    process = subprocess.Popen([*command, *(["--jobs", str(jobs)] if jobs else [])], stderr=subprocess.PIPE, text=True)
    names, held, workers = list[str](), list[float](), 0
    for line in process.stderr or ():
        sys.stderr.write(line)
        if ended := _ENDED.match(line):
            names.append(ended[1])
            residents = [resident for child in children_of(process.pid) if (resident := resident_of(child))]
            held.append(sum(residents) / max(1, len(residents)))
            workers = max(workers, len(residents))
    _, status, usage = os.wait4(process.pid, 0)
    wall, n = time.perf_counter() - began, len(read_sheet(sheet))
    peaks = [json.loads((into / name / "run.json").read_text())["peak_rss_bytes"] for name in names]
    tenth = max(1, len(peaks) // 10)
    early, late = peaks[tenth : 2 * tenth], peaks[-tenth:]
    return {
        "samples": n,
        "jobs": workers,
        "exit_code": os.waitstatus_to_exitcode(status),
        "wall_s": round(wall, 2),
        "wall_per_sample_s": round(wall / n, 3),
        "cpu_per_sample_s": round((usage.ru_utime + usage.ru_stime) / n, 2),
        "early_mb": round(median(early or [0]) / 2**20, 1),
        "late_mb": round(median(late or [0]) / 2**20, 1),
        **held_by_worker(held),
    }


def held_by_worker(held: Sequence[float]) -> dict[str, float]:
    """Return what a worker held around the 50th sample, and by how much more around the last, in MiB."""
    early, late = (median(part[-_AROUND:] or [0]) / 2**20 for part in (held[:SETTLED], held))
    return {"settled_mb": round(early, 1), "growth_mb": round(late - early, 1)}


def children_of(pid: int) -> list[int]:
    """Return the numbers of the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(number) for task in tasks for number in (task / "children").read_text().split()]


def resident_of(pid: int) -> int:
    """Return the bytes of memory that a process holds; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def run_single(samples: Sequence[SheetSample], batch: Path, into: Path, options: Sequence[str]) -> list[float]:
    """Assemble samples one after another, compare their files with those of the batch, and return the seconds."""
    seconds = []
    for sample in samples:
        folder = into / sample.name
        shutil.rmtree(folder, ignore_errors=True)
        command = [*GPUASM, "assemble", *sample.arguments(), "-o", str(folder), "-q", *options]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
        names = {path.name for path in folder.iterdir()}
        if names != {path.name for path in (batch / sample.name).iterdir()}:
            sys.exit(f"{sample.name}: other files than those of gpuasm assemble")
        for name in sorted(names - TIMED):
            if (folder / name).read_bytes() != (batch / sample.name / name).read_bytes():
                sys.exit(f"{sample.name}: another {name} than that of gpuasm assemble")
    return seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--genomes", type=Path, nargs="+", default=[])
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--fold", type=float, nargs="+", default=[40, 60])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, nargs="+", default=[0], help="0 lets gpuasm choose")
    parser.add_argument("--single", type=int, default=0, help="samples that are assembled alone too")
    parser.add_argument("--mps", action="store_true")
    parser.add_argument("--slack", type=float, default=0.05)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    """Run all and write what was found."""
    given = _arguments()
    sheet = given.sheet or make_sheet(given.genomes, given.samples, given.fold, given.folder)
    rows, options = [], ["--device", given.device]
    with process_service(given.folder, is_used=given.mps):
        for jobs in given.jobs:
            rows.append(run_batch(sheet, given.folder / "batch", jobs=jobs or None, options=options))
            print(rows[-1], flush=True)
    samples = read_sheet(sheet)[: given.single]
    single = run_single(samples, given.folder / "batch", given.folder / "single", options)
    if single:
        print(f"alone: {median(single):.2f} s each; the same bytes", flush=True)
    parameters = {
        "samples": len(read_sheet(sheet)),
        "device": given.device,
        "mps": given.mps,
        "single_s": [round(s, 2) for s in single],
    }
    record(given.json, "batch", parameters, rows)
    grown = [row for row in rows if row["late_mb"] > (1 + given.slack) * row["early_mb"] and row["samples"] >= _ENOUGH]
    grown += [row for row in rows if row["growth_mb"] > given.slack * row["settled_mb"] and row["samples"] > SETTLED]
    sys.exit(1 if grown or any(row["exit_code"] for row in rows) else 0)


if __name__ == "__main__":
    main()
