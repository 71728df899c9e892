"""False anchors, which an error in a read of another repeat copy makes, against plain counting of mismatches."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, Anchored, AnchorIndex, anchor_reads
from gpuasm.assembly.alignment.read_threading import GraphArrays, without_false_anchors
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.links import link_pairs
from gpuasm.assembly.paths.pseudo_long_reads import join_mates
from gpuasm.assembly.state import AssemblyState
from gpuasm.sequence.reads import Reads
from tests.mate_pairs import LENGTH, first_state, pairs_of, random_text, texts_of
from tests.oracles.kmers import reverse_complement

SITE = 207


def copies_of_a_repeat() -> tuple[str, str]:
    """Return two copies: one base in eight differs, but for the 30 before a site that distinguishes them."""
    first = random_text(400, 70)
    differs = [i == SITE or (i % 8 == 0 and not SITE - 30 <= i < SITE) for i in range(len(first))]
    return first, "".join("CGTA"["ACGT".index(b)] if d else b for b, d in zip(first, differs, strict=True))


def genome_of(first: str, second: str) -> str:
    """Return a genome with both copies, each before another repeat, so that no unitig has both."""
    behind = random_text(60, 74)
    return random_text(2000, 71) + first + behind + random_text(2000, 72) + second + behind + random_text(2000, 73)


def read_with_errors(first: str, second: str) -> str:
    """Return a read of the first copy with two errors: its first unique k-mer is one of the second."""
    read = list(first[SITE - 60 : SITE - 60 + LENGTH])
    read[29] = next(b for b in "ACGT" if b not in (read[29], second[SITE - 31]))
    read[60] = second[SITE]
    return "".join(read)


def slow_false(anchored: Anchored, texts: list[str], unitigs: list[str]) -> list[bool]:
    counts = []
    for o, base, offset, text in zip(anchored.oriented, anchored.base, anchored.offset, texts, strict=True):
        if o < 0:
            counts.append((0, 0))
            continue
        unitig = reverse_complement(unitigs[o >> 1]) if o & 1 else unitigs[o >> 1]
        own = [(text[q], unitig[base + q]) for q in range(offset) if base + q >= 0]
        counts.append((sum(a != b for a, b in own), len(own)))
    rate = 4096 * sum(max(0, d - 1) for d, _ in counts) // max(1, sum(n for _, n in counts)) / 4096
    return [d - 1 > rate * n and (d - 1 - rate * n) ** 2 > 25 * rate * n for d, n in counts]


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.005, 0.05])
def test_false_anchors_are_those_of_counted_mismatches(rate, is_reversed):
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    odd = read_with_errors(first, second)
    texts = [*texts_of(pairs_of(genome, fold=10, errors=rate)), odd, reverse_complement(odd)]
    genome = reverse_complement(genome) if is_reversed else genome
    graph = unitigs_of_reads(Reads.from_strings([genome]), 61, min_count=1, observed=True)
    reads = Reads.from_strings(texts)
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np))
    checked = without_false_anchors(anchored, reads, GraphArrays.of(graph, np))
    false = slow_false(anchored, texts, [graph.sequence(u) for u in range(graph.n)])
    assert ((anchored.oriented >= 0) & (checked.oriented < 0)).tolist() == false
    assert np.array_equal(checked.oriented[checked.oriented >= 0], anchored.oriented[checked.oriented >= 0])
    assert checked.oriented.dtype == anchored.oriented.dtype


def test_error_that_makes_a_kmer_of_another_copy_anchors_no_read():
    first, second = copies_of_a_repeat()
    graph = unitigs_of_reads(Reads.from_strings([genome_of(first, second)]), 61, min_count=1, observed=True)
    texts = texts_of(pairs_of(genome_of(first, second), fold=20, errors=0.002))
    reads = Reads.from_strings([*texts, read_with_errors(first, second)])
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np))
    assert anchored.oriented[-1] >= 0
    assert anchored.offset[-1] == 60 - ANCHOR_K + 1
    checked = without_false_anchors(anchored, reads, GraphArrays.of(graph, np))
    assert checked.oriented[-1] == -1
    assert (checked.oriented[:-1] >= 0).sum() > 0.99 * (anchored.oriented[:-1] >= 0).sum()


def test_reads_with_many_errors_at_their_begin_keep_their_anchors():
    """A fifth of the first 30 bases of all reads are wrong, as from some sequencers."""
    genome, rng = genome_of(*copies_of_a_repeat()), np.random.default_rng(3)
    texts = [
        "".join(rng.choice(list("ACGT")) if i < 30 and rng.random() < 0.25 else b for i, b in enumerate(text))
        for text in texts_of(pairs_of(genome, fold=20))
    ]
    graph = unitigs_of_reads(Reads.from_strings([genome]), 61, min_count=1, observed=True)
    reads = Reads.from_strings(texts)
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np))
    checked = without_false_anchors(anchored, reads, GraphArrays.of(graph, np))
    assert (checked.oriented >= 0).sum() > 0.99 * (anchored.oriented >= 0).sum() > 0.9 * len(texts)


def pairs_and_a_false_one() -> tuple[AssemblyState, Reads]:
    """Return what pairs are joined in, and pairs of which the last begins with a read that has errors."""
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    mate = reverse_complement(genome[2050 + SITE : 2050 + SITE + LENGTH])
    texts = texts_of(pairs_of(genome, fold=20, seed=2, errors=0.002))
    pairs = Reads.from_strings([*texts, read_with_errors(first, second), mate], paired=True)
    return first_state(pairs_of(genome, errors=0.002)), pairs


def test_a_pair_with_a_false_anchor_links_nothing():
    state, pairs = pairs_and_a_false_one()
    graph, arrays = state.kmer_graph.graph, GraphArrays.of(state.kmer_graph.graph, np)
    index, last = AnchorIndex.of(graph, np), pairs.n_segments // 2 - 1
    assert last in link_pairs(pairs, index, arrays, checks_anchors=False).pair
    assert last not in link_pairs(pairs, index, arrays).pair


def test_rule_can_be_left_out():
    state, pairs = pairs_and_a_false_one()
    n_links = [
        join_mates(pairs, state.spanning.inserts, state.kmer_graph, without=rules).counts["links"]
        for rules in ((), ("anchors",))
    ]
    assert n_links[0] < n_links[1]


def test_no_reads():
    graph = unitigs_of_reads(Reads.from_strings([random_text(200, 1)]), 61, min_count=1, observed=True)
    reads = Reads.from_strings([])
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np))
    assert without_false_anchors(anchored, reads, GraphArrays.of(graph, np)).oriented.size == 0
