"""Reads of the files that a command line names, cleaned as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuasm.cli.options import ReadInputs
    from gpuasm.io import ReadSet
    from gpuasm.io.ahead import ReadAhead
    from gpuasm.stages import Stages


def read_ahead(inputs: ReadInputs) -> ReadAhead:
    """Begin to read those files that are parsed first; the caller loads what is needed for it meanwhile."""
    from gpuasm.io.ahead import ReadAhead

    named = inputs.as_arguments()
    if named["pairs"]:
        return ReadAhead(named["pairs"][0])
    if named["interleaved"]:
        return ReadAhead(named["interleaved"][:1])
    return ReadAhead([] if named["bam"] else named["single"][:1])


def size_of_inputs(inputs: ReadInputs) -> int | None:
    """Return the bytes of all files together; None where one is a pipe.

    Raises
    ------
    NoInputError
        If a file is not there.
    """
    from gpuasm.io.sources import total_size

    groups = [
        item if isinstance(item, tuple) else (item,) for items in inputs.as_arguments().values() for item in items
    ]
    return total_size([str(path) for group in groups for path in group])


def read_inputs(inputs: ReadInputs, stages: Stages, *, ahead: ReadAhead | None = None) -> ReadSet:
    """Read all files, cut adapters off and leave PhiX174 out where that is asked for."""
    from gpuasm.io import read_reads
    from gpuasm.io.cleaning import clean_reads

    read_set = read_reads(**inputs.as_arguments(), stages=stages, ahead=ahead)
    return clean_reads(read_set, **inputs.cleaning, stages=stages)
