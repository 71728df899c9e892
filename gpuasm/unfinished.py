"""What must be undone if the process ends early: incomplete files, helper processes, locks.

Code that makes such a thing registers how to undo it. An exception undoes it where it was made. A signal ends the
process without an exception, and then `undo_all` does.
"""

from __future__ import annotations

import itertools
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:  # as little as possible is imported before signals are handled
    from collections.abc import Callable

_undo: dict[int, Callable[[], object]] = {}
_numbers = itertools.count()

MAKING = threading.RLock()
"""Held while something is made and registered, or while several files are replaced: no signal ends the process then."""


def register(undo: Callable[[], object]) -> int:
    """Register how to undo something, before or with ``MAKING`` while it is made; return a number for `forget`."""
    with MAKING:
        number = next(_numbers)
        _undo[number] = undo
        return number


def forget(number: int) -> None:
    """Remove what `register` returned the number of: it is complete, or undone."""
    _undo.pop(number, None)


def undo_all(patience: float) -> None:
    """Undo everything that is registered, the latest first, and let nothing new begin.

    ``MAKING`` is not released any more: a thread that makes something now waits until the process has ended.

    Parameters
    ----------
    patience
        Seconds to wait for what is being made.
    """
    MAKING.acquire(timeout=patience)
    for undo in reversed(list(_undo.values())):
        try:
            undo()
        except Exception:  # noqa: S112 - the others are undone all the same
            continue
