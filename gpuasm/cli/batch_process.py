"""A worker process of ``gpuasm batch`` as the batch sees it: orders go in, answers come out."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpuasm.cli.options import CommonOptions

Answer = dict[str, Any]
_PATIENCE_S = 5.0
"""Seconds in which a process that is to end may undo what it has begun."""
_BYTES_OF_LAST_MESSAGE = 2000


@dataclass(frozen=True)
class Task:
    """A sample to assemble.

    Attributes
    ----------
    name
        Of the sample.
    arguments
        Of ``gpuasm``, without the options of the setting.
    files
        The files that are parsed first.
    """

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """How a worker runs: the options of all its samples, and the bytes of text that it decodes ahead."""

    common: CommonOptions
    ahead: int

    def arguments(self) -> list[str]:
        """Return the options for the command line of a sample."""
        common = self.common
        memory = ["--memory", common.memory] if common.memory else []
        verbose = ["--verbose"] if common.verbose else []
        return ["--threads", str(common.threads), "--device", common.device, *memory, "--progress", "none", *verbose]


class Worker:
    """A worker process and the samples that it has: the first is assembled, the next is read ahead.

    Parameters
    ----------
    setting
        How it runs.
    events
        Receives (worker, answer) for each answer, and (worker, None) when the process has ended.
    """

    def __init__(self, setting: Setting, events: queue.SimpleQueue[tuple[Worker, Answer | None]]) -> None:
        self.setting, self.tasks = setting, deque[Task]()
        self._events, self._errors = events, tempfile.TemporaryFile()  # noqa: SIM115 - for as long as this lives
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `gpuasm.cli` for assemble
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "gpuasm.cli.batch_worker"], text=True, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
        )  # fmt: skip
        self._send({"common": asdict(setting.common), "ahead": setting.ahead})
        threading.Thread(target=self._receive, name="receive answers", daemon=True).start()

    def take(self, task: Task) -> None:
        """Assemble a sample after those that the worker has."""
        self.tasks.append(task)
        self._send({"arguments": [*task.arguments, *self.setting.arguments()], "files": task.files})

    def admit(self) -> None:
        """Let the sample that waits be assembled."""
        self._send({"admitted": True})

    def close(self) -> None:
        """Let the process end, also if it assembles."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def end(self) -> int:
        """Let the process end, wait for that, and return its exit code."""
        self.close()
        try:
            code = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return code

    def last_message(self) -> str:
        """Return the last line that the process wrote to standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _BYTES_OF_LAST_MESSAGE))
        lines = self._errors.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _send(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the process has ended, which is an event
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(order) + "\n")
                self._process.stdin.flush()

    def _receive(self) -> None:
        for line in self._process.stdout or ():
            self._events.put((self, json.loads(line)))
        self._events.put((self, None))
