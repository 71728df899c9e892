"""Compare the forecasts of ``gpuasm assemble`` with the peaks of host memory, device memory and disk.

    python benchmarks/forecasts.py reads_1.fastq,reads_2.fastq other.fastq --device cpu --json figures.json

Each set is a pair of files of mates with a comma between them, or one file of reads without mates. Checkpoints are
written after each k, so that the peak of the disk does not depend on the speed of the machine.

Host memory is that of the process and of its children, without file pages that the children share. Device memory is
that of the pool; the context of the device is not in it. Disk is that of all files of the folder of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from processes import GPUASM
from record import record
from result_files import host_of
from run_files import stages_of

from gpuasm.cli.manifest import machine

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECONDS_BETWEEN_SAMPLES = 0.02
_SECONDS_OF_A_FILE = 0.002
"""Between two samples of the folder, where a small checkpoint replaces another at once."""


def tree(root: int) -> Iterator[int]:
    """Yield a process and the processes below it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            own = int(entry.name)
            parents.setdefault(int((entry / "stat").read_text().rpartition(")")[2].split()[1]), []).append(own)
    waiting = [root]
    while waiting:
        yield (process := waiting.pop())
        waiting += parents.get(process, [])


def memory_of_tree(root: int) -> int:
    """Return the resident bytes of a process, and those of its children without shared pages of files."""
    total = 0
    for process in tree(root):
        with suppress(OSError, ValueError):
            resident, shared = map(int, Path(f"/proc/{process}/statm").read_text().split()[1:3])
            total += _PAGE * (resident if process == root else resident - shared)
    return total


def disk_of_folder(folder: Path) -> int:
    """Return the bytes that the files of a folder take."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # it has been renamed or removed
                status = (Path(place) / name).stat()
                total += max(status.st_size, 512 * status.st_blocks)
    return total


class Peaks:
    """The peaks of a running process, sampled in threads."""

    def __init__(self, process: int, folder: Path) -> None:
        self.host = self.disk = 0
        self._process, self._folder, self._is_over = process, folder, threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._sample_host, self._sample_disk)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop sampling."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _sample_host(self) -> None:
        while not self._is_over.wait(_SECONDS_BETWEEN_SAMPLES):
            self.host = max(self.host, memory_of_tree(self._process))

    def _sample_disk(self) -> None:
        while not self._is_over.wait(_SECONDS_OF_A_FILE):
            self.disk = max(self.disk, disk_of_folder(self._folder))


def run(paths: list[str], options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Assemble a set and return its forecasts and peaks in bytes."""
    reads = ["-1", paths[0], "-2", paths[1]] if len(paths) > 1 else ["--single", paths[0]]
    settings = ["--device", options.device, *(["--memory", options.memory] if options.memory else [])]
    settings += ["--threads", str(options.threads)] if options.threads else []
    command = [*GPUASM, "assemble", *reads, "-o", str(folder), "-q", *settings]
    command += [] if options.timed else ["--checkpoint-after", "0"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peaks = Peaks(process.pid, folder)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - began
    peaks.end()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    stages, found = stages_of(folder / "run.json"), json.loads((folder / "run.json").read_text())
    peak = {
        "host": max(peaks.host, usage.ru_maxrss << 10),
        "device": max(stage["device_bytes"] for stage in stages),
        "disk": 0 if options.timed else max(peaks.disk, disk_of_folder(folder)),
    }
    return {
        **({"wall_s": round(wall_s, 1)} if options.timed else {}),
        "bases": sum(file["n_bases"] for file in found["inputs"]),
        "plan": found["parameters"]["plan"],
        "process_bytes": usage.ru_maxrss << 10,
        **{f"{kind}_bytes": amount for kind, amount in peak.items()},
        "stages": [
            {
                "name": stage["name"],
                "k": stage["parameters"].get("k"),
                "wall_s": round(stage["wall_s"], 3),
                "peak_bytes": stage["peak_rss_bytes"],
                "device_bytes": stage["device_bytes"],
            }
            for stage in stages
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--runs", type=int, default=2, help="the last one counts: the first may compile loops")
    parser.add_argument("--timed", action="store_true", help="ordinary checkpoints: time counts, and disk does not")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    parameters = {"device": options.device, "memory": options.memory, "threads": options.threads}
    key = f"{options.device}, {host_of(machine(options.device))}"
    for text in options.sets:
        paths = text.split(",")
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as name:
                found = run(paths, options, Path(name) / "run")
        rows.append({"reads": Path(paths[0]).name.split(".")[0].removesuffix("_1"), **found})
        for kind in ("host", "device", "disk"):
            forecast, peak = found["plan"][f"{kind}_bytes"], found[f"{kind}_bytes"]
            share = f"{forecast / peak - 1:+.1%}" if peak else ""
            print(f"{rows[-1]['reads']} {kind}: {forecast >> 10:,} KiB for {peak >> 10:,} KiB {share}", flush=True)
        record(options.json, "forecasts", parameters, rows, key=key)


if __name__ == "__main__":
    main()
