"""Valley, peak, threshold and estimates of made-up spectra and of simulated reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.kmers.tally import MAX_MULTIPLICITY
from tests.samples import simulated_reads


def poisson(mean: float, kmers: float, *, size: int | None = None) -> np.ndarray:
    """Return how many of so many k-mers have each multiplicity."""
    size = size or int(mean + 8 * np.sqrt(mean)) + 4
    m = np.arange(size)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(m[1:]))])
    return kmers * np.exp(m * np.log(mean) - mean - log_factorial)


def spectrum(*parts: np.ndarray) -> np.ndarray:
    total = np.zeros(max(part.size for part in parts))
    for part in parts:
        total[: part.size] += part
    total[0] = 0
    return np.round(total).astype(np.int64)


def errors(kmers: int) -> np.ndarray:
    """Return errors, a tenth of which occur once more, and so on."""
    return np.array([0, *(kmers * 0.1**i for i in range(8))])


@pytest.mark.parametrize("depth", [15, 30, 60, 200, 1000])
def test_errors_valley_and_genome(depth):
    found = analyse_spectrum(spectrum(errors(3_000_000), poisson(depth, 1_000_000)), 31)
    assert 2 < found.valley < depth
    assert found.peak == pytest.approx(depth, rel=0.07, abs=1)
    assert found.genome_size == pytest.approx(1_000_000, rel=0.1)
    assert found.threshold == max(2, min(found.valley, found.peak // 15, 20))
    assert found.reason.startswith(f"{found.threshold}, the least of the valley ({found.valley})")


@pytest.mark.parametrize(("depth", "kmers", "thin"), [(12, 1e6, True), (19, 1e6, False), (12, 1e4, False)])
def test_coverage_is_low_if_windows_read_once_are_expected(depth, kmers, thin):
    """1e6 windows at 12x: 80 of them are seen at most once; at 19x 0.1; of 1e4 windows at 12x 0.8."""
    assert analyse_spectrum(spectrum(errors(1_000_000), poisson(depth, kmers)), 31).is_low_coverage == thin


@pytest.mark.parametrize(("depth", "share"), [(4, 0.0916), (8, 3e-3), (15, 4.9e-6)])
def test_the_share_of_windows_seen_at_most_once(depth, share):
    """Without errors, so that the peak is the depth even where it is small."""
    found = analyse_spectrum(spectrum(poisson(depth, 1_000_000)), 31)
    assert found.rare_share() == pytest.approx(share, rel=0.7, abs=0)


def test_coverage_of_a_mixture_is_that_of_most_reads():
    mixture = spectrum(errors(1_000_000), poisson(12, 100_000), poisson(300, 10_000))
    assert not analyse_spectrum(mixture, 31).is_low_coverage


@pytest.mark.parametrize("rate", [0.001, 0.005, 0.02])
def test_the_error_rate_is_that_of_the_reads(rate):
    found = analyse_spectrum(tally_kmers(simulated_reads(length=20_000, fold=50, error_rate=rate), 31).histogram, 31)
    assert found.error_rate == pytest.approx(rate, rel=0.15)
    assert found.genome_size == pytest.approx(20_000, rel=0.12)


def test_repeats_count_as_often_as_they_occur():
    found = analyse_spectrum(spectrum(errors(100_000), poisson(40, 800_000), poisson(80, 100_000)), 31)
    assert found.peak == pytest.approx(40, abs=2)
    assert found.genome_size == pytest.approx(1_000_000, rel=0.06)


def test_no_errors():
    found = analyse_spectrum(spectrum(poisson(30, 1_000_000)), 31)
    assert found.threshold == 2
    assert found.valley < 10
    assert found.peak == pytest.approx(30, abs=1)
    assert found.error_rate == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    "histogram",
    [
        np.zeros(1, np.int64),
        np.zeros(100, np.int64),
        np.array([0, 500]),
        np.array([0, 500, 20]),
        errors(1_000_000).astype(np.int64),
        spectrum(errors(1_000_000), poisson(2, 1_000_000)),
    ],
)
def test_without_a_valley_the_least_threshold(histogram):
    found = analyse_spectrum(histogram, 31)
    assert (found.valley, found.peak, found.genome_size, found.error_rate) == (None, None, None, None)
    assert found.threshold == 2
    assert "no valley" in found.reason


def test_without_a_valley_high_coverage_raises_the_threshold():
    """A sample of many genomes: the histogram falls like a power of the multiplicity up to very high ones."""
    m = np.arange(1, 20_000)
    histogram = np.concatenate([[0], (1e9 / m**2).astype(np.int64)])
    found = analyse_spectrum(histogram, 31)
    assert found.valley is None
    assert 2 < found.threshold <= 20


def test_noise_of_a_falling_histogram_is_no_valley():
    rng = np.random.default_rng(1)
    m = np.arange(1, 500)
    histogram = np.concatenate([[0], rng.poisson(2e5 / m**2)])
    assert analyse_spectrum(histogram, 31).valley is None


def test_a_few_repeats_do_not_determine_the_depth_of_a_mixture():
    """Genomes of depths 2 to 8 have no peak; fifteen k-mers of a repeat are at 56, after empty classes."""
    members = [poisson(depth, 100_000) for depth in range(2, 9)]
    histogram = spectrum(errors(1_500_000), *members, poisson(56, 15))
    found = analyse_spectrum(histogram, 31)
    assert (found.valley, found.peak, found.threshold) == (None, None, 2)
    assert found.is_low_coverage


def test_a_virus_among_host_reads_has_a_peak():
    """A twentieth of the reads is of 30,000 k-mers at 300, the others hardly ever overlap."""
    histogram = spectrum(poisson(0.05, 4e9), poisson(300, 30_000))
    found = analyse_spectrum(histogram, 31)
    assert found.peak == pytest.approx(300, rel=0.07)
    assert not found.is_low_coverage


@pytest.mark.parametrize("min_count", [1, 5, 100])
def test_the_users_threshold(min_count):
    found = analyse_spectrum(spectrum(errors(3_000_000), poisson(60, 1_000_000)), 31, min_count=min_count)
    assert (found.threshold, found.reason) == (min_count, f"{min_count}, as requested")
    assert found.peak == pytest.approx(60, rel=0.05)


@given(histogram=st.lists(st.integers(0, 10**12), min_size=1, max_size=60), k=st.sampled_from([5, 31]))
def test_any_histogram_gives_a_threshold(histogram, k):
    found = analyse_spectrum(np.array([0, *histogram], np.int64), k)
    assert 2 <= found.threshold <= 20
    assert (found.valley is None) == (found.peak is None) == (found.genome_size is None)
    if found.peak is not None:
        assert 1 <= found.valley <= found.peak
        assert 0 <= found.error_rate <= 1


def test_the_last_class_includes_higher_multiplicities():
    histogram = np.zeros(MAX_MULTIPLICITY + 1, np.int64)
    histogram[: poisson(60, 1).size] = spectrum(errors(1_000_000), poisson(60, 100_000))
    histogram[-1] = 12
    found = analyse_spectrum(histogram, 31)
    assert found.peak == pytest.approx(60, rel=0.05)
