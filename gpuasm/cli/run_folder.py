"""The folder of a run: locked while the run lasts, its files complete before any of them replaces an older one.

Files are made in ``.incomplete/files`` within it. ``run.json`` has the status "running" from the start. When all
files are complete they are moved to their places, the new ``run.json`` last. If the run fails or is interrupted before
that, ``run.json`` becomes again what it was, so an older run stays as it was. A killed process leaves ``.incomplete``,
which the next run in the folder uses and removes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from gpuasm import unfinished
from gpuasm.cli.folders import check_command, make_folder
from gpuasm.errors import GpuasmError, OutputError
from gpuasm.io.output import atomic_output, move_output, outputs_at_once, sync_folder

MANIFEST = "run.json"
INCOMPLETE = ".incomplete"
"""The hidden folder of a run that has not ended."""
_UNKNOWN_TO_DISK = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL)
"""Errors of file systems without locks; two runs are not noticed there."""


class RunFolder:
    """The folder of a run; use it in a ``with`` block around the whole run.

    Parameters
    ----------
    folder
        Where the results will be; it is made.
    command
        The subcommand that makes them.
    is_own
        Whether the folder may not hold the results of another command.

    Attributes
    ----------
    path : Path
        The folder.
    files : Path
        Where the run writes its files.

    Raises
    ------
    OutputError
        If the folder cannot be made or another run uses it.
    UsageError
        If it holds the results of another command.
    """

    def __init__(self, folder: Path, command: str, *, is_own: bool = True) -> None:
        self.path, self._command, self._is_own = folder, command, is_own
        self._hidden = folder / INCOMPLETE
        self.files, self._before = self._hidden / "files", self._hidden / "before.json"
        self._is_replaced = False
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack, unfinished.MAKING:
            self._make()
            stack.enter_context(contextlib.closing(_Lock(self.path, self._hidden)))
            if self._is_own:
                check_command(self.path, self._command)
            stack.callback(self._undo)
            number = unfinished.register(self._end)
            stack.callback(unfinished.forget, number)
            self._begin()
            stack.enter_context(outputs_at_once())
            self._ending = stack.pop_all()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        with unfinished.MAKING:  # a signal that has undone the run lets nothing be undone twice
            self._ending.close()
        if isinstance(error, GpuasmError) and error.path is not None:
            inside = Path(error.path)
            if inside.is_relative_to(self.files):  # the user knows the place, not where the file is made
                path = self.path / inside.relative_to(self.files)
                kind = type(error)
                raise kind(error.expected, error.found, error.remedy, path=path, place=error.place) from error

    @property
    def name(self) -> str:
        """What the run is called in its page, as its folder."""
        from gpuasm.report.run_names import name_of_run

        return name_of_run(self.path, within="bins" if self._command == "bin" else "assembly")

    def place_of(self, path: Path) -> Path:
        """Return where to write a file: one within the folder appears with the others, any other where it belongs."""
        if not path.absolute().is_relative_to(self.path.absolute()):
            return path
        place = self.files / path.absolute().relative_to(self.path.absolute())
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def replace(self, *, is_old: Callable[[Path], bool] = lambda _: False) -> None:
        """Put all files in their places, ``run.json`` last.

        Parameters
        ----------
        is_old
            Returns whether a file of the folder, by its path within, is of an earlier run and is to be removed.
        """
        made = sorted(self.files.rglob("*"))
        names = [path.relative_to(self.files) for path in made if path.is_file()]
        for name in names:
            self._check_place(self.path / name)
        for folder in (path.relative_to(self.files) for path in made if path.is_dir()):
            (self.path / folder).mkdir(parents=True, exist_ok=True)
        with unfinished.MAKING:
            self._is_replaced = True
            self._before.unlink(missing_ok=True)
            for name in sorted(names, key=lambda name: name == Path(MANIFEST)):
                if name == Path(MANIFEST):
                    self._remove_old(names, is_old)
                move_output(self.files / name, self.path / name)
            sync_folder(self.path)

    def _remove_old(self, names: Iterable[Path], is_old: Callable[[Path], bool]) -> None:
        kept = set(names)
        for path in self.path.glob("*/*"):
            name = path.relative_to(self.path)
            if name not in kept and name.parts[0] != INCOMPLETE and is_old(name):
                path.unlink()
        sync_folder(self.path)

    def _check_place(self, path: Path) -> None:
        if path.is_dir():
            raise OutputError("a file to write", "a folder of this name", "rename that folder", path=path)
        if path.parent.exists() and not path.parent.is_dir():
            raise OutputError("a folder to write to", "a file of this name", "rename that file", path=path.parent)

    def _make(self) -> None:
        there = self.path.absolute()
        self._made = [folder for folder in (there, *there.parents) if not folder.exists()]
        make_folder(self.path)

    def _begin(self) -> None:
        """Remove what a killed run left, keep the manifest of the run before, and state that a run is going on."""
        from gpuasm.cli.manifest import command_line, schema_of
        from gpuasm.io import write_json

        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir()
        manifest = self.path / MANIFEST
        started = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"command": self._command, "command_line": command_line(), "started": started}
        with outputs_at_once():
            if not self._before.exists() and manifest.is_file():
                with atomic_output(self._before, "wb") as file:
                    file.write(manifest.read_bytes())
            write_json(manifest, {**schema_of("running"), **about, "process": os.getpid()})

    def _undo(self) -> None:
        """Remove what is not complete, and restore the manifest of the run before."""
        if not self._is_replaced:
            with suppress(OSError):
                if self._before.exists():
                    self._before.replace(self.path / MANIFEST)
                else:
                    (self.path / MANIFEST).unlink()
        shutil.rmtree(self.files, ignore_errors=True)
        self._before.unlink(missing_ok=True)

    def _remove_empty(self) -> None:
        for folder in self._made:
            with suppress(OSError):  # it is not empty
                folder.rmdir()

    def _end(self) -> None:
        """Undo all, when a signal ends the process."""
        self._undo()
        with suppress(OSError):
            shutil.rmtree(self._hidden)
        self._remove_empty()


class _Lock:
    """The lock of a folder: an open file within its hidden folder, which the system releases if the process dies."""

    def __init__(self, folder: Path, hidden: Path) -> None:
        self._hidden, self._path = hidden, hidden / "lock"
        while True:
            self._descriptor = self._opened(folder)
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                process = os.read(self._descriptor, 100).decode(errors="replace").strip()
                os.close(self._descriptor)
                found = f"one in use by process {process}" if process else "one in use by another process"
                remedy = "wait until that run has ended, or name another folder with -o"
                raise OutputError("a folder that no other run uses", found, remedy, path=folder) from error
            except OSError as error:
                if error.errno not in _UNKNOWN_TO_DISK:
                    raise
            if self._is_there():
                break
            os.close(self._descriptor)  # another run ended in between, and removed the file
        with suppress(OSError):  # for the message above; the disk may be full
            os.truncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def close(self) -> None:
        """Remove the file and release the lock."""
        with suppress(OSError):
            self._path.unlink()
            self._hidden.rmdir()
        os.close(self._descriptor)

    def _opened(self, folder: Path) -> int:
        while True:
            try:
                self._hidden.mkdir(exist_ok=True)
                return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except FileNotFoundError:  # another run ended in between, and removed the folder
                if not folder.is_dir():
                    folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                remedy = "name another with -o, or change the permissions"
                raise OutputError("a folder to write to", str(error.strerror).lower(), remedy, path=folder) from error

    def _is_there(self) -> bool:
        try:
            found = self._path.stat()
        except OSError:
            return False
        opened = os.fstat(self._descriptor)
        return (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)
