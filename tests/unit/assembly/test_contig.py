"""Contigs: names, order, copy numbers and circular contigs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.contig import Contig, make_contigs, open_circular, single_copy_depth
from gpuasm.assembly.graph.end_overlap_trimming import end_cuts
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.sequence.encoding import decode, encode
from gpuasm.sequence.encoding import reverse_complement as codes_reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import graph_of
from tests.oracles.kmers import reverse_complement
from tests.unit.kmers.test_tally import noisy_reads


def test_contigs_are_sorted_and_short_ones_excluded():
    graph = unitigs_of_reads(Reads.from_strings(noisy_reads(1, 90)), 15, min_count=1)
    contigs = make_contigs(graph, min_length=20)
    assert [c.name for c in contigs] == [f"contig_{i:06d}" for i in range(1, len(contigs) + 1)]
    keys = [(-c.length, c.sequence) for c in contigs]
    assert keys == sorted(keys)
    cut = end_cuts(graph)
    length = np.where(graph.is_circular, graph.n_kmers, graph.length - cut[::2] - cut[1::2])
    assert len(contigs) == (length >= 20).sum() > 0
    for contig in contigs:
        assert contig.length >= 20
        assert contig.depth == graph.depth[contig.unitig]
        if not contig.is_circular:
            u = contig.unitig
            assert contig.sequence == graph.sequence(u)[cut[2 * u + 1] : graph.length[u] - cut[2 * u]]
    assert make_contigs(graph, min_length=10_000) == []


def test_copies_are_multiples_of_the_single_copy_depth():
    graph, number = graph_of(
        [("a", 9000, 30.0), ("b", 8000, 31.0), ("two", 700, 64.0), ("seven", 300, 205.0), ("half", 400, 12.0)]
    )
    contigs = make_contigs(graph, min_length=1)
    copies = {name: next(c.copies for c in contigs if c.unitig == u) for name, u in number.items()}
    assert copies == {"a": 1, "b": 1, "two": 2, "seven": 7, "half": 1}


def test_isolated_unitigs_are_contigs_without_unitig():
    last = unitigs_of_reads(Reads.from_strings(noisy_reads(1, 90)), 63, min_count=1)
    circular = decode(np.random.default_rng(3).integers(0, 4, 100))
    earlier = unitigs_of_reads(Reads.from_strings([circular + circular[:60]]), 31, min_count=1)
    contigs = make_contigs(last, [earlier], min_length=100)
    (own,) = [c for c in contigs if c.unitig < 0]
    assert own.is_circular
    assert own.length == 100
    assert own.sequence in circular * 2 or reverse_complement(own.sequence) in circular * 2
    assert [c.name for c in contigs] == [f"contig_{i:06d}" for i in range(1, len(contigs) + 1)]
    assert [-c.length for c in contigs] == sorted(-c.length for c in contigs)
    others = [(c.sequence, c.depth) for c in contigs if c.unitig >= 0]
    assert others == [(c.sequence, c.depth) for c in make_contigs(last, min_length=100)]


def test_single_copy_depth_is_that_of_long_unitigs():
    length, depth = np.array([3000, 2000, 1600, 1500]), np.array([20.0, 22.0, 90.0, 1.0])
    assert single_copy_depth(length, depth) == 20.0
    assert single_copy_depth(np.append(length, 1500), np.append(depth, 22.0)) == 22.0  # the shortest is half as long
    assert single_copy_depth(np.repeat([1000, 10], [10, 300]), np.repeat([20.0, 500.0], [10, 300])) == 20.0


@pytest.mark.parametrize("strand", [0, 1])
def test_source_is_the_unitig_on_the_strand_of_the_contig(strand):
    circle = decode(np.random.default_rng(2).integers(0, 4, 200))
    graph = unitigs_of_reads(Reads.from_strings([circle + circle[:40]]), 31, min_count=1)
    codes = codes_reverse_complement(graph.bases) if strand else graph.bases
    (contig,) = make_contigs(replace(graph, bases=codes), min_length=1)
    assert contig.source == strand
    text = reverse_complement(decode(codes)) if strand else decode(codes)
    assert contig.sequence in 2 * text[:-30]


def test_empty_graph_has_no_contigs():
    graph = unitigs_of_reads(Reads.from_strings([]), 31, min_count=1)
    assert single_copy_depth(graph.n_kmers, graph.depth) == 0.0
    assert make_contigs(graph, min_length=1) == []


def test_length_sequence_and_gc_content():
    contig = Contig("contig_000001", encode("ACGGT"), 1.0, 1, False, 0)
    assert (contig.length, contig.sequence, contig.gc) == (5, "ACGGT", pytest.approx(0.6))


@given(
    circle=st.text("ACGT", min_size=1, max_size=30),
    shift=st.integers(0, 29),
    is_reverse=st.booleans(),
    k=st.sampled_from([3, 5, 11]),
)
def test_circular_text_is_opened_at_its_least_kmer(circle, shift, is_reverse, k):
    def cut(text):
        closed = (text * (2 + k // len(text)))[: len(text) + k - 1]
        return decode(open_circular(encode(closed), k)[0])

    shift %= len(circle)
    other = circle[shift:] + circle[:shift]
    other = reverse_complement(other) if is_reverse else other
    first, second = cut(circle), cut(other)
    rotations = [strand[i:] + strand[:i] for strand in (circle, reverse_complement(circle)) for i in range(len(circle))]
    assert first in rotations
    least = min((text * (1 + k // len(text)))[:k] for text in rotations)
    for text in (first, second):
        assert (text * (1 + k // len(text)))[:k] == least
    if sum((text * (1 + k // len(text)))[:k] == least for text in rotations) == 1:
        assert first == second


def test_circular_contig_contains_each_base_once():
    circular = decode(np.random.default_rng(2).integers(0, 4, 500))
    graph = unitigs_of_reads(Reads.from_strings([circular + circular[:60]]), 31, min_count=1)
    (contig,) = make_contigs(graph, min_length=500)
    assert contig.is_circular
    assert contig.length == 500
    assert contig.sequence in circular * 2 or reverse_complement(contig.sequence) in circular * 2
    assert make_contigs(graph, min_length=501) == []
