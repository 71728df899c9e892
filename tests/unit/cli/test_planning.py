"""The forecasts of an assembly, against what is measured, and their refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions
from gpuasm.cli.forecast import Survey, device_bytes, disk_bytes, host_bytes
from gpuasm.cli.planning import expected_memory, plan_assembly
from gpuasm.device_group import ONE_DEVICE
from gpuasm.errors import ResourceError
from gpuasm.kmers.counting import tally_kmers
from tests.samples import simulated_reads


def sample_of(*parts, **options):
    survey = Survey(AssemblyOptions(**options))
    for part in parts:
        survey.add(part)
    return survey.sample()


@pytest.mark.parametrize(
    ("fold", "least", "most"), [(8, 0.23, 0.4), (40, 0.07, 0.1), (800, 1.0, 1.0)], ids=["low", "usual", "high"]
)
def test_more_reads_span_junctions_at_low_and_at_high_coverage(fold, least, most):
    reads = simulated_reads(length=6000, fold=fold)
    sample = sample_of(reads)
    assert least <= round(sample.crossing / reads.n_bases, 3) <= most
    assert sample.k == (31 if fold > 8 else 21)


def test_the_survey_knows_the_kmers_of_the_reads():
    reads = simulated_reads(length=150_000, fold=30)
    sample, tally = sample_of(reads), tally_kmers(reads, 31, min_count=2)
    assert sample.n_bases == reads.n_bases
    assert sample.windows == int(np.maximum(reads.length - 30, 0).sum())
    assert sample.twice == pytest.approx(tally.n, rel=0.15)
    assert sample.solid <= sample.repeated


def test_the_parts_of_a_survey_are_as_all_reads():
    reads = simulated_reads(length=100_000, fold=20)
    half = reads.n_segments // 2
    parts = sample_of(reads.select(slice(half)), reads.select(slice(half, None)))
    assert replace(parts, own=0) == replace(sample_of(reads), own=0)


def test_nothing_is_surveyed_where_nothing_is_read():
    assert sample_of().n_bases == 0
    assert expected_memory(Survey(AssemblyOptions()).sample(), threads=2, n_bytes=0) > 0


@pytest.mark.parametrize("forecast", [device_bytes, disk_bytes, lambda s: host_bytes(s, threads=2, on_device=False)])
def test_forecasts_grow_with_the_genome(forecast):
    sample = sample_of(simulated_reads(length=50_000, fold=20))
    names = ("distinct", "twice", "repeated", "solid", "genome", "windows", "n_bases", "n_segments", "own", "crossing")
    larger = replace(sample, **{name: 1000 * getattr(sample, name) for name in names})
    largest = replace(sample, **{name: 10_000 * getattr(sample, name) for name in names})
    assert forecast(sample) < forecast(larger)
    assert 7 * forecast(larger) < forecast(largest) < 13 * forecast(larger)


def test_the_plan_is_refused_with_the_number_that_would_do():
    reads = simulated_reads(length=20_000, fold=30)
    stages = SimpleNamespace(peak_rss_bytes=1 << 33)
    admitted = []
    session = SimpleNamespace(
        device="cpu", devices=ONE_DEVICE, memory=1 << 40, threads=2, stages=stages, admit=admitted.append
    )
    plan = plan_assembly(reads, AssemblyOptions(), session, Path("/tmp"))
    assert admitted == [plan]
    assert plan["host_bytes"] == 1 << 33  # what reading took is known
    session.memory = plan["host_bytes"] - 1
    with pytest.raises(ResourceError, match="assembling these reads"):
        plan_assembly(reads, AssemblyOptions(), session, Path("/tmp"))
