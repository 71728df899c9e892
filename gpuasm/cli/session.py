"""What every command that computes does first and last: threads, device, memory, messages, stages and their timings."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuasm import arrays, first_run, resources
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.progress import MessageHandler, NoProgress, make_progress
from gpuasm.cli.turns import take_short_turns
from gpuasm.driver import has_driver
from gpuasm.stages import Stages

_PATIENCE_S = 5.0
"""Seconds for what has begun on a device to end when the run has failed; it takes less than one."""

_COMPILED_ANEW = (
    "compiled code cannot be kept, as neither gpuasm's folder nor that of your cache can be written: each run compiles "
    "for half a minute to two minutes; let GPUASM_CACHE_DIR name a folder that stays"
)
_OPENER = "open device"
"""The thread that opens the device, and rehearses on it."""


@dataclass
class Session:
    """The setting of one run.

    Attributes
    ----------
    stages
        Where the recipe reports its stages.
    threads
        CPU threads in use.
    memory
        Host memory to stay within, in bytes.
    warnings
        The warnings so far, for run.json.
    namespace
        Becomes the array namespace; a device takes a second to open, in which reads can be read.
    asked_for
        The device as the user names it.
    is_wanted
        Set when somebody asks for the device.
    """

    stages: Stages
    threads: int
    memory: int
    warnings: list[str]
    namespace: Future[Any]
    asked_for: str
    is_wanted: threading.Event = field(default_factory=threading.Event)

    @property
    def xp(self) -> Any:
        """The array namespace of the device, numpy or cupy; waits until the device is open, and makes it current."""
        self.is_wanted.set()
        xp = self.namespace.result()
        arrays.make_current(xp, self.asked_for)  # another thread has opened it
        return xp

    @property
    def device(self) -> str:
        """The device's name: "cpu" or "cuda:0"."""
        return "cpu" if self.xp.__name__ == "numpy" else f"cuda:{self.xp.cuda.Device().id}"

    def write_manifest(
        self,
        path: str | Path,
        *,
        command: str,
        parameters: Mapping[str, Any],
        inputs: Iterable[Any],
        results: Mapping[str, Any],
        status: str = "done",
    ) -> None:
        """Write run.json of a run in this setting; see `gpuasm.cli.manifest.write_manifest`."""
        from gpuasm.cli.manifest import write_manifest

        write_manifest(
            path, command=command, parameters=parameters, inputs=inputs, stages=self.stages, device=self.device,
            results=results, status=status, warnings=self.warnings, threads=self.threads,
        )  # fmt: skip


Rehearsal = Callable[[Any, Callable[[], bool]], None]
"""What loads the code that a device will need: takes its namespace, and what tells when the device is wanted."""


@contextmanager
def run_session(common: CommonOptions, *, rehearse: Rehearsal | None = None) -> Iterator[Session]:
    """Set up what ``common`` asks for, and show the timings when the block ends.

    Parameters
    ----------
    common
        The options of all commands.
    rehearse
        Called in a thread when a device (not the CPU) has been opened and nobody wants it yet. What it raises is
        passed over.

    Raises
    ------
    UsageError
        If ``--memory`` is no amount.
    DeviceError
        If the device is not available.
    ResourceError
        If the process may not have the addresses that compiled loops take.
    """
    from gpuasm import parallel
    from gpuasm.kept_loops import keeps_code

    take_short_turns()
    resources.require_address_space()
    memory = resources.memory_budget(common.memory)
    is_wanted, on_stage = threading.Event(), threading.Lock()
    namespace = _open_device(common.device, _Rehearsed(rehearse, is_wanted, on_stage))
    parallel.set_threads(common.threads)
    display = make_progress("none" if common.quiet else common.progress)
    stages = Stages(display)
    try:
        with _messages(display, common) as handler:
            if not keeps_code():
                logging.getLogger(__name__).warning(_COMPILED_ANEW)
            threads = parallel.thread_count()
            on_device = not namespace.done() or namespace.result().__name__ != "numpy"
            kinds = (first_run.HOST, first_run.CUDA) if on_device else (first_run.CPU,)
            with first_run.helped(*(kinds if rehearse else ()), threads=threads, memory=memory):
                yield Session(stages, threads, memory, handler.warnings, namespace, common.device, is_wanted)
    finally:
        is_wanted.set()  # whoever rehearses ends, as a process must not while a device has work in hand
        if on_stage.acquire(timeout=_PATIENCE_S):
            on_stage.release()
        display.finish(stages)


@dataclass(frozen=True)
class _Rehearsed:
    """What to rehearse, until when, and the lock that is held meanwhile."""

    rehearse: Rehearsal | None
    is_wanted: threading.Event
    on_stage: threading.Lock

    def on(self, xp: Any) -> None:
        """Rehearse on a device that is open and that nobody wants yet."""
        with self.on_stage:
            if self.rehearse and xp.__name__ != "numpy" and not self.is_wanted.is_set():
                with suppress(Exception):  # what is wrong is told by whoever does it in earnest
                    self.rehearse(xp, self.is_wanted.is_set)


def _open_device(name: str, rehearsed: _Rehearsed) -> Future[Any]:
    """Open the device in a thread; where that is quick, as on the CPU, or cannot succeed, at once."""
    opened: Future[Any] = Future()
    if name == "cpu" or importlib.util.find_spec("cupy") is None or not has_driver():
        opened.set_result(arrays.namespace_of("cpu" if name == "auto" else name))
        return opened

    def open_it() -> None:
        try:
            xp = arrays.namespace_of(name)
            if xp.__name__ != "numpy":
                arrays.keep_reductions_plain(xp)
                xp.zeros(1).sum()  # makes the context, and loads what every kernel needs
            opened.set_result(xp)
        except BaseException as error:  # whoever asks for the device gets it
            opened.set_exception(error)
            return
        rehearsed.on(xp)

    threading.Thread(target=open_it, name=_OPENER, daemon=True).start()
    return opened


@contextmanager
def _messages(display: NoProgress, common: CommonOptions) -> Iterator[MessageHandler]:
    """Send what gpuasm logs to the display while the block runs."""
    logger, handler = logging.getLogger("gpuasm"), MessageHandler(display)
    handler.addFilter(lambda record: record.threadName != _OPENER)  # a rehearsal's messages are about made-up reads
    level = logging.WARNING if common.quiet else logging.DEBUG if common.verbose else logging.INFO
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
