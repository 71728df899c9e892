"""Run one step of one sample of the workflow, so that bad data stop this sample only.

``python -m gpuasm.cli.guarded_step --sample NAME --status FOLDER/STEP.json -- check reads.fastq`` runs ``gpuasm check``
unless an earlier step of the sample failed. The status file contains the outcome. It is written when the command
succeeds or refuses its data; then all promised outputs exist, empty ones if need be. Any other failure fails the step.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from gpuasm import unfinished
from gpuasm.cli.interruption import handled_otherwise
from gpuasm.errors import one_line

BAD_DATA = {65, 66}
"""Exit codes of gpuasm for input whose content is wrong, and for input that is missing or unreadable."""

_GPUASM = (sys.executable, "-m", "gpuasm")
_PREFIX = "gpuasm: error: "
_MOST = 200
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--sample", required=True, help="The sample's name.")
@click.option("--status", type=_FILE, required=True, help="File for the outcome; its name is that of the step.")
@click.option("--after", type=_FILE, help="Status of an earlier step; if that is not ok, this one is skipped.")
@click.option("--output", "outputs", multiple=True, type=_FILE, help="A file that is there afterwards, if only empty.")
@click.option("--program", help="Run this program instead of gpuasm; each of its errors counts as one of the data.")
@click.option("--fail", is_flag=True, help="Bad data fail the step too.")
@click.argument("arguments", nargs=-1, required=True)
def main(
    *,
    sample: str,
    status: Path,
    after: Path | None,
    outputs: tuple[Path, ...],
    program: str | None,
    fail: bool,
    arguments: tuple[str, ...],
) -> None:
    """Run gpuasm with ARGUMENTS as one step of the workflow."""
    earlier = outcome_of(after) if after else {"status": "ok"}
    if earlier["status"] == "ok":
        exit_code, message = run_command((program, *arguments) if program else (*_GPUASM, *arguments))
        outcome = {"status": "failed" if exit_code else "ok", "exit_code": exit_code, "message": message}
        is_of_data = exit_code > 0 if program else exit_code in BAD_DATA
        if exit_code and (fail or not is_of_data):
            sys.exit(exit_code)
    else:
        outcome = {"status": "skipped", "exit_code": earlier["exit_code"], "message": earlier["message"]}
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    status.write_text(json.dumps({"sample": sample, "step": status.stem, **outcome}, indent=2) + "\n")


def outcome_of(status: Path) -> dict[str, Any]:
    """Return the outcome of an earlier step; end this one if its file is damaged."""
    try:
        earlier = json.loads(status.read_text(encoding="utf-8"))
        return {name: earlier[name] for name in ("status", "exit_code", "message")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        place, remedy = one_line(str(status), _MOST), "remove it, so that the step runs again"
        sys.stderr.write(f"{_PREFIX}{place}: expected the outcome of a step, found another file; {remedy}\n")
        sys.exit(65)


def run_command(command: tuple[str, ...]) -> tuple[int, str]:
    """Run a command, its messages passed on, and return its exit code and, if it failed, its last message."""
    error = last = ""
    if not shutil.which(command[0]):
        sys.stderr.write(f"{_PREFIX}expected the program {command[0]}, found none on the PATH; install it\n")
        sys.exit(69)
    with unfinished.MAKING:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")  # noqa: S603 - ours
        unfinished.register(process.terminate)
    with process, _signals_left_to(process):
        for line in process.stderr or ():
            sys.stderr.write(line)
            last = line.strip() or last
            if line.startswith(_PREFIX):
                error = line.strip().removeprefix(_PREFIX)
        process.wait()
    return process.returncode, (error or last) if process.returncode else ""


def _signals_left_to(process: subprocess.Popen[str]) -> AbstractContextManager[None]:
    """Let the command end by itself on a signal, so that it prints the reason and cleans up.

    Ctrl-C reaches both of us; SIGTERM may have been sent to this process alone.
    """
    forward = lambda number, _: process.send_signal(number)  # noqa: E731
    return handled_otherwise({signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: forward})


if __name__ == "__main__":
    main()
