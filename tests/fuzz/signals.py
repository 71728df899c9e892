"""End commands by signals at random moments, and check how they end and what they leave.

    python -m tests.fuzz.signals --signal INT --times 1000 --jobs 16 --json FILE
    python -m tests.fuzz.signals --signal KILL --times 100 --command assemble

Each trial draws a command and a moment, a third of them within two seconds. Half of the trials have older results. A
trial whose command ends before its moment is repeated.

SIGINT and SIGTERM must end with 130 and 143 and one line on standard error. They must leave no process, no temporary
file, and the folder as it was or with all new results. A fifth of them are sent twice. Ctrl-C is sent to all processes
of the command, SIGTERM to the first of them or to all. A signal that comes while Python starts ends the process as
Python does, by the signal itself or by a fatal error; these are counted.

After SIGKILL, files must be whole, and a folder whose ``run.json`` does not state "running" has those of one run.
Another run must give the results of an undisturbed one. Failures are printed, and the exit code is 1 if there are any.
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
from dataclasses import dataclass
from pathlib import Path

import gpuasm
from tests.fuzz.outcomes import SOON_S, Outcome, counted, in_parallel
from tests.fuzz.small_commands import ARGUMENTS, WRITES_FOLDER, Files, SmallCommands, files_of

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
MESSAGES = {signal.SIGINT: "gpuasm: error: interrupted\n", signal.SIGTERM: "gpuasm: error: terminated\n"}
PATIENCE_S = 60
_TO_END_S = 5
"""Seconds that helpers may take to end after the process that started them."""
_PACKAGE = str(Path(gpuasm.__file__).parent)
_OF_PYTHON = ("Traceback", "Fatal Python error: init_", "Could not import runpy module\nTraceback")


@dataclass(frozen=True)
class Blow:
    """A signal that is sent some seconds after the start of a process.

    Attributes
    ----------
    number : signal.Signals
        The signal.
    moment : float
        When.
    twice : bool
        Whether it is sent again two milliseconds later.
    to_all : bool
        Whether to all processes of the session, or to the first only.
    """

    number: signal.Signals
    moment: float
    twice: bool = False
    to_all: bool = True

    def fall(self, process: subprocess.Popen[str]) -> None:
        """Send the signal."""
        for turn in range(1 + self.twice):
            time.sleep(0.002 * turn)
            try:
                (os.killpg if self.to_all else os.kill)(process.pid, self.number)
            except ProcessLookupError:
                return


@dataclass(frozen=True)
class End:
    """How a process ended: its exit code, None if it did not end; its messages; seconds from the signal to the end."""

    code: int | None
    messages: str
    seconds: float

    def is_of_python(self, number: signal.Signals) -> bool:
        """Return whether Python was starting and had not run anything of gpuasm yet."""
        begins = self.messages.startswith(_OF_PYTHON)
        is_such = begins if self.code == 1 else self.code == -number and (begins or not self.messages)
        return is_such and _PACKAGE not in self.messages


def struck(command: list[str], blow: Blow, *, environment: dict[str, str] | None = None) -> End:
    """Run a command, send it a signal unless it has ended before, and wait for its end."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment
    )
    try:
        process.wait(blow.moment)
    except subprocess.TimeoutExpired:
        blow.fall(process)
    began = time.monotonic()
    try:
        _, messages = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return End(None, "it did not end", time.monotonic() - began)
    return End(process.returncode, messages, time.monotonic() - began)


