"""Set up and end every command that computes: threads, device, memory, messages, stages and their timings."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gpuasm import arrays, precompilation, resources
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.progress import MessageHandler, NoProgress, make_progress
from gpuasm.cli.switch_interval import shorten_switch_interval
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.driver import compute_capability, has_driver
from gpuasm.stages import Stages
from gpuasm.threads import set_threads, thread_count

_LOG = logging.getLogger(__name__)

_MOST_THREADS, _MOST_THREADS_PER_CPU = 64, 4
"""More threads than both allow make a run slower."""
_PATIENCE_S = 5.0
"""Most seconds to wait for the work of a device when the run has failed."""

_COMPILED_ANEW = (
    "compiled code cannot be kept, as neither gpuasm's folder nor that of your cache can be written: each run compiles "
    "for half a minute to two minutes; let GPUASM_CACHE_DIR name a folder that stays"
)
_FOLDER_REFUSED = (
    "the folder GPUASM_CACHE_DIR is not used: it must belong to you, others may not write to it, and it must have room"
)
_OPENER = "open device"
"""The thread that opens the device and warms it up."""

Admit = Callable[[Mapping[str, int]], None]
"""Takes the forecast of a run, as `gpuasm.cli.planning.plan_assembly` returns it."""


def _fits_alone(_: Mapping[str, int]) -> None:
    """Return at once: no other process shares the memory."""


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
    requested
        The device as the user names it.
    is_requested
        Set when the device is requested.
    admit
        Waits until a run of this forecast fits together with those of other processes.
    devices
        The devices that share the run; ``requested`` is the first of them.
    """

    stages: Stages
    threads: int
    memory: int
    warnings: list[str]
    namespace: Future[Any]
    requested: str
    is_requested: threading.Event = field(default_factory=threading.Event)
    admit: Admit = _fits_alone
    devices: DeviceGroup = ONE_DEVICE

    @property
    def xp(self) -> Any:
        """The array namespace of the device, numpy or cupy; waits until the device is open, and makes it current."""
        self.is_requested.set()
        xp = self.namespace.result()
        arrays.make_current(xp, self.requested)  # another thread has opened it
        return xp

    @property
    def may_have_device(self) -> bool:
        """Whether the run is not on the CPU, or that is not known yet."""
        return (
            not self.namespace.done() or bool(self.namespace.exception()) or self.namespace.result().__name__ != "numpy"
        )

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


WarmUp = Callable[[Any, Callable[[], bool]], None]
"""Loads the code that a device will need; takes its namespace, and a function that returns whether it is requested."""


@dataclass(frozen=True)
class _Setting:
    """What successive runs of a process share: memory, devices, and whether the first device is requested."""

    memory: int
    namespace: Future[Any]
    is_requested: threading.Event
    admit: Admit
    devices: DeviceGroup


_now: dict[str, _Setting | None] = {"shared": None}
"""The setting of the block of `shared_setting` that is being run."""


@contextmanager
def shared_setting(common: CommonOptions, *, warm_up: WarmUp | None = None, admit: Admit) -> Iterator[None]:
    """Let all runs of the block share the threads, the memory and the device of ``common``.

    Parameters
    ----------
    common
        The options that each run has too.
    warm_up
        As for `run_session`.
    admit
        The attribute of each `Session`.

    Raises
    ------
    UsageError, DeviceError, ResourceError
        As `run_session`.
    """
    with _opened(common, [common.device], warm_up=warm_up, admit=admit) as setting:
        _now["shared"] = setting
        try:
            yield
        finally:
            _now["shared"] = None


@contextmanager
def run_session(
    common: CommonOptions, *, devices: Sequence[str] = (), warm_up: WarmUp | None = None
) -> Iterator[Session]:
    """Set up a run as ``common`` requires, and show the timings when the block ends.

    The outputs that are written in the block appear together when it ends well.

    Parameters
    ----------
    common
        The options of all commands.
    devices
        The names of the devices that share the run, where ``common`` may name several.
    warm_up
        Called in a thread when a device (not the CPU) is open and not requested yet. Its errors are ignored.

    Raises
    ------
    UsageError
        If ``--memory`` or ``--device-memory`` is no amount.
    DeviceError
        If the device is not available.
    ResourceError
        If the process may not have the addresses that compiled loops take.
    """
    from gpuasm.cache_folders import is_chosen_refused
    from gpuasm.compiled_cache import has_folder
    from gpuasm.io.output import outputs_together

    shared, devices = _now["shared"], devices or [common.device]
    with nullcontext(shared) if shared else _opened(common, devices, warm_up=warm_up) as setting:
        display = make_progress("none" if common.quiet else common.progress)
        stages = Stages(display)
        try:
            with messages_to(display, common) as handler:
                threads = thread_count()
                if common.threads and common.threads > threads:
                    _LOG.warning("%d threads are used instead of %d", threads, common.threads)
                if is_chosen_refused():
                    _LOG.warning(_FOLDER_REFUSED)
                if not has_folder():
                    _LOG.warning(_COMPILED_ANEW)
                with outputs_together():
                    yield Session(
                        stages, threads, setting.memory, handler.warnings, setting.namespace, devices[0],
                        setting.is_requested, setting.admit, setting.devices,
                    )  # fmt: skip
        finally:
            display.finish(stages)


