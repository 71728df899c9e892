"""Types of file arguments, which refuse paths that can never be read or written before work starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gpuasm.cli.file_uses import note_folder, note_input, note_output
from gpuasm.errors import NoInputError, OutputError, UsageError

_DASH = Path("-")
_MOST_BYTES, _MOST_OF_NAME = 4095, 255


class _Path(click.Path):
    """A file or folder; - is standard input or output if it is allowed."""

    error: type[NoInputError | OutputError] = OutputError
    """Of paths that cannot be."""

    def __init__(self, note: Callable[[Path], None], *, allow_dash: bool = True) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash, readable=False)  # `check` has the exit codes for it
        self._note = note

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if not os.fspath(value):
            name = param.get_error_hint(ctx) if param and ctx else "each option"
            raise UsageError(f"a path for {name}", "an empty text", "name a file or folder")
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if len(os.fsencode(path)) > _MOST_BYTES or any(len(os.fsencode(name)) > _MOST_OF_NAME for name in path.parts):
            raise self.error("a path that the system takes", "one that is too long", "name another", path=path)
        if path != _DASH:
            self.check(path)
        self._note(path)
        return path

    def check(self, path: Path) -> None:
        """Raise an error if the path can never be read or written."""


class InputFile(_Path):
    """A file to read.

    Parameters
    ----------
    may_be_folder
        Whether the reader of the file refuses folders.

    Raises
    ------
    NoInputError
        If it is a folder or may not be read. A missing one is reported when it is opened, as another program may still
        write it.
    """

    error = NoInputError

    def __init__(self, *, may_be_folder: bool = False) -> None:
        super().__init__(note_input)
        self._may_be_folder = may_be_folder

    def check(self, path: Path) -> None:
        if path.is_dir() and not self._may_be_folder:
            raise NoInputError("a readable file", "a folder", "name a file in it", path=path)
        if path.is_file() and not os.access(path, os.R_OK):
            raise NoInputError("a readable file", "no permission to read it", "check the permissions", path=path)


class OutputFile(_Path):
    """A file to write.

    Parameters
    ----------
    allow_dash
        Whether - is standard output.
    makes_folder
        Whether the command makes the folder that the file lies in.

    Raises
    ------
    OutputError
        If it is a folder, or its own folder is not there or may not be written to.
    """

    def __init__(self, *, allow_dash: bool = True, makes_folder: bool = False) -> None:
        super().__init__(note_output, allow_dash=allow_dash)
        self._makes_folder = makes_folder

    def check(self, path: Path) -> None:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise OutputError("a file to write", "a folder of this name", "name a file in it, or another", path=path)
        if not self._makes_folder and (target.is_file() or not target.exists()):  # neither pipe nor device
            _check_folder(target.parent, path)


class IndexedOutput(OutputFile):
    """A file to write with its index, FILE.bai; `check_parent` looks at its folder, which may be one that is made."""

    def __init__(self) -> None:
        super().__init__(allow_dash=False, makes_folder=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = super().convert(value, param, ctx)
        note_output(Path(f"{path}.bai"))
        return path


class OutputFolder(_Path):
    """A folder to write to.

    Parameters
    ----------
    *patterns
        The files that the command writes or removes there, as patterns of `pathlib.Path.glob`.
    """

    def __init__(self, *patterns: str) -> None:
        super().__init__(lambda folder: note_folder(folder, patterns), allow_dash=False)


def check_parent(path: Path, *, made: Path) -> None:
    """Refuse an output in a folder that is not there, other than ``made`` and what is within it.

    Raises
    ------
    OutputError
        If its folder is not there or may not be written to.
    """
    if not path.absolute().is_relative_to(made.absolute()):
        _check_folder(Path(os.path.realpath(path)).parent, path)


def _check_folder(folder: Path, path: Path) -> None:
    if not folder.is_dir():
        found = f"that {folder} is {'no folder' if folder.exists() else 'not there'}"
    elif not os.access(folder, os.W_OK | os.X_OK):
        found = f"no permission to write to {folder}"
    else:
        return
    raise OutputError("a place to write to", found, "make that folder, or name another place", path=path)


INPUT, OUTPUT, NAMED_OUTPUT = InputFile(), OutputFile(), OutputFile(allow_dash=False)
READS = InputFile(may_be_folder=True)
