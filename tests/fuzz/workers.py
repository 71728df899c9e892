"""Processes that fuzz, and the watchdog that ends those that hang."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import multiprocessing
import os
import pkgutil
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

import gpuasm
from gpuasm import precompilation
from tests.fuzz.coverage import Lines
from tests.fuzz.fuzzing import Fuzzer, Outcome
from tests.fuzz.targets import TARGETS

MOST_SECONDS = 30.0
"""An input that takes longer is a failure."""
_SLICE = 2.0
"""Seconds for which a process stays with a target."""
_MOST_DATA, _MOST_RESIDENT = 4 << 30, 1 << 30
"""What a process may allocate, and the peak after which another takes its place: libraries leave memory in pieces."""
_POLL, _SECONDS_TO_DUMP, _SECONDS_TO_WARM_UP = 0.5, 1.0, 900.0
_CONTEXT = multiprocessing.get_context("fork")
_FOLDERS = Path("/dev/shm")


class Workers:
    """Processes, each of which fuzzes one target after another.

    Parameters
    ----------
    n
        How many.
    seed
        Of all mutations.
    corpus
        The folder of inputs that reach new lines; None takes one that is removed in the end.
    """

    def __init__(self, n: int, *, seed: int, corpus: Path | None = None) -> None:
        self._folder = new_folder()
        corpus = corpus.absolute() if corpus else self._folder / "corpus"
        self._begin = lambda number: _Worker(self._folder / f"worker_{number}", seed=seed + number, corpus=corpus)
        self._n_begun = n
        self._workers = [self._begin(number) for number in range(n)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def next_outcomes(self, next_target: Callable[[float], str]) -> Iterator[tuple[str, Outcome]]:
        """Give a target to each process that is free, and yield what has come since the last call."""
        for worker in self._workers:
            if worker.target is None:
                worker.fuzz(next_target(_SLICE))
        wait([worker.connection for worker in self._workers], timeout=_POLL)
        for place, worker in enumerate(self._workers):
            if worker.target is None:
                continue
            name = worker.target
            outcome = worker.outcome()
            if outcome:
                yield name, outcome
            if worker.is_over or (outcome and outcome.peak_bytes > _MOST_RESIDENT):
                worker.end()
                self._workers[place] = self._begin(self._n_begun)
                self._n_begun += 1


class _Worker:
    """A process."""

    def __init__(self, folder: Path, *, seed: int, corpus: Path) -> None:
        folder.mkdir(parents=True)
        self._folder, self.is_over = folder, False
        self._clock = _CONTEXT.Value("d", 0.0, lock=False)
        self.connection, there = _CONTEXT.Pipe()
        arguments = (there, folder, self._clock, seed, corpus)
        self._process = _CONTEXT.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        there.close()
        self.target: str | None = None

    def fuzz(self, name: str) -> None:
        """Begin with a target."""
        self.target = name
        with contextlib.suppress(OSError):  # the process has ended, which is seen next
            self.connection.send(name)

    def outcome(self) -> Outcome | None:
        """Return what came of a target, if it is done or the process has ended."""
        try:
            if self.connection.poll():
                outcome: Outcome = self.connection.recv()
                self.target = None
                return outcome
        except (EOFError, OSError):
            self._process.join()
            self.is_over = True
            return self._failed(f"the process ended with {self._process.exitcode}")
        if self._clock.value and time.monotonic() > self._clock.value + MOST_SECONDS:
            os.kill(self._process.pid or 0, signal.SIGUSR1)  # it writes where it is
            time.sleep(_SECONDS_TO_DUMP)
            self.is_over = True
            return self._failed(f"an input that takes more than {MOST_SECONDS:.0f} s")
        return None

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _failed(self, what: str) -> Outcome:
        data = _folder_of(self._folder, self.target or "") / "input"
        said = (self._folder / "stderr").read_text(errors="replace")
        return Outcome(failures=[(data.read_bytes() if data.exists() else b"", f"{said}\n{what}")], seconds=_SLICE)


def new_folder() -> Path:
    """Make a folder in memory, where the system has one."""
    return Path(tempfile.mkdtemp(prefix="fuzz_", dir=_FOLDERS if _FOLDERS.is_dir() else None))


def warm_up(names: list[str], *, jobs: int) -> None:
    """Import all modules, and let processes read the valid files of all targets: compiled code is on disk then."""
    for module in pkgutil.walk_packages(gpuasm.__path__, "gpuasm."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # of a package that is not installed
                importlib.import_module(module.name)
    _run_all([_CONTEXT.Process(target=_compile_loops, args=(jobs,), daemon=True)])
    size = -(-len(names) // jobs)
    parts = [names[at : at + size] for at in range(0, len(names), size)]
    _run_all([_CONTEXT.Process(target=_read_valid_files, args=(part,), daemon=True) for part in parts])


def _run_all(processes: Sequence[Any]) -> None:
    end = time.monotonic() + _SECONDS_TO_WARM_UP
    for process in processes:
        process.start()
    for process in processes:
        process.join(max(0.0, end - time.monotonic()))
        process.kill()
        process.join()


def _compile_loops(jobs: int) -> None:
    precompilation.compile_all(threads=jobs, memory=jobs * precompilation.BYTES_PER_HELPER)


def _read_valid_files(names: list[str]) -> None:
    folder = new_folder()
    try:
        _isolate(folder)
        for name in names:
            with contextlib.suppress(Exception):  # seen again by the process that fuzzes
                Fuzzer(name, _folder_of(folder, name)).run(Random(0), seconds=0.0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work(connection: Connection, folder: Path, clock: Any, seed: int, corpus: Path) -> None:
    _isolate(folder)
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_DATA, _MOST_DATA))
    lines, rng, fuzzers = Lines(), Random(seed), {}
    with contextlib.suppress(EOFError, OSError):  # the parent has ended
        while True:
            name = connection.recv()
            if name not in fuzzers:
                found = corpus / _folder_of(folder, name).name
                found.mkdir(parents=True, exist_ok=True)
                fuzzers[name] = Fuzzer(name, _folder_of(folder, name), lines=lines, corpus=found)
            os.ftruncate(2, 0)
            connection.send(fuzzers[name].run(rng, seconds=_SLICE, clock=clock))


def _isolate(folder: Path) -> None:
    """Let the process write into its folder alone, and dump where it is if it crashes or is asked to."""
    descriptor = os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    os.chdir(folder)
    os.fsync = lambda _: None  # type: ignore[assignment]


def _folder_of(folder: Path, name: str) -> Path:
    made = folder / name.replace(" ", "_").replace("/", "_")
    if name in TARGETS:
        made.mkdir(exist_ok=True)
    return made
