"""Fuzz the readers: ``python -m tests.fuzz.run --seconds 3600``, or ``--inputs 20000``; harmful files are kept.

Each input is a mutation of a valid file, and must be read or refused by a GpuasmError, within some seconds.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NoReturn

import numpy as np

from gpuasm.errors import GpuasmError
from gpuasm.resources import limited_memory
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import TARGETS

MOST_SECONDS = 20
_MEMORY = 2 << 30


class _TooLongError(Exception):
    """An input that takes too long."""


@dataclass
class Outcome:
    """What came of the inputs of a reader."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[bytes, str]] = field(default_factory=list)


def fuzz(name: str, *, seed: int, seconds: float = 3600.0, inputs: int = 1 << 62) -> Outcome:
    """Read mutated files until time or number is reached; the same seed gives the same files."""
    target, rng, outcome = TARGETS[name], Random(f"{name} {seed}"), Outcome()
    logging.getLogger("gpuasm").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as home, limited_memory(_MEMORY), np.errstate(all="ignore"):
        seeds, path = target.seeds(Path(home)), Path(home) / "input"
        for data in seeds:  # also compiles what is compiled
            path.write_bytes(data)
            with suppress(GpuasmError):  # of a few seeds a part is missing
                target.read(path)
        end = time.monotonic() + seconds
        while time.monotonic() < end and outcome.counts.total() < inputs:
            data = mutated(rng, seeds)
            path.write_bytes(data)
            try:
                with _at_most(MOST_SECONDS):
                    target.read(path)
                outcome.counts["read"] += 1
            except GpuasmError as error:
                outcome.counts[str(error.exit_code)] += 1
                if len(str(error)) > 400 or not str(error).isprintable():
                    outcome.failures.append((data, f"message: {error}"))
            except Exception:
                outcome.failures.append((data, traceback.format_exc()))
    return outcome


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def end(*_: object) -> NoReturn:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600.0, help="for all readers together")
    parser.add_argument("--inputs", type=int, default=1 << 62, help="for each reader at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--reader", choices=[*TARGETS], action="append")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_failures"))
    options = parser.parse_args()
    readers = options.reader or list(TARGETS)
    n_failures = 0
    print(f"seed {options.seed}")
    for name in readers:
        found = fuzz(name, seed=options.seed, seconds=options.seconds / len(readers), inputs=options.inputs)
        counts = ", ".join(f"{kind}: {n}" for kind, n in sorted(found.counts.items()))
        print(f"{name}: {counts}; {len(found.failures)} failures", flush=True)
        n_failures += len(found.failures)
        shown: set[str] = set()
        for number, (data, text) in enumerate(found.failures):
            options.keep.mkdir(exist_ok=True)
            (options.keep / f"{name.replace(' ', '_')}_{options.seed}_{number}").write_bytes(data)
            if text.splitlines()[-1][:60] not in shown:
                shown.add(text.splitlines()[-1][:60])
                print("   ", "\n    ".join(text.splitlines()[-7:]), flush=True)
    sys.exit(bool(n_failures))


if __name__ == "__main__":
    main()
