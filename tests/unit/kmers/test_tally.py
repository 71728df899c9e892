"""Counts and followers against plain Python, for plain and pair keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.keys import doubling_chain
from gpuasm.kmers.names import tally_by_doubling
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from tests.oracles import kmers as oracle


def kmer_texts(tally: Tally, reads: Reads) -> list[str]:
    """Spell each k-mer of a tally on the strand of its key."""
    texts = []
    for place in to_host(tally.place):
        text = decode(unpack(to_host(reads.packed), int(place) >> 1, tally.k))
        texts.append(oracle.reverse_complement(text) if place & 1 else text)
    return texts


def as_dicts(tally: Tally, reads: Reads):
    texts = kmer_texts(tally, reads)
    counts = {oracle.canonical(t): int(c) for t, c in zip(texts, to_host(tally.count), strict=True)}
    followers = {}
    for text, row in zip(texts, to_host(tally.followers).reshape(-1, 2, 4), strict=True):
        for strand, oriented in enumerate((text, oracle.reverse_complement(text))):
            for base, n in zip("ACGT", row[strand], strict=True):
                if n:
                    followers[oriented, base] = int(n)
    return counts, followers


def noisy_reads(seed: int, n: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    genome = "".join(rng.choice(list("ACGT"), 300)) + "A" * 160 + "".join(rng.choice(list("AT"), 150)) * 2
    genome += oracle.reverse_complement(genome[:120])
    reads = []
    for _ in range(n):
        start, length = int(rng.integers(0, len(genome) - 20)), int(rng.integers(20, 160))
        read = list(genome[start : start + length])
        for i in np.flatnonzero(rng.random(len(read)) < 0.01):
            read[i] = "ACGTN"[rng.integers(0, 5)]
        text = "".join(read)
        reads.append(oracle.reverse_complement(text) if rng.random() < 0.5 and "N" not in text else text)
    return reads


@pytest.mark.parametrize("k", [3, 11, 21, 31, 33, 45, 61, 63, 91, 127])
def test_counts_and_followers_equal_the_oracle(k, xp):
    texts = noisy_reads(k)
    reads = Reads.from_strings(texts).moved_to(xp)
    tally, _ = tally_by_doubling(reads, doubling_chain(k), min_count=1, with_followers=True)
    counts, followers = as_dicts(tally, reads)
    assert counts == dict(oracle.count_kmers(texts, k))
    counted = oracle.count_followers(texts, k)
    assert followers == dict(counted)
    assert tally.histogram.sum() == len(counts)


def test_min_count_leaves_rare_kmers_out_but_not_of_the_histogram(xp):
    texts = noisy_reads(7)
    reads = Reads.from_strings(texts).moved_to(xp)
    everything = tally_kmers(reads, 21)
    common = tally_kmers(reads, 21, min_count=3)
    assert np.array_equal(everything.histogram, common.histogram)
    expected = {t: c for t, c in oracle.count_kmers(texts, 21).items() if c >= 3}
    assert as_dicts(common, reads)[0] == expected
    assert as_dicts(everything.at_least(3), reads) == as_dicts(common, reads)


@pytest.mark.parametrize("texts", [[], [""], ["ACG"], ["N" * 50], ["ACGT" * 5]])
@pytest.mark.parametrize("k", [31, 63])
def test_reads_shorter_than_k_have_no_kmers(texts, k, xp):
    tally, _ = tally_by_doubling(
        Reads.from_strings(texts).moved_to(xp), doubling_chain(k), min_count=1, with_followers=True
    )
    assert tally.n == 0
    assert tally.histogram.sum() == 0


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text("ACGTN", max_size=60), max_size=12), k=st.sampled_from([3, 5, 9, 31]))
def test_any_reads(texts, k):
    reads = Reads.from_strings(texts)
    counts, followers = as_dicts(tally_kmers(reads, k), reads)
    assert counts == dict(oracle.count_kmers(texts, k))
    assert followers == dict(oracle.count_followers(texts, k))


def test_a_table_that_overflows_grows():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), 20000))]
    reads = Reads.from_strings(texts)
    assert tally_kmers(reads, 31).n == len(oracle.count_kmers(texts, 31))


@pytest.mark.parametrize("with_followers", [True, False])
@pytest.mark.parametrize("rows_at_a_time", [1 << 20, 7])
def test_a_tally_is_narrowed_in_its_own_memory(with_followers, rows_at_a_time, monkeypatch, xp):
    monkeypatch.setattr("gpuasm.kmers.tally._ROWS_AT_A_TIME", rows_at_a_time)
    reads = Reads.from_strings(noisy_reads(7)).moved_to(xp)
    tally = tally_kmers(reads, 21, with_followers=with_followers)
    chosen = tally.count >= 2
    copied = tally.where(chosen)
    narrowed = tally.narrowed(chosen)
    for name in ("keys", "count", "place", "followers"):
        assert np.array_equal(to_host(getattr(narrowed, name)), to_host(getattr(copied, name))), name
    assert narrowed.without_followers().followers.size == 0


def test_text_order_keeps_the_values_of_each_kmer(xp):
    reads = Reads.from_strings(noisy_reads(7)).moved_to(xp)
    tally, ordered = tally_kmers(reads, 21), tally_kmers(reads, 21, in_text_order=True)
    assert bool((ordered.place[1:] > ordered.place[:-1]).all())
    assert as_dicts(ordered, reads) == as_dicts(tally, reads)


@pytest.mark.parametrize("min_follow", [1, 2, 3])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_edges_are_the_followers_that_occur_often_enough(k, min_follow, xp):
    reads = Reads.from_strings(noisy_reads(7, 120)).moved_to(xp)
    exact, found = tally_kmers(reads, k), tally_kmers(reads, k, min_follow=min_follow)
    followers = dict(zip(to_host(exact.keys).tolist(), to_host(exact.followers).reshape(-1, 8), strict=True))
    assert found.followers.size == 0
    assert found.n == exact.n
    for key, edges in zip(to_host(found.keys).tolist(), to_host(found.edges).tolist(), strict=True):
        assert [bool(edges >> j & 1) for j in range(8)] == (followers[key] >= min_follow).tolist()


@pytest.mark.parametrize("k", [9, 21, 31])
def test_followers_of_few_kmers_are_those_of_the_tally(k, xp):
    reads = Reads.from_strings([*noisy_reads(7, 120), "ACGT", "A" * 300]).moved_to(xp)
    tally = tally_kmers(reads, k)
    chosen = to_namespace(xp, np.random.default_rng(k).permutation(tally.n)[: tally.n // 3])
    expected = tally.followers.reshape(-1, 8)[chosen]
    assert int(expected.max()) > 1
    assert np.array_equal(to_host(count_followers(reads, k, tally.keys[chosen])), to_host(expected).ravel())
    assert count_followers(reads, k, tally.keys[:0]).size == 0
    assert int(count_followers(reads.select(slice(0)), k, tally.keys).max()) == 0
