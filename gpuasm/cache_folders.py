"""Folders in which compiled code is kept for the next process: ``GPUASM_CACHE_DIR``, or the user's cache.

A folder is used only if it can be written, belongs to the user and cannot be written by others: what is loaded from it
is executed. Homes and installed packages may be read-only, as in containers, and disks full. Then each process compiles
its code again, and no run fails.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

from gpuasm import unfinished

VARIABLE = "GPUASM_CACHE_DIR"
"""The environment variable with which the user chooses a folder."""
_MIN_FREE_BYTES = 1 << 20
"""Bytes that a folder must have room for: cupy fails where its disk is full or a quota is exceeded."""
_OTHERS_MAY_WRITE = 0o022


def is_chosen_refused() -> bool:
    """Return whether the user chose a folder that is not usable."""
    return bool(os.environ.get(VARIABLE)) and _chosen() is None


def _chosen() -> Path | None:
    """Return the folder that the user chose, made if need be; None if there is no usable one.

    It must be private itself: in a folder that others can write, they could replace the private folders within.
    """
    chosen = os.environ.get(VARIABLE)
    return Path(chosen) if chosen and _is_usable(Path(chosen)) else None


def chosen_loop_folder() -> str:
    """Return the folder that the user chose for compiled loops, made if need be; empty if there is no usable one."""
    chosen = _chosen()
    return str(chosen / "loops") if chosen and _is_usable(chosen / "loops") else ""


def own_loop_folder() -> str:
    """Return gpuasm's folder of compiled loops in the user's cache, made if need be; empty if it is not usable."""
    folder = _user_cache() / "gpuasm" / "loops"
    return str(folder) if _is_usable(folder) else ""


def ptx_folder() -> Path:
    """Return the folder of PTX files; a temporary one if that folder is not usable."""
    folder = (_chosen() or _user_cache()) / "gpuasm"
    return folder if _is_usable(folder) else temporary_folder()


def set_cupy_folder() -> None:
    """Set cupy's folder of binaries, unless the environment sets a private one; cupy cannot be imported without one."""
    own = os.environ.get("CUPY_CACHE_DIR")
    if own and (is_private(own) or not Path(own).exists()):
        return
    chosen = _chosen()
    folders = [chosen / "cupy"] if chosen else [Path(_home()) / ".cupy" / "kernel_cache", ptx_folder() / "cupy"]
    os.environ["CUPY_CACHE_DIR"] = str(next(filter(_is_usable, folders), None) or temporary_folder())


def set_matplotlib_folder() -> None:
    """Give matplotlib a temporary folder if it cannot write its own: it would print lines and leave another folder."""
    folder = Path(os.environ.get("MPLCONFIGDIR") or Path(_user_configuration(), "matplotlib")).absolute()
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))  # noqa: PTH110 - pathlib raises
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        os.environ["MPLCONFIGDIR"] = str(temporary_folder())


def _user_configuration() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path(_home()) / ".config")


def is_private(folder: str | Path) -> bool:
    """Return whether a folder belongs to the user and others cannot write it."""
    try:
        status = Path(folder).stat()
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE


def write_atomically(path: Path, text: str) -> None:
    """Write a file such that other processes read either all of it or none."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.MAKING:
        try:
            temporary.write_text(text)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path(_home()) / ".cache")


def _home() -> str:
    """Return the user's home folder; if the user has none, as in some containers, a path that cannot be a folder."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
    return os.devnull if home == "~" else home


@functools.cache
def _is_usable(folder: Path) -> bool:
    """Return whether a folder exists or can be made, is private, and has room for compiled code."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_MIN_FREE_BYTES))
    except OSError:
        return False
    return is_private(folder)


@functools.cache
def temporary_folder() -> Path:
    """Return a folder that is removed when the process ends."""
    with unfinished.MAKING:
        folder = Path(tempfile.mkdtemp(prefix="gpuasm-"))
        unfinished.register(functools.partial(shutil.rmtree, folder, ignore_errors=True))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
