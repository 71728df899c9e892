"""What holds for the assembly of any reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.parameters import ENDS
from gpuasm.errors import DataError
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.threads import set_threads
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.samples import simulated_genome, simulated_texts
from tests.unit.assembly.graph.test_compaction import assert_arcs_overlap

KS = (31, 61, 91)
GENOMES = {
    "plain": {"length": 5000},
    "repeats": {"length": 9000, "repeats": 6, "repeat_length": 300},
    "long repeats": {"length": 9000, "repeats": 3, "repeat_length": 1500},
}


def texts_of(name, *, seed=1, fold=30, **options):
    return simulated_texts(simulated_genome(seed=seed, **GENOMES[name]), fold=fold, seed=seed, **options)


def result(texts, **options):
    assembly = assemble(Reads.from_strings(texts), AssemblyOptions(k=KS, **options))
    contigs = [(c.name, c.sequence, c.depth, c.copies, c.is_circular) for c in assembly.contigs]
    graph = assembly.graph
    return contigs, graph.bases.tobytes(), graph.count.tobytes(), graph.arc_to.tobytes(), graph.arc_count.tobytes()


@pytest.mark.parametrize("name", GENOMES)
def test_order_strand_and_threads_do_not_matter(name):
    texts, rng, expected = texts_of(name), np.random.default_rng(1), None
    for threads in (1, 2, 3):
        set_threads(threads)
        found = result(texts)
        expected = expected or found
        assert found == expected, threads
        turned = [reverse_complement(text) if rng.random() < 0.5 else text for text in texts]
        texts = [turned[i] for i in rng.permutation(len(turned))]
    set_threads(None)


@pytest.mark.parametrize("name", GENOMES)
@pytest.mark.parametrize("fold", [4, 12, 60])
def test_contigs_hold_kmers_of_reads_each_once(name, fold):
    texts = texts_of(name, fold=fold, seed=fold)
    assembly = assemble(Reads.from_strings(texts), AssemblyOptions(k=KS, min_contig_length=1))
    assert_arcs_overlap(assembly.graph)
    k = 31 if fold > 10 else ENDS.dead_end_min_overlap  # low-coverage ends overlap by no more
    assert set(count_kmers([c.sequence for c in assembly.contigs], k)) <= set(count_kmers(texts, k))
    graph = assembly.graph
    twice = count_kmers([graph.sequence(u) for u in range(graph.n)], 91)
    assert set(twice.values()) <= {1}


@pytest.mark.parametrize("name", ["plain", "repeats"])
def test_contigs_are_parts_of_the_genome(name):
    genome = decode(simulated_genome(seed=3, **GENOMES[name]))
    strands = f"{genome} {reverse_complement(genome)}"
    for contig in assemble(Reads.from_strings(texts_of(name, seed=3, fold=40))).contigs:
        assert contig.sequence in strands


def on_one_strand(contig):
    return min(contig.sequence, reverse_complement(contig.sequence)), contig.is_circular


@pytest.mark.parametrize("circular", [False, True])
def test_contigs_assembled_again_are_the_contigs(circular):
    texts = texts_of("plain", fold=40, circular=circular)
    first = assemble(Reads.from_strings(texts), AssemblyOptions(k=KS)).contigs
    closed = [c.sequence + (c.sequence[:120] if c.is_circular else "") for c in first]
    again = assemble(Reads.from_strings(closed), AssemblyOptions(k=KS, min_count=1)).contigs
    # Bases added to an end do not turn a contig, and the longer one may be the lesser text on its other strand.
    assert [on_one_strand(c) for c in again] == [on_one_strand(c) for c in first]


@settings(max_examples=40)
@given(
    texts=st.lists(st.text("AC", min_size=20, max_size=60), min_size=1, max_size=10),
    ks=st.sampled_from([(5,), (11,), (21, 33), (31, 35)]),
    min_count=st.sampled_from([1, 2, None]),
)
def test_any_reads_are_assembled_or_refused(texts, ks, min_count):
    """Sequences of two letters: everything repeats, and graphs are as tangled as can be."""
    try:
        assembly = assemble(Reads.from_strings(texts), AssemblyOptions(k=ks, min_count=min_count, min_contig_length=1))
    except DataError:
        return
    first = ks[0]
    kmers = set(count_kmers([c.sequence for c in assembly.contigs], first))
    assert kmers <= set(count_kmers(texts, first))
    assert_arcs_overlap(assembly.graph)
