"""Compilation of loops ahead of their use: which loops, for which types, and by several processes at once.

Numba compiles a loop when it is first called. `signatures` declares, next to a loop, the argument types with which an
assembly calls it. Helper processes compile declared loops and keep them on disk, either all of them
(``gpuasm warmup``), or in the background of the first run on a machine. Such a run compiles by itself each loop that it
needs and that no helper has begun, so neither waits for the other. Without helpers, or if one fails, the run compiles
all loops that it needs.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gpuasm import unfinished

_LOG = logging.getLogger(__name__)

MODULES = (
    "gpuasm.io.reading",
    "gpuasm.io.read_cleaning",
    "gpuasm.kmers.estimate",
    "gpuasm.kmers.tally_cpu",
    "gpuasm.kmers.tally_cuda",
    "gpuasm.assembly.pipeline",
)
"""Modules that import all loops of an assembly."""
ORDER_OF_USE = (
    "gpuasm.io",
    "gpuasm.kmers",
    "gpuasm.primitives",
    *(f"gpuasm.assembly.{room}" for room in ("graph", "coverage", "simplification", "iteration", "pairs")),
    *(f"gpuasm.assembly.{room}" for room in ("alignment", "paths", "ends", "verification")),
)
"""Packages in the order in which an assembly uses their loops, roughly; loops of others come last."""
MAX_HELPERS = 8
"""With so many helpers the slowest loop takes most of the time that is left."""
BYTES_PER_HELPER = 1 << 30
"""Memory of a machine for each helper; one uses about 400 MB."""
_SECONDS_BETWEEN_MESSAGES = 10.0
_SERVE = "from gpuasm.precompilation import serve; serve()"

Capability = tuple[int, int]
"""The compute capability of a device."""
Kind = Literal["cpu", "ptx"]
"""Machine code of the CPU, or PTX of a CUDA device."""


@dataclass(frozen=True, eq=False, repr=False)
class DeclaredLoop:
    """A loop, and the types with which an assembly calls it.

    Attributes
    ----------
    module, name
        Where the loop is defined, and what it is called.
    signatures
        Each the argument types of a call, in numba's notation.
    kinds
        The code that a run on the CPU uses, and the code that a run on a device uses; None if that run does not use it.
    compile
        Compiles one signature.
    """

    module: str
    name: str
    signatures: tuple[str, ...]
    kinds: tuple[Kind | None, Kind | None]
    compile: Callable[[str, Capability | None], None]


_Key = tuple[str, str]
_declared: dict[_Key, DeclaredLoop] = {}
_now: dict[str, Any] = {"helpers": None}


def declare(loop: DeclaredLoop) -> None:
    """Add a loop to those that are compiled ahead."""
    _declared[loop.module, loop.name] = loop


def declared_loops() -> list[DeclaredLoop]:
    """Return all loops of an assembly in the order of their use, after importing the modules that declare them."""
    for module in MODULES:
        importlib.import_module(module)
    return sorted(_declared.values(), key=lambda loop: _rank(loop.module))


def _rank(module: str) -> int:
    ranks = (rank for rank, package in enumerate(ORDER_OF_USE) if module.startswith(f"{package}."))
    return next(ranks, len(ORDER_OF_USE))


@contextmanager
def compiling_in_background(
    *, threads: int, memory: int, capability: Callable[[], Capability | None] = lambda: None
) -> Iterator[None]:
    """Let helpers compile, in the block, as soon as a loop of an assembly is not on disk.

    Parameters
    ----------
    threads
        CPU threads for this process and its helpers: with one thread there are no helpers.
    memory
        Bytes that all helpers may use.
    capability
        Returns the compute capability of the device of the run; None for the CPU. It is called by a thread of its own.
    """
    n = min(threads - 1, MAX_HELPERS, memory // BYTES_PER_HELPER)
    helpers = _Helpers(n, capability) if n > 0 and sys.executable else None
    _now["helpers"] = helpers
    try:
        yield
    finally:
        _now["helpers"] = None
        if helpers:
            helpers.end()


def wait_for_loop(module: str, name: str) -> bool:
    """Wait for a loop that is not on disk if a helper is compiling it; return whether it has been compiled.

    The first call starts the helpers of `compiling_in_background`. A loop that no helper has begun is left to the
    caller.
    """
    helpers: _Helpers | None = _now["helpers"]
    return helpers is not None and helpers.wait_for((module, name))


def compile_all(*, threads: int, memory: int, capability: Capability | None = None) -> list[str]:
    """Compile all loops of an assembly that are not on disk, for the CPU or for a device.

    Parameters
    ----------
    threads
        The number of helpers at most.
    memory
        Bytes that all helpers may use.
    capability
        The compute capability of a device; None for the CPU.

    Returns
    -------
    The full names of loops that could not be compiled.
    """
    helpers = _Helpers(max(1, min(threads, MAX_HELPERS, memory // BYTES_PER_HELPER)), lambda: capability)
    try:
        return [".".join(key) for key, is_compiled in helpers.compile_all().items() if not is_compiled.result()]
    finally:
        helpers.end()


class _Helpers:
    """Helper processes, each with a thread that hands it one loop after another."""

    def __init__(self, n: int, capability: Callable[[], Capability | None]) -> None:
        self._find_capability = capability
        self._pool = ThreadPoolExecutor(n, thread_name_prefix="gpuasm-helper")
        self._n = n
        self._own = threading.local()
        self._numbers: list[int] = []
        self._lock = threading.Lock()
        self._starter: threading.Thread | None = None
        self._futures: dict[_Key, Future[bool]] = {}
        self._used: set[_Key] = set()
        self._processes: list[subprocess.Popen[str]] = []
        self._spare: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._progress = _Progress()
        self._is_ended = False

    def wait_for(self, key: _Key) -> bool:
        """Wait for a loop that a helper has begun."""
        with self._lock:
            self._used.add(key)
            if self._starter is None:  # a thread of its own: modules may be imported by threads that wait for this one
                self._starter = threading.Thread(target=self._start, name="start helpers", daemon=True)
                self._starter.start()
            future = self._futures.get(key)
        if future is None or future.cancel():
            return False
        wait([future])
        return future.exception() is None and future.result()

    def compile_all(self) -> dict[_Key, Future[bool]]:
        """Have all loops compiled; return the results, which may not be there yet."""
        self._start()
        return self._futures

    def end(self) -> None:
        """End all helpers, whatever they compile."""
        with self._lock:
            self._is_ended = True
        self._progress.is_shown = False
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        for number in self._numbers:
            unfinished.forget(number)

    def _start(self) -> None:
        with suppress(OSError):  # each loop is then compiled by the process that needs it
            for _ in range(self._n):  # they import the compiler while this process imports the loops
                self._spare.put(self._new_process())
        loops, capability = declared_loops(), self._find_capability()
        with self._lock:
            left = [(loop, loop.kinds[capability is not None]) for loop in loops]
            left = [(loop, kind) for loop, kind in left if kind and (loop.module, loop.name) not in self._used]
            if self._is_ended or not left:
                return
            self._progress.begin(len(left))
            for loop, kind in left:
                task = {"module": loop.module, "name": loop.name, "capability": capability if kind == "ptx" else None}
                future = self._futures[loop.module, loop.name] = self._pool.submit(self._compile, json.dumps(task))
                future.add_done_callback(self._progress.count)
        _LOG.info("compiling %d loops in %d processes, once on this machine", len(left), min(self._n, len(left)))

    def _compile(self, task: str) -> bool:
        """Have the helper of this thread compile a loop; return whether it did."""
        try:
            process = self._process()
            if process.stdin is None or process.stdout is None:
                return False
            process.stdin.write(f"{task}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:  # no process can be started, or this one has ended
            return False
        return answer == "compiled\n"

    def _process(self) -> subprocess.Popen[str]:
        """Return the helper of this thread: one that waits for its first loop, or a new one."""
        process: subprocess.Popen[str] | None = getattr(self._own, "process", None)
        if process is None or process.poll() is not None:
            try:
                process = self._own.process = self._spare.get_nowait()
            except queue.Empty:
                process = self._own.process = self._new_process()
        return process

    def _new_process(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._is_ended:
                raise BrokenPipeError
            with unfinished.MAKING:
                process = _started()
                self._numbers.append(unfinished.register(process.kill))
            self._processes.append(process)
        return process


class _Progress:
    """Messages about how many loops have been compiled."""

    def __init__(self) -> None:
        self._n = self._done = 0
        self._lock = threading.Lock()
        self.is_shown = True

    def begin(self, n: int) -> None:
        """Begin with a number of loops."""
        self._n, self._began = n, time.monotonic()
        self._last = self._began

    def count(self, _: Future[bool]) -> None:
        """Count a loop as done."""
        with self._lock:
            self._done += 1
            done, now = self._done, time.monotonic()
            is_due = now - self._last >= _SECONDS_BETWEEN_MESSAGES
            if is_due:
                self._last = now
        if not self.is_shown:
            return
        if done == self._n:
            _LOG.info("compiled %d loops: %.1f s", done, now - self._began)
        elif is_due:
            left = (now - self._began) * (self._n - done) / done
            _LOG.info("compiling loops: %d of %d, about %.0f s left", done, self._n, left)


def _started() -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-P", "-c", _SERVE]
    return subprocess.Popen(command, text=True, env=environment, **pipes)  # noqa: S603 - ourselves


def serve() -> None:
    """Be a helper: read a line of JSON for each loop to compile, and answer each line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one sees Ctrl-C, and ends this one
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(tasks,), daemon=True).start()
    importlib.import_module("gpuasm.parallel")  # before the first task comes
    while line := tasks.get():
        answer = "failed"
        with suppress(Exception):  # the run that needs the loop compiles it again, and shows what is wrong
            compile_loop(**json.loads(line))
            answer = "compiled"
        answers.write(f"{answer}\n")
        answers.flush()


def _receive(tasks: queue.SimpleQueue[str]) -> None:
    """Pass lines on; end the process when the one that started it has ended, also while a loop is compiled."""
    for line in sys.stdin:
        tasks.put(line)
    signal.raise_signal(signal.SIGKILL)


def compile_loop(module: str, name: str, capability: list[int] | None) -> None:
    """Compile a declared loop for all its signatures; with a compute capability, as PTX."""
    importlib.import_module(module)
    loop = _declared[module, name]
    for signature in loop.signatures:
        loop.compile(signature, (capability[0], capability[1]) if capability else None)
