"""Read the files that a command line names, and clean the reads as its options require."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.cli.options import ReadInputs
    from gpuasm.io import ReadSet
    from gpuasm.io.read_ahead import ReadAhead
    from gpuasm.stages import Stages

_LOG = logging.getLogger(__name__)
_begun: dict[tuple[str, ...], ReadAhead] = {}
"""Files of later runs of this process, which are being read already."""


def begin_ahead(files: tuple[str, ...], memory: int) -> None:
    """Begin to read and decode the `first_files` of a later run of this process, within so many bytes."""
    from gpuasm.io.read_ahead import ReadAhead

    _begun[files] = ReadAhead(files, memory)


def end_ahead(files: tuple[str, ...]) -> None:
    """End the reading of files that no run has taken over."""
    if ahead := _begun.pop(files, None):
        with ahead:
            pass


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

    budget, files = parse_bytes(memory) if memory else None, first_files(inputs)
    return _begun.pop(files, None) or ReadAhead(files, budget)


def first_files(inputs: ReadInputs) -> tuple[str, ...]:
    """Return the files that are parsed first: two mates, or one file."""
    named = inputs.as_arguments()
    if named["pairs"]:
        return tuple(map(str, named["pairs"][0]))
    if named["interleaved"]:
        return tuple(map(str, named["interleaved"][:1]))
    return () if named["bam"] else tuple(map(str, named["single"][:1]))


def size_of_inputs(inputs: ReadInputs) -> int | None:
    """Return the bytes of all files together; None where one is a pipe.

    Raises
    ------
    NoInputError
        If a file is not there.
    """
    from gpuasm.io.sources import total_size

    return total_size([str(path) for path in inputs.files])


def read_inputs(
    inputs: ReadInputs, stages: Stages, *, k: int, ahead: ReadAhead | None = None, texts: BinaryIO | None = None
) -> ReadSet:
    """Read all files, clean the reads and sub-sample them as requested.

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
    texts
        A file that receives names and qualities.

    Raises
    ------
    DataError, NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.read_reads`; and if no read has k bases in a row.
    UsageError
        If primers have no bases.
    """
    from gpuasm.io import read_reads
    from gpuasm.io.read_cleaning import clean_reads
    from gpuasm.io.usability import require_bases

    read_set = read_reads(**inputs.as_arguments(), stages=stages, ahead=ahead, texts=texts)
    read_set = clean_reads(
        read_set,
        trim=inputs.trim,
        primers=inputs.primers,
        primers_reference=inputs.primers_reference,
        deduplicate=inputs.deduplicate,
        remove_phix=inputs.remove_phix,
        remove=inputs.remove,
        stages=stages,
    )
    if inputs.depth:
        from gpuasm.cli.subsampling import subsampled

        read_set = subsampled(read_set, inputs.depth, genome_size=inputs.genome_size, stages=stages)
    if read_set.texts:
        read_set.texts.locate(read_set.reads)
    if inputs.depth or inputs.remove:
        from gpuasm.assembly.alignment.reads_on_unitigs import repack

        read_set = replace(read_set, reads=repack(read_set.reads))  # the memory of the others is freed
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
