"""Substitutions in crossing reads, beside a plain search and beside the genome."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly.carrying.correcting import correct_reads
from gpuasm.assembly.carrying.crossing import repack
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.next_level import climb
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.kmers.names import name_windows
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.oracles.read_errors import corrected
from tests.samples import simulated_genome, simulated_texts

K = 21


def level_of(texts, xp=np):
    """Return the first level of reads."""
    reads = Reads.from_strings(texts).moved_to(xp)
    return begin(reads, AssemblyOptions(k=(K, 41)), Stages()).level


def correct(texts, level, xp=np):
    """Return reads corrected in the graph of a level, and what was found."""
    reads = repack(Reads.from_strings(texts).moved_to(xp))
    found = correct_reads(reads, name_windows(reads, level.dictionary), level)
    host = found.reads.moved_to(np)
    rows = zip(host.start.tolist(), host.length.tolist(), strict=True)
    return [decode(unpack(host.words, *row)) for row in rows], found


def without_errors(genome, fold=30, length=100):
    return simulated_texts(genome, fold=fold, length=length, error_rate=0.0)


def changed(text, at):
    return text[:at] + {"A": "C", "C": "G", "G": "T", "T": "A"}[text[at]] + text[at + 1 :]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reads_are_corrected_as_the_oracle_corrects_them(xp, seed):
    genome = simulated_genome(length=6000, repeats=4, repeat_length=90, seed=seed)
    texts = simulated_texts(genome, fold=20, length=100, error_rate=0.02, seed=seed)
    level = level_of(texts, xp)
    unitigs = [level.graph.sequence(u) for u in range(level.graph.n)]
    kmers, edges = of_graph(level.graph, unitigs)
    expected = [corrected(text, kmers, edges) for text in texts]
    got, found = correct(texts, level, xp)
    assert got == expected
    assert found.n_corrected >= sum(a != b for a, b in zip(texts, expected, strict=True)) > 100
    is_named = to_host(found.names) >= 0
    in_graph = np.zeros_like(is_named)
    for start, text in zip(to_host(found.reads.start).tolist(), expected, strict=True):
        in_graph[start : start + len(text) - K + 1] = [text[i : i + K] in kmers for i in range(len(text) - K + 1)]
    assert np.array_equal(is_named, in_graph), "a window is named where its k-mer is in the graph"
    before = Reads.from_strings(texts).moved_to(xp)
    assert found.n_named == named_by(before, level).sum()
    assert found.n_named + found.n_added == is_named.sum()


def of_graph(graph, unitigs):
    """Return the k-mers of a graph, and its edges as (k + 1)-mers, both on both strands."""
    both = [text for own in unitigs for text in (own, reverse_complement(own))]
    kmers = {text[i : i + K] for text in both for i in range(len(text) - K + 1)}
    edges = {text[i : i + K + 1] for text in both for i in range(len(text) - K)}
    for source, target in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        edges.add(both[source][-K:] + both[target][K - 1])
    return kmers, edges


def named_by(reads, level):
    return to_host(name_windows(reads, level.dictionary)) >= 0


def test_what_is_corrected_is_what_the_genome_has(xp):
    genome = simulated_genome(length=6000, repeats=3, repeat_length=80, seed=5)
    level = level_of(without_errors(genome), xp)
    text = decode(genome)
    places = range(100, 5800, 60)
    reads = [text[i : i + 100] for i in places]
    wrong = [changed(changed(read, 20 + i % 30), 70) for i, read in enumerate(reads)]
    wrong = [read if i % 2 else reverse_complement(read) for i, read in enumerate(wrong)]
    got, found = correct(wrong, level, xp)
    assert [read if i % 2 else reverse_complement(read) for i, read in enumerate(got)] == reads
    assert found.n_corrected == 2 * len(reads)


def test_windows_between_edges_that_the_graph_lacks_are_named(xp):
    """No walk comes to them, but the graph has their k-mers: what follows a k-mer is counted where both are named."""
    text, edge = decode(simulated_genome(length=3000, seed=12)), 1500
    sides = text[: edge + K], text[edge + 4 :]
    texts = [side[max(0, i) : i + 100] for side in sides for i in range(-60, len(side) - K, 4)]
    level = level_of([*texts, *[text[edge + 1 : edge + 3 + K]] * 25], xp)
    error = edge + K - 17 - 1440
    (read,), found = correct([changed(text[1440:1560], error)], level, xp)
    assert read == text[1440:1560]
    anew = to_host(name_windows(found.reads, level.dictionary))
    assert (anew[: 120 - K + 1] >= 0).all(), "the graph has each k-mer, though not every edge"
    assert np.array_equal(to_host(found.names), anew)


def test_an_error_near_the_end_of_a_read_is_left_alone():
    genome = simulated_genome(length=3000, seed=6)
    level, text = level_of(without_errors(genome)), decode(genome)[500:600]
    for at in (3, 15, 84, 97):
        assert correct([changed(text, at)], level)[0] == [changed(text, at)]
    for at in (16, 83):
        assert correct([changed(text, at)], level)[0] == [text]


def test_a_turn_that_the_graph_lacks_is_no_error():
    """A molecule that joins two places has windows of either place on both sides of the join: no base is changed."""
    text = decode(simulated_genome(length=4000, seed=7))
    level = level_of(without_errors(simulated_genome(length=4000, seed=7)))
    chimera = text[1000:1050] + text[2500:2550]
    assert correct([chimera], level)[0] == [chimera]


def test_where_two_bases_would_do_none_is_taken():
    """Two copies of a repeat differ in one base: what a read has instead of either tells nothing."""
    genome = decode(simulated_genome(length=3000, seed=8))
    copy, at = genome[500:600], 550
    genome = genome[:1500] + changed(copy, at - 500) + genome[1600:]
    level = level_of([genome[i : i + 100] for i in range(0, 2900, 3)])
    third = next(b for b in "ACGT" if b not in {genome[at], genome[1000 + at]})
    read = copy[:50] + third + copy[51:]
    assert correct([read], level)[0] == [read]
    one_copy = genome[480:600]
    assert correct([changed(one_copy, 30)], level)[0] == [one_copy], "an error before it is corrected"


def test_reads_without_a_named_window_stay_as_they_are():
    level = level_of(without_errors(simulated_genome(length=3000, seed=9)))
    foreign = decode(simulated_genome(length=1000, seed=10))[:100]
    assert correct([foreign, foreign[:10], "A"], level)[0] == [foreign, foreign[:10], "A"]
    assert correct([], level)[1].n_corrected == 0


def test_what_corrected_reads_tell_is_as_deep_as_what_the_first_graph_told():
    """Errors take their share of the first graph's windows, and of a corrected read none at any k."""
    rng = np.random.default_rng(4)
    element = rng.integers(0, 4, 45).astype(np.uint8)
    genome = np.concatenate([part for _ in range(40) for part in (rng.integers(0, 4, 80).astype(np.uint8), element)])
    texts = simulated_texts(genome, fold=80, length=150, error_rate=0.01, seed=3)
    reads, options, stages = Reads.from_strings(texts), AssemblyOptions(k=(31, 61), mode="isolate"), Stages()
    state = begin(reads, options, stages)
    counts = next(record.counts for record in stages.records if record.name == "correct reads")
    share = counts["windows"] / (counts["windows"] + counts["windows_added"])
    assert 0.7 < share < 0.85, "of windows of 31 bases, with one error in a hundred"
    assert state.n_bases == pytest.approx(share * reads.n_bases, abs=1)
    first, graph = state.level.graph, climb(state, 61, Stages()).level.graph
    assert depth_of(graph, graph.length > 1000) == pytest.approx(depth_of(first, first.length > 60), rel=0.04)


def depth_of(graph, chosen):
    return graph.count[chosen].sum() / graph.n_kmers[chosen].sum() / graph.unit
