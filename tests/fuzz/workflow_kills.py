"""Kill the workflow at random moments over older results, and check what is left and what another run makes of it.

    python -m tests.fuzz.workflow_kills --times 100 --jobs 8 --json FILE

The workflow has run on one set of reads, and then on another under the same names. It is killed with all of its jobs
one to four times, each time further on, and then runs to the end. After each kill a folder whose ``run.json`` does not
state "running" has files of one run; at the end all results are as if nothing had been killed. It needs Snakemake.
"""

from __future__ import annotations

import argparse
import hashlib
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

from tests.fuzz.outcomes import Outcome, counted, in_parallel
from tests.fuzz.signals import Blow, status_of, struck
from tests.fuzz.small_commands import TIMED, Files, files_of
from tests.fuzz.small_workflow import ROOT, snakemake, write_project
from tests.read_files import genome_text, simulated_pairs, write_pairs

_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
_MOST_KILLS = 4
_READS = ("reads_1.fastq", "reads_2.fastq")


@dataclass
class Undisturbed:
    """The results of two sets of reads, and a checksum that run.json of each contains."""

    results: list[Files]
    sums: list[str]

    def differing(self, files: Files, number: int, *, may_miss: bool) -> list[str]:
        """Return the names of files that are not those of a set of reads; Snakemake removes some before a job."""
        whole, other = self.results[number], self.sums[1 - number].encode()
        wrong = [] if may_miss else [name for name in whole if name not in files]
        for name, data in files.items():
            is_timed = Path(name).name in TIMED
            if name not in whole or (other in data if is_timed else data != whole[name]):
                wrong.append(name)
        return sorted(wrong)

    def mixtures(self, files: Files) -> Iterator[str]:
        """Yield each folder with files of both, and a run.json that does not state "running"; none is hidden."""
        files = {name: data for name, data in files.items() if "/." not in name}
        for folder in sorted({str(Path(name).parent) for name in files if Path(name).name == "run.json"}):
            within = {name: data for name, data in files.items() if Path(name).parent == Path(folder)}
            status = status_of({"run.json": within[f"{folder}/run.json"]})
            if status != "running" and all(self.differing(within, number, may_miss=True) for number in range(2)):
                yield f"two runs are mixed in {folder}, and run.json states {status!r}"


class Workflows:
    """A project with the results of one set of reads, and the results of another.

    Attributes
    ----------
    undisturbed : Undisturbed
        The results of both.
    seconds : float
        How long the workflow takes.
    """

    def __init__(self, folder: Path, *, length: int) -> None:
        self._folder, self.undisturbed = folder, Undisturbed([], [])
        for number in range(2):
            home = folder / f"whole{number}"
            write_project(home, {"sample": _READS})
            write_pairs(home, simulated_pairs(genome_text(length=length, repeats=1, seed=number + 5)))
            began = time.monotonic()
            subprocess.run(snakemake(home), check=True, capture_output=True, env=_ENVIRONMENT)
            self.seconds = time.monotonic() - began
            self.undisturbed.results.append(results_of(home))
            self.undisturbed.sums.append(hashlib.sha256((home / _READS[0]).read_bytes()).hexdigest())

    def kills(self, times: int, seed: int) -> list[list[float]]:
        """Return so many moments in all, as lists of those after which the workflow runs to its end."""
        rng, runs = random.Random(seed), []
        while times > 0:
            runs.append([rng.uniform(0, self.seconds) for _ in range(min(times, rng.randint(1, _MOST_KILLS)))])
            times -= len(runs[-1])
        return runs

    def trial(self, moments: list[float]) -> list[Outcome]:
        """Kill the workflow at some moments after its starts, then run it to its end."""
        with tempfile.TemporaryDirectory(dir=self._folder) as place:
            home, outcomes = Path(place) / "project", []
            shutil.copytree(self._folder / "whole0", home)
            for name in _READS:
                shutil.copyfile(self._folder / "whole1" / name, home / name)
            for moment in moments:
                end = struck(snakemake(home), Blow(signal.SIGKILL, moment), environment=_ENVIRONMENT)
                outcomes.append(Outcome("SIGKILL", "workflow", moment, seconds=end.seconds))
                outcomes[-1].wrong += self.undisturbed.mixtures(results_of(home))
            done = subprocess.run(snakemake(home), capture_output=True, text=True, env=_ENVIRONMENT, check=False)
            if done.returncode or (wrong := self.undisturbed.differing(results_of(home), 1, may_miss=False)):
                found = done.stderr[-300:] if done.returncode else wrong
                outcomes[-1].wrong.append(f"the next run ends with {done.returncode}: {found}")
            return outcomes


def results_of(home: Path) -> Files:
    """Return the results of a project but its timings, and what a killed process had begun to write."""
    files = files_of(home / "results")
    return {name: data for name, data in files.items() if "benchmarks/" not in name and not name.endswith(".tmp")}


def main() -> int:
    """Run as the command line requires; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1, help="workflows at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="counts, written while trials go on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=4000, help="bases of the genomes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        workflows = Workflows(Path(name), length=options.length)
        runs = workflows.kills(options.times, options.seed)
        trials = in_parallel(workflows.trial, runs, jobs=options.jobs)
        wrong = counted((outcome for outcomes in trials for outcome in outcomes), options.json)
    print(f"{options.times} kills of the workflow: {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
