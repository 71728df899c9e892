"""The memory estimate of an assembly: more if many reads pass to the next k."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.cli.planning import crossing_bytes_per_base, plan_assembly
from gpuasm.errors import ResourceError
from tests.samples import simulated_reads


def spectrum_at(depth, size=2_000_000):
    """Return the spectrum of a genome at a depth, and as many errors as k-mers."""
    multiplicity = np.arange(4 * depth)
    histogram = size * np.exp(-((multiplicity - depth) ** 2) / (2 * depth)) / np.sqrt(2 * np.pi * depth)
    histogram[1] += size
    return histogram.astype(np.int64)


@pytest.mark.parametrize(("depth", "expected"), [(8, 1.6), (50, 0.3), (2000, 5.0)], ids=["low", "usual", "high"])
def test_reads_across_junctions_take_more_where_there_are_many(depth, expected):
    histogram = spectrum_at(depth)
    windows = int((histogram * np.arange(histogram.size)).sum())
    assert crossing_bytes_per_base(histogram, 31, windows) == expected


def test_the_plan_is_refused_with_the_number_that_would_do():
    reads = simulated_reads(length=20_000, fold=30)
    session = SimpleNamespace(device="cpu", memory=1 << 40)
    plan = plan_assembly(reads, 31, session, Path("/tmp"))
    session.memory = plan["host_bytes"] - 1
    with pytest.raises(ResourceError, match="assembling these reads"):
        plan_assembly(reads, 31, session, Path("/tmp"))
