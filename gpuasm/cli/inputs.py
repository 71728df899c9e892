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


def read_ahead(inputs: ReadInputs, memory: str | None) -> ReadAhead:
    """Begin to read those files that are parsed first; the caller loads what is needed for it meanwhile.

    Parameters
    ----------
    inputs
        The files.
    memory
        The value of ``--memory``.

    Raises
    ------
    UsageError
        If it is no amount of memory.
    """
    from gpuasm.io.read_ahead import ReadAhead
    from gpuasm.resources import parse_bytes

    named = inputs.as_arguments()
    budget = parse_bytes(memory) if memory else None
    if named["pairs"]:
        return ReadAhead(named["pairs"][0], budget)
    if named["interleaved"]:
        return ReadAhead(named["interleaved"][:1], budget)
    return ReadAhead([] if named["bam"] else named["single"][:1], budget)


def size_of_inputs(inputs: ReadInputs) -> int | None:
    """Return the bytes of all files together; None where one is a pipe.

    Raises
    ------
    NoInputError
        If a file is not there.
    """
    from gpuasm.io.sources import total_size

    return total_size([str(path) for path in inputs.files])


def read_inputs(inputs: ReadInputs, stages: Stages, *, k: int, ahead: ReadAhead | None = None) -> ReadSet:
    """Read all files, trim adapters and remove PhiX174 if requested.

    Parameters
    ----------
    inputs
        The files, and how to clean their reads.
    stages
        Records the progress.
    k
        Bases that a read must have in a row.
    ahead
        Files that are being read already.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.read_reads`; and if no read has k bases in a row.
    """
    from gpuasm.io import read_reads
    from gpuasm.io.read_cleaning import clean_reads
    from gpuasm.io.usability import require_bases

    read_set = read_reads(**inputs.as_arguments(), stages=stages, ahead=ahead)
    read_set = clean_reads(read_set, **inputs.cleaning, stages=stages)
    require_bases(read_set, k)
    return read_set


def warn_about_reads(read_set: ReadSet) -> None:
    """Warn of what `gpuasm check` warns of, as far as the files show it without a search in the reads."""
    from gpuasm.io.usability import warnings_about

    for text in warnings_about(read_set.files, n_pairs=read_set.n_pairs):
        _LOG.warning("%s", text)


def ask_for_mates(inputs: ReadInputs, read_set: ReadSet) -> None:
    """Refuse READS that have mates by their names, and warn if they were given with ``--single``.

    Raises
    ------
    UsageError
        If files are named as READS that are mates of each other.
    """
    from gpuasm.io.unpaired_files import find_unpaired_files

    alone, meant = ({str(path) for path in paths} for paths in (inputs.reads, (*inputs.single, *inputs.bam)))
    for lost in find_unpaired_files([file for file in read_set.files if file.path in alone | meant]):
        if lost.are_all and alone.issuperset(lost.paths):
            remedy = f"write {lost.remedy}, or --single before each file if they are to be used without"
            raise UsageError("reads without mates", str(lost), remedy)
        _LOG.warning("%s are used without each other; %s takes them as pairs", lost, lost.remedy)
