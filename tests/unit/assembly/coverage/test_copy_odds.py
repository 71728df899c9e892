"""Odds of copies by Poisson's distribution, and overdispersion of depth."""

from __future__ import annotations

from math import exp, factorial, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.coverage.copy_number import log_odds_of_one, overdispersion

READ = 50


def chance(reads, mean):
    return mean**reads * exp(-mean) / factorial(reads)


@given(st.integers(0, 40), st.floats(0.5, 30), st.floats(0.5, 30))
def test_odds_are_those_of_two_poisson_distributions(reads, one, other):
    expected = log(chance(reads, one) / chance(reads, one + other))
    assert float(log_odds_of_one(reads, one, other)) == pytest.approx(expected, abs=1e-6)


def test_arrays_give_the_odds_of_each_element(rng):
    reads, one = rng.integers(0, 40, 200), rng.integers(0, 4, 200) * 7.5
    each = [float(log_odds_of_one(n, own, 5.0)) for n, own in zip(reads.tolist(), one.tolist(), strict=True)]
    assert log_odds_of_one(reads, one, 5.0).tolist() == each
    assert {odds for odds, own in zip(each, one.tolist(), strict=True) if own == 0} == {-inf}


def depth_of(rng, size, *, fold, rate=None):
    """Return the depth of reads that begin at random places, at a relative ``rate``."""
    rate = np.ones(size) if rate is None else rate
    begins = rng.poisson(fold / READ * rate)
    covering = np.cumsum(begins)
    covering[READ:] = covering[READ:] - covering[:-READ]
    return covering.astype(np.int32)


@pytest.mark.parametrize("fold", [8, 30, 200])
def test_uniform_reads_are_not_overdispersed(rng, fold):
    bounds = np.array([0, 100_000, 180_000, 180_700, 300_000])
    assert overdispersion(depth_of(rng, 300_000, fold=fold), bounds, read_length=READ) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("deviation", [0.1, 0.3])
def test_depth_that_varies_between_windows_is_overdispersed(rng, deviation):
    """Reads of a window are Poisson's with a varying mean: their variance is n + (deviation n)^2."""
    fold, size = 60, 600_000
    rate = np.repeat(np.maximum(0, rng.normal(1, deviation, size // (20 * READ))), 20 * READ)
    depth = depth_of(rng, size, fold=fold, rate=rate)
    n = 2 * fold
    found = overdispersion(depth, np.array([0, size]), read_length=READ)
    assert found == pytest.approx(1 + deviation**2 * n / (5 / 6), rel=0.2)


def test_windows_of_several_copies_do_not_count(rng):
    size = 300_000
    depth = depth_of(rng, size, fold=60)
    depth[40_000:60_000] *= 4
    assert overdispersion(depth, np.array([0, size]), read_length=READ) == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize(("bounds", "read_length"), [([0], 50), ([0, 400], 50), ([0, 5000], 0), ([0, 5000], 50)])
def test_short_contigs_are_not_overdispersed(bounds, read_length):
    assert overdispersion(np.zeros(bounds[-1], np.int32), np.array(bounds), read_length=read_length) == 1
