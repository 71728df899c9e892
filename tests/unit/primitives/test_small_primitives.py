"""Rows of edges, distinct values, stable split."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.primitives.distinct import distinct
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.split import split


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("lengths", [[], [0], [3], [0, 2, 0, 1], [1] * 1000, [100_000, 0, 1], list(range(700))])
def test_rows_of_edges(lengths, dtype, xp):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    found = to_host(row_of_edge(to_namespace(xp, offsets), dtype))
    assert found.dtype == dtype
    assert found.tolist() == [row for row, length in enumerate(lengths) for _ in range(length)]


@given(values=st.lists(st.integers(-50, 50), max_size=80))
def test_distinct_of_any_values(values):
    assert distinct(np.array(values, np.int32)).tolist() == sorted(set(values))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("high", [1, 100])
def test_distinct_of_many_values(dtype, high, xp, rng):
    values = rng.integers(0, high, 20_000).astype(dtype)
    assert to_host(distinct(to_namespace(xp, values))).tolist() == np.unique(values).tolist()


def test_distinct_of_far_apart_values_is_sorted(xp):
    values = np.array([1 << 60, -(1 << 60), 5, 5], np.int64)
    assert to_host(distinct(to_namespace(xp, values))).tolist() == [-(1 << 60), 5, 1 << 60]


def test_distinct_of_nothing(xp):
    assert distinct(to_namespace(xp, np.empty(0, np.int32))).size == 0


@pytest.mark.parametrize("n", [0, 1, 2, 10_000])
def test_split_is_a_stable_partition(n, xp, rng):
    values, holds = rng.integers(0, 1000, n).astype(np.int32), rng.random(n) < 0.3
    found = to_host(split(to_namespace(xp, values), to_namespace(xp, holds)))
    assert found.tolist() == values[~holds].tolist() + values[holds].tolist()
