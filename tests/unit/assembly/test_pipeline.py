"""The pipeline: values of k, errors, stages, states, and contigs of simulated reads."""

from __future__ import annotations

import itertools
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble, resume
from gpuasm.assembly.iteration.k_values import check_k_values, choose_k, first_k
from gpuasm.assembly.parameters import ITERATION
from gpuasm.assembly.state import state_from_arrays, state_to_arrays
from gpuasm.errors import DataError, UsageError
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.samples import simulated_genome, simulated_reads, simulated_texts


def lengths_of(*lengths):
    return np.bincount(np.array(lengths, dtype=np.int64))


@given(length=st.integers(0, 2000), others=st.lists(st.integers(0, 2000), max_size=5))
def test_chosen_values_of_k_are_valid(length, others):
    ks = choose_k(lengths_of(length, *others))
    check_k_values(ks)
    assert ks[-1] <= max(31, max([length, *others]) - 8)


@pytest.mark.parametrize(("length", "expected"), [(50, (31, 41)), (45, (31,)), (30, (19,)), (5, (11,))])
def test_values_of_k_by_read_length(length, expected):
    assert choose_k(lengths_of(*[length] * 10)) == expected


@given(length=st.integers(0, 2000), others=st.lists(st.integers(0, 2000), max_size=5))
def test_values_of_k_of_low_coverage_start_lower(length, others):
    ks = choose_k(lengths_of(length, *others), first=ITERATION.first_k_sparse)
    check_k_values(ks)
    assert ks[0] <= ITERATION.first_k_sparse


def test_first_k_depends_on_coverage():
    high, low, sparse = (simulated_reads(length=6000, fold=fold, seed=5) for fold in (40, 14, 8))
    assert assemble(high).k[0] == 31
    assert assemble(sparse).k[0] == 21
    assert assemble(high, AssemblyOptions(mode="meta")).k[0] == 21
    assert assemble(sparse, AssemblyOptions(k=(31, 61))).k == (31, 61)
    assert assemble(sparse).spectrum.k == 21
    assert assemble(low).k[0] == 25


@pytest.mark.parametrize(
    ("least", "n_kmers", "expected"),
    [(21, 0, 21), (21, 5_000_000, 21), (21, 27_000_000, 23), (25, 27_000_000, 25), (21, 57_000_000, 25)],
)
def test_first_k_increases_with_the_sample(least, n_kmers, expected):
    assert first_k(least, n_kmers) == expected


@given(st.integers(0, 10**10))
def test_few_kmers_are_equal_by_chance(n_kmers):
    k = first_k(21, n_kmers)
    assert k == 31 or n_kmers**2 / 4**k <= 16
    assert k == 21 or n_kmers**2 / 4 ** (k - 2) > 16


def test_values_of_k_depend_on_the_n50_of_reads():
    assert choose_k(lengths_of(*[150] * 10, *[30] * 40)) == choose_k(lengths_of(150))
    assert choose_k(lengths_of(*[150] * 10, *[30] * 60)) == choose_k(lengths_of(30))
    assert choose_k(lengths_of(150, 250, 250)) == choose_k(lengths_of(250))
    assert choose_k(np.zeros(1, np.int64)) == (11,)


@pytest.mark.parametrize(
    "ks", [(), (33,), (31, 30), (31, 31), (61, 31), (31, 63), (31, 45, 91), (21, 31), (1,), (-5,), (31, 32)]
)
def test_invalid_values_of_k_are_refused(ks):
    with pytest.raises(UsageError, match=";"):
        check_k_values(ks)
    if ks:
        with pytest.raises(UsageError):
            assemble(simulated_reads(length=2000, fold=5), AssemblyOptions(k=ks))


@pytest.mark.parametrize("texts", [[], ["ACGT"], ["N" * 200], ["ACGTTGCATT" * 2] * 50])
def test_reads_shorter_than_k_are_refused(texts, xp):
    with pytest.raises(DataError, match="expected reads of at least k = 31 bases, found no read longer than"):
        assemble(Reads.from_strings(texts).moved_to(xp), AssemblyOptions(k=(31,)))


def test_reads_without_solid_kmers_are_refused(xp):
    reads = simulated_reads(length=20_000, fold=0.05).moved_to(xp)
    with pytest.raises(DataError, match=r"found none among .* distinct 31-mers; give more reads, or set --min-count 1"):
        assemble(reads)


def summary(assembly):
    return [(c.name, c.sequence, c.depth, c.copies, c.is_circular) for c in assembly.contigs]


def test_resuming_any_state_gives_the_same_contigs(threads):
    reads, states = simulated_reads(length=10_000, fold=30, repeats=4), []
    whole = assemble(reads, keep_state=states.append)
    assert [state.kmer_graph.graph.k for state in states] == list(whole.k[:-1])
    for state in states:
        assert state.remaining == whole.k[whole.k.index(state.kmer_graph.graph.k) + 1 :]
        again = state_from_arrays(state_to_arrays(state), np)
        resumed = resume(again, reads, AssemblyOptions(), stages=Stages())
        assert summary(resumed) == summary(whole)
        assert (resumed.k, resumed.removed) == (whole.k, whole.removed)
        for name in ("bases", "start", "count", "is_circular", "arc_start", "arc_to", "arc_count"):
            assert np.array_equal(getattr(resumed.graph, name), getattr(whole.graph, name))


