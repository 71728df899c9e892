"""The first graph of reads whose k-mers are counted in buckets, against that of one table."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly.iteration import first_kmer_size
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import state_to_arrays
from gpuasm.kmers.buckets import buckets_for
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.samples import pairs_of_relatives, simulated_genome, simulated_pairs, simulated_reads

SAMPLES = {
    "usual": (lambda: simulated_reads(length=6000, fold=20, repeats=2), AssemblyOptions()),
    "gaps": (lambda: simulated_reads(length=4000, fold=5), AssemblyOptions()),
    "overlapping mates": (
        lambda: Reads.from_strings(
            simulated_pairs(simulated_genome(length=5000), fold=6, length=100, insert=150), paired=True
        ),
        AssemblyOptions(),
    ),
    "community": (
        lambda: Reads.from_strings(pairs_of_relatives(length=5000), paired=True),
        AssemblyOptions(mode="meta"),
    ),
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_buckets_change_no_array_of_the_first_graph(xp, sample, monkeypatch):
    make, options = SAMPLES[sample]
    reads, states = make().moved_to(xp), []
    for n_buckets in (1, 3):
        monkeypatch.setattr(first_kmer_size, "buckets_for", lambda *_, n=n_buckets: n)
        stages = Stages()
        states.append(state_to_arrays(build_first_graph(reads, options, stages)))
    assert states[0].keys() == states[1].keys()
    for name, array in states[0].items():
        assert np.array_equal(to_host(array), to_host(states[1][name])), name
    bridged = sum(record.counts["bridges"] for record in stages.records if "bridges" in record.counts)
    assert (bridged > 0) or sample != "gaps"


def test_buckets_are_as_many_as_memory_requires():
    assert buckets_for(0, 1 << 30) == buckets_for(1 << 20, 1 << 30) == 1
    few, many = (buckets_for(1 << 30, free) for free in (4 << 30, 1 << 30))
    assert 1 < few < many
    assert buckets_for(1 << 40, 0) == 1 << 10
