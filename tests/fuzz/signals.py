"""End assemblies by signals at random moments, and check how they end and what they leave.

    python -m tests.fuzz.signals [--times N] [--signal INT|TERM|KILL] [--twice] [--latest SECONDS] [--seed N]

SIGINT and SIGTERM must end with 130 and 143, one line on standard error, and a folder as it was before. A third of the
moments are within two seconds. A signal that comes while Python starts, before it imports gpuasm, is not counted.

SIGKILL over older results must leave a folder of one run, or a ``run.json`` that does not state "done"; and another run
must then give the results of an undisturbed one. Failures are printed, and the exit code is 1 if there are any. Run it
by hand for hours; tests/unit/cli/test_signals.py runs a few moments.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.read_files import OUTPUTS, genome_text, outputs_of, simulated_pairs, write_pairs

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
MESSAGES = {signal.SIGINT: "gpuasm: error: interrupted\n", signal.SIGTERM: "gpuasm: error: terminated\n"}
PATIENCE_S = 20
STARTED_S = 0.05
"""Seconds in which Python at least starts; nothing of gpuasm can handle a signal before."""


@dataclass
class Samples:
    """Reads of two genomes, a folder with the results of the first, and the results of both.

    Attributes
    ----------
    folder : Path
        For all files.
    reads : list of (Path, Path)
        Files of mates, by genome.
    results : list of dict
        The bytes of each output, by genome.
    """

    folder: Path
    reads: list[tuple[Path, Path]]
    results: list[dict[str, bytes]]

    @classmethod
    def make(cls, folder: Path, length: int) -> Samples:
        """Simulate and assemble the two genomes."""
        made = cls(folder, [], [])
        for number in range(2):
            (folder / str(number)).mkdir()
            text = genome_text(length=length, repeats=3, seed=number + 5)
            made.reads.append(write_pairs(folder / str(number), simulated_pairs(text)))
            subprocess.run(made.command(number, folder / f"whole{number}"), check=True, capture_output=True)
            made.results.append(outputs_of(folder / f"whole{number}"))
        return made

    def command(self, number: int, output: Path) -> list[str]:
        """Return the command that assembles a genome."""
        first, second = self.reads[number]
        names = ["-1", str(first), "-2", str(second), "-o", str(output), "--checkpoint-after", "0"]
        return [sys.executable, "-m", "gpuasm", "assemble", "--device", "cpu", "-t", "2", "-q", *names]


def signalled(command: list[str], number: int, delay: float, *, twice: bool = False) -> tuple[int | None, str, float]:
    """Run a command, send a signal to its group after some seconds, and return exit code, messages and duration.

    The exit code is None if the process did not end in ``PATIENCE_S``.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    began = time.monotonic()
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, number)
        if twice:
            time.sleep(0.002)
            os.killpg(process.pid, number)
    try:
        _, messages = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "it did not end", time.monotonic() - began
    return process.returncode, messages, time.monotonic() - began


def temporary_folders() -> set[str]:
    """Return the names of temporary folders of gpuasm and matplotlib."""
    names = (path.name for path in Path(tempfile.gettempdir()).iterdir())
    return {name for name in names if name.startswith(("gpuasm-", "matplotlib-"))}


def moments(times: int, latest: float, rng: random.Random) -> Iterator[float]:
    """Yield moments in seconds after the start, a third of them within two seconds."""
    for _ in range(times):
        yield rng.uniform(STARTED_S, min(2.0, latest)) if rng.random() < 1 / 3 else rng.uniform(STARTED_S, latest)


def wrong_ends(samples: Samples, number: int, delays: Iterator[float], *, twice: bool) -> Iterator[str]:
    """Yield what is wrong after each SIGINT or SIGTERM, over no results and over older ones in turn."""
    for turn, delay in enumerate(delays):
        output = samples.folder / "out"
        shutil.rmtree(output, ignore_errors=True)
        if turn % 2:
            shutil.copytree(samples.folder / "whole0", output)
        before = temporary_folders()
        code, messages, _ = signalled(samples.command(1, output), number, delay, twice=twice)
        if code == 0:  # it had ended before
            continue
        if code in (1, -number) and "/gpuasm/" not in messages:
            continue  # Python was starting
        if (code, messages) != (CODES[number], MESSAGES[number]):
            yield f"{delay:.3f} s: exit code {code}, {messages[-300:]!r}"
        files = {path.name for path in output.iterdir()} - {".checkpoint.npz"} if output.exists() else set()
        expected = set(OUTPUTS) if turn % 2 else set()
        if files not in (expected, set(OUTPUTS)) or (files and outputs_of(output) not in samples.results):
            yield f"{delay:.3f} s: left {sorted(files ^ expected)}, or mixed results"
        if left := temporary_folders() - before:
            yield f"{delay:.3f} s: left temporary files {sorted(left)}"


def wrong_mixtures(samples: Samples, delays: Iterator[float]) -> Iterator[str]:
    """Yield what is wrong after each SIGKILL of a run over the results of another."""
    output = samples.folder / "out"
    for delay in delays:
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(samples.folder / "whole0", output)
        signalled(samples.command(1, output), signal.SIGKILL, delay)
        status = json.loads((output / "run.json").read_text())["status"]
        if status == "done" and outputs_of(output) not in samples.results:
            yield f"{delay:.3f} s: two runs are mixed, and run.json states 'done'"
        done = subprocess.run(samples.command(1, output), capture_output=True, text=True, check=False)
        names = sorted(path.name for path in output.iterdir())
        if done.returncode or names != sorted(OUTPUTS) or outputs_of(output) != samples.results[1]:
            yield f"{delay:.3f} s: the next run ends with {done.returncode}, {done.stderr[-300:]!r}, {names}"


def main() -> int:
    """Run as the command line requires; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--signal", choices=["INT", "TERM", "KILL"], default="INT")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--latest", type=float, default=6.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=40_000)
    arguments = parser.parse_args()
    number = signal.Signals[f"SIG{arguments.signal}"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let jobs in their background ignore it
    n_wrong = 0
    with tempfile.TemporaryDirectory() as name:
        samples = Samples.make(Path(name), arguments.length)
        delays = moments(arguments.times, arguments.latest, random.Random(arguments.seed))
        found = (
            wrong_mixtures(samples, delays) if number == signal.SIGKILL
            else wrong_ends(samples, number, delays, twice=arguments.twice)
        )  # fmt: skip
        for text in found:
            n_wrong += 1
            print(text, flush=True)
    print(f"{arguments.times} times SIG{arguments.signal}: {n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
