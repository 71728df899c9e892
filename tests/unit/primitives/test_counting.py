"""Counts of true values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_namespace
from gpuasm.primitives import counting
from gpuasm.primitives.counting import count_ones, count_true


@pytest.mark.parametrize("n", [0, 1, 255, 5000])
def test_count_true(xp, rng, n: int) -> None:
    mask = rng.random(n) < 0.3
    assert count_true(to_namespace(xp, mask)) == sum(mask.tolist())
    assert count_true(to_namespace(xp, mask)[::3]) == sum(mask.tolist()[::3])
    assert count_true(to_namespace(xp, ~mask)) == n - sum(mask.tolist())


def test_the_kernel(monkeypatch, emulated_functions, rng) -> None:
    monkeypatch.setattr(counting, "cuda_functions", emulated_functions)
    monkeypatch.setattr(counting, "_MOST_BLOCKS", 3)
    for n in (0, 1, 255, 5000):
        mask = rng.random(n) < 0.7
        assert counting._count_cuda(mask) == sum(mask.tolist())


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 255, 5000])
def test_count_values(xp, rng, n: int, dtype) -> None:
    values = np.minimum(rng.geometric(0.01, n), 2999).astype(dtype)
    counts = np.zeros(3000, np.int64)
    np.add.at(counts, values, 1)
    found = counting.count_values(to_namespace(xp, values), 3000)
    assert found.dtype == np.int64
    assert found.tolist() == counts.tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_kernel_that_counts_values(monkeypatch, emulated_functions, rng, dtype) -> None:
    monkeypatch.setattr(counting, "cuda_functions", emulated_functions)
    monkeypatch.setattr(counting, "_MOST_BLOCKS", 3)
    for n in (0, 1, 5000):
        values = np.minimum(rng.geometric(0.001, n), 2999).astype(dtype)
        assert counting._count_values_cuda(values, 3000).tolist() == np.bincount(values, minlength=3000).tolist()


@pytest.mark.parametrize("x", [0, 1, 1 << 63, (1 << 64) - 1, 0x5555555555555555, 0x9E3779B97F4A7C15])
def test_count_ones(x: int) -> None:
    assert count_ones(np.uint64(x)) == x.bit_count()


@given(st.lists(st.booleans(), max_size=40), st.lists(st.integers(0, 40), max_size=6), st.sampled_from([1, 3, 1 << 24]))
def test_counts_between_bounds(marks, inner, at_a_time):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_AT_A_TIME", at_a_time)
        bounds = np.array(sorted([0, *(min(at, len(marks)) for at in inner), len(marks)]), np.int64)
        found = counting.count_between(np.array(marks, bool), bounds)
    assert found.tolist() == [sum(marks[a:b]) for a, b in itertools.pairwise(bounds.tolist())]
