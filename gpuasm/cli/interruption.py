"""Ctrl-C and SIGTERM end the process at any moment, with the documented exit code and nothing left.

Python's own handler raises an exception in the main thread. It may be raised within an import, a callback or a library
that swallows it or is left in disorder, and it waits until compiled code returns. Here a thread waits for signals
instead. It undoes what is registered in `gpuasm.unfinished`, prints one line, and ends the process without finalizers.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import contextmanager

from gpuasm import unfinished
from gpuasm.first_signals import ENDS, handle_with

TYPE_CHECKING = False
if TYPE_CHECKING:  # to import it takes long
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, NoReturn

_PATIENCE_S = 5.0
"""Seconds to wait for files that are being replaced together."""
_pipe: list[int] = []


def end_on_signals() -> None:
    """Let Ctrl-C and SIGTERM end the process from now on."""
    if _pipe or threading.current_thread() is not threading.main_thread():
        return
    _open_closed_descriptors()
    _pipe.extend(os.pipe())
    os.set_blocking(_pipe[1], False)
    signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
    handle_with(_leave_to_thread)
    threading.Thread(target=_wait, name="wait for signals", daemon=True).start()


def _open_closed_descriptors() -> None:
    """Open those of the standard streams that the parent process has closed as /dev/null.

    The next file that is opened would get their number, and messages of libraries would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the least number that is free


@contextmanager
def handled_otherwise(handlers: Mapping[signal.Signals, Callable[..., Any] | signal.Handlers]) -> Iterator[None]:
    """Handle signals otherwise in the block, each by its handler."""
    wakeup = signal.set_wakeup_fd(-1)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)


def end_process(code: int) -> NoReturn:
    """End the process without finalizers, unless a signal is ending it already."""
    with unfinished.MAKING:
        os._exit(code)


def _leave_to_thread(*_: object) -> None:
    """Do nothing in the main thread: the number of the signal is in the pipe."""


def _wait() -> None:
    while True:
        for number in os.read(_pipe[0], 1):
            if number in ENDS:
                _end(*ENDS[number])


def _end(code: int, message: str) -> NoReturn:
    unfinished.undo_all(_PATIENCE_S)
    try:
        if select.select([], [2], [], 1.0)[1]:  # nobody may read the pipe
            os.write(2, f"gpuasm: error: {message}\n".encode())
    finally:
        os._exit(code)
