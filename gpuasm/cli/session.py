"""What every command that computes does first and last: threads, device, memory, messages, stages and their timings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gpuasm import arrays, resources
from gpuasm.cli.options import CommonOptions
from gpuasm.cli.progress import MessageHandler, NoProgress, make_progress
from gpuasm.stages import Stages


@dataclass
class Session:
    """The setting of one run.

    Attributes
    ----------
    stages
        Where the recipe reports its stages.
    xp
        The array namespace of the device: numpy or cupy.
    device
        "cpu" or the device's number: "cuda:0".
    threads
        CPU threads in use.
    memory
        Host memory to stay within, in bytes.
    warnings
        The warnings so far, for run.json.
    """

    stages: Stages
    xp: Any
    device: str
    threads: int
    memory: int
    warnings: list[str]


@contextmanager
def run_session(common: CommonOptions) -> Iterator[Session]:
    """Set up what ``common`` asks for, and show the timings when the block ends.

    Raises
    ------
    UsageError
        If ``--memory`` is no amount.
    DeviceError
        If the device is not available.
    """
    from gpuasm import parallel

    memory = resources.memory_budget(common.memory)
    xp = arrays.namespace_of(common.device)
    device = "cpu" if xp.__name__ == "numpy" else f"cuda:{xp.cuda.Device().id}"
    parallel.set_threads(common.threads)
    display = make_progress("none" if common.quiet else common.progress)
    stages = Stages(display)
    try:
        with _messages(display, common) as handler:
            yield Session(stages, xp, device, parallel.thread_count(), memory, handler.warnings)
    finally:
        display.finish(stages)


@contextmanager
def _messages(display: NoProgress, common: CommonOptions) -> Iterator[MessageHandler]:
    """Send what gpuasm logs to the display while the block runs."""
    logger, handler = logging.getLogger("gpuasm"), MessageHandler(display)
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
