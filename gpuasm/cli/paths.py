"""Types of file arguments, which refuse paths that can never be read or written before work starts."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import click

from gpuasm.errors import NoInputError, OutputError

_DASH = Path("-")


class _File(click.Path, ABC):
    """A file; - is standard input or output."""

    def __init__(self, *, allow_dash: bool = True) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path != _DASH:
            self.check(path)
        return path

    @abstractmethod
    def check(self, path: Path) -> None:
        """Raise an error if the path can never be read or written."""


class InputFile(_File):
    """A file to read.

    Raises
    ------
    NoInputError
        If it is a folder. A missing one is reported when it is opened, as another program may still write it.
    """

    def check(self, path: Path) -> None:
        if path.is_dir():
            raise NoInputError("a readable file", "a folder", "name a file in it", path=path)


class OutputFile(_File):
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
        super().__init__(allow_dash=allow_dash)
        self._makes_folder = makes_folder

    def check(self, path: Path) -> None:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise OutputError("a file to write", "a folder of this name", "name a file in it, or another", path=path)
        if not self._makes_folder and (target.is_file() or not target.exists()):  # neither pipe nor device
            _check_folder(target.parent, path)


def _check_folder(folder: Path, path: Path) -> None:
    if not folder.is_dir():
        found = f"that {folder} is {'no folder' if folder.exists() else 'not there'}"
    elif not os.access(folder, os.W_OK | os.X_OK):
        found = f"no permission to write to {folder}"
    else:
        return
    raise OutputError("a place to write to", found, "make that folder, or name another place", path=path)


INPUT, OUTPUT, NAMED_OUTPUT = InputFile(), OutputFile(), OutputFile(allow_dash=False)
