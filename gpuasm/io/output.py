"""Write outputs atomically: under a temporary name, flushed to disk, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gpuasm.errors import GpuasmError, OutputError, ReadWriteError, ResourceError

STDOUT = "-"

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open an output that appears under its name only when the ``with`` block ends well.

    Any error, Ctrl-C included, removes the temporary file and leaves an older output as it was. Standard output ("-"),
    pipes and devices are written as they are.

    Parameters
    ----------
    path
        Where to write.
    mode
        "w" for text in UTF-8 or "wb" for bytes. Bytes that are not UTF-8, as in a file name of another encoding, are
        written as \\udcXX, which JSON reads back.

    Raises
    ------
    OutputError
        If the output cannot be created.
    ResourceError
        If the disk or the quota is full.
    ReadWriteError
        If writing fails for another reason.
    """
    if os.fspath(path) == STDOUT:
        with _explained(path):
            stream = sys.stdout.buffer if "b" in mode else sys.stdout
            yield stream
            stream.flush()
        return
    target = Path(os.path.realpath(path))  # a link stays one: what it points to is replaced
    if target.exists() and not target.is_file():
        with _explained(path), _created(target, path, mode) as file:
            yield file
            file.flush()
        return
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with _explained(path), _created(temporary, path, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _explained(path):
            temporary.replace(target)
            _sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):  # renamed or never created
            temporary.unlink()


def _created(file: Path, path: str | os.PathLike[str], mode: str) -> IO[Any]:
    try:
        if "b" in mode:
            return file.open(mode)
        return file.open(mode, encoding="utf-8", newline="\n", errors="backslashreplace")
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise _no_room(path, error) from error
        raise OutputError(
            "a place to write to",
            f"that it cannot be created ({error.strerror})",
            "check that the folder exists, and that you may write there",
            path=os.fspath(path),
        ) from error


@contextlib.contextmanager
def _explained(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (GpuasmError, BrokenPipeError):
        raise
    except OSError as error:
        if error.filename is not None and os.fspath(path) != str(error.filename):
            raise  # of another file, opened within the block
        if error.errno in _NO_ROOM:
            raise _no_room(path, error) from error
        raise ReadWriteError(
            "to write on", f"an error of the system ({error.strerror})", "check the disk", path=os.fspath(path)
        ) from error


def _no_room(path: str | os.PathLike[str], error: OSError) -> ResourceError:
    return ResourceError(
        "room on the disk",
        f"none left ({error.strerror})",
        "free some, raise the quota or the limit on file sizes, or write to another disk",
        path=os.fspath(path),
    )


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some network file systems do not know how
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
