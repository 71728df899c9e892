"""Mates joined through a graph: fragments are sequence of the genome, and chimeras join nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.graph_anchors import AnchorIndex, anchor_reads
from gpuasm.assembly.alignment.read_threading import GraphArrays, thread_reads
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.insert_sizes import InsertSizes, log2_256
from gpuasm.assembly.pairs.links import link_pairs
from gpuasm.assembly.paths.path_choice import choose_walks, surprise_256
from gpuasm.assembly.paths.pseudo_long_reads import join_mates
from gpuasm.sequence.reads import Reads
from tests.mate_pairs import LENGTH, first_state, pairs_of, random_text, texts_of
from tests.oracles.kmers import reverse_complement


def repeat_genome(copies: int = 2, repeat_length: int = 150, seed: int = 3) -> str:
    repeat = random_text(repeat_length, seed)
    parts = [random_text(1500, seed + 1 + i) for i in range(copies + 1)]
    return repeat.join(parts)


@pytest.mark.parametrize("errors", [0.0, 0.004])
def test_fragments_are_sequence_of_the_genome(errors):
    genome = repeat_genome()
    state = first_state(pairs_of(genome, errors=errors))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    found = texts_of(fragments.reads)
    assert len(found) > 20
    assert all(text in genome or reverse_complement(text) in genome for text in found)
    assert max(map(len, found)) > 250


def test_names_of_fragments_are_those_of_their_windows():
    state = first_state(pairs_of(repeat_genome(copies=3)))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    expected = state.kmer_graph.with_index().text_index.name_windows(fragments.reads)
    assert np.array_equal(fragments.names, expected)


def test_the_order_of_pairs_and_of_mates_changes_nothing():
    reads = pairs_of(repeat_genome())
    texts = texts_of(reads)
    order = np.random.default_rng(5).permutation(len(texts) // 2)
    shuffled = [t for i in order for t in ((texts[2 * i + 1], texts[2 * i]) if i % 2 else texts[2 * i : 2 * i + 2])]
    found = []
    for text in (texts, shuffled):
        state = first_state(Reads.from_strings(text, paired=True))
        fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
        found.append(sorted(min(t, reverse_complement(t)) for t in texts_of(fragments.reads)))
    assert found[0] == found[1]


def test_a_tandem_repeat_keeps_its_units():
    """Two units of 120 bases: the walk with one unit, or three, would fit single pairs as well."""
    unit = random_text(120, 8)
    genome = random_text(2000, 9) + unit + unit + random_text(2000, 10)
    state = first_state(pairs_of(genome, fold=100))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    long = [t for t in texts_of(fragments.reads) if len(t) > 270]
    assert long
    assert all(text in genome or reverse_complement(text) in genome for text in long)


def tangled_genome(copies: int = 8, sites: int = 6, seed: int = 11) -> str:
    """Return copies of a repeat with one of two bases at each of some sites, chosen for each copy."""
    rng, repeat = np.random.default_rng(seed), list(random_text(20 * sites + 20, seed))
    genome = random_text(1000, seed + 1)
    for i in range(copies):
        for site in range(20, 20 * sites + 1, 20):
            repeat[site] = "AC"[int(rng.integers(2))]
        genome += "".join(repeat) + random_text(1000, seed + 2 + i)
    return genome


@pytest.mark.parametrize("errors", [0.0, 0.004])
def test_reads_lead_through_tangles(errors):
    """At k = 31 any choice of bases is a walk, 64 between any two sides; the reads at both ends show all six."""
    genome = tangled_genome()
    state = first_state(pairs_of(genome, errors=errors))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    found = texts_of(fragments.reads)
    assert all(_holds(genome, text) for text in found)
    copies = [genome[start - 20 : start + 160] for start in range(1000, len(genome) - 1000, 1140)]
    assert sum(any(_holds(text, copy) for text in found) for copy in copies) >= 6


def _holds(text: str, part: str) -> bool:
    return part in text or reverse_complement(part) in text


def test_few_pairs_where_many_are_expected_choose_nothing():
    """Of a link with one walk, all but two pairs are left out: so few suggest a longer true path."""
    state = first_state(pairs_of(repeat_genome(), fold=100))
    graph = GraphArrays.of(state.kmer_graph.graph, np)
    links = link_pairs(state.spanning.reads, AnchorIndex.of(state.kmer_graph.graph, np), graph)
    chosen = choose_walks(links, graph, state.spanning.inserts)
    many = np.flatnonzero((chosen.size > 1) & (np.diff(links.first) >= 20))
    assert many.size
    pair = links.pair[np.concatenate([np.arange(links.first[i], links.first[i] + 2) for i in many])]
    few = state.spanning.reads.select(np.stack([2 * pair, 2 * pair + 1], axis=1).ravel())
    links = link_pairs(few, AnchorIndex.of(state.kmer_graph.graph, np), graph)
    assert (choose_walks(links, graph, state.spanning.inserts).size <= 1).all()


def test_one_chimeric_pair_joins_nothing():
    """Of two copies of a repeat, one pair begins before the first and ends behind the second."""
    genome = repeat_genome()
    reads = pairs_of(genome, fold=25)
    before, behind = genome[1500 - 80 : 1500 + 20], genome[3150 + 130 : 3150 + 230]
    state = first_state(Reads.from_strings([*texts_of(reads), before, reverse_complement(behind)], paired=True))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    found = texts_of(fragments.reads)
    assert len(found) > 10
    assert all(text in genome or reverse_complement(text) in genome for text in found)


def assert_few_reads_have_the_same_anchors(reads, graph):
    few = reads.select(np.arange(0, reads.n_segments, 1 + 2 * reads.n_bases // graph.bases.size))
    assert 2 < few.n_segments < few.n_bases < graph.bases.size
    whole, own = AnchorIndex.of(graph, np, with_longer=True), AnchorIndex.of(graph, np, with_longer=True, reads=few)
    for least, most in zip(own.longer, whole.longer, strict=True):
        assert least.dictionary.keys.size < most.dictionary.keys.size
    expected, found = anchor_reads(few, whole), anchor_reads(few, own)
    for name in ("oriented", "base", "offset"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_anchors_are_where_the_reads_are():
    genome = repeat_genome()
    reads = pairs_of(genome, fold=20)
    state = first_state(pairs_of(genome))
    anchored = anchor_reads(reads, AnchorIndex.of(state.kmer_graph.graph, np))
    assert_few_reads_have_the_same_anchors(reads, state.kmer_graph.graph)
    unitigs = [state.kmer_graph.graph.sequence(u) for u in range(state.kmer_graph.graph.n)]
    texts = texts_of(reads)
    placed = np.flatnonzero(anchored.oriented >= 0)
    assert placed.size > 0.9 * len(texts)
    for r in placed:
        o, base, offset = anchored.oriented[r], anchored.base[r], anchored.offset[r]
        unitig = reverse_complement(unitigs[o >> 1]) if o & 1 else unitigs[o >> 1]
        assert unitig[base + offset : base + offset + 31] == texts[r][offset : offset + 31]
        assert sum(u.count(texts[r][offset : offset + 31]) for u in unitigs) <= 1


def mosaic_copies(length: int = 400, seed: int = 50) -> tuple[str, str, str]:
    """Return three copies: each k-mer of the first, of less than 40 bases, is also in one of the other two."""
    first = random_text(length, seed)
    copies = [list(first), list(first)]
    for at in range(20, length, 40):
        copies[at // 40 % 2][at] = "A" if first[at] != "A" else "C"
    return first, "".join(copies[0]), "".join(copies[1])


@pytest.mark.parametrize("k", [59, 61, 91, 121])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_reads_of_a_mosaic_of_other_copies_have_longer_anchors(k, is_reversed):
    first, *others = mosaic_copies()
    genome = "".join(random_text(500, 60 + i) + copy for i, copy in enumerate((first, *others)))
    if is_reversed:
        genome, first = reverse_complement(genome), reverse_complement(first)
    graph = unitigs_of_reads(Reads.from_strings([genome]), k, min_count=1, observed=True)
    unitigs = [graph.sequence(u) for u in range(graph.n)]
    texts = [first[at : at + LENGTH] for at in range(len(first) - LENGTH + 1)]
    reads = Reads.from_strings(texts)
    assert (anchor_reads(reads, AnchorIndex.of(graph, np)).oriented < 0).all()
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np, with_longer=True))
    assert_few_reads_have_the_same_anchors(reads, graph)
    placed = np.flatnonzero(anchored.oriented >= 0)
    assert placed.size == (0 if k < 61 else len(texts))
    for r in placed:
        o, base, offset = anchored.oriented[r], int(anchored.base[r]), int(anchored.offset[r])
        unitig = reverse_complement(unitigs[o >> 1]) if o & 1 else unitigs[o >> 1]
        assert unitig[max(0, base) : base + LENGTH] == texts[r][max(0, -base) :][: len(unitig) - max(0, base)]
        kmer = texts[r][offset : offset + 61]
        assert unitig[base + offset : base + offset + 61] == kmer
        assert sum(u.count(kmer) + u.count(reverse_complement(kmer)) for u in unitigs) == 1


def test_threads_spell_their_reads():
    genome = repeat_genome()
    state = first_state(pairs_of(genome))
    graph = state.kmer_graph.graph
    reads = pairs_of(genome, fold=20, seed=9)
    anchored = anchor_reads(reads, AnchorIndex.of(graph, np))
    threads = thread_reads(reads, anchored, GraphArrays.of(graph, np)).reshape(-1, 8)
    texts, several = texts_of(reads), 0
    for r in np.flatnonzero(threads[:, 0] >= 0):
        walk = threads[r][threads[r] >= 0]
        text = ""
        for o in walk:
            own = graph.sequence(o >> 1)
            own = reverse_complement(own) if o & 1 else own
            text += own if not text else own[graph.k - 1 :]
        base = anchored.base[r]
        begin_at = max(0, -base)
        assert texts[r][begin_at:] == text[base + begin_at : base + len(texts[r])]
        several += len(walk) > 1
    assert several > 10


@given(st.integers(min_value=1, max_value=2**60))
def test_log2_by_a_straight_line(value):
    assert log2_256.py_func(value) == pytest.approx(256 * math.log2(value), abs=24)


@given(n=st.integers(0, 500), expected=st.integers(1, 500), more=st.integers(0, 100))
def test_surprise_is_that_of_poisson(n, expected, more):
    low, high = 16 * expected * 4 // 16, 16 * (expected + more) * 24 // 16
    bound = max(1, min(max(16 * n, low), high)) / 16
    exact = (n * math.log(n / bound) if n else 0.0) - (n - bound)
    found = surprise_256.py_func(n, 16 * expected, 16 * (expected + more))
    assert found == pytest.approx(256 * exact / math.log(2), abs=80 + 24 * n)


def test_insert_sizes_leave_out_what_lies_far_outside():
    measured = np.bincount(
        np.concatenate([np.random.default_rng(1).normal(350, 50, 5000).astype(int), [3000] * 40, [5] * 9])
    )
    inserts = InsertSizes.of(measured, bases_per_pair=300)
    assert inserts.n == 5000
    assert inserts.mean == pytest.approx(350, abs=3)
    assert inserts.sd == pytest.approx(50, abs=2)
    assert inserts.shortest > 150
    assert inserts.longest < 550
    density = inserts.log2_density()
    assert density.max() == 0
    assert density.argmax() == pytest.approx(350, abs=25)


def test_too_few_pairs_have_no_insert_sizes():
    assert InsertSizes.of(np.bincount([300] * 99), bases_per_pair=200) is None


def test_fragments_end_where_their_walk_ends():
    """An error right behind a junction ends the walk there; no window follows."""
    genome = repeat_genome(copies=3)
    state = first_state(pairs_of(genome, errors=0.02, seed=4))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    last = fragments.reads.start + fragments.reads.length - state.kmer_graph.graph.k
    assert (fragments.names[last] >= 0).all()
