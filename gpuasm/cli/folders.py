"""Folders for results."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuasm.errors import OutputError, UsageError

_STANDARD_INPUT = Path("-")


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
    before = _manifest_of(folder)
    if before and before.get("command") != command:
        found = f"results of gpuasm {before.get('command')} in {folder}"
        raise UsageError("a folder of its own", found, "name another with -o")


def check_reads(folder: Path, files: Sequence[Path]) -> None:
    """Refuse a folder that holds contigs of other reads: files of other names or sizes.

    Parameters
    ----------
    folder
        Where results will be.
    files
        The files of reads. If one is not there, nothing is checked: its reader reports it.

    Raises
    ------
    OutputError
        If the folder holds contigs of other reads.
    """
    before, streams = _manifest_of(folder), {file.name for file in files if not file.is_file()}
    if not all(file.exists() or file == _STANDARD_INPUT for file in files):
        return
    try:
        if not before["results"]["contigs"]:
            return
        recorded = [(Path(file["path"]).name, file.get("size")) for file in before["inputs"]]
    except (LookupError, TypeError, AttributeError):
        return
    known = Counter((name, None if name in streams else size) for name, size in recorded)
    if known != Counter((file.name, None if file.name in streams else file.stat().st_size) for file in files):
        remedy = "name another with -o, or give --force to replace them"
        raise OutputError("a folder without results of other reads", "such results", remedy, path=folder)


def _manifest_of(folder: Path) -> dict[str, Any]:
    """Return the run.json of a folder; an empty dict if it has none, or a damaged one."""
    try:
        manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
