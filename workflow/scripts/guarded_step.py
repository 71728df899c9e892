"""Run one step of one sample so that bad data stop this sample only.

usage: guarded_step.py --sample NAME --status FOLDER/STEP.json [--after STATUS] [--output FILE]... [--fail]
                       -- COMMAND ARGUMENT...

The command runs unless an earlier step of the sample, whose status file --after names, failed. A status file says how
it went; it is written when the command succeeds or refuses its data (exit code 65 or 66), and the promised outputs
are then all there, if only as empty files. Any other failure is not the data's: it fails the step, as does bad data
with --fail. Standard library only, so that any Python can run it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

BAD_DATA = {65, 66}
"""Exit codes of gpuasm for input whose content is wrong, and for input that is missing or unreadable."""

_PREFIX = "gpuasm: error: "


def main() -> int:
    """Run the step and return the exit code."""
    options = _parse()
    earlier = json.loads(options.after.read_text()) if options.after else {"status": "ok"}
    if earlier["status"] == "ok":
        exit_code, message = _run(options.command)
        outcome = {"status": "ok" if exit_code == 0 else "failed", "exit_code": exit_code, "message": message}
    else:
        outcome = {"status": "skipped", "exit_code": earlier["exit_code"], "message": earlier["message"]}
    if outcome["status"] == "failed" and (options.fail or outcome["exit_code"] not in BAD_DATA):
        return int(outcome["exit_code"])
    for path in options.output:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    status = {"sample": options.sample, "step": options.status.stem, **outcome}
    options.status.write_text(json.dumps(status, indent=2) + "\n")
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", required=True)
    parser.add_argument("--status", type=Path, required=True)
    parser.add_argument("--after", type=Path)
    parser.add_argument("--output", type=Path, action="append", default=[])
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _run(command: list[str]) -> tuple[int, str]:
    """Run the command, its messages passed on, and return its exit code and, if it failed, its last message."""
    last = ""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:  # noqa: S603
        for line in process.stderr or ():
            sys.stderr.write(line)
            last = line.strip() or last
    return process.returncode, last.removeprefix(_PREFIX) if process.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
