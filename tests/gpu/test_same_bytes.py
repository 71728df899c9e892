"""Assemblies on a device against the same on the CPU, array for array."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.assembly import AssemblyOptions, assemble, unitigs_of_reads
from gpuasm.assembly.iteration import first_kmer_size
from gpuasm.assembly.paths.repeat_resolution import resolve
from gpuasm.assembly.state import AssemblyState, state_from_arrays, state_to_arrays
from gpuasm.device_group import DeviceGroup
from gpuasm.kmers import doubling_chain, spell_kmers, tally_by_doubling
from gpuasm.sequence.reads import Reads
from gpuasm.threads import set_threads
from tests.repeat_graphs import GENOME, PAIRS, D, bytes_of, graph_of
from tests.samples import simulated_genome, simulated_pairs, simulated_reads

pytestmark = pytest.mark.gpu

_GRAPH = ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count")


@pytest.fixture(scope="module")
def both() -> tuple[Reads, Reads]:
    reads = simulated_reads(length=60_000, fold=30, repeats=4, seed=11)
    return reads, reads.moved_to(arrays.namespace_of("cuda"))


@pytest.mark.parametrize("k", [21, 31, 63, 95, 127])
def test_counts_are_the_same(both, k):
    results = []
    for reads in both:
        tally, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=True)
        results.append((*spell_kmers(reads.packed, tally), tally.histogram))
    for host, device in zip(*results, strict=True):
        assert np.array_equal(host, device)


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("k", [21, 31, 63, 95, 127])
def test_unitig_graphs_are_the_same(both, k, observed):
    host, device = (unitigs_of_reads(reads, k, min_count=2, observed=observed) for reads in both)
    for name in _GRAPH:
        assert np.array_equal(getattr(host, name), getattr(device, name)), name


def test_contigs_are_the_same_on_every_device_and_number_of_threads(both):
    results = []
    for reads, threads in ((both[0], 1), (both[0], 2), (both[1], 2)):
        set_threads(threads)
        assembly = assemble(reads)
        depth = assembly.checked.depth.tobytes()
        results.append(
            [(c.name, c.sequence, c.depth, c.copies, c.is_circular) for c in assembly.contigs]
            + [(depth, assembly.checked.counts)]
        )
    set_threads(None)
    assert results[0]
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("n_buckets", [0, 6])
def test_several_devices_give_the_same_as_one(both, n_buckets, monkeypatch):
    """Two workers of one device, and all devices of the host; with tables that stay on devices, and in host memory."""
    if n_buckets:
        monkeypatch.setattr(first_kmer_size, "buckets_for", lambda *_: n_buckets)
    every, results = range(arrays.device_count()), []
    for devices in ((0,), (0, 0), (*every, *every), every):
        assembly = assemble(both[1], devices=DeviceGroup(devices))
        graph = [getattr(assembly.graph, name).tobytes() for name in _GRAPH]
        results.append((graph, [(c.name, c.sequence, c.depth, c.copies, c.is_circular) for c in assembly.contigs]))
    assert results[0][1]
    assert results == results[:1] * len(results)


def test_a_device_has_memory_of_its_own_next_to_others(both):
    """A copy of reads on each device, and limits that hold for one."""
    for number in range(arrays.device_count()):
        with arrays.on_device(number):
            copy = both[1].copied_to_current_device()
            assert copy.packed.device.id == number
            assert np.array_equal(arrays.to_host(copy.packed), both[0].packed)
            arrays.limit_device_memory(arrays.array_namespace(copy.packed), 1 << 30)
            assert arrays.free_device_memory() <= 1 << 30
            arrays.limit_device_memory(arrays.array_namespace(copy.packed), 0)


def test_joins_by_pairs_are_the_same():
    """A repeat that pairs resolve, dead ends that overlap, and a gap."""
    graph = graph_of(GENOME[:5000], GENOME[4980:5800], GENOME[5830:], D)
    device = replace(PAIRS, reads=PAIRS.reads.moved_to(arrays.namespace_of("cuda")))
    expected = resolve(graph, PAIRS)
    assert expected.counts["walks"]
    assert expected.counts["linked_overlaps"]
    assert expected.gaps
    assert bytes_of(resolve(graph, device)) == bytes_of(expected)


def test_fragments_and_scaffolds_are_the_same():
    genome = simulated_genome(length=60_000, repeats=6, repeat_length=340, seed=5)
    texts = simulated_pairs(genome, fold=30, insert=350, sd=50, error_rate=0.003)
    host = Reads.from_strings(texts, paired=True)
    results = []
    for reads in (host, host.moved_to(arrays.namespace_of("cuda"))):
        assembly = assemble(reads)
        results.append((assembly.k, [c.sequence for c in assembly.contigs], [s.sequence for s in assembly.scaffolds]))
        results[-1] += tuple(getattr(assembly.graph, name).tobytes() for name in _GRAPH)
    assert results[0] == results[1]


def test_a_state_moves_between_devices(both):
    from gpuasm.assembly import resume
    from gpuasm.stages import Stages

    states: list[AssemblyState] = []
    whole = assemble(both[1], keep_state=states.append)
    arrays_of_state = state_to_arrays(states[1])
    for xp, reads in ((np, both[0]), (arrays.namespace_of("cuda"), both[1])):
        resumed = resume(state_from_arrays(arrays_of_state, xp), reads, AssemblyOptions(), stages=Stages())
        assert [c.sequence for c in resumed.contigs] == [c.sequence for c in whole.contigs]


@pytest.mark.parametrize("k", [31, 61])
def test_parts_give_the_same_counts(both, k, monkeypatch):
    from gpuasm.kmers import tally_cuda

    reads = both[1]
    whole, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=True)
    monkeypatch.setattr(tally_cuda, "_LEAST_PART", 1 << 16)
    monkeypatch.setattr(tally_cuda, "free_device_memory", lambda: 1)
    parts, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=True)
    for one, other in zip(*(spell_kmers(reads.packed, tally) for tally in (whole, parts)), strict=True):
        assert np.array_equal(one, other)
