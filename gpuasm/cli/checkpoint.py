"""Checkpoints of an assembly: one file, replaced whole after each k, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm import __version__
from gpuasm.assembly.options import STAGES, AssemblyOptions
from gpuasm.cli.options import ReadInputs
from gpuasm.errors import DataError, UsageError
from gpuasm.io import atomic_output

if TYPE_CHECKING:
    from gpuasm.assembly.state import AssemblyState

NAME = ".checkpoint.npz"
_STANDARD_INPUT = Path("-")
_BYTES_OF_AN_END = 1 << 16
_TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
"""Names that `gpuasm.io.atomic_output` gives to what is not complete; the number is that of the process."""


_LAYOUT = 3
"""Raised whenever the arrays of a state mean something else, also between versions of the program."""


def fingerprint(inputs: ReadInputs, options: AssemblyOptions, *, first_graph: Path | None = None) -> str:
    """Return what must be the same for a checkpoint to be of use: version, options and the files of reads and graph.

    Files are identified by size, time of change and the bytes at both ends, under whatever path: reading them again to
    compare their content would take longer than what a checkpoint saves. A pipe's time of change is its own, so that
    reads from one are never taken for those of another. Threads, memory and device may change, and so may the stage to
    stop after.
    """
    options = replace(options, stop_after=STAGES[-1])
    files = {kind: [_stamps(item) for item in items] for kind, items in inputs.as_arguments().items()}
    files |= {kind: [_stamps(paths)] for kind, paths in inputs.cleaning_files.items()}
    files |= {"first_graph": [_stamps(first_graph)]} if first_graph else {}
    cleaning = {name: value for name, value in inputs.cleaning.items() if name not in files}
    text = json.dumps([__version__, _LAYOUT, repr(options), cleaning, files])
    return hashlib.sha256(text.encode()).hexdigest()


def _stamps(item: Path | tuple[Path, ...]) -> list[list[Any]]:
    return [_stamp(path) for path in (item if isinstance(item, tuple) else (item,))]


def _stamp(path: Path) -> list[Any]:
    try:
        status = os.fstat(0) if path == _STANDARD_INPUT else path.stat()
        ends = _ends(path, status.st_size) if path != _STANDARD_INPUT and stat.S_ISREG(status.st_mode) else ""
    except OSError:  # its reader reports the error
        return []
    return [status.st_size, status.st_mtime_ns, ends]


def _ends(path: Path, size: int) -> str:
    """Return a checksum of the first and last bytes of a file."""
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(_BYTES_OF_AN_END))
        file.seek(max(0, size - _BYTES_OF_AN_END))
        digest.update(file.read(_BYTES_OF_AN_END))
    return digest.hexdigest()


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
        from gpuasm.io.archives import checksum

        arrays = {"mark": np.array(self.mark), **state_to_arrays(state)}
        with atomic_output(self.path, "wb") as file:
            np.savez(file, checksum=np.array(checksum(arrays)), **arrays)  # type: ignore[arg-type]  # allow_pickle is an array in NumPy 2.0

    def load(self, xp: Any) -> AssemblyState | None:
        """Return the state, or None where there is nothing to go on from.

        Raises
        ------
        UsageError
            If the checkpoint is of other reads, options or another version.
        DataError
            If it is damaged: its checksum is that of all arrays.
        """
        if not self.path.exists():
            return None
        from gpuasm.assembly.state import state_from_arrays

        arrays = self._arrays()
        if str(arrays["mark"]) != self.mark:
            raise UsageError(
                "a checkpoint of the same reads, options and version",
                "one of others",
                "run again without --resume, or into another folder",
                path=self.path,
            )
        return state_from_arrays(arrays, xp)

    def _arrays(self) -> dict[str, np.ndarray]:
        from gpuasm.io.archives import ArrayRule, check_arrays, checksum, read_archive

        try:
            arrays = read_archive(self.path)
            check_arrays(arrays, {"mark": ArrayRule("U", ()), "checksum": ArrayRule("iu", ())})
        except DataError as error:
            raise self._damaged(error.found) from error
        if int(arrays.pop("checksum")) != checksum(arrays):
            raise self._damaged("arrays of another checksum")
        return arrays

    def _damaged(self, found: str) -> DataError:
        remedy = "run again without --resume"
        return DataError("a checkpoint of this run", f"a damaged file ({found})", remedy, path=self.path)

    def remove(self) -> None:
        """Remove the checkpoint: the run is complete, or starts anew."""
        self.path.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a run that was killed while it wrote, but none of a process that is at it."""
    for path in folder.iterdir():
        match = _TEMPORARY.fullmatch(path.name)
        if match and not Path("/proc", match[1]).exists():
            path.unlink(missing_ok=True)