def test_stages_are_recorded():
    stages = Stages()
    assembly = assemble(simulated_reads(length=5000, fold=30), AssemblyOptions(k=(31, 61, 91)), stages=stages)
    found = [(record.name, record.parameters.get("k")) for record in stages.records]
    per_k = ["count k-mers", "build graph", "clean graph", "find reads across junctions"]
    last = [("align reads to contigs", None)]
    later = [*itertools.product(per_k, [61]), *itertools.product(per_k[:3], [91]), *last]
    assert found[:4] == [*itertools.product(per_k, [31])]
    assert found[-len(later) :] == later
    assert {k for _, k in found if k} == {31, 61, 91}
    assert set(assembly.removed) == {31, 61, 91}
    assert assembly.spectrum.k == 31


@pytest.mark.parametrize("repeats", [0, 5])
@pytest.mark.parametrize("seed", [1, 2])
def test_contigs_cover_the_genome(seed, repeats):
    genome = decode(simulated_genome(length=12_000, repeats=repeats, repeat_length=400, seed=seed))
    reads = simulated_reads(length=12_000, fold=40, repeats=0, seed=seed) if not repeats else None
    if reads is None:
        codes = simulated_genome(length=12_000, repeats=repeats, repeat_length=400, seed=seed)
        reads = Reads.from_strings(simulated_texts(codes, fold=40, seed=seed))
    assembly = assemble(reads)
    strands = genome + "-" + reverse_complement(genome)
    for contig in assembly.contigs:
        assert contig.sequence in strands
    found = set(count_kmers([c.sequence for c in assembly.contigs], 31))
    assert len(found & set(count_kmers([genome], 31))) > 0.97 * len(count_kmers([genome], 31))
    if not repeats:
        assert len(assembly.contigs) == 1


def test_repeat_shorter_than_the_reads_is_resolved():
    rng = np.random.default_rng(8)
    element, flanks = rng.integers(0, 4, 60), rng.integers(0, 4, (4, 1500))
    genome = np.concatenate([np.concatenate([flank, element]) for flank in flanks]).astype(np.uint8)
    reads = Reads.from_strings(simulated_texts(genome, fold=50, circular=True))
    (short,) = [len(assemble(reads, AssemblyOptions(k=ks)).contigs) for ks in [(31,)]]
    (contig,) = assemble(reads).contigs
    assert short > 1
    assert contig.is_circular
    assert contig.length == genome.size


def test_contig_depth_is_that_of_bases():
    assembly = assemble(simulated_reads(length=20_000, fold=60, error_rate=0.002))
    assert assembly.contigs[0].depth == pytest.approx(60, rel=0.1)


def test_arrays_of_the_previous_k_are_freed():
    """The arrays of each graph are freed once the next graph is complete."""
    windows: list[weakref.ref] = []

    def keep(state):
        assert [of() is None for of in windows] == [True] * len(windows)
        windows.append(weakref.ref(state.kmer_graph.rows.blocks))

    reads = simulated_reads(length=5000, fold=40, error_rate=0.002)
    assemble(reads, AssemblyOptions(k=(31, 61, 91, 121)), keep_state=keep)
    assert len(windows) == 3


def test_isolated_contig_too_short_for_the_next_k_is_kept(tmp_path):
    """A fragment of 90 bases cannot be passed to k = 97; states keep it, and it becomes a contig."""
    from gpuasm.cli.outputs import write_graph

    fragment, states = decode(simulated_genome(length=1600, seed=9)[:90]), []
    texts = simulated_texts(simulated_genome(length=5000), fold=30) + [fragment[i : i + 80] for i in range(11)] * 4
    options = AssemblyOptions(k=(31, 61, 97, 127), min_contig_length=80)
    reads = Reads.from_strings(texts)
    whole = assemble(reads, options, keep_state=states.append)
    (own,) = [c for c in whole.contigs if c.unitig < 0]
    assert own.sequence in (fragment, reverse_complement(fragment))
    assert [len(state.isolated) for state in states] == [0, 1, 2]
    without = assemble(reads, replace(options, without=("isolated-contigs",)))
    assert [c.sequence for c in whole.contigs if c.unitig >= 0] == [c.sequence for c in without.contigs]
    for state in states:
        resumed = resume(state_from_arrays(state_to_arrays(state), np), reads, options, stages=Stages())
        assert summary(resumed) == summary(whole)
    write_graph(tmp_path / "graph.gfa", whole.graph, whole.contigs)
    lines = [line.split("\t") for line in (tmp_path / "graph.gfa").read_text().splitlines()]
    segments = {line[1]: line[2] for line in lines if line[0] == "S"}
    assert len(segments) == sum(line[0] == "S" for line in lines) == whole.graph.n + 1
    paths = {line[1]: line[2] for line in lines if line[0] == "P"}
    assert paths.keys() == {contig.name for contig in whole.contigs}
    assert paths[own.name] == f"unitig_{whole.graph.n + 1:06d}+"
    assert segments[paths[own.name][:-1]] == own.sequence


@pytest.mark.parametrize("beyond", [4, 8, 12, 40, 55, 70])
def test_molecule_ending_after_a_repeat_does_not_continue_as_the_other_copy(beyond):
    """Few reads contain the short sequence after the repeat."""
    rng = np.random.default_rng(beyond)
    repeat = rng.integers(0, 4, 45).astype(np.uint8)
    one, other = (rng.integers(0, 4, 6000).astype(np.uint8) for _ in range(2))
    other[3000:3045] = repeat
    first, second = np.concatenate([one, repeat, (other[3045 : 3045 + beyond] + 1) % 4]).astype(np.uint8), other
    texts = [read for genome in (first, second) for read in simulated_texts(genome, fold=60, error_rate=0.002)]
    contigs = [contig.sequence for contig in assemble(Reads.from_strings(texts)).contigs]
    expected = [decode(genome) for genome in (first, second)]
    expected += [reverse_complement(text) for text in expected]
    assert all(any(contig in text for text in expected) for contig in contigs)
    assert sum(map(len, contigs)) > 0.98 * (first.size + second.size)