@contextmanager
def _opened(
    common: CommonOptions, names: Sequence[str], *, warm_up: WarmUp | None, admit: Admit = _fits_alone
) -> Iterator[_Setting]:
    """Open the first of the named devices, and set threads and memory for the block."""
    shorten_switch_interval()
    resources.require_address_space()
    memory = resources.memory_budget(common.memory)
    is_requested, is_running = threading.Event(), threading.Lock()
    device_memory = resources.parse_bytes(common.device_memory) if common.device_memory else 0
    devices = DeviceGroup.named(names)

    def limit(xp: Any, amount: int) -> None:
        devices.each(partial(arrays.limit_device_memory, xp, amount))

    limit_all = partial(limit, amount=device_memory) if device_memory else None
    namespace = _open_device(names[0], _WarmUp(warm_up, is_requested, is_running), limit_all)
    set_threads(_usable_threads(common.threads))
    try:
        on_device = not namespace.done() or namespace.result().__name__ != "numpy"
        capability = partial(compute_capability, names[0]) if on_device else lambda: None
        helpers = precompilation.compiling_in_background(threads=thread_count(), memory=memory, capability=capability)
        with resources.limited_memory(memory), helpers if warm_up else nullcontext():
            yield _Setting(memory, namespace, is_requested, admit, devices)
    finally:
        is_requested.set()  # ends the warm-up: a process must not end while its device works
        if is_running.acquire(timeout=_PATIENCE_S):
            is_running.release()
        if device_memory and namespace.done() and namespace.exception() is None:
            limit(namespace.result(), 0)


def _usable_threads(requested: int | None) -> int | None:
    """Return as many threads as were requested, or the most that are of use here."""
    from gpuasm.threads import available_cpus

    return requested and min(requested, max(_MOST_THREADS, _MOST_THREADS_PER_CPU * available_cpus()))


@dataclass(frozen=True)
class _WarmUp:
    """The warm-up, the event that ends it, and the lock that is held meanwhile."""

    warm_up: WarmUp | None
    is_requested: threading.Event
    is_running: threading.Lock

    def on(self, xp: Any) -> None:
        """Warm up a device that is open and not requested yet."""
        with self.is_running:
            if self.warm_up and xp.__name__ != "numpy" and not self.is_requested.is_set():
                with suppress(Exception):  # the run itself reports errors
                    self.warm_up(xp, self.is_requested.is_set)


def _open_device(name: str, warm_up_run: _WarmUp, limit: Callable[[Any], None] | None) -> Future[Any]:
    """Open the device in a thread; where that is quick, as on the CPU, or cannot succeed, at once.

    ``limit`` sets what arrays may take of devices of a namespace, if not all.
    """
    opened: Future[Any] = Future()
    if name == "cpu" or importlib.util.find_spec("cupy") is None or not has_driver():
        opened.set_result(arrays.namespace_of("cpu" if name == "auto" else name))
        return opened

    def open_it() -> None:
        try:
            xp = arrays.namespace_of(name)
            if xp.__name__ != "numpy":
                arrays.disable_cub_reductions(xp)
                if limit:
                    limit(xp)
                xp.zeros(1).sum()  # makes the context, and loads what every kernel needs
            opened.set_result(xp)
        except BaseException as error:  # raised where the device is requested
            opened.set_exception(error)
            return
        warm_up_run.on(xp)

    threading.Thread(target=open_it, name=_OPENER, daemon=True).start()
    return opened


@contextmanager
def messages_to(display: NoProgress, common: CommonOptions) -> Iterator[MessageHandler]:
    """Send what gpuasm logs to the display while the block runs."""
    logger, handler = logging.getLogger("gpuasm"), MessageHandler(display)
    handler.addFilter(lambda record: record.threadName != _OPENER)  # messages of the warm-up are about simulated reads
    level = logging.WARNING if common.quiet else logging.DEBUG if common.verbose else logging.INFO
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.propagate = before[1]
        logger.setLevel(before[0])  # an assignment would leave what the logger knows of its level
