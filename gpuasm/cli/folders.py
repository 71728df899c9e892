"""Folders for results."""

from __future__ import annotations

from pathlib import Path

from gpuasm.errors import OutputError


def make_folder(folder: Path) -> None:
    """Make a folder, and those around it.

    Raises
    ------
    OutputError
        If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            "a folder that can be made",
            str(error.strerror),
            "name another with -o, or change the permissions",
            path=folder,
        ) from error
