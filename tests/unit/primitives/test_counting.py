"""Counts of true values."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize("x", [0, 1, 1 << 63, (1 << 64) - 1, 0x5555555555555555, 0x9E3779B97F4A7C15])
def test_count_ones(x: int) -> None:
    assert count_ones(np.uint64(x)) == x.bit_count()