class Trials:
    """Trials of one signal.

    Parameters
    ----------
    commands
        The commands, with their undisturbed results.
    number
        The signal.
    seed
        Of what is random.
    is_cold
        Whether each trial has an empty folder of compiled code.
    """

    def __init__(self, commands: SmallCommands, number: signal.Signals, *, seed: int = 1, is_cold: bool = False):
        self._commands, self._number, self._seed, self._is_cold = commands, number, seed, is_cold

    def run(self, turn: int) -> Outcome:
        """Run one trial: a random command and moment."""
        rng = random.Random(f"{self._number} {self._seed} {turn}")
        name = rng.choice(self._commands.names)
        latest = self._commands.seconds[name] * (4 if self._is_cold else 1)
        while True:
            moment = rng.uniform(0, min(SOON_S, latest) if turn % 3 == 0 else latest)
            to_all = self._number != signal.SIGTERM or rng.random() < 0.5
            blow = Blow(self._number, moment, rng.random() < 0.2 and self._number in CODES, to_all)
            outcome = self.strike(name, blow, is_over_older=turn % 2 == 1)
            if outcome is not None:
                return outcome
            latest *= 0.8

    def strike(self, name: str, blow: Blow, *, is_over_older: bool) -> Outcome | None:
        """Run a command that a signal ends; return None if it ended before."""
        with tempfile.TemporaryDirectory(dir=self._commands.folder) as place:
            output, temporary = Path(place) / "output", Path(place) / "temporary"
            temporary.mkdir()
            if is_over_older:
                shutil.copytree(self._commands.folder / "whole0" / name, output)
            elif name not in WRITES_FOLDER:
                output.mkdir()
            environment = {**os.environ, "TMPDIR": str(temporary)}
            if self._is_cold:
                environment["GPUASM_CACHE_DIR"] = f"{place}/cache"
            before = files_of(output)
            command = self._commands.command(name, 1, output)
            end = struck(command, blow, environment=environment)
            if end.code == 0:
                return None
            outcome = Outcome(self._number.name, name, blow.moment, blow.twice, end.is_of_python(blow.number))
            outcome.seconds = end.seconds
            if blow.number == signal.SIGKILL:
                outcome.by_python = False
                outcome.wrong = self._wrong_after_kill(name, output, command)
            else:
                outcome.wrong = [*_wrong_end(end, blow.number), *_left(temporary)]
                after = files_of(output)
                if after != before and self._commands.differing(name, 1, after):
                    changed = sorted(file for file in after.keys() | before if after.get(file) != before.get(file))
                    outcome.wrong.append(f"the folder is neither as before nor complete: {changed}")
            return outcome

    def _wrong_after_kill(self, name: str, output: Path, command: list[str]) -> list[str]:
        wrong = []
        after = {file: data for file, data in files_of(output).items() if not file.startswith(".")}
        if name in WRITES_FOLDER and status_of(after) not in ("running", None):
            if all(self._commands.differing(name, number, after) for number in range(2)):
                wrong.append(f"two runs are mixed, and run.json states {status_of(after)!r}")
        elif name not in WRITES_FOLDER:
            wrong += [f"{file} is not whole" for file in after if not self._is_whole(name, file, after)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        last = {file: data for file, data in files_of(output).items() if not file.endswith(".tmp")}
        if done.returncode or (different := self._commands.differing(name, 1, last)):
            found = done.stderr[-300:] if done.returncode else different
            wrong.append(f"the next run ends with {done.returncode}: {found}")
        return wrong

    def _is_whole(self, name: str, file: str, files: Files) -> bool:
        results = [self._commands.results[number][name] for number in range(2)]
        changed = [results[number] | {file: files[file]} for number in range(2)]
        return any(not self._commands.differing(name, number, changed[number]) for number in range(2))


def status_of(files: Files) -> str | None:
    """Return the status that ``run.json`` of a folder states."""
    return json.loads(files["run.json"])["status"] if "run.json" in files else None


def _wrong_end(end: End, number: signal.Signals) -> list[str]:
    if end.is_of_python(number) or (end.code, end.messages) == (CODES[number], MESSAGES[number]):
        return []
    return [f"exit code {end.code}, {end.messages[-300:]!r}"]


def _left(temporary: Path) -> list[str]:
    """Return which temporary files and processes are left; processes have the folder in their environment."""
    wrong = [f"left {path.name} among temporary files" for path in temporary.iterdir()]
    end = time.monotonic() + _TO_END_S
    while found := _processes_with(str(temporary)):
        if time.monotonic() > end:
            return [*wrong, f"left processes {found}"]
        time.sleep(0.05)
    return wrong


def _processes_with(text: str) -> list[str]:
    """Return the command lines of processes with a text in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended, or is another user's
            continue
    return found


def main() -> int:
    """Run as the command line requires; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--signal", choices=["INT", "TERM", "KILL"], default="INT")
    parser.add_argument("--command", choices=[*ARGUMENTS], action="append", help="default: all of them")
    parser.add_argument("--cold", action="store_true", help="each trial has an empty folder of compiled code")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="counts, written while trials go on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=12_000, help="bases of the genomes")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let jobs in their background ignore it
    with tempfile.TemporaryDirectory() as name:
        commands = SmallCommands(Path(name), options.command or ARGUMENTS, length=options.length, device=options.device)
        trials = Trials(commands, signal.Signals[f"SIG{options.signal}"], seed=options.seed, is_cold=options.cold)
        wrong = counted(in_parallel(trials.run, range(options.times), jobs=options.jobs), options.json)
    print(f"{options.times} times SIG{options.signal}: {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
