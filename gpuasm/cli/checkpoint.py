"""Checkpoints of an assembly: one file, replaced whole after each k, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm import __version__
from gpuasm.assembly.options import STAGES, AssemblyOptions
from gpuasm.cli.options import ReadInputs
from gpuasm.errors import UsageError
from gpuasm.io import atomic_output

if TYPE_CHECKING:
    from gpuasm.assembly.state import AssemblyState

NAME = ".checkpoint.npz"
_STANDARD_INPUT = Path("-")
_DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile)
"""What numpy, zipfile and json raise at files that are none of theirs, or not whole."""
_TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
"""Names that `gpuasm.io.atomic_output` gives to what is not complete; the number is that of the process."""


def fingerprint(inputs: ReadInputs, options: AssemblyOptions) -> str:
    """Return what must be the same for a checkpoint to be of use: version, options, and the files as they lie there.

    Files are identified by path, size and time of change: reading them again to compare their content would take longer
    than what a checkpoint saves. A pipe's time of change is its own, so that reads from one are never taken for those
    of another. Threads, memory and device may change, and so may the stage to stop after.
    """
    options = replace(options, stop_after=STAGES[-1])
    paths = [p for group in inputs.as_arguments().values() for item in group for p in np.ravel([item]).tolist()]
    files = [[str(path), *_stamp(Path(path))] for path in paths]
    text = json.dumps([__version__, repr(options), inputs.cleaning, files])
    return hashlib.sha256(text.encode()).hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = os.fstat(0) if path == _STANDARD_INPUT else path.stat()
    except OSError:  # its reader reports the error
        return 0, 0
    return status.st_size, status.st_mtime_ns


class Checkpoint:
    """The checkpoint of one output folder.

    Parameters
    ----------
    folder
        The folder of the assembly.
    mark
        The fingerprint of the run.
    """

    def __init__(self, folder: Path, mark: str) -> None:
        self.path, self.mark = folder / NAME, mark

    def save(self, state: AssemblyState) -> None:
        """Replace the checkpoint by this state."""
        from gpuasm.assembly.state import state_to_arrays

        with atomic_output(self.path, "wb") as file:
            np.savez(file, allow_pickle=False, mark=np.array(self.mark), **state_to_arrays(state))

    def load(self, xp: Any) -> AssemblyState | None:
        """Return the state, or None where there is nothing to go on from.

        Raises
        ------
        UsageError
            If the checkpoint is of other reads, options or another version, or is damaged.
        """
        if not self.path.exists():
            return None
        from gpuasm.assembly.state import state_from_arrays

        with self._damage_explained(), np.load(self.path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
            mark = str(arrays.pop("mark"))
        if mark != self.mark:
            raise UsageError(
                "a checkpoint of the same reads, options and version",
                "one of others",
                "run again without --resume, or into another folder",
                path=self.path,
            )
        with self._damage_explained():
            return state_from_arrays(arrays, xp)

    @contextmanager
    def _damage_explained(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            raise UsageError(
                "a checkpoint of this run", f"a damaged file ({error})", "run again without --resume", path=self.path
            ) from error

    def remove(self) -> None:
        """Remove the checkpoint: the run is complete, or starts anew."""
        self.path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a run that was killed while it wrote, but none of a process that is at it."""
    for path in folder.iterdir():
        match = _TEMPORARY.fullmatch(path.name)
        if match and not Path("/proc", match[1]).exists():
            path.unlink(missing_ok=True)
