from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering.search import search
from gpuasm.clustering.search.screened_cpu import ScreenedRows
from gpuasm.clustering.search.search import Searcher
from gpuasm.errors import DataError, UsageError
from tests.oracles import som as oracle

SHAPES = [(1, 1, 1), (5, 3, 2), (300, 12, 1000), (513, 33, 257), (130, 140, 700), (70, 7, 130)]


def two_least(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two least of each row and where they are: the first where several are equal."""
    order = np.argsort(distances, axis=1, kind="stable")[:, :2].T
    least = np.take_along_axis(distances, order.T, axis=1).T
    if order.shape[0] == 1:
        order = np.vstack([order, np.full_like(order, -1)])
        least = np.vstack([least, np.full_like(least, np.inf)])
    return order, least


def searched(xp, rows, weights, metric="euclidean"):
    units, values = Searcher(to_namespace(xp, rows), metric)(to_namespace(xp, weights))
    return to_host(units), to_host(values)


@pytest.mark.parametrize("screen_from", [1, 1 << 20], ids=["screened", "direct"])
@pytest.mark.parametrize("shape", SHAPES)
def test_best_units_are_those_of_the_definition_to_the_bit(xp, rng, threads, shape, screen_from, monkeypatch):
    monkeypatch.setattr(search, "SCREEN_FROM", screen_from)
    n, d, n_units = shape
    rows, weights = (rng.normal(3, 1, (size, d)).astype(np.float32) for size in (n, n_units))
    units, values = searched(xp, rows, weights)
    expected_units, expected_values = two_least(oracle.distances_by_definition(rows, weights))
    assert np.array_equal(units, expected_units)
    assert np.array_equal(values, expected_values)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_metric_and_missing_values(xp, rng, metric, missing):
    rows, weights = (rng.normal(size=(size, 19)).astype(np.float32) for size in (333, 410))
    rows[rng.random(rows.shape) < missing] = np.nan
    units, values = searched(xp, rows, weights, metric)
    expected_units, expected_values = two_least(oracle.distances_by_definition(rows, weights, metric))
    assert np.array_equal(units, expected_units)
    assert np.array_equal(values, expected_values)


@pytest.mark.parametrize("screen_from", [1, 1 << 20], ids=["screened", "direct"])
@pytest.mark.parametrize("kind", ["copies", "all the same", "whole numbers", "far from zero", "one far unit"])
def test_ties_go_to_the_lowest_unit(xp, rng, kind, screen_from, monkeypatch):
    """With many equally near units screening cannot separate them, and every unit is measured."""
    monkeypatch.setattr(search, "SCREEN_FROM", screen_from)
    rows, weights = (rng.normal(size=(size, 20)).astype(np.float32) for size in (200, 600))
    if kind == "copies":
        weights = np.tile(weights[:60], (10, 1))
    elif kind == "all the same":
        weights = np.tile(weights[:1], (600, 1))
    elif kind == "whole numbers":
        rows, weights = np.round(rows), np.round(weights)
    elif kind == "far from zero":
        rows, weights = rows + np.float32(1e6), weights + np.float32(1e6)
    else:
        weights[77] *= np.float32(1e6)
    units, values = searched(xp, rows, weights)
    expected_units, expected_values = two_least(oracle.distances_by_definition(rows, weights))
    assert np.array_equal(units, expected_units)
    assert np.array_equal(values, expected_values)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
def test_best_units_are_those_of_float64_wherever_two_differ(xp, rng, metric):
    rows, weights = (rng.normal(1, 1, (size, 30)).astype(np.float32) for size in (500, 900))
    expected_units, expected = two_least(oracle.distances(rows, weights, metric))
    found = Searcher(to_namespace(xp, rows), metric).best_units(to_namespace(xp, weights))
    differ = expected[1] - expected[0] > 1e-5 * expected[0]
    assert differ.mean() > 0.9
    assert np.array_equal(to_host(found.first)[differ], expected_units[0][differ])
    assert np.allclose(to_host(found.distance_first), expected[0], rtol=1e-5)
    assert np.allclose(to_host(found.distance_second), expected[1], rtol=1e-5)


def test_screening_leaves_few_rows_unsure(rng, monkeypatch):
    """On ordinary data, the second look at all units must stay the exception."""
    from gpuasm.clustering.search import screened_cpu

    measured = []
    direct = screened_cpu.best_two_direct
    monkeypatch.setattr(
        screened_cpu, "best_two_direct", lambda rows, *rest: measured.append(len(rows)) or direct(rows, *rest)
    )
    rows, weights = (rng.normal(size=(size, 40)).astype(np.float32) for size in (2000, 2500))
    ScreenedRows(rows).best_two(weights)
    assert sum(measured) <= 2


def test_zero_rows_and_unknown_metrics_are_refused():
    rows = np.ones((3, 2), np.float32)
    with pytest.raises(UsageError, match="metric"):
        Searcher(rows, "hamming")
    rows[1] = 0
    with pytest.raises(DataError, match="row 1"):
        Searcher(rows, "cosine")
    rows[1, 0] = np.nan
    with pytest.raises(DataError, match="missing"):
        Searcher(rows, "cosine")
