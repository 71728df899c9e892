"""The log file of a run: the lines of standard error with their times, also of a run that fails or is ended."""

from __future__ import annotations

import contextlib
import logging
import traceback
from datetime import UTC, datetime
from io import StringIO, TextIOBase
from pathlib import Path
from typing import IO, Self, TextIO, cast

from gpuasm import __version__, unfinished
from gpuasm.cli.manifest import command_line
from gpuasm.cli.progress import MessageHandler, PlainProgress
from gpuasm.errors import GpuasmError, OutputError
from gpuasm.stages import StageEvent, Stages


class RunLog:
    """Collects the lines of a run, and writes them to a file as soon as one is opened; use it in a ``with`` block.

    Messages of all levels from INFO on are in it, whatever standard error shows. Writing fails silently, as on a full
    disk: the run reports that itself.

    Parameters
    ----------
    stages
        The stages of the run.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages, self._listener = stages, stages.listener
        self._lines = _TimedLines()
        self._display = PlainProgress(cast(TextIO, self._lines))
        self._logger, self._handler = logging.getLogger("gpuasm"), MessageHandler(self._display)

    def __enter__(self) -> Self:
        self._display.message(f"version {__version__}: {command_line()}", "info")
        self._stages.listener = self._write_event
        self._handler.setLevel(min(self._logger.level or logging.INFO, logging.INFO))
        for shown in self._logger.handlers:  # they go on showing what they showed
            self._handler.filters += shown.filters
            shown.setLevel(max(shown.level, self._logger.level))
        self._logger.addHandler(self._handler)
        self._logger.setLevel(self._handler.level)
        self._number = unfinished.register(lambda: self._display.message("ended by a signal", "error"))
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        unfinished.forget(self._number)
        self._stages.listener = self._listener
        self._logger.removeHandler(self._handler)
        self._display.finish(self._stages)
        if isinstance(error, GpuasmError):
            self._display.message(str(error), "error")
        elif error is not None:
            self._display.message("".join(traceback.format_exception(error)).rstrip(), "error")
        self._lines.close()

    def open(self, path: Path) -> None:
        """Append the lines to a file, from the first line of the run on.

        Raises
        ------
        OutputError
            If the file cannot be opened.
        """
        try:
            self._lines.continue_in(path.open("a", encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            found = f"that it cannot be opened ({error.strerror})"
            raise OutputError("a log file to write", found, "rename what is there", path=path) from error

    def _write_event(self, event: StageEvent) -> None:
        if self._listener is not None:
            self._listener(event)
        self._display(event)


class _TimedLines(TextIOBase):
    """Lines, each with the time at which it began; in memory until there is a file."""

    def __init__(self) -> None:
        self._out: IO[str] = StringIO()
        self._is_new = True

    def write(self, text: str) -> int:
        """Write text of one or more lines."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ ")
        with contextlib.suppress(OSError, ValueError):  # the disk is full, or the run has ended
            for line in text.splitlines(keepends=True):
                self._out.write(now + line if self._is_new else line)
                self._is_new = line.endswith("\n")
        return len(text)

    def flush(self) -> None:
        """Write to disk what is complete."""
        with contextlib.suppress(OSError, ValueError):
            self._out.flush()

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            self._out.close()

    def continue_in(self, file: IO[str]) -> None:
        """Continue in a file, with all lines so far."""
        before, self._out = self._out, file
        if isinstance(before, StringIO):
            with contextlib.suppress(OSError):
                file.write(before.getvalue())
        self.flush()
