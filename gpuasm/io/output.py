"""Write outputs atomically: under a temporary name, flushed to disk, then renamed, several of them together."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from gpuasm import unfinished
from gpuasm.errors import GpuasmError, OutputError, ReadWriteError, ResourceError

STDOUT = "-"

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open an output that appears under its name only when the ``with`` block ends well.

    Any error or signal removes the temporary file and leaves an older output as it was. In a block of
    `outputs_together` the output appears when that block ends. Standard output ("-"), pipes and devices are written as
    they are.

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
    name = f".{target.name[:200]}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    complete = _Complete(target.with_name(name), target, path)
    together, is_kept = _now["together"], False
    with unfinished.MAKING:
        created = _created(complete.temporary, path, mode)
        number = unfinished.register(complete.discard)
    try:
        with _explained(path), created as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if together is None:
            complete.replace()
        else:
            together[number] = complete
            is_kept = True
    finally:
        if not is_kept:
            complete.discard()
            unfinished.forget(number)


class _Complete(NamedTuple):
    """A complete output under its temporary name."""

    temporary: Path
    target: Path
    path: str | os.PathLike[str]

    def replace(self) -> None:
        """Give the output its name."""
        with _explained(self.path):
            self.temporary.replace(self.target)
            sync_folder(self.target.parent)

    def discard(self) -> None:
        """Remove the temporary file, if it is there."""
        with contextlib.suppress(OSError):  # renamed or never created
            self.temporary.unlink()


_now: dict[str, dict[int, _Complete] | None] = {"together": None}
"""The complete outputs of the block of `outputs_together` that is being run, by their numbers in `unfinished`."""


@contextlib.contextmanager
def outputs_together() -> Iterator[None]:
    """Let all outputs that are written in the block appear under their names when it ends well, and none otherwise.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If an output cannot get its name.
    """
    together: dict[int, _Complete] = {}
    with _collecting(together):
        try:
            yield
            with unfinished.MAKING:
                for complete in together.values():
                    complete.replace()
        finally:
            for number, complete in together.items():
                complete.discard()
                unfinished.forget(number)


def outputs_at_once() -> contextlib.AbstractContextManager[None]:
    """Let each output of the block appear when it is complete, also within a block of `outputs_together`."""
    return _collecting(None)


@contextlib.contextmanager
def _collecting(together: dict[int, _Complete] | None) -> Iterator[None]:
    before, _now["together"] = _now["together"], together
    try:
        yield
    finally:
        _now["together"] = before


def move_output(source: Path, path: str | os.PathLike[str]) -> None:
    """Replace an output by a complete file; it is copied where it cannot be renamed, as to another file system.

    Parameters
    ----------
    source
        The complete file.
    path
        The output; a link stays one.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        If the output cannot be replaced.
    """
    target = Path(os.path.realpath(path))
    if not target.exists() or target.is_file():
        try:
            source.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                with _explained(path):
                    raise OSError(error.errno, error.strerror) from error
        else:
            return
    with atomic_output(path, "wb") as file, source.open("rb") as complete:
        shutil.copyfileobj(complete, file)
    source.unlink()


class _Device(io.FileIO):
    """A device without a position: that of /dev/null stays 0, on which writers of archives rely."""

    def seekable(self) -> bool:
        """Return False."""
        return False

    def tell(self) -> int:
        """Raise the error of a pipe."""
        raise io.UnsupportedOperation


def _created(file: Path, path: str | os.PathLike[str], mode: str) -> IO[Any]:
    try:
        if "b" in mode and file.is_char_device():
            return io.BufferedWriter(_Device(file, "w"))
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


def sync_folder(folder: Path) -> None:
    """Flush the names of files in a folder to disk."""
    with contextlib.suppress(OSError):  # some network file systems do not know how
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
