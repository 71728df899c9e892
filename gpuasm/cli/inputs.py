"""Read the files that a command line names, and clean the reads as its options require."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.cli.options import ReadInputs
    from gpuasm.io import ReadSet
    from gpuasm.io.read_ahead import ReadAhead
    from gpuasm.stages import Stages

_LOG = logging.getLogger(__name__)


def read_ahead(inputs: ReadInputs) -> ReadAhead:
    """Begin to read those files that are parsed first; the caller loads what is needed for it meanwhile."""
    from gpuasm.io.read_ahead import ReadAhead

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
    """Read all files, trim adapters and remove PhiX174 if requested."""
    from gpuasm.io import read_reads
    from gpuasm.io.read_cleaning import clean_reads

    read_set = read_reads(**inputs.as_arguments(), stages=stages, ahead=ahead)
    return clean_reads(read_set, **inputs.cleaning, stages=stages)


def ask_for_mates(inputs: ReadInputs, read_set: ReadSet) -> None:
    """Refuse READS that have mates by their names, and warn if they were given with ``--single``.

    Raises
    ------
    UsageError
        If files are named as READS that are mates of each other.
    """
    from gpuasm.io.unpaired_files import find_unpaired_files

    alone, meant = ({str(path) for path in paths} for paths in (inputs.reads, inputs.single))
    for lost in find_unpaired_files([file for file in read_set.files if file.path in alone | meant]):
        if alone.issuperset(lost.paths):
            remedy = f"write {lost.remedy}, or --single before each file if they are to be used without"
            raise UsageError("reads without mates", str(lost), remedy)
        _LOG.warning("%s are used without each other; %s takes them as pairs", lost, lost.remedy)
