"""Clean reads: trim adapters, cut primers, remove duplicate pairs and reads of PhiX174 and of other references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpuasm.io.adapters import MANY, survey_adapters
from gpuasm.io.duplicates import find_duplicates
from gpuasm.io.phix import phix_reads
from gpuasm.io.reference_kmers import read_reference, reads_of_reference
from gpuasm.io.summary import ReadSet
from gpuasm.io.trimming import trim_reads
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

_Path = str | Path


def clean_reads(
    read_set: ReadSet,
    *,
    trim: str = "auto",
    primers: _Path | None = None,
    primers_reference: _Path | None = None,
    deduplicate: bool = False,
    remove_phix: bool = False,
    remove: Sequence[_Path] = (),
    stages: Stages,
) -> ReadSet:
    """Trim adapters, cut primers, remove duplicates and reads of references, in this order.

    Removed reads become empty, so the number of reads stays the same.

    Parameters
    ----------
    read_set
        Reads on the host.
    trim
        "yes", "no", or "auto": if at least one read in 200 contains an adapter.
    primers, primers_reference
        The files of :func:`gpuasm.io.primers.read_primers`.
    deduplicate
        Remove pairs that are duplicates of another one.
    remove_phix
        Remove pairs and single reads of PhiX174.
    remove
        Files of references whose pairs and single reads are removed.
    stages
        Records a stage for each, with the numbers of reads found and removed.

    Raises
    ------
    DataError, NoInputError, ResourceError, UsageError
        If a file of primers or of a reference cannot be used.
    """
    if trim != "no":
        with stages.stage("trim adapters", trim=trim) as stage:
            read_set, found = _trimmed(read_set, every_kit=trim == "yes")
            stage.note(**found)
    if primers is not None:
        from gpuasm.io.primers import cut_primers, read_primers  # noqa: PLC0415 - few reads have primers

        with stages.stage("cut primers", file=str(primers)) as stage:
            sequences = read_primers(primers, primers_reference)
            reads, cut = cut_primers(read_set.reads, sequences)
            read_set = replace(read_set, reads=reads, removed=_names(read_set, "primers", of=cut))
            stage.note(primers=len(sequences), cut_reads=int(cut.any(axis=0).sum()), removed_bases=int(cut.sum()))
    if deduplicate:
        with stages.stage("remove duplicates") as stage:
            is_duplicate = np.zeros(read_set.reads.n_reads, np.bool_)
            pairs = find_duplicates(read_set.reads, read_set.n_pairs)
            is_duplicate[: 2 * read_set.n_pairs] = np.repeat(pairs, 2)
            read_set = replace(read_set, reads=read_set.reads.select(~is_duplicate[read_set.reads.read]))
            stage.note(removed_pairs=int(pairs.sum()))
    if remove_phix:
        with stages.stage("remove PhiX174") as stage:
            is_phix = phix_reads(read_set.reads, read_set.n_pairs)
            read_set = without_reads(read_set, is_phix, "PhiX174")
            stage.note(removed_reads=int(is_phix.sum()))
    for path in remove:
        with stages.stage("remove reference", reference=str(path)) as stage:
            kmers, checksum = read_reference(path)
            is_found = reads_of_reference(read_set.reads, read_set.n_pairs, kmers)
            read_set = without_reads(read_set, is_found, f"reads of {Path(path).name}")
            stage.note(sha256=checksum, reads=read_set.reads.n_reads, removed_reads=int(is_found.sum()))
    return read_set


def without_reads(read_set: ReadSet, is_removed: np.ndarray, name: str) -> ReadSet:
    """Return the reads without those of a mask, (n_reads,) bool, and with the name of what was removed."""
    kept = read_set.reads.select(~is_removed[read_set.reads.read])
    return replace(read_set, reads=kept, removed=_names(read_set, name, of=is_removed))


def _names(read_set: ReadSet, name: str, *, of: np.ndarray) -> tuple[str, ...]:
    return (*read_set.removed, name) if of.any() else read_set.removed


def _trimmed(read_set: ReadSet, *, every_kit: bool) -> tuple[ReadSet, dict[str, str | int]]:
    before = read_set.reads
    survey = survey_adapters(before, read_set.n_pairs)
    found: dict[str, str | int] = {"with_adapter": int(survey.runs_into_adapter.sum())}
    if survey.name:
        found["adapter"] = survey.name
    if not every_kit and survey.share < MANY:
        return read_set, found
    after = trim_reads(before, survey, every_kit=every_kit)
    left = _bases_of_reads(before) - _bases_of_reads(after)
    found |= {"trimmed_reads": int((left > 0).sum()), "removed_bases": int(left.sum())}
    return replace(read_set, reads=after, removed=_names(read_set, "adapters", of=left)), found


def _bases_of_reads(reads: Reads) -> np.ndarray:
    bases = np.zeros(reads.n_reads, np.int64)
    np.add.at(bases, reads.read, reads.length)
    return bases
