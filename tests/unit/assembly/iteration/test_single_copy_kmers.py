"""Single-copy k-mers of the last graph of reads, passed on to each larger k."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.passed_contigs import next_text
from gpuasm.assembly.iteration.single_copy_kmers import single_copy_ends
from gpuasm.assembly.state import state_from_arrays, state_to_arrays
from gpuasm.kmers.text_kmers import kmers_of
from gpuasm.sequence.encoding import decode, encode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_pairs, simulated_reads

K, NEXT = 21, 41


def canonical(text: str) -> str:
    return min(text, reverse_complement(text))


def windows_of(text: str, k: int) -> list[str]:
    return [canonical(text[i : i + k]) for i in range(len(text) - k + 1)]


def graph_kmers(graph) -> list[str]:
    """Return the k-mers of a graph in the order of the windows of its unitigs, which is that of their numbers."""
    return [kmer for u in range(graph.n) for kmer in windows_of(graph.sequence(u), graph.k)]


@pytest.fixture
def marked(xp):
    """A text of the next k, which previous k-mers are single-copy, and these as strings."""
    reads = simulated_reads(length=6000, fold=12, repeats=4, seed=3).moved_to(xp)
    state = build_first_graph(reads, AssemblyOptions(k=(K, NEXT)), Stages())
    text = next_text(state.junction_reads, state.names, state.kmer_graph, k=NEXT)
    kmers = graph_kmers(state.kmer_graph.graph)
    is_single = np.random.default_rng(4).random(len(kmers)) < 0.02
    single = {kmer for kmer, flag in zip(kmers, is_single.tolist(), strict=True) if flag}
    return text, to_namespace(xp, is_single), single


def test_windows_at_both_flank_ends_are_checked(marked):
    text, is_single, single = marked
    at_source, at_target = single_copy_ends(text, is_single, k=K, next_k=NEXT)
    packed, first = to_host(text.reads.packed), text.n_reads + text.n_ends
    start, length = to_host(text.reads.start)[first:], to_host(text.reads.length)[first:]
    assert start.size == at_source.size == at_target.size > 2
    for f, (begins, n) in enumerate(zip(start.tolist(), length.tolist(), strict=True)):
        flank = decode(unpack(packed, begins, n))
        assert at_source[f] == any(kmer in single for kmer in windows_of(flank[:NEXT], K))
        of_target = any(kmer in single for kmer in windows_of(flank[-NEXT:], K))
        assert at_target[f] == (of_target and bool(text.flanks.reaches_passed[f]))


@pytest.fixture(scope="module")
def isolate():
    """A genome with repeats longer than its reads, pairs of it, and the states of its assembly."""
    genome = simulated_genome(length=40_000, repeats=12, repeat_length=260, seed=5)
    reads = Reads.from_strings(simulated_pairs(genome, fold=50, insert=350, sd=30, seed=6), paired=True)
    states = []
    assemble(reads, keep_state=states.append)
    return decode(genome), reads, [state for state in states if state.has_fragments]


def test_single_copy_kmers_occur_once_in_the_genome(isolate):
    genome, _, states = isolate
    assert len(states) > 2
    for state in states:
        found, n = np.unique(windows_of(genome, state.kmer_graph.graph.k), return_counts=True)
        times = dict(zip(found.tolist(), n.tolist(), strict=True))
        kmers, is_single = graph_kmers(state.kmer_graph.graph), to_host(state.is_single)
        remaining_kmers = [times.get(kmer, 0) for kmer, flag in zip(kmers, is_single.tolist(), strict=True) if flag]
        assert max(remaining_kmers) == 1
        assert 0.9 * len(kmers) < len(remaining_kmers) < len(kmers)


def test_repeat_kmers_occur_several_times_in_the_genome(isolate):
    genome, _, states = isolate
    times = Counter(np.minimum(*kmers_of(encode(genome))).tolist())
    several = {key for key, n in times.items() if n > 1}
    for state in states:
        repeat_kmers = set(to_host(state.repeat_kmers).tolist())
        assert repeat_kmers <= several
        assert len(repeat_kmers) > 0.9 * len(several) > 200


def test_kmers_are_kept_in_the_state(isolate):
    _, _, states = isolate
    again = state_from_arrays(state_to_arrays(states[-1]), np)
    assert np.array_equal(again.is_single, states[-1].is_single)
    assert np.array_equal(again.repeat_kmers, states[-1].repeat_kmers)


@pytest.mark.parametrize("options", [{"mode": "meta"}, {"without": ("copy-number",)}])
def test_communities_and_left_out_rules_have_none(isolate, options):
    states = []
    assemble(isolate[1], AssemblyOptions(**options), keep_state=states.append)
    assert any(state.has_fragments for state in states)
    assert all(state.is_single is None and state.repeat_kmers is None for state in states)
