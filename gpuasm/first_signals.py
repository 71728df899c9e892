"""Ctrl-C and SIGTERM while the command ``gpuasm`` starts: the first module that the package imports.

`gpuasm.cli.interruption` handles signals once its libraries are loaded. Until then nothing has been made that would
have to be removed, and an exception could only be lost in an import or be printed as a traceback.
"""

from __future__ import annotations

import _signal  # the module without names: `signal` runs code that a signal may interrupt
import os
import sys

INTERRUPTED, TERMINATED = 130, 143
ENDS = {_signal.SIGINT: (INTERRUPTED, "interrupted"), _signal.SIGTERM: (TERMINATED, "terminated")}
"""The exit code and the message of each signal."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # to import it takes long
    from collections.abc import Callable
    from typing import Any


def is_command() -> bool:
    """Return whether the process was started as ``gpuasm`` or as ``python -m gpuasm...``, not by another program.

    While Python looks for the module of ``-m``, it imports the packages around it, and the name of the program is "-m".
    """
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    return program in ("gpuasm", "-m") or program.endswith(("/gpuasm", "/gpuasm/__main__.py"))


def handle_with(handler: Callable[..., Any]) -> None:
    """Handle both signals, unless the parent process has them ignored."""
    for number in ENDS:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, handler)


def _end_at_once(number: int, _: object) -> None:
    code, message = ENDS[number]
    try:
        os.write(2, f"gpuasm: error: {message}\n".encode())
    finally:
        os._exit(code)


if is_command():
    handle_with(_end_at_once)
