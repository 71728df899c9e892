"""Files that a command line names: no output may be an input or another output, under whatever path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import click

from gpuasm.errors import UsageError

_STREAM = "-"
"""Standard input and output."""
_KEY = "files"


class _Use(NamedTuple):
    """A file as an input or an output, and what identifies it."""

    path: Path
    is_output: bool
    identity: tuple[int, int] | str | None


def note_input(path: Path) -> None:
    """Note that the command reads a file.

    Raises
    ------
    UsageError
        If it is an output as well.
    """
    _note(path, is_output=False)


def note_output(path: Path) -> None:
    """Note that the command writes a file.

    Raises
    ------
    UsageError
        If it is an input or another output as well.
    """
    _note(path, is_output=True)


def note_folder(folder: Path, patterns: Iterable[str]) -> None:
    """Note that the command writes files of a folder, named by patterns of `pathlib.Path.glob`.

    Raises
    ------
    UsageError
        If one of them is an input or another output as well.
    """
    for pattern in patterns:
        for path in folder.glob(pattern) if "*" in pattern else [folder / pattern]:
            note_output(path)


def _note(path: Path, *, is_output: bool) -> None:
    context = click.get_current_context(silent=True)
    if context is None:
        return
    identity = _identity(path, is_output=is_output)
    uses: list[_Use] = context.find_root().ensure_object(dict).setdefault(_KEY, [])
    use = _Use(path, is_output, identity)
    for other in uses:
        if is_output and other.is_output and str(path) == str(other.path) == _STREAM:
            expected, found = "standard output for one file", "two that go there"
            raise UsageError(expected, found, "name a file for one of them")
        if identity is not None and identity == other.identity and (is_output or other.is_output):
            output, second = (use, other) if is_output else (other, use)
            found = f"the {'output' if second.is_output else 'input'} {second.path}, which is the same file"
            expected, remedy = "an output that is no other file of the command", "name another file"
            raise UsageError(expected, found, remedy, path=output.path)
    uses.append(use)


def _identity(path: Path, *, is_output: bool) -> tuple[int, int] | str | None:
    """Return device and inode of a regular file, the path of one that is not there, None for pipes and devices."""
    try:
        found = os.fstat(int(is_output)) if str(path) == _STREAM else path.stat()
    except OSError:
        return os.path.realpath(path)
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
