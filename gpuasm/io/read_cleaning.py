"""Clean reads: trim adapters, remove duplicate pairs and reads of PhiX174."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.io.adapters import MANY, survey_adapters
from gpuasm.io.duplicates import find_duplicates
from gpuasm.io.phix import phix_reads
from gpuasm.io.summary import ReadSet
from gpuasm.io.trimming import trim_reads
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


def clean_reads(
    read_set: ReadSet, *, trim: str = "auto", deduplicate: bool = False, remove_phix: bool = False, stages: Stages
) -> ReadSet:
    """Trim adapters, remove duplicates and PhiX174; removed reads become empty, so the number of reads stays the same.

    Parameters
    ----------
    read_set
        Reads on the host.
    trim
        "yes", "no", or "auto": if at least one read in 200 contains an adapter.
    deduplicate
        Remove pairs that are duplicates of another one.
    remove_phix
        Remove pairs and single reads of PhiX174.
    stages
        Records a stage for each, with the numbers of reads found and removed.
    """
    if trim != "no":
        with stages.stage("trim adapters", trim=trim) as stage:
            read_set, found = _trimmed(read_set, every_kit=trim == "yes")
            stage.note(**found)
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
            kept = read_set.reads.select(~is_phix[read_set.reads.read])
            removed = (*read_set.removed, "PhiX174") if is_phix.any() else read_set.removed
            read_set = replace(read_set, reads=kept, removed=removed)
            stage.note(removed_reads=int(is_phix.sum()))
    return read_set


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
    removed = (*read_set.removed, "adapters") if left.any() else read_set.removed
    return replace(read_set, reads=after, removed=removed), found


def _bases_of_reads(reads: Reads) -> np.ndarray:
    bases = np.zeros(reads.n_reads, np.int64)
    np.add.at(bases, reads.read, reads.length)
    return bases
