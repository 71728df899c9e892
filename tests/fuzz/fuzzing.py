"""Fuzz one target in this process: mutate inputs, keep those that reach new lines, and note what came of them."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import resource
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from gpuasm.errors import MOST_CHARACTERS, GpuasmError
from gpuasm.resources import limited_memory
from tests.fuzz.coverage import MonitoredLines, TracedLines
from tests.fuzz.mutations import mutated
from tests.fuzz.target import RefusedError
from tests.fuzz.targets import TARGETS

MOST_PEAK = 2 << 30
"""More resident memory than that, in bytes, is a failure."""
_BUDGET = 1500 << 20
_MOST_KEPT_BYTES = 1 << 15


@dataclass
class Outcome:
    """What came of the inputs of a target.

    Attributes
    ----------
    counts
        How many inputs were read, and how many refused with each exit code.
    failures
        Inputs that ended otherwise, and what was said.
    seconds
        The time taken.
    peak_bytes
        The largest resident memory.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[bytes, str]] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0

    @property
    def n_inputs(self) -> int:
        """How many inputs there were."""
        return self.counts.total() + len(self.failures)


class Clock:
    """When the input at hand was begun; a watchdog reads it."""

    value = 0.0


class Fuzzer:
    """The fuzzer of one target.

    Parameters
    ----------
    name
        The target.
    folder
        A folder of its own, for the input and what commands write.
    lines
        The lines that inputs reach; None mutates the valid files only.
    corpus
        The folder of inputs that reach new lines, which several processes may share.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        lines: MonitoredLines | TracedLines | None = None,
        corpus: Path | None = None,
    ) -> None:
        self._target, self._name, self._lines, self._corpus = TARGETS[name], name, lines, corpus
        self._path, self._inputs = folder / "input", self._target.seeds(folder)
        self._known: set[str] = set()
        self._is_begun = False

    def run(self, rng: Random, *, seconds: float, inputs: int = 1 << 62, clock: Clock | None = None) -> Outcome:
        """Read mutated inputs until the time or their number is reached."""
        outcome, clock = Outcome(), Clock() if clock is None else clock
        with limited_memory(_BUDGET), np.errstate(all="ignore"), _quiet():
            self._begin(clock)
            _forget_peak()
            began = time.monotonic()
            while time.monotonic() < began + seconds and outcome.n_inputs < inputs:
                data = mutated(rng, self._inputs)
                self._read(data, outcome, clock)
                if self._lines and self._lines.has_new() and len(data) <= _MOST_KEPT_BYTES:
                    self._keep(data)
        clock.value = 0.0
        outcome.seconds = time.monotonic() - began
        outcome.peak_bytes = max(outcome.peak_bytes, _peak())
        return outcome

    def _begin(self, clock: Clock) -> None:
        """Read the valid files, and what others have found, to know their lines."""
        new = [] if self._is_begun else list(self._inputs)
        found = [path for path in self._corpus.iterdir() if path.name not in self._known] if self._corpus else []
        self._known.update(path.name for path in found)
        inputs = [path.read_bytes() for path in found]
        self._inputs += inputs
        self._is_begun = True
        if self._lines:
            self._lines.select(self._name)
        for data in [*new, *inputs]:
            self._read(data, Outcome(), clock)
        if self._lines:
            self._lines.has_new()

    def _read(self, data: bytes, outcome: Outcome, clock: Clock) -> None:
        self._path.write_bytes(data)
        clock.value = time.monotonic()
        kind, said = "read", ""
        try:
            self._target.read(self._path)
        except (GpuasmError, RefusedError) as error:
            kind, said = str(error.exit_code), str(error)
        except (Exception, SystemExit):
            outcome.failures.append((data, traceback.format_exc()))
            return
        if len(said) > MOST_CHARACTERS or not (said.isprintable() or not said):
            outcome.failures.append((data, f"message: {said}"))
        elif _peak() > MOST_PEAK:
            outcome.failures.append((data, f"peak of {_peak():,} bytes"))
            outcome.peak_bytes = _peak()
            _forget_peak()
        else:
            outcome.counts[kind] += 1

    def _keep(self, data: bytes) -> None:
        self._inputs.append(data)
        if self._corpus:
            name = hashlib.sha256(data).hexdigest()[:20]
            self._known.add(name)
            (self._corpus / name).write_bytes(data)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("gpuasm")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_peak() -> None:
    """Let the largest resident memory be that of now."""
    with contextlib.suppress(OSError):  # some systems do not let a process do so
        Path("/proc/self/clear_refs").write_text("5")
