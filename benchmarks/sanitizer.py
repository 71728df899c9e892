"""Run the tests of kernels on a device under compute-sanitizer, and count what it finds.

    python benchmarks/sanitizer.py --json benchmarks/results/sanitizer.json
    python benchmarks/sanitizer.py --tools memcheck racecheck -- tests/gpu/test_kernels.py -k hashing

Arguments after ``--`` are pytest's; without them, all tests that need a device are run. Each array gets memory of its
own from the driver, as an access beyond an array of a pool may lie within the pool. The exit code is 1 if a tool found
an error, or if a test failed. It is 69 if there is no compute-sanitizer, which is a part of the CUDA toolkit.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from record import record

from gpuasm import device_memory

TOOLS = ("memcheck", "racecheck", "initcheck")
PROGRAM = "compute-sanitizer"
_PLACES = "/usr/local/cuda*/bin/compute-sanitizer"
_UNAVAILABLE = 69
_SHOWN_KINDS = 10
_SUMMARY = re.compile(
    r"^=+ (?:ERROR SUMMARY: (?P<errors>\d+) error|RACECHECK SUMMARY: \d+ hazards? displayed \((?P<races>\d+) error"
    r"s?, (?P<warnings>\d+) warning)",
    re.MULTILINE,
)
_KINDS = "Invalid|Uninitialized|Misaligned|Error:|Warning:|Program hit|Leaked"
_FOUND = re.compile(rf"^=+ ((?:{_KINDS}) .*?)\s*$", re.MULTILINE)
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_COUNTS = re.compile(r"(\d+) (passed|failed|error|skipped)")


def program_of(given: Path | None) -> Path | None:
    """Return compute-sanitizer: the given program, or that of the path or of a toolkit in its usual place."""
    if given is not None:
        return given if os.access(given, os.X_OK) else None
    found = [path for path in [shutil.which(PROGRAM), *map(str, sorted(Path("/").glob(_PLACES[1:])))] if path]
    return Path(found[0]) if found else None


def run_tool(program: Path, tool: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Run tests under a tool, and return the row of results."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "--tool", tool, "--target-processes", "all", "--log-file", f"{folder}/%p.log"]
        tests = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", Path(__file__).stem, "-m", "gpu", "--timeout=0"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        began = time.perf_counter()
        whole = [*command, *tests, *arguments]
        done = subprocess.run(whole, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        logs = [path.read_text(errors="replace") for path in sorted(Path(folder).iterdir())]
    counts = {name: int(number) for number, name in _COUNTS.findall(done.stdout[-2000:])}
    return {
        "tool": tool,
        **summed(logs),
        "tests_passed": counts.get("passed", 0),
        "tests_failed": counts.get("failed", 0) + counts.get("error", 0),
        "exit_code": done.returncode,
        "wall_s": round(time.perf_counter() - began, 1),
    }


def summed(logs: Iterable[str]) -> dict[str, Any]:
    """Return the processes that have a summary, the sums of their errors and warnings, and what was found how often."""
    processes = errors = warnings = 0
    kinds: collections.Counter[str] = collections.Counter()
    for log in logs:
        kinds.update(_NUMBER.sub("N", text) for text in _FOUND.findall(log))
        if found := _SUMMARY.search(log):
            processes += 1
            errors += int(found["errors"] or found["races"])
            warnings += int(found["warnings"] or 0)
    most = dict(kinds.most_common(_SHOWN_KINDS))
    return {"processes": processes, "errors": errors, "warnings": warnings, "kinds": most}


def is_clean(row: dict[str, Any]) -> bool:
    """Return whether a tool watched tests, found no error, and all tests passed."""
    return row["processes"] > 0 and not row["errors"] and row["tests_passed"] > 0 and row["exit_code"] == 0


def pytest_configure() -> None:
    """Give each array on a device memory of its own, in the process of the tests."""
    device_memory.LARGE = 1


def main(given: Sequence[str]) -> int:
    """Run the tools, write what they found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--program", type=Path, help="compute-sanitizer, if it is not found by itself")
    parser.add_argument("--json", type=Path)
    at = given.index("--") if "--" in given else len(given)
    options, tests = parser.parse_args(given[:at]), given[at + 1 :]
    program = program_of(options.program)
    if program is None:
        print(f"{PROGRAM}: expected a program of the CUDA toolkit, found none; install it, or name it by --program")
        return _UNAVAILABLE
    rows = []
    for tool in options.tools:
        rows.append(run_tool(program, tool, tests))
        print(rows[-1], flush=True)
    record(options.json, "sanitizer", {"tests": " ".join(tests) or "all"}, rows)
    return 0 if all(map(is_clean, rows)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
