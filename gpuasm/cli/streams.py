"""Standard streams that cannot harm a run: closed ones are /dev/null, and a full disk loses messages only."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from typing import Any, TextIO

STREAM_NAMES = {"-": "standard output"}
"""What the name of a stream in an OSError means."""


class _Output(io.FileIO):
    """Standard output; its errors name it as a command line does, and a device such as /dev/null has no position."""

    def seekable(self) -> bool:
        """Return whether there is a position."""
        return super().seekable() and not stat.S_ISCHR(os.fstat(self.fileno()).st_mode)

    def tell(self) -> int:
        """Return the position."""
        if not self.seekable():
            raise io.UnsupportedOperation
        return super().tell()

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]  # typeshed has an overload for bytes
        """Write bytes, as many as the system takes."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "-") from error


class _Messages(io.FileIO):
    """Standard error; messages that a full or broken disk does not take are lost, and the run continues."""

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]  # typeshed has an overload for bytes
        """Write bytes; return that all were written if none can be."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            return memoryview(data).nbytes


def prepare_standard_streams() -> None:
    """Give closed streams the descriptors of `gpuasm.cli.interruption`, and let errors of the others be handled."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - for as long as the process lives
    # Names of files may hold bytes that are not UTF-8: standard output takes them as they are.
    sys.stdout = _wrapped(sys.stdout, _Output, 1, errors="surrogateescape")
    sys.stderr = _wrapped(sys.stderr, _Messages, 2, errors="backslashreplace")


def _wrapped(stream: TextIO, kind: type[io.FileIO], number: int, *, errors: str) -> TextIO:
    """Return a stream of the same file with another kind of errors; the same one if something else replaced it."""
    try:
        is_ours = isinstance(stream, io.TextIOWrapper) and stream.fileno() == number
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        return stream
    stream.flush()
    buffer = io.BufferedWriter(kind(number, "w", closefd=False))
    is_direct = number == 2 or stream.isatty()
    return io.TextIOWrapper(buffer, encoding=stream.encoding, errors=errors, line_buffering=is_direct)
