"""How long a thread keeps the interpreter lock while other threads wait for it."""

from __future__ import annotations

import sys

_INTERVAL_S = 1e-4
"""Seconds. Threads that decode files need the interpreter for a moment after each block. With Python's interval of 5 ms
they would mostly wait while modules are imported."""


def shorten_switch_interval() -> None:
    """Let waiting threads have the interpreter soon, in all of this process."""
    sys.setswitchinterval(_INTERVAL_S)
