"""The two principal components of tables of many columns, without a matrix of columns by columns."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.memory import bytes_for_map
from gpuasm.clustering.training import start


@pytest.mark.parametrize("n", [60, 300])
def test_wide_tables_have_the_same_plane(monkeypatch, n):
    rng = np.random.default_rng(2)
    rows = (rng.normal(size=(n, 2)) * [9, 4] @ rng.normal(size=(2, 200)) + rng.normal(size=(n, 200))).astype(np.float32)
    grid = MapGrid(5, 6)
    exact = start.start_weights(rows, grid, "pca", seed=0)
    monkeypatch.setattr(start, "WIDE", 100)
    assert np.allclose(exact, start.start_weights(rows, grid, "pca", seed=0), atol=1e-3)


def test_one_row_of_many_columns_has_no_plane(monkeypatch):
    monkeypatch.setattr(start, "WIDE", 3)
    rows = np.arange(10, dtype=np.float32)[None]
    assert np.array_equal(start.start_weights(rows, MapGrid(2, 2), "pca", seed=0), np.repeat(rows, 4, axis=0))


def test_memory_grows_with_the_columns_alone():
    grid = MapGrid(10, 10)
    assert bytes_for_map(100, 20_000, grid) < 3 * bytes_for_map(100, 10_000, grid)
    assert bytes_for_map(2000, 1000, grid) > 8 * 1000**2
