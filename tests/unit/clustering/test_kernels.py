"""CUDA kernels, run on the CPU, give the same bytes as the CPU implementations."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering import MapGrid
from gpuasm.clustering.search import direct_cpu, search_cuda
from gpuasm.clustering.search.direct_cpu import best_two_direct
from gpuasm.clustering.search.search_cuda import RowsOnDevice, best_parts
from gpuasm.clustering.training import smoothing_cuda
from gpuasm.clustering.training.neighbourhood import NEIGHBOURHOODS, neighbourhood_of
from gpuasm.clustering.training.smoothing import smooth


@pytest.fixture(autouse=True)
def _on_the_cpu(monkeypatch, emulated_functions):
    monkeypatch.setattr(search_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(smoothing_cuda, "cuda_functions", emulated_functions)
    monkeypatch.setattr(search_cuda, "multiprocessor_count", lambda: 2)


@pytest.mark.parametrize("form", [direct_cpu.EUCLIDEAN, direct_cpu.MANHATTAN, direct_cpu.CHEBYSHEV])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(1, 1, 1), (130, 3, 70), (9, 12, 700), (40, 33, 129)])
def test_units_and_values_are_those_of_the_cpu(rng, shape, form, missing):
    n, d, n_units = shape
    rows, weights = (np.round(rng.normal(size=(size, d)), 1).astype(np.float32) for size in (n, n_units))
    rows[rng.random(rows.shape) < missing] = np.nan
    found = RowsOnDevice(rows, form=form, has_missing=missing > 0).best_two(weights)
    for one, other in zip(found, best_two_direct(rows, weights, form), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("spacing", [1.0, 0.02, 0.0])
@pytest.mark.parametrize("n_units", [1, 5, 900])
def test_screening_leaves_none_out(rng, monkeypatch, spacing, n_units):
    """Where units crowd, more are near than can be kept: such rows are measured against all units."""
    monkeypatch.setattr(search_cuda, "_SAMPLE", 20)
    monkeypatch.setattr(search_cuda, "_UNSURE_AT_MOST", 1.0)
    rows = rng.normal(4, 1, (150, 34)).astype(np.float32)
    weights = (4 + spacing * rng.normal(size=(n_units, 34))).astype(np.float32)
    weights[n_units // 2] = weights[0]
    ready = RowsOnDevice(rows, form=direct_cpu.EUCLIDEAN, has_missing=False)
    assert ready._screen is not None
    found = ready.best_two(weights)
    for one, other in zip(found, best_two_direct(rows, weights, direct_cpu.EUCLIDEAN), strict=True):
        assert np.array_equal(one, other)
    unsure, _ = ready._screen.best_two()
    if n_units == 900:
        assert (unsure.size > 100) == (spacing == 0.0)


def test_screening_is_used_if_it_is_faster(rng, monkeypatch):
    monkeypatch.setattr(search_cuda, "_SAMPLE", 20)
    rows, weights = (rng.normal(size=(size, 40)).astype(np.float32) for size in (100, 300))
    ready = RowsOnDevice(rows, form=direct_cpu.EUCLIDEAN, has_missing=False)
    screened = []
    monkeypatch.setattr(ready._screen, "best_two", lambda own=ready._screen.best_two: screened.append(1) or own())
    ready.best_two(weights)
    assert screened
    screened.clear()
    ready.best_two(np.zeros_like(weights))
    assert not screened
    assert RowsOnDevice(rows[:, :12], form=direct_cpu.EUCLIDEAN, has_missing=False)._screen is None


@pytest.mark.parametrize("radius", [0.05, 1.5, 20.0])
@pytest.mark.parametrize("kind", NEIGHBOURHOODS)
@pytest.mark.parametrize(
    "grid",
    [MapGrid(1, 1), MapGrid(9, 21), MapGrid(30, 17, "toroidal"), MapGrid(13, 8, "planar", "hexagonal"),
     MapGrid(12, 21, "toroidal", "hexagonal")],
    ids=str,
)  # fmt: skip
def test_smoothed_sums_are_those_of_the_cpu(rng, grid, kind, radius):
    sums, weights = rng.normal(size=(grid.n_units, 3)), neighbourhood_of(grid, kind, radius)
    if weights.table is None:
        found = smoothing_cuda.smooth_terms_cuda(sums, grid, weights.terms)
    else:
        found = smoothing_cuda.smooth_table_cuda(sums, grid, weights)
    assert np.array_equal(found, smooth(sums, grid, weights))


def test_parts_fill_a_device():
    assert best_parts(3907, 704, 264) == 1
    assert 94 * best_parts(94, 313, 264) >= 264
    assert best_parts(1, 1, 264) == 1
