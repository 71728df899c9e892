"""Folders for results."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gpuasm.errors import OutputError, UsageError


def make_folder(folder: Path) -> None:
    """Make a folder, and those around it.

    Raises
    ------
    OutputError
        If it cannot be made, or be written to.
    """
    remedy = "name another with -o, or change the permissions"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise OutputError("a folder that can be made", "a file of this name", remedy, path=folder) from error
    except OSError as error:
        raise OutputError("a folder that can be made", str(error.strerror).lower(), remedy, path=folder) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError("a folder to write to", "no permission to", remedy, path=folder)


def check_folder(folder: Path) -> None:
    """Refuse a folder that can never be made or be written to, without making it: work begins before there are results.

    Raises
    ------
    OutputError
        If a file has its name, or there is no permission.
    """
    remedy = "name another with -o, or change the permissions"
    there = folder.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise OutputError("a folder that can be made", f"a file of the name {there}", remedy, path=folder)
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError("a folder that can be made", f"no permission to write to {there}", remedy, path=folder)


def check_command(folder: Path, command: str) -> None:
    """Refuse a folder that holds results of another command, whose run.json would be lost.

    Raises
    ------
    UsageError
        If it holds the results of another command.
    """
    manifest = folder / "run.json"
    try:
        before = json.loads(manifest.read_text(encoding="utf-8")).get("command") if manifest.is_file() else command
    except (OSError, ValueError, AttributeError, RecursionError):
        return
    if before != command:
        raise UsageError("a folder of its own", f"results of gpuasm {before} in {folder}", "name another with -o")
