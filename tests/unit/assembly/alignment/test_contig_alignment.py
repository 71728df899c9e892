"""Reads aligned to contigs, against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment import seed_index
from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.coverage.contig_depth import Coverage
from gpuasm.sequence.encoding import encode
from gpuasm.sequence.reads import Reads
from tests.oracles.alignment import align_first, depth_of, seed_places
from tests.oracles.kmers import reverse_complement

READ_LENGTH = 40


def targets_of(contigs, xp=np, reach=200, depth=None):
    codes, circular_flags = [encode(text) for text, _ in contigs], [circular for _, circular in contigs]
    return Targets.of(codes, circular_flags, reach=reach, xp=xp, depth=depth)


def rows_of(aligned):
    return [
        tuple(
            int(to_host(getattr(aligned, name))[i])
            for name in ("segment", "target", "at", "is_reversed", "begin", "end")
        )
        for i in range(aligned.n)
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
def test_first_alignments_are_those_of_plain_python(example):
    contigs, texts = example
    targets, reads = targets_of(contigs), Reads.from_strings(texts)
    index = index_seeds(targets, READ_LENGTH)
    assert index.sample == 0
    first, second = align_reads(reads, targets, index)
    expected = {}
    for r, text in enumerate(texts):
        if placed := align_first(text, contigs, index.k):
            number, at, is_reversed, begin, end = placed
            start = int(targets.start[number])
            expected[r] = (r, number, start + at, int(is_reversed), start + begin, start + end)
    assert rows_of(first.where(first.is_unique)) == list(expected.values())
    assert set(to_host(second.segment).tolist()) <= set(expected)


def test_seeds_are_found_few_windows_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    contigs = [("".join(rng.choice(list("ACGT"), n)), closed) for n, closed in ((900, True), (40, False), (300, False))]
    targets = targets_of(contigs)
    whole = index_seeds(targets, READ_LENGTH)
    monkeypatch.setattr(seed_index, "_BATCH", 3)
    parts = index_seeds(targets, READ_LENGTH)
    for name in ("keys", "first", "place"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name


@given(contigs_and_reads())
@settings(max_examples=30)
def test_coverage_is_the_sum_of_alignments_across_origins_too(example):
    contigs, texts = example
    targets, reads = targets_of(contigs), Reads.from_strings(texts)
    index = index_seeds(targets, READ_LENGTH)
    first, _ = align_reads(reads, targets, index)
    own = first.where(first.is_unique)
    coverage = Coverage(targets, np)
    coverage.add(own.target, own.begin, own.end)
    placed = [found for text in texts if (found := align_first(text, contigs, index.k))]
    assert coverage.take().tolist() == [d for own in depth_of(placed, contigs) for d in own]


@given(contigs_and_reads(), st.randoms())
@settings(max_examples=30)
def test_order_and_strand_of_reads_do_not_matter(example, random):
    contigs, texts = example
    shuffled = [reverse_complement(text) if random.random() < 0.5 else text for text in texts]
    random.shuffle(shuffled)
    targets = targets_of(contigs)
    index = index_seeds(targets, READ_LENGTH)
    found = []
    for own in (texts, shuffled):
        coverage = Coverage(targets, np)
        for aligned in align_reads(Reads.from_strings(own), targets, index):
            coverage.add(aligned.target, aligned.begin, aligned.end)
        found.append(coverage.take())
    assert np.array_equal(*found)


def test_seed_places_are_ascending_and_complete(rng, xp):
    text = "".join(rng.choice(list("ACGT"), 300))
    contigs = [(text, False), (text[100:180] + text[:50], True), (reverse_complement(text[50:120]), False)]
    index = index_seeds(targets_of(contigs, xp), READ_LENGTH)
    places = seed_places(contigs, index.k)
    assert index.keys.size == len({min(kmer, reverse_complement(kmer)) for kmer in places})
    several = sum(len(own) > 1 for kmer, own in places.items() if kmer <= reverse_complement(kmer))
    assert int((to_host(index.first[1:] - index.first[:-1]) > 1).sum()) == several
    first, place = to_host(index.first), to_host(index.place)
    assert all((np.diff(place[a:b]) > 0).all() for a, b in itertools.pairwise(first))


def test_longer_reads_have_fewer_seeds(rng):
    text = "".join(rng.choice(list("ACGT"), 5000))
    targets = targets_of([(text, False)])
    n = [index_seeds(targets, length).keys.size for length in (40, 75, 150, 250)]
    assert n[0] == 5000 - 18
    assert n[0] > n[1] > n[2] > n[3] > 200


def test_read_clipped_at_a_contig_end_has_a_second_alignment(rng, xp):
    text = "".join(rng.choice(list("ACGT"), 1000))
    contigs = [(text[:500], False), (reverse_complement(text[450:]), False)]
    targets = targets_of(contigs, xp)
    reads = Reads.from_strings([text[420:520], reverse_complement(text[380:530]), text[100:200]]).moved_to(xp)
    first, second = align_reads(reads, targets, index_seeds(targets, READ_LENGTH))
    assert rows_of(first) == [(0, 0, 420, 0, 420, 500), (1, 1, 970, 0, 970, 1050), (2, 0, 100, 0, 100, 200)]
    assert rows_of(second) == [(0, 1, 980, 1, 980, 1050), (1, 0, 380, 1, 380, 500)]


def test_gaps_cut_contigs_and_make_circular_ones_linear(rng):
    text = "".join(rng.choice(list("ACGT"), 300))
    targets = targets_of([(text[:100] + "NNN" + text[100:], True), (text[:200], True)], reach=50)
    assert targets.size.tolist() == [100, 200, 200]
    assert targets.is_circular.tolist() == [False, False, True]
    assert targets.offset.tolist() == [0, 103, 303]
    assert targets.start.tolist() == [0, 100, 300, 550]
    assert targets.n_places == 503


def test_reads_of_a_repeat_are_shared_by_its_copies(rng, threads):
    repeat = "".join(rng.choice(list("ACGT"), 2000))
    contigs = [("".join(rng.choice(list("ACGT"), 300)) + repeat, False), (repeat, False)]
    targets = targets_of(contigs)
    starts = rng.integers(0, 1900, 4000)
    reads = Reads.from_strings([repeat[i : i + 100] for i in starts])
    first, second = align_reads(reads, targets, index_seeds(targets, 100))
    assert first.n == 4000
    assert second.n == 0
    assert not first.is_unique.any()
    assert np.bincount(first.target) == pytest.approx([2000, 2000], rel=0.1)


def test_low_coverage_chimeric_contigs_take_few_reads_of_a_high_coverage_contig(rng, xp):
    def random_text(n):
        return "".join(rng.choice(list("ACGT"), n))

    circle = random_text(1500)
    around = circle + circle
    chimeras = []
    for first in rng.integers(0, 1500, 400):
        own = around[first : first + 120]
        changed = own[:60] + {"A": "C", "C": "G", "G": "T", "T": "A"}[own[60]] + own[61:]
        chimeras += [own + random_text(80), reverse_complement(changed + random_text(30))]
    depths = [2.0] * len(chimeras) + [80_000.0]
    targets = targets_of([*((text, False) for text in chimeras), (circle, True)], xp, depth=depths)
    texts = [around[i : i + 150] for i in rng.integers(0, 1500, 600)]
    texts = [reverse_complement(text) if i % 2 else text for i, text in enumerate(texts)]
    first, _ = align_reads(Reads.from_strings(texts).moved_to(xp), targets, index_seeds(targets, 150))
    assert first.n == 600
    on_circle = to_host(first.target) == targets.n - 1
    assert on_circle.mean() > 0.99
    assert (to_host(first.end - first.begin)[on_circle] == 150).all()
    assert not to_host(first.mismatches).any()


def test_equal_places_are_chosen_by_depth_and_worse_ones_never(rng, threads):
    repeat = "".join(rng.choice(list("ACGT"), 1000))
    other = repeat[:470] + "".join(rng.choice(list("ACGT"), 500))  # continues otherwise than the reads
    contigs = [(repeat, False), (repeat[:500], False), (reverse_complement(repeat), False), (other, False)]
    targets = targets_of(contigs, depth=[10.0, 20.0, 30.0, 1000.0])
    where = [(begin, end) for begin in range(300, 440) for end in range(498, 504)]  # to either side of the second's end
    reads = Reads.from_strings([repeat[begin:end] for begin, end in where])
    first, _ = align_reads(reads, targets, index_seeds(targets, 100))
    chosen = np.bincount(first.target, minlength=4)
    assert chosen[3] == 0
    assert chosen[:3] / chosen.sum() == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=0.07)
    is_cut = first.target == 1
    stop = np.minimum(500, [end for _, end in where])[first.segment]
    assert (first.end - targets.start[1] == stop)[is_cut].all()
    assert (first.end - first.begin == reads.length[first.segment])[~is_cut].all()


def test_clipped_place_with_a_mismatch_is_not_an_equal_place(rng, xp):
    repeat = "".join(rng.choice(list("ACGT"), 600))
    changed = repeat[:80] + {"A": "C", "C": "G", "G": "T", "T": "A"}[repeat[80]] + repeat[81:120]
    contigs = [(repeat, False), (reverse_complement(repeat), False), (changed, False)]
    targets = targets_of(contigs, xp, depth=[1.0, 1.0, 1e6])
    own = [repeat[i : i + 100] for i in range(21, 80)]
    wrong = [text[:90] + reverse_complement(text[90]) + text[91:] for text in own]  # beyond the end of the third
    first, _ = align_reads(Reads.from_strings(own + wrong).moved_to(xp), targets, index_seeds(targets, 100))
    assert first.n == 2 * len(own)
    assert set(to_host(first.target).tolist()) == {0, 1}


def test_homopolymer_reads_are_aligned(xp):
    targets = targets_of([("A" * 3000, False)], xp)
    reads = Reads.from_strings(["A" * 100, "T" * 120]).moved_to(xp)
    first, _ = align_reads(reads, targets, index_seeds(targets, 100))
    assert first.n == 2
    assert to_host(first.mismatches).tolist() == [0, 0]


def test_empty_contigs_and_reads_have_no_alignments(xp):
    targets = targets_of([], xp)
    index = index_seeds(targets, 100)
    first, second = align_reads(Reads.from_strings(["ACGT" * 20, "A"]).moved_to(xp), targets, index)
    assert (first.n, second.n) == (0, 0)
    targets = targets_of([("ACG", False), ("NNNN", False), ("", True)], xp)
    assert align_reads(Reads.from_strings([]).moved_to(xp), targets, index_seeds(targets, 0))[0].n == 0
