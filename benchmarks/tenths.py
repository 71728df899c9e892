"""Show what the main thread of a command does in each tenth of a second.

    python benchmarks/tenths.py --json benchmarks/results/tenths.json -- assemble -1 R1 -2 R2 -o assembly --device cuda

The command runs in a process of its own, in which a thread looks at the stack of the main thread each few milliseconds:
at the innermost module of gpuasm, and at the module that is being imported. It slows the command down a little, and
in a second run, which is without it, the same command is timed. The command must allow a second run.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

_EVERY_S = 0.005
_TENTH = 0.1
_PACKAGE = "/gpuasm/"
_WAITS = ("parallel", "threads", "arrays", "io/background", "device_memory")


def doing(frame: FrameType | None) -> str:
    """Return the import, or the module of gpuasm, that a stack is in; a wait for threads belongs to its caller."""
    own = ""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and "importlib" in code.co_filename:
            return f"import {str(frame.f_locals.get('name')).partition('.')[0]}"
        if own in ("", *_WAITS) and _PACKAGE in code.co_filename:
            own = code.co_filename.rpartition(_PACKAGE)[2].removesuffix(".py")
        frame = frame.f_back
    return own or "start of Python"


def watch(main: int, began: float, seen: list[tuple[float, str]]) -> None:
    """Append the time and what the main thread does, as long as the process lives."""
    while True:
        seen.append((time.time() - began, doing(sys._current_frames().get(main))))  # noqa: SLF001 - there is no other way
        time.sleep(_EVERY_S)


def run_watched(path: Path, began: float, arguments: list[str]) -> None:
    """Run a command in this process, and write what was seen when it exits."""
    seen: list[tuple[float, str]] = []
    threading.Thread(target=watch, args=(threading.get_ident(), began, seen), daemon=True).start()
    exit_now = os._exit

    def write_and_exit(code: int) -> None:
        path.write_text(json.dumps(seen))
        exit_now(code)

    os._exit = write_and_exit  # type: ignore[assignment]  # the command ends by it
    sys.argv = ["gpuasm", *arguments]
    from gpuasm.cli import run  # noqa: PLC0415 - what it imports is watched

    run()


def tenths_of(seen: list[tuple[float, str]]) -> list[dict[str, Any]]:
    """Return what the main thread did most of the time in each tenth; tenths of the same follow as one."""
    by_tenth: dict[int, collections.Counter[str]] = {}
    for second, what in seen:
        by_tenth.setdefault(int(second / _TENTH), collections.Counter())[what] += 1
    rows: list[dict[str, Any]] = []
    for number, counter in sorted(by_tenth.items()):
        what = counter.most_common(1)[0][0]
        if not rows or rows[-1]["what"] != what:
            rows.append({"from_s": round(number * _TENTH, 1), "tenths": 0, "what": what})
        rows[-1]["tenths"] += 1
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--watch", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    if options.watch:
        run_watched(Path(options.watch[0]), float(options.watch[1]), options.command)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.json"
        watched = [sys.executable, __file__, "--watch", str(path), str(time.time()), "--", *options.command]
        subprocess.run(watched, check=True, stdout=subprocess.DEVNULL)
        rows = tenths_of(json.loads(path.read_text()))
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "gpuasm", *options.command], check=True, stdout=subprocess.DEVNULL)
    unwatched_s = round(time.perf_counter() - began, 2)
    from record import record  # noqa: PLC0415 - it imports what the watched process is to import by itself

    for row in rows:
        print(f"{row['from_s']:6.1f} {row['tenths']:4d}  {row['what']}")
    print(f"without being watched: {unwatched_s} s")
    command = " ".join(word for word in options.command if not word.startswith("/"))
    record(options.json, "tenths", {"command": command, "unwatched_s": unwatched_s}, rows)


if __name__ == "__main__":
    main()
