"""Substitutions in junction-spanning reads, compared with a plain search and with the genome."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.reads_on_unitigs import repack
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.next_graph import build_next_graph
from gpuasm.assembly.iteration.read_correction import correct_reads
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.oracles.read_errors import corrected
from tests.samples import simulated_genome, simulated_texts

K = 21


def kmer_graph_of(texts, xp=np):
    """Return the first k-mer graph of reads."""
    reads = Reads.from_strings(texts).moved_to(xp)
    kmer_graph = build_first_graph(reads, AssemblyOptions(k=(K, 41)), Stages()).kmer_graph
    return kmer_graph.with_index()


def correct(texts, kmer_graph, xp=np):
    """Return the texts of reads corrected along a k-mer graph, and what `correct_reads` returns."""
    reads = repack(Reads.from_strings(texts).moved_to(xp))
    found = correct_reads(reads, kmer_graph.text_index.name_windows(reads), kmer_graph)
    host = found[0].moved_to(np)
    rows = zip(host.start.tolist(), host.length.tolist(), strict=True)
    return [decode(unpack(host.packed, *row)) for row in rows], found


def without_errors(genome, fold=30, length=100):
    return simulated_texts(genome, fold=fold, length=length, error_rate=0.0)


def changed(text, at):
    return text[:at] + {"A": "C", "C": "G", "G": "T", "T": "A"}[text[at]] + text[at + 1 :]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_corrections_equal_the_oracle(xp, seed):
    genome = simulated_genome(length=6000, repeats=4, repeat_length=90, seed=seed)
    texts = simulated_texts(genome, fold=20, length=100, error_rate=0.02, seed=seed)
    kmer_graph = kmer_graph_of(texts, xp)
    unitigs = [kmer_graph.graph.sequence(u) for u in range(kmer_graph.graph.n)]
    kmers, edges = of_graph(kmer_graph.graph, unitigs)
    expected = [corrected(text, kmers, edges) for text in texts]
    got, (reads, names, n_corrected) = correct(texts, kmer_graph, xp)
    assert got == expected
    assert n_corrected >= sum(a != b for a, b in zip(texts, expected, strict=True)) > 100
    is_named = to_host(names) >= 0
    in_graph = np.zeros_like(is_named)
    for start, text in zip(to_host(reads.start).tolist(), expected, strict=True):
        in_graph[start : start + len(text) - K + 1] = [text[i : i + K] in kmers for i in range(len(text) - K + 1)]
    assert np.array_equal(is_named, in_graph), "a window is named where its k-mer is in the graph"


def of_graph(graph, unitigs):
    """Return the k-mers of a graph, and its edges as (k + 1)-mers, both on both strands."""
    both = [text for own in unitigs for text in (own, reverse_complement(own))]
    kmers = {text[i : i + K] for text in both for i in range(len(text) - K + 1)}
    edges = {text[i : i + K + 1] for text in both for i in range(len(text) - K)}
    for source, target in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        edges.add(both[source][-K:] + both[target][K - 1])
    return kmers, edges


def test_corrected_reads_equal_the_genome(xp):
    genome = simulated_genome(length=6000, repeats=3, repeat_length=80, seed=5)
    kmer_graph = kmer_graph_of(without_errors(genome), xp)
    text = decode(genome)
    places = range(100, 5800, 60)
    reads = [text[i : i + 100] for i in places]
    wrong = [changed(changed(read, 20 + i % 30), 70) for i, read in enumerate(reads)]
    wrong = [read if i % 2 else reverse_complement(read) for i, read in enumerate(wrong)]
    got, (_, _, n_corrected) = correct(wrong, kmer_graph, xp)
    assert [read if i % 2 else reverse_complement(read) for i, read in enumerate(got)] == reads
    assert n_corrected == 2 * len(reads)


def test_windows_between_missing_edges_are_named(xp):
    """No path reaches them, but the graph has their k-mers: successors of k-mers are counted where both are named."""
    text, edge = decode(simulated_genome(length=3000, seed=12)), 1500
    sides = text[: edge + K], text[edge + 4 :]
    texts = [side[max(0, i) : i + 100] for side in sides for i in range(-60, len(side) - K, 4)]
    kmer_graph = kmer_graph_of([*texts, *[text[edge + 1 : edge + 3 + K]] * 25], xp)
    error = edge + K - 17 - 1440
    (read,), (reads, names, _) = correct([changed(text[1440:1560], error)], kmer_graph, xp)
    assert read == text[1440:1560]
    anew = to_host(kmer_graph.text_index.name_windows(reads))
    assert (anew[: 120 - K + 1] >= 0).all(), "the graph has each k-mer, though not every edge"
    assert np.array_equal(to_host(names), anew)


def test_error_near_a_read_end_is_not_corrected():
    genome = simulated_genome(length=3000, seed=6)
    kmer_graph, text = kmer_graph_of(without_errors(genome)), decode(genome)[500:600]
    for at in (3, 15, 84, 97):
        assert correct([changed(text, at)], kmer_graph)[0] == [changed(text, at)]
    for at in (16, 83):
        assert correct([changed(text, at)], kmer_graph)[0] == [text]


def test_missing_edge_is_not_corrected():
    """A chimeric molecule has windows of the graph on both sides of the join, so no base is changed."""
    text = decode(simulated_genome(length=4000, seed=7))
    kmer_graph = kmer_graph_of(without_errors(simulated_genome(length=4000, seed=7)))
    chimera = text[1000:1050] + text[2500:2550]
    assert correct([chimera], kmer_graph)[0] == [chimera]


def test_ambiguous_error_is_not_corrected():
    """Two repeat copies differ in one base: a third base in a read is an error of either."""
    genome = decode(simulated_genome(length=3000, seed=8))
    copy, at = genome[500:600], 550
    genome = genome[:1500] + changed(copy, at - 500) + genome[1600:]
    kmer_graph = kmer_graph_of([genome[i : i + 100] for i in range(0, 2900, 3)])
    third = next(b for b in "ACGT" if b not in {genome[at], genome[1000 + at]})
    read = copy[:50] + third + copy[51:]
    assert correct([read], kmer_graph)[0] == [read]
    one_copy = genome[480:600]
    assert correct([changed(one_copy, 30)], kmer_graph)[0] == [one_copy], "an error before it is corrected"


def test_reads_without_a_named_window_are_not_corrected():
    kmer_graph = kmer_graph_of(without_errors(simulated_genome(length=3000, seed=9)))
    foreign = decode(simulated_genome(length=1000, seed=10))[:100]
    assert correct([foreign, foreign[:10], "A"], kmer_graph)[0] == [foreign, foreign[:10], "A"]
    assert correct([], kmer_graph)[1][2] == 0


def test_corrected_reads_keep_the_depth_of_the_first_graph():
    """Errors remove a share of the windows of the first graph, and no window of a corrected read at any k."""
    rng = np.random.default_rng(4)
    element = rng.integers(0, 4, 45).astype(np.uint8)
    genome = np.concatenate([part for _ in range(40) for part in (rng.integers(0, 4, 80).astype(np.uint8), element)])
    texts = simulated_texts(genome, fold=80, length=150, error_rate=0.01, seed=3)
    reads, options, stages = Reads.from_strings(texts), AssemblyOptions(k=(31, 61), mode="isolate"), Stages()
    state = build_first_graph(reads, options, stages)
    counts = next(record.counts for record in stages.records if record.name == "correct reads")
    share = counts["windows"] / (counts["windows"] + counts["windows_added"])
    assert 0.7 < share < 0.85, "of windows of 31 bases, with one error in a hundred"
    assert state.n_bases == pytest.approx(share * reads.n_bases, abs=1)
    first, graph = state.kmer_graph.graph, build_next_graph(state, 61, Stages()).kmer_graph.graph
    assert depth_of(graph, graph.length > 1000) == pytest.approx(depth_of(first, first.length > 60), rel=0.04)


def depth_of(graph, chosen):
    return graph.count[chosen].sum() / graph.n_kmers[chosen].sum() / graph.unit
