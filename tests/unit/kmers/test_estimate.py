"""The spectrum estimated from a sample of k-mers."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.estimate import SAMPLE, branching_share, estimate_spectrum, sampled_kmers
from gpuasm.primitives.runs import occurrences
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_reads, simulated_texts


@pytest.fixture(scope="module")
def reads():
    return simulated_reads(length=300_000, fold=10, error_rate=0.01)


@pytest.mark.parametrize("k", [21, 31])
def test_within_the_error_of_the_sample(reads, k):
    estimate, truth = estimate_spectrum(reads, k), tally_kmers(reads, k, with_followers=False).histogram
    for low, high in ((1, 2), (2, None)):
        found, expected = int(estimate[low:high].sum()), int(truth[low:high].sum())
        # A k-mer is in the sample with one chance in 256: five standard deviations of what that makes.
        assert abs(found - expected) < 5 * np.sqrt(SAMPLE * expected)


def test_each_sampled_kmer_is_counted_with_all_its_occurrences(threads):
    texts = simulated_texts(simulated_genome(length=60_000), fold=1, error_rate=0)
    single = estimate_spectrum(Reads.from_strings(texts), 31)
    both = estimate_spectrum(Reads.from_strings([*texts, *map(reverse_complement, texts)]), 31)
    assert both[1::2].sum() == 0
    assert np.array_equal(np.trim_zeros(both[2::2], "b"), np.trim_zeros(single[1:], "b"))


def test_chunks_change_nothing(reads, monkeypatch):
    whole = estimate_spectrum(reads, 31)
    monkeypatch.setattr("gpuasm.kmers.estimate._SEGMENTS_PER_CHUNK", 1000)
    assert np.array_equal(estimate_spectrum(reads, 31), whole)


def test_a_larger_k_is_estimated_by_31(reads):
    assert np.array_equal(estimate_spectrum(reads, 63), estimate_spectrum(reads, 31))


@pytest.mark.parametrize("texts", [[], ["ACGT"], ["N" * 100]])
def test_no_kmers(texts):
    assert estimate_spectrum(Reads.from_strings(texts), 31).tolist() == [0, 0, 0]


@pytest.mark.parametrize("k", [11, 31])
def test_windows_at_branches_are_those_of_a_plain_count(k):
    genome = decode(simulated_genome(length=3000))
    text = genome + genome[500:900] + genome[::-1]
    windows = [text[i : i + k] for i in range(len(text) - k + 1)]
    count = collections.Counter(min(own, reverse_complement(own)) for own in windows)
    by_inner = collections.defaultdict(list)
    for kmer, n in count.items():
        if n >= 1:
            by_inner[min(kmer[1:-1], reverse_complement(kmer)[1:-1])].append(n)
    branching = [own for own in by_inner.values() if len(own) > 1 and sorted(own)[-2] >= 0.2 * max(own)]
    keys = [sum("ACGT".index(base) << 2 * i for i, base in enumerate(reversed(kmer))) for kmer in count.elements()]
    found = branching_share(*occurrences(np.array(keys, np.uint64)), k, threshold=1)
    assert found == pytest.approx(sum(map(sum, branching)) / len(windows))
    assert 0 < found < 1


def test_kmers_before_and_behind_a_branch_are_sampled_together():
    genome = decode(simulated_genome(length=2_000_000))
    shared, keys = genome[:1_000_000], sampled_kmers(Reads.from_strings([genome]), 31)
    assert branching_share(*occurrences(keys), 31, threshold=1) == 0
    step = 100
    other = "".join(
        shared[i : i + step - 1] + ("A" if shared[i + step - 1] != "A" else "C") for i in range(0, len(shared), step)
    )
    keys = sampled_kmers(Reads.from_strings([genome, other]), 31)
    assert branching_share(*occurrences(keys), 31, threshold=1) == pytest.approx(4 * 10_000 / 3_000_000, rel=0.4)


def test_no_kmers_branch():
    assert branching_share(*occurrences(np.empty(0, np.uint64)), 31, threshold=2) == 0
