"""What reads tell to be there once, at every larger k."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.carrying.carrying import next_text
from gpuasm.assembly.carrying.single_words import single_at_ends, single_windows
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.state_arrays import state_from_arrays, state_to_arrays
from gpuasm.kmers.tally import tally_kmers
from gpuasm.kmers.words import words_of
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


def kmers_of(graph) -> list[str]:
    """Return the k-mers of a graph in the order of its unitigs' windows, which is that of the level's numbers."""
    return [kmer for u in range(graph.n) for kmer in windows_of(graph.sequence(u), graph.k)]


@pytest.fixture
def counted(xp):
    """A text of the next k with its k-mers, which k-mers before it are single, and their texts."""
    reads = simulated_reads(length=6000, fold=12, repeats=4, seed=3).moved_to(xp)
    state = begin(reads, AssemblyOptions(k=(K, NEXT)), Stages())
    text = next_text(state.crossing, state.names, state.level, k=NEXT)
    tally = tally_kmers(text.reads, NEXT, text.names, k0=K)
    kmers = kmers_of(state.level.graph)
    is_single = np.random.default_rng(4).random(len(kmers)) < 0.02
    single = {kmer for kmer, flag in zip(kmers, is_single.tolist(), strict=True) if flag}
    return text, tally, to_namespace(xp, is_single), single


def test_a_window_is_single_if_a_kmer_within_it_is(counted):
    text, tally, is_single, single = counted
    held = to_host(single_windows(text, tally, is_single, k=K))
    words, places = to_host(text.reads.words), to_host(tally.place) >> 1
    expected = [
        any(kmer in single for kmer in windows_of(decode(unpack(words, int(p), NEXT)), K)) for p in places.tolist()
    ]
    assert held.tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_flanks_are_asked_at_the_windows_of_both_ends(counted):
    text, _, is_single, single = counted
    at_source, at_target = single_at_ends(text, is_single, k=K, next_k=NEXT)
    words, first = to_host(text.reads.words), text.n_reads + text.n_unitigs
    start, length = to_host(text.reads.start)[first:], to_host(text.reads.length)[first:]
    assert start.size == at_source.size == at_target.size > 2
    for f, (begins, n) in enumerate(zip(start.tolist(), length.tolist(), strict=True)):
        flank = decode(unpack(words, begins, n))
        assert at_source[f] == any(kmer in single for kmer in windows_of(flank[:NEXT], K))
        of_target = any(kmer in single for kmer in windows_of(flank[-NEXT:], K))
        assert at_target[f] == (of_target and bool(text.flanks.is_met[f]))


@pytest.fixture(scope="module")
def isolate():
    """A genome with repeats longer than its reads, pairs of it, and the states of its assembly."""
    genome = simulated_genome(length=40_000, repeats=12, repeat_length=260, seed=5)
    reads = Reads.from_strings(simulated_pairs(genome, fold=50, insert=350, sd=30, seed=6), paired=True)
    states = []
    assemble(reads, keep_state=states.append)
    return decode(genome), reads, [state for state in states if state.has_fragments]


def test_what_is_single_stands_once_in_the_genome_at_every_k(isolate):
    genome, _, states = isolate
    assert len(states) > 2
    for state in states:
        found, n = np.unique(windows_of(genome, state.level.graph.k), return_counts=True)
        times = dict(zip(found.tolist(), n.tolist(), strict=True))
        kmers, is_single = kmers_of(state.level.graph), to_host(state.is_single)
        told = [times.get(kmer, 0) for kmer, flag in zip(kmers, is_single.tolist(), strict=True) if flag]
        assert max(told) == 1
        assert 0.9 * len(kmers) < len(told) < len(kmers)


def test_copied_words_stand_more_than_once_in_the_genome(isolate):
    genome, _, states = isolate
    times = Counter(np.minimum(*words_of(encode(genome))).tolist())
    several = {key for key, n in times.items() if n > 1}
    for state in states:
        copied = set(to_host(state.copied).tolist())
        assert copied <= several
        assert len(copied) > 0.9 * len(several) > 200


def test_it_is_kept_with_the_state(isolate):
    _, _, states = isolate
    again = state_from_arrays(state_to_arrays(states[-1]), np)
    assert np.array_equal(again.is_single, states[-1].is_single)
    assert np.array_equal(again.copied, states[-1].copied)


@pytest.mark.parametrize("options", [{"mode": "meta"}, {"without": ("single-words", "copied-words")}])
def test_a_community_has_none_nor_has_who_leaves_it_out(isolate, options):
    states = []
    assemble(isolate[1], AssemblyOptions(**options), keep_state=states.append)
    assert any(state.has_fragments for state in states)
    assert all(state.is_single is None and state.copied is None for state in states)


@pytest.mark.parametrize(("rule", "left"), [("single-words", "copied"), ("copied-words", "is_single")])
def test_either_is_left_out_alone(isolate, rule, left):
    states = []
    assemble(isolate[1], AssemblyOptions(without=(rule,)), keep_state=states.append)
    told = {name for state in states for name in ("is_single", "copied") if getattr(state, name) is not None}
    assert told == {left}
