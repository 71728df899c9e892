"""The spectrum estimated from a sample of k-mers."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.estimate import SAMPLE, estimate_spectrum
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
