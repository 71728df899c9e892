"""The first run on a machine: what an assembly needs is compiled at once, by several processes.

Compiling loops takes one process half a minute to two minutes, and the interpreter lock keeps threads from sharing
that. So when the first loop of an assembly is not on disk, helpers are started that compile all of them, in the order
in which an assembly asks for them (``loops.tsv``), and keep them on disk as any run does. Meanwhile the run goes on,
and waits only for what it needs next. Without helpers, or if one fails, it compiles by itself.
"""

from __future__ import annotations

import csv
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)

MOST_HELPERS = 8
"""With so many, what the slowest loop takes is most of what is left."""
BYTES_PER_HELPER = 1 << 30
"""A helper for so many that may be used: each takes some 370 MB."""
_FEWEST_LOOPS = 8
"""For fewer it is not worth while to start a process, which takes two seconds."""
_SECONDS_BETWEEN_MESSAGES = 10.0

CPU, HOST, CUDA = "cpu", "host", "cuda"
"""Loops of an assembly on the CPU; those that one on a device runs on the host; and those on the device, as PTX."""
_Key = tuple[bool, str, str]
_now: dict[str, Any] = {"helpers": None, "noted": None}


@dataclass
class Loop:
    """A loop to be compiled: where it is, for which types, and whether that has been done, or given up."""

    kind: str
    module: str
    name: str
    signatures: list[str] = field(default_factory=list)
    is_done: threading.Event = field(default_factory=threading.Event)

    @property
    def key(self) -> _Key:
        return self.kind == CUDA, self.module, self.name


def loops_of_assemblies(*kinds: str) -> list[Loop]:
    """Return the loops of some kinds in the order of their first use, each with the types that it is called with."""
    loops: dict[_Key, Loop] = {}
    with Path(__file__).with_name("loops.tsv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["kind"] in kinds:
                loop = Loop(row["kind"], row["module"], row["name"])
                known = loops.setdefault(loop.key, loop).signatures
                if row["signature"] not in known:  # of two kinds, the same
                    known.append(row["signature"])
    return list(loops.values())


@contextmanager
def helped(*kinds: str, threads: int, memory: int) -> Iterator[None]:
    """Let helpers compile, in the block, as soon as a loop of an assembly is not on disk.

    Parameters
    ----------
    kinds
        Which loops: `CPU`, or `HOST` and `CUDA`.
    threads
        As many helpers at most; alone, one would not be faster than this process.
    memory
        Bytes that they may take together.
    """
    n = min(threads, MOST_HELPERS, memory // BYTES_PER_HELPER)
    helpers = _Helpers(n, kinds) if kinds and n > 1 and sys.executable else None
    _now["helpers"] = helpers
    try:
        yield
    finally:
        _now["helpers"] = None
        if helpers:
            helpers.end()


def is_compiled_by_helpers(module: str, name: str, *, cc: tuple[int, int] | None = None) -> bool:
    """Wait until helpers have compiled a loop that is not on disk; False where nobody does that.

    Parameters
    ----------
    module, name
        Where the loop is.
    cc
        The device's compute capability, for PTX.
    """
    helpers: _Helpers | None = _now["helpers"]
    return helpers is not None and helpers.wait_for((cc is not None, module, name), cc)


def note(module: str, name: str, signature: Any) -> None:
    """Note that a loop is used for the first time, if somebody listens."""
    if _now["noted"] is not None:
        _now["noted"].append((module, name, signature))


@contextmanager
def noted_loops() -> Iterator[list[tuple[str, str, Any]]]:
    """Listen to what loops are used for the first time in the block: module, name and signature of each.

    The signature is numba's, or what `gpuasm.parallel.for_each.ptx` takes.
    """
    noted: list[tuple[str, str, Any]] = []
    _now["noted"] = noted
    try:
        yield noted
    finally:
        _now["noted"] = None


class _Helpers:
    """Processes that compile, and threads that tell them what."""

    def __init__(self, n: int, kinds: Sequence[str]) -> None:
        self._n, self._kinds = n, kinds
        self._changed = threading.Condition()
        self._loops: dict[_Key, Loop] | None = None
        self._waiting: list[Loop] = []
        self._cc: tuple[int, int] | None = None
        self._processes: list[subprocess.Popen[str]] = []
        self._n_fed = self._n_done = 0
        self._is_ended = False
        self._began = self._told = 0.0

    def wait_for(self, key: _Key, cc: tuple[int, int] | None) -> bool:
        """Wait until a loop is compiled; begin, if this is the first."""
        with self._changed:
            if self._loops is None:
                self._begin()
            loop = (self._loops or {}).get(key)
            if cc and not self._cc:
                self._cc = cc
                self._changed.notify_all()
        if loop is None or not self._processes:
            return False
        loop.is_done.wait()
        return True

    def end(self) -> None:
        """Send helpers home; what one is at is left unfinished."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def _begin(self) -> None:
        self._waiting = loops_of_assemblies(*self._kinds)
        self._loops = {loop.key: loop for loop in self._waiting}
        self._began = self._told = time.monotonic()
        for _ in range(min(self._n, len(self._waiting) // _FEWEST_LOOPS)):
            with suppress(OSError):  # no process to be had: whoever needs a loop compiles it
                self._processes.append(_started())
        self._n_fed = len(self._processes)
        for process in self._processes:
            threading.Thread(target=self._feed, args=(process,), name="feed helper", daemon=True).start()
        if self._processes:
            _LOG.info("compiling %d loops in %d processes, once on this machine", len(self._loops), self._n_fed)

    def _feed(self, process: subprocess.Popen[str]) -> None:
        """Hand a helper one loop after the other."""
        try:
            while loop := self._next():
                try:
                    task = {"module": loop.module, "name": loop.name, "signatures": loop.signatures}
                    _ask(process, task | ({"cc": self._cc} if loop.kind == CUDA else {}))
                finally:
                    loop.is_done.set()
                self._tell()
        except OSError:  # the helper is gone; the others go on
            pass
        finally:
            with self._changed:
                self._n_fed -= 1
                if self._n_fed == 0:
                    self._give_up()

    def _next(self) -> Loop | None:
        """Return the next loop that can be compiled; None when there are no more."""
        with self._changed:
            while self._waiting and not self._is_ended:
                for i, loop in enumerate(self._waiting):
                    if loop.kind != CUDA or self._cc:
                        return self._waiting.pop(i)
                self._changed.wait()  # for the device to be open
            return None

    def _tell(self) -> None:
        with self._changed:
            self._n_done += 1
            done, n, now = self._n_done, len(self._loops or ()), time.monotonic()
            is_due = now - self._told >= _SECONDS_BETWEEN_MESSAGES
            if is_due:
                self._told = now
        if done == n:
            _LOG.info("compiled %d loops: %.1f s", n, now - self._began)
        elif is_due:
            left = (now - self._began) * (n - done) / done
            _LOG.info("compiling loops: %d of %d, about %.0f s left", done, n, left)

    def _give_up(self) -> None:
        for loop in self._waiting:
            loop.is_done.set()
        self._waiting = []


def _started() -> subprocess.Popen[str]:
    command = [sys.executable, "-P", "-m", "gpuasm.first_run_helper"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, text=True, env=environment, **pipes)  # noqa: S603 - ourselves


def _ask(process: subprocess.Popen[str], task: dict[str, Any]) -> None:
    """Give a helper a task and wait until it answers.

    Raises
    ------
    OSError
        If it does not.
    """
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    if not process.stdout.readline():
        raise BrokenPipeError
