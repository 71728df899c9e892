"""Folders that keep compiled code for the next process: what the user chose by GPUASM_CACHE_DIR, or the user's cache.

Homes and installed packages may be read-only, as in containers, and disks full: then code is compiled anew by each
process, and no run fails for it.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

CHOSEN = "GPUASM_CACHE_DIR"
"""The environment variable."""
_ROOM = 1 << 20
"""Bytes that a folder must have room for: cupy ends with an error where its disk is full, or a quota used up."""


def loops_folder() -> str:
    """Return the folder that the user chose for compiled loops, or nothing: numba has its places."""
    chosen = os.environ.get(CHOSEN)
    return str(Path(chosen) / "loops") if chosen else ""


def ptx_folder() -> Path:
    """Return the folder of PTX; a new one where the user's cache cannot be written: it is made anew then."""
    base = os.environ.get(CHOSEN) or os.environ.get("XDG_CACHE_HOME") or Path(_home()) / ".cache"
    folder = Path(base) / "gpuasm"
    return folder if _can_write(folder) else passing_folder()


def choose_folder_of_binaries() -> None:
    """Name a folder for cupy's binaries, if the user did and cupy was not told, or it could not write its own.

    Cupy makes its folder when it is imported, and cannot be imported where that fails.
    """
    if "CUPY_CACHE_DIR" in os.environ:
        return
    chosen = os.environ.get(CHOSEN)
    folder = Path(chosen) / "cupy" if chosen else Path(_home()) / ".cupy" / "kernel_cache"
    os.environ["CUPY_CACHE_DIR"] = str(folder if _can_write(folder) else passing_folder())


def write_whole(path: Path, text: str) -> None:
    """Write a file that other processes see whole or not at all."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _home() -> str:
    """Return the user's home; a folder that cannot be where there is none, as for a number that no user has."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
    return os.devnull if home == "~" else home


@functools.cache
def _can_write(folder: Path) -> bool:
    """Tell whether a folder can be made, and takes what code needs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_ROOM))
    except OSError:
        return False
    return True


@functools.cache
def passing_folder() -> Path:
    """Return a folder that ends with the process."""
    folder = Path(tempfile.mkdtemp(prefix="gpuasm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
