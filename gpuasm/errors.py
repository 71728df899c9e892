"""Errors a user can act on: each says what was expected, what was found and what to do, and has its own exit code."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Self


class GpuasmError(Exception):
    """Base of all errors that are not bugs.

    Parameters
    ----------
    expected, found, remedy
        Three short clauses without a full stop: what should have been there, what was there, what the user can do.
    path
        The file concerned, if there is one.
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
        where = ", ".join(str(part) for part in (path, place) if part is not None)
        super().__init__(f"{where + ': ' if where else ''}expected {expected}, found {found}; {remedy}")

    def of_file(self, path: str | PathLike[str]) -> Self:
        """Return the same error with the file that it is about; itself if it names one already."""
        if self.path is not None:
            return self
        return type(self)(self.expected, self.found, self.remedy, path=fspath(path), place=self.place)


class UsageError(GpuasmError, ValueError):
    """Options that contradict each other or lie outside their range."""

    exit_code = 2


class DataError(GpuasmError, ValueError):
    """Input whose content is wrong: truncated, malformed, out of step."""

    exit_code = 65


class ConvergenceError(GpuasmError, ArithmeticError):
    """An iteration that did not come to its end in the steps allowed."""

    exit_code = 65


class NoInputError(GpuasmError, FileNotFoundError):
    """An input file that is not there or cannot be read."""

    exit_code = 66


class DeviceError(GpuasmError, RuntimeError):
    """A device or a library that is not available."""

    exit_code = 69


class OutputError(GpuasmError, OSError):
    """An output that cannot be created."""

    exit_code = 73


class ReadWriteError(GpuasmError, OSError):
    """A read or a write that failed half-way."""

    exit_code = 74


class ResourceError(GpuasmError, MemoryError):
    """Memory or disk that does not suffice; the remedy names the amount that would."""

    exit_code = 75
