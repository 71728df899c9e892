"""A worker process of ``gpuasm batch``: it runs ``gpuasm assemble`` for one sample after another in one setting.

Orders come by standard input and answers go to standard output, a line of JSON each. The first line has the setting.
Then each order is a sample to assemble, or the admission of the one that waits. The reads of the next sample are
decoded while this one is assembled. The process ends with its input.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import queue
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from gpuasm.cli import interruption, main

_ERROR = "gpuasm: error: "


def serve() -> None:
    """Be a worker, until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the batch sees Ctrl-C, and ends its workers
    orders, answers = _private_streams()
    interruption.end_on_signals()
    gc.disable()  # as `gpuasm.cli.run`: it is enabled when all is loaded
    Worker(orders, answers).run()
    interruption.end_process(0)


def _private_streams() -> tuple[TextIO, TextIO]:
    """Return the streams of orders and answers; reads cannot be taken from them, and libraries print elsewhere."""
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return orders, answers


class Worker:
    """Follows orders, one sample after another.

    Parameters
    ----------
    orders, answers
        Lines of JSON.
    """

    def __init__(self, orders: TextIO, answers: TextIO) -> None:
        self._orders, self._answers = orders, answers
        self._lock = threading.Lock()
        self._samples: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._admitted = threading.Semaphore(0)
        self._n_ordered = self._n_ended = 0
        self._results, self._messages = _Nothing(), _Messages(self._send)  # click keeps each stream that it has seen

    def run(self) -> None:
        """Assemble until there is no other order."""
        setting = json.loads(self._orders.readline())
        threading.Thread(target=self._receive, args=(setting["ahead"],), name="receive orders", daemon=True).start()
        from gpuasm.cli.assemble import warm_up_device
        from gpuasm.cli.options import CommonOptions
        from gpuasm.cli.session import shared_setting
        from gpuasm.report.process import shared_process

        with (
            shared_setting(CommonOptions(**setting["common"]), warm_up=warm_up_device, admit=self._admit),
            shared_process(),
        ):
            for order in iter(self._samples.get, None):
                self._assemble(order)

    def _assemble(self, order: dict[str, Any]) -> None:
        messages = self._messages
        messages.begin()
        with contextlib.redirect_stdout(self._results), contextlib.redirect_stderr(messages):
            code = _exit_code_of(order["arguments"])
        _free(order["files"])
        self._n_ended += 1
        self._send(event="end", code=code, message=messages.exception or messages.error)

    def _admit(self, plan: Mapping[str, int]) -> None:
        """Wait until the sample fits together with those of other workers."""
        from gpuasm import arrays
        from gpuasm.resources import resident_bytes

        free = arrays.free_device_memory() if plan["device_bytes"] else 0
        need = {"host": plan["host_bytes"], "held": resident_bytes(), "device_bytes": plan["device_bytes"]}
        self._send(event="forecast", need={**need, "device_free": free})
        self._admitted.acquire()

    def _receive(self, ahead: int) -> None:
        """Pass orders on, and begin to read the reads of samples; end the process when the batch has ended."""
        from gpuasm.cli.inputs import begin_ahead

        for line in self._orders:
            order = json.loads(line)
            if "arguments" in order:
                self._n_ordered += 1
                with contextlib.suppress(Exception):  # the run of the sample reports it
                    begin_ahead(tuple(order["files"]), ahead)
                self._samples.put(order)
            else:
                self._admitted.release()
        if self._n_ordered > self._n_ended:
            os.kill(os.getpid(), signal.SIGTERM)
        self._samples.put(None)

    def _send(self, **answer: Any) -> None:
        with self._lock:
            self._answers.write(json.dumps(answer) + "\n")
            self._answers.flush()


class _Nothing(io.StringIO):
    """Standard output while a sample is assembled: the batch reads its files."""

    def write(self, text: str) -> int:
        return len(text)


class _Messages(io.StringIO):
    """Standard error while a sample is assembled: each line is an answer, but the error, which is kept.

    Attributes
    ----------
    error, exception : str
        The message of a failure, and the last line that Python printed.
    """

    def __init__(self, send: Callable[..., None]) -> None:
        super().__init__()
        self._send = send
        self.begin()

    def begin(self) -> None:
        """Begin with a sample."""
        self._rest = self.error = self.exception = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.startswith(_ERROR):
                self.error = line.removeprefix(_ERROR)
            elif line:
                self._send(event="message", text=line)
                self.exception = "" if line.startswith("gpuasm: ") else line
        return len(text)


def _exit_code_of(arguments: list[str]) -> int:
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def _free(files: list[str]) -> None:
    """Return all memory of a sample to the system and the device; the next one has peaks of its own."""
    from gpuasm import arrays, resources
    from gpuasm.cli.inputs import end_ahead

    end_ahead(tuple(files))
    gc.collect()
    if not gc.get_freeze_count():
        gc.freeze()  # what is left is loaded code: later collections pass over it
    arrays.release_device_memory(begins_peak=True)
    resources.return_small_arrays()
    resources.begin_new_peak()


if __name__ == "__main__":
    serve()
