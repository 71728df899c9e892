"""How threads take turns at the interpreter."""

from __future__ import annotations

import sys

_HAND_OVER_S = 1e-4
"""Seconds after which a thread lets others at the interpreter. Threads that decode files need it shortly after each
block, and would mostly wait while modules are loaded."""


def take_short_turns() -> None:
    """Let threads that need the interpreter for a moment have it soon, in all of this process."""
    sys.setswitchinterval(_HAND_OVER_S)
