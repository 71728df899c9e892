"""Reads of several samples that a command line names: NAME=FILES, sample sheets, and the options that name reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from gpuasm.cli.batch_sheet import SheetSample, problem_of_lane, read_sheet
from gpuasm.cli.file_uses import note_input
from gpuasm.cli.options import OptionalReads, ReadInputs
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    from gpuasm.io import ReadSet
    from gpuasm.stages import Stages


@dataclass(frozen=True)
class NamedReads:
    """The files of reads of a sample, by option, and how to clean the reads."""

    name: str
    inputs: ReadInputs

    def read(self, stages: Stages, *, k: int) -> ReadSet:
        """Read the files and clean the reads; see `gpuasm.cli.inputs.read_inputs`."""
        from gpuasm.cli.inputs import read_inputs

        return read_inputs(self.inputs, stages, k=k)


def samples_of_reads(arguments: Sequence[str], inputs: OptionalReads, *, name: str) -> list[NamedReads]:
    """Return the samples that a command line names, in its order.

    Parameters
    ----------
    arguments
        NAME=FILE, NAME=FILE_1,FILE_2 for mates, or a sample sheet; those of one name are lanes of one sample.
    inputs
        The reads that options name, which are the first sample, and how to clean the reads of all.
    name
        The name of the first sample.

    Raises
    ------
    DataError
        If a sheet cannot be used.
    NoInputError
        If a sheet is not there.
    UsageError
        If there is no sample, two have one name, or an argument is neither.
    """
    _check_lane(name, ("reads",), [])
    found = [NamedReads(name, inputs)] if inputs.files else []
    lanes: dict[str, list[tuple[str, ...]]] = {}
    for argument in arguments:
        for lane_of, files in _lanes_of(argument):
            _check_lane(lane_of, files, lanes.setdefault(lane_of, []))
            lanes[lane_of].append(files)
    for file in {file for files in chain(*lanes.values()) for file in files}:
        note_input(Path(file))
    found += [NamedReads(own, _inputs_of(SheetSample(own, tuple(files)), inputs)) for own, files in lanes.items()]
    if not found:
        raise UsageError("samples", "none", "write NAME=FILE_1,FILE_2, name a sample sheet, or name reads by -1 and -2")
    _check_columns([sample.name for sample in found])
    return found


def _lanes_of(argument: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sample and the files of each lane of an argument."""
    name, equals, files = argument.partition("=")
    if not equals or os.path.exists(argument):  # noqa: PTH110 - pathlib raises errors for long names
        note_input(Path(argument))
        return [(sample.name, lane) for sample in _read_sheet(Path(argument)) for lane in sample.lanes]
    return [(name, _files_of(files))]


def _read_sheet(path: Path) -> list[SheetSample]:
    try:
        return read_sheet(path)
    except DataError as error:
        if error.place is not None:
            raise
        expected = f"NAME=FILES, or a sample sheet with {error.expected}"
        raise DataError(expected, error.found, error.remedy, path=path) from error


def _files_of(text: str) -> tuple[str, ...]:
    """Divide a text at the comma between two files; names of files may have commas."""
    parts = text.split(",")
    divided = [(",".join(parts[:i]), ",".join(parts[i:])) for i in range(1, len(parts))]
    whole: list[tuple[str, ...]] = [(text,), *divided]
    there = (files for files in whole if all(os.path.exists(file) for file in files))  # noqa: PTH110 - as above
    return next(there, divided[0] if divided else (text,))


def _check_lane(name: str, files: tuple[str, ...], earlier: list[tuple[str, ...]]) -> None:
    cells = {"sample": name, "reads_1": files[0], "reads_2": files[1] if len(files) > 1 else ""}
    if problem := problem_of_lane(cells, earlier):
        raise UsageError(*problem)


def _inputs_of(sample: SheetSample, inputs: ReadInputs) -> ReadInputs:
    """Return the files of a sample as options would name them, with the same cleaning."""
    lanes = [tuple(map(Path, lane)) for lane in sample.lanes]
    if len(lanes[0]) == 2:
        first, second = zip(*lanes, strict=True)
        return _only(inputs, first=first, second=second)
    bam = tuple(lane[0] for lane in lanes if _is_alignment(lane[0]))
    return _only(inputs, bam=bam, single=tuple(lane[0] for lane in lanes if lane[0] not in bam))


def _only(inputs: ReadInputs, **files: tuple[Path, ...]) -> ReadInputs:
    nothing = dict.fromkeys(("first", "second", "interleaved", "single", "bam", "reads"), ())
    return replace(inputs, **{**nothing, **files})  # type: ignore[arg-type]


def _is_alignment(path: Path) -> bool:
    from gpuasm.io.alignment_files import is_alignment_file

    return path.is_file() and is_alignment_file(str(path))


def _check_columns(names: list[str]) -> None:
    """Refuse names of which two columns of a table of depth would have one title."""
    columns = [*names, *(f"{name}-var" for name in names)]
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise UsageError("a column of its own for each sample", f"two columns {twice!r}", "rename a sample")
