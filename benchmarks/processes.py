"""Run a program to its end and measure it as a whole: wall time, CPU time, memory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

GPUASM = (sys.executable, "-m", "gpuasm")
_VERSION_COMMANDS = {
    "kmc": ["kmc"],
    "bcalm": ["dpkg-query", "-W", "bcalm"],  # the program does not print its version
    "megahit": ["megahit", "--version"],
    "skesa": ["skesa", "--version"],
    "spades": ["spades.py", "--version"],
    "metabat2": ["dpkg-query", "-W", "metabat"],  # a package of Debian: the program prints no number
    "semibin2": ["SemiBin2", "--version"],
    "vamb": ["vamb", "--version"],
}


@dataclass(frozen=True)
class Usage:
    """What a process and the children it waited for took.

    Attributes
    ----------
    wall_s, cpu_s
        Seconds from start to end, and of user and system time.
    peak_rss_mb
        Largest resident memory of any one of the processes, in MiB.
    """

    wall_s: float
    cpu_s: float
    peak_rss_mb: int

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def measure(command: Sequence[str | Path], *, folder: Path, log: Path) -> Usage:
    """Run a command in a folder, its output into a log, and leave with a message if it fails."""
    usage, code = _run(command, folder=folder, log=log)
    if code:
        last = log.read_text(errors="replace")[-2000:]
        sys.exit(f"{last}\n{' '.join(map(str, command))}\nfailed with exit code {code}")
    return usage


def measure_or_none(command: Sequence[str | Path], *, folder: Path, log: Path) -> Usage | None:
    """Run a command as `measure` does, but return None if it fails."""
    usage, code = _run(command, folder=folder, log=log)
    return None if code else usage


def _run(command: Sequence[str | Path], *, folder: Path, log: Path) -> tuple[Usage, int]:
    with log.open("ab") as sink:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(own) for own in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    taken = Usage(round(wall, 2), round(usage.ru_utime + usage.ru_stime, 2), round(usage.ru_maxrss / 1024))
    return taken, process.returncode


def require_programs(names: Sequence[str]) -> None:
    """Leave with a message that names the programs that are not on PATH."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        sys.exit(f"not on PATH: {', '.join(missing)}; install them (Debian and Bioconda have packages of these names)")


def peer_versions(names: Sequence[str]) -> dict[str, str]:
    """Return the versions of programs, as far as they can be found out."""
    found = {}
    for name in names:
        if shutil.which(_VERSION_COMMANDS[name][0]):
            done = subprocess.run(_VERSION_COMMANDS[name], capture_output=True, text=True, check=False)
            if match := re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr):
                found[name] = match.group()
    return found
