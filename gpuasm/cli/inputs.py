"""Reads of the files that a command line names, cleaned as it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuasm.cli.options import ReadInputs
    from gpuasm.io import ReadSet
    from gpuasm.stages import Stages


def read_inputs(inputs: ReadInputs, stages: Stages) -> ReadSet:
    """Read all files, cut adapters off and leave PhiX174 out where that is asked for."""
    from gpuasm.io import read_reads
    from gpuasm.io.cleaning import clean_reads

    read_set = read_reads(**inputs.as_arguments(), stages=stages)
    return clean_reads(read_set, **inputs.cleaning, stages=stages)
