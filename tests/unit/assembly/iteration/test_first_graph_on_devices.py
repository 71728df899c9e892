"""The first graph, and whole assemblies, on several devices against one: simulated, or workers of one real device."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.iteration import first_kmer_size
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.state import state_to_arrays
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.kmers import buckets
from gpuasm.kmers.buckets import buckets_for
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.samples import simulated_genome, simulated_pairs
from tests.unit.assembly.iteration.test_first_graph_in_buckets import SAMPLES


def group_of(xp, n):
    """Return a group of n workers of the one device that there is."""
    return DeviceGroup(((None if xp is np else 0),) * n)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("n_buckets", [None, 9], ids=["a bucket each", "9 buckets"])
def test_devices_change_no_array_of_the_first_graph(xp, sample, n_buckets, monkeypatch):
    make, options = SAMPLES[sample]
    reads = make().moved_to(xp)
    if n_buckets:
        monkeypatch.setattr(first_kmer_size, "buckets_for", lambda *_: n_buckets)
    groups = [ONE_DEVICE, *(group_of(xp, n) for n in (2, 4, 8))]
    expected, *states = (
        state_to_arrays(build_first_graph(reads, options, Stages(), devices=devices)) for devices in groups
    )
    for found in states:
        assert found.keys() == expected.keys()
        for name, array in found.items():
            assert np.array_equal(to_host(array), to_host(expected[name])), name


def test_devices_change_no_byte_of_an_assembly(xp):
    genome = simulated_genome(length=12_000, repeats=3, repeat_length=340, seed=5)
    texts = simulated_pairs(genome, fold=30, insert=350, sd=50, error_rate=0.003)
    reads, found = Reads.from_strings(texts, paired=True).moved_to(xp), []
    for n in (1, 2, 4, 8):
        assembly = assemble(reads, AssemblyOptions(), devices=group_of(xp, n))
        contigs = [(c.name, c.sequence, c.depth, c.copies, c.is_circular) for c in assembly.contigs]
        columns = assembly.checked.depth, assembly.graph.bases, assembly.graph.count, assembly.spectrum.histogram
        scaffolds = [scaffold.sequence for scaffold in assembly.scaffolds]
        found.append((assembly.k, contigs, scaffolds, *(column.tobytes() for column in columns)))
    assert found[0][1]
    assert found == found[:1] * 4


def test_an_error_of_one_bucket_is_that_of_the_run(monkeypatch):
    def cut(reads, k, chosen, *, n_buckets, cut_buckets=buckets.cut_buckets):
        if chosen.start == 2:
            raise MemoryError("bucket 2")
        return cut_buckets(reads, k, chosen, n_buckets=n_buckets)

    monkeypatch.setattr(buckets, "cut_buckets", cut)
    reads = SAMPLES["usual"][0]()
    with pytest.raises(MemoryError, match="bucket 2"):
        build_first_graph(reads, AssemblyOptions(), Stages(), devices=DeviceGroup((None,) * 4))


def test_each_device_has_as_many_buckets_as_the_others():
    assert [buckets_for(100, 1 << 30, n) for n in (1, 2, 3, 8)] == [1, 2, 3, 8]
    alone = buckets_for(1 << 30, 1 << 30)
    for n in (2, 3, 8):
        assert alone <= buckets_for(1 << 30, 1 << 30, n) < alone + n
        assert buckets_for(1 << 30, 1 << 30, n) % n == 0


@pytest.mark.parametrize(
    "texts", [["ACGTTGCATGACCGATTACGGATC"], ["ACGTTGCATGACCGATTACGGATC" * 3], ["A" * 40, "ACGT" * 20]]
)
def test_more_devices_than_kmers_change_nothing(xp, texts):
    reads, options = Reads.from_strings(texts).moved_to(xp), AssemblyOptions(k=(21,), min_count=1, min_contig_length=1)
    found = [assemble(reads, options, devices=group_of(xp, n)) for n in (1, 8)]
    contigs = [[(contig.sequence, contig.depth, contig.is_circular) for contig in one.contigs] for one in found]
    assert contigs[0] == contigs[1]
    assert found[0].graph.bases.tobytes() == found[1].graph.bases.tobytes()
