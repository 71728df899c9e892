"""Reads laid back on contigs, against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.consensus.coverage import Coverage
from gpuasm.assembly.consensus.laying import lay_reads
from gpuasm.assembly.consensus.targets import Targets, index_seeds
from gpuasm.sequence.encoding import encode
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.oracles.laying import depth_of, lay_first, seed_places

READ_LENGTH = 40


def targets_of(contigs, xp=np, reach=200, depth=None):
    codes, closed = [encode(text) for text, _ in contigs], [circular for _, circular in contigs]
    return Targets.of(codes, closed, reach=reach, xp=xp, depth=depth)


def rows_of(laid):
    return [
        tuple(int(to_host(getattr(laid, name))[i]) for name in ("piece", "target", "at", "turned", "begin", "end"))
        for i in range(laid.n)
    ]


@st.composite
def contigs_and_reads(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    letters = np.array(list("ACGT"))

    def random_text(n):
        return "".join(rng.choice(letters, n))

    repeat = random_text(draw(st.integers(0, 60)))
    contigs = [
        (random_text(draw(st.integers(0, 90))) + repeat + random_text(draw(st.integers(25, 90))), draw(st.booleans()))
        for _ in range(draw(st.integers(1, 3)))
    ]
    reads = []
    for _ in range(draw(st.integers(1, 8))):
        text, circular = contigs[rng.integers(len(contigs))]
        around = text * (2 + 150 // len(text)) if circular else text
        first = rng.integers(0, max(1, len(around) - 20))
        read = list(around[first : first + rng.integers(READ_LENGTH, 120)])
        for i in range(len(read)):
            if rng.random() < draw(st.sampled_from([0.0, 0.02, 0.1])):
                read[i] = rng.choice(letters)
        own = random_text(rng.integers(0, 20)) + "".join(read)
        reads.append(reverse_complement(own) if rng.random() < 0.5 else own)
    return contigs, reads


@given(contigs_and_reads())
@settings(max_examples=60)
def test_first_places_are_those_of_plain_python(example):
    contigs, texts = example
    targets, reads = targets_of(contigs), Reads.from_strings(texts)
    index = index_seeds(targets, READ_LENGTH)
    assert index.sample == 0
    first, second = lay_reads(reads, targets, index)
    expected = {}
    for r, text in enumerate(texts):
        if placed := lay_first(text, contigs, index.k):
            number, at, turned, begin, end = placed
            start = int(targets.start[number])
            expected[r] = (r, number, start + at, int(turned), start + begin, start + end)
    assert rows_of(first.where(first.is_unique)) == list(expected.values())
    assert set(to_host(second.piece).tolist()) <= set(expected)


@given(contigs_and_reads())
@settings(max_examples=30)
def test_coverage_is_the_sum_of_the_stretches_round_circles_too(example):
    contigs, texts = example
    targets, reads = targets_of(contigs), Reads.from_strings(texts)
    index = index_seeds(targets, READ_LENGTH)
    first, _ = lay_reads(reads, targets, index)
    own = first.where(first.is_unique)
    coverage = Coverage(targets, np)
    coverage.add(own.target, own.begin, own.end)
    placed = [found for text in texts if (found := lay_first(text, contigs, index.k))]
    assert coverage.counts().tolist() == [d for own in depth_of(placed, contigs) for d in own]


@given(contigs_and_reads(), st.randoms())
@settings(max_examples=30)
def test_neither_order_nor_strand_of_reads_matters(example, random):
    contigs, texts = example
    shuffled = [reverse_complement(text) if random.random() < 0.5 else text for text in texts]
    random.shuffle(shuffled)
    targets = targets_of(contigs)
    index = index_seeds(targets, READ_LENGTH)
    found = []
    for own in (texts, shuffled):
        coverage = Coverage(targets, np)
        for laid in lay_reads(Reads.from_strings(own), targets, index):
            coverage.add(laid.target, laid.begin, laid.end)
        found.append(coverage.counts())
    assert np.array_equal(*found)


def test_seeds_and_their_places(rng, xp):
    text = "".join(rng.choice(list("ACGT"), 300))
    contigs = [(text, False), (text[100:180] + text[:50], True), (reverse_complement(text[50:120]), False)]
    index = index_seeds(targets_of(contigs, xp), READ_LENGTH)
    places = seed_places(contigs, index.k)
    assert index.keys.size == len({min(kmer, reverse_complement(kmer)) for kmer in places})
    several = sum(len(own) > 1 for kmer, own in places.items() if kmer <= reverse_complement(kmer))
    assert int((to_host(index.first[1:] - index.first[:-1]) > 1).sum()) == several
    first, place = to_host(index.first), to_host(index.place)
    assert all((np.diff(place[a:b]) > 0).all() for a, b in itertools.pairwise(first))


def test_longer_reads_are_laid_by_fewer_seeds(rng):
    text = "".join(rng.choice(list("ACGT"), 5000))
    targets = targets_of([(text, False)])
    n = [index_seeds(targets, length).keys.size for length in (40, 75, 150, 250)]
    assert n[0] == 5000 - 18
    assert n[0] > n[1] > n[2] > n[3] > 200


def test_a_read_over_the_end_of_a_contig_goes_on_where_its_rest_lies(rng, xp):
    text = "".join(rng.choice(list("ACGT"), 1000))
    contigs = [(text[:500], False), (reverse_complement(text[450:]), False)]
    targets = targets_of(contigs, xp)
    reads = Reads.from_strings([text[420:520], reverse_complement(text[380:530]), text[100:200]]).moved_to(xp)
    first, second = lay_reads(reads, targets, index_seeds(targets, READ_LENGTH))
    assert rows_of(first) == [(0, 0, 420, 0, 420, 500), (1, 1, 970, 0, 970, 1050), (2, 0, 100, 0, 100, 200)]
    assert rows_of(second) == [(0, 1, 980, 1, 980, 1050), (1, 0, 380, 1, 380, 500)]


def test_gaps_cut_contigs_and_open_circles(rng):
    text = "".join(rng.choice(list("ACGT"), 300))
    targets = targets_of([(text[:100] + "NNN" + text[100:], True), (text[:200], True)], reach=50)
    assert targets.size.tolist() == [100, 200, 200]
    assert targets.is_circular.tolist() == [False, False, True]
    assert targets.offset.tolist() == [0, 103, 303]
    assert targets.start.tolist() == [0, 100, 300, 550]
    assert targets.n_places == 503


def test_reads_of_a_repeat_are_spread_over_its_copies(rng, threads):
    repeat = "".join(rng.choice(list("ACGT"), 2000))
    contigs = [("".join(rng.choice(list("ACGT"), 300)) + repeat, False), (repeat, False)]
    targets = targets_of(contigs)
    starts = rng.integers(0, 1900, 4000)
    reads = Reads.from_strings([repeat[i : i + 100] for i in starts])
    first, second = lay_reads(reads, targets, index_seeds(targets, 100))
    assert first.n == 4000
    assert second.n == 0
    assert not first.is_unique.any()
    assert np.bincount(first.target) == pytest.approx([2000, 2000], rel=0.1)


def test_chimeric_contigs_of_few_reads_take_few_of_a_deep_circle_that_they_share_seeds_with(rng, xp):
    def random_text(n):
        return "".join(rng.choice(list("ACGT"), n))

    circle = random_text(1500)
    around = circle + circle
    chimeras = []
    for first in rng.integers(0, 1500, 400):
        own = around[first : first + 120]
        changed = own[:60] + {"A": "C", "C": "G", "G": "T", "T": "A"}[own[60]] + own[61:]
        chimeras += [own + random_text(80), reverse_complement(changed + random_text(30))]
    deep = [2.0] * len(chimeras) + [80_000.0]
    targets = targets_of([*((text, False) for text in chimeras), (circle, True)], xp, depth=deep)
    texts = [around[i : i + 150] for i in rng.integers(0, 1500, 600)]
    texts = [reverse_complement(text) if i % 2 else text for i, text in enumerate(texts)]
    first, _ = lay_reads(Reads.from_strings(texts).moved_to(xp), targets, index_seeds(targets, 150))
    assert first.n == 600
    on_circle = to_host(first.target) == targets.n - 1
    assert on_circle.mean() > 0.99
    assert (to_host(first.end - first.begin)[on_circle] == 150).all()
    assert not to_host(first.mismatches).any()


def test_of_equal_places_a_hash_chooses_by_depth_and_the_others_are_left_out(rng, threads):
    repeat = "".join(rng.choice(list("ACGT"), 1000))
    other = repeat[:470] + "".join(rng.choice(list("ACGT"), 500))  # goes on otherwise than the reads
    contigs = [(repeat, False), (repeat[:500], False), (reverse_complement(repeat), False), (other, False)]
    targets = targets_of(contigs, depth=[10.0, 20.0, 30.0, 1000.0])
    where = [(begin, end) for begin in range(300, 440) for end in range(498, 504)]  # to either side of the second's end
    reads = Reads.from_strings([repeat[begin:end] for begin, end in where])
    first, _ = lay_reads(reads, targets, index_seeds(targets, 100))
    chosen = np.bincount(first.target, minlength=4)
    assert chosen[3] == 0
    assert chosen[:3] / chosen.sum() == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=0.07)
    is_cut = first.target == 1
    stop = np.minimum(500, [end for _, end in where])[first.piece]
    assert (first.end - targets.start[1] == stop)[is_cut].all()
    assert (first.end - first.begin == reads.length[first.piece])[~is_cut].all()


def test_a_place_where_what_can_be_seen_agrees_less_is_not_as_good(rng, xp):
    repeat = "".join(rng.choice(list("ACGT"), 600))
    changed = repeat[:80] + {"A": "C", "C": "G", "G": "T", "T": "A"}[repeat[80]] + repeat[81:120]
    contigs = [(repeat, False), (reverse_complement(repeat), False), (changed, False)]
    targets = targets_of(contigs, xp, depth=[1.0, 1.0, 1e6])
    own = [repeat[i : i + 100] for i in range(21, 80)]
    wrong = [text[:90] + reverse_complement(text[90]) + text[91:] for text in own]  # beyond the end of the third
    first, _ = lay_reads(Reads.from_strings(own + wrong).moved_to(xp), targets, index_seeds(targets, 100))
    assert first.n == 2 * len(own)
    assert set(to_host(first.target).tolist()) == {0, 1}


def test_of_a_word_of_one_letter_some_places_are_compared(xp):
    targets = targets_of([("A" * 3000, False)], xp)
    reads = Reads.from_strings(["A" * 100, "T" * 120]).moved_to(xp)
    first, _ = lay_reads(reads, targets, index_seeds(targets, 100))
    assert first.n == 2
    assert to_host(first.mismatches).tolist() == [0, 0]


def test_nothing_lies_on_nothing(xp):
    targets = targets_of([], xp)
    index = index_seeds(targets, 100)
    first, second = lay_reads(Reads.from_strings(["ACGT" * 20, "A"]).moved_to(xp), targets, index)
    assert (first.n, second.n) == (0, 0)
    targets = targets_of([("ACG", False), ("NNNN", False), ("", True)], xp)
    assert lay_reads(Reads.from_strings([]).moved_to(xp), targets, index_seeds(targets, 0))[0].n == 0
