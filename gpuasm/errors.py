"""Errors with a remedy: each states what was expected, what was found and what to do, and has an exit code."""

from __future__ import annotations

import os
from os import PathLike, fspath
from typing import Self

MOST_CHARACTERS = 380
"""Most characters of a message; with the name of the program before it, a line has at most 400."""

_DOTS = "..."


def one_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text as it may be printed: control characters escaped, and the middle left out of what is too long."""
    if len(text) > 2 * most:  # escapes make it longer, never shorter
        text = text[:most] + _DOTS + text[-most:]
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    if len(text) <= most:
        return text
    head = (most - len(_DOTS)) * 2 // 3
    return text[:head] + _DOTS + text[len(text) - (most - len(_DOTS) - head) :]


def _shortened(parts: list[str], most: int) -> list[str]:
    """Return parts of a message with at most so many characters together: the longest ones lose some."""
    parts = [one_line(part) for part in parts]
    excess = sum(map(len, parts)) - most
    while excess > 0:
        sizes = sorted(map(len, parts), reverse=True)
        longest = sizes[0]
        n_longest = sizes.count(longest)
        step = -(-excess // n_longest)
        if n_longest < len(parts):
            step = min(step, longest - sizes[n_longest])
        parts = [one_line(part, longest - step) if len(part) == longest else part for part in parts]
        excess = sum(map(len, parts)) - most
    return parts


class GpuasmError(Exception):
    """Base of all errors that are not bugs.

    Parameters
    ----------
    expected, found, remedy
        Three short clauses without a full stop: the expectation, the finding, and what the user can do.
    path
        The file in question, if there is one.
    place
        Where in the file: "record 17", "line 4", "byte 1024".
    """

    exit_code = 1

    def __init__(
        self,
        expected: str,
        found: str,
        remedy: str,
        *,
        path: str | PathLike[str] | None = None,
        place: str | None = None,
    ) -> None:
        self.expected, self.found, self.remedy = expected, found, remedy
        self.path, self.place = path, place
        places = [os.fsdecode(part) for part in (path, place) if part is not None]
        around = len(", ".join(places)) - len("".join(places)) + len(": expected , found ; ")
        *places, expected, found, remedy = _shortened([*places, expected, found, remedy], MOST_CHARACTERS - around)
        where = ", ".join(places)
        super().__init__(f"{where + ': ' if where else ''}expected {expected}, found {found}; {remedy}")

    def of_file(self, path: str | PathLike[str]) -> Self:
        """Return the same error with a file, or the error itself if it has one."""
        if self.path is not None:
            return self
        return type(self)(self.expected, self.found, self.remedy, path=fspath(path), place=self.place)


class UsageError(GpuasmError, ValueError):
    """Options that contradict each other or lie outside their range."""

    exit_code = 2


class DataError(GpuasmError, ValueError):
    """Input whose content is wrong: truncated, malformed, mates out of order."""

    exit_code = 65


class ConvergenceError(GpuasmError, ArithmeticError):
    """An iteration that did not converge in the allowed number of steps."""

    exit_code = 65


class NoInputError(GpuasmError, FileNotFoundError):
    """An input file that is missing or cannot be read."""

    exit_code = 66


class DeviceError(GpuasmError, RuntimeError):
    """A device or a library that is not available."""

    exit_code = 69


class OutputError(GpuasmError, OSError):
    """An output that cannot be created."""

    exit_code = 73


class ReadWriteError(GpuasmError, OSError):
    """A read or write that failed."""

    exit_code = 74


class ResourceError(GpuasmError, MemoryError):
    """Too little memory or disk; the remedy states the sufficient amount."""

    exit_code = 75
