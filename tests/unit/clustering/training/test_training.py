from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import MapGrid, SelfOrganisingMap
from gpuasm.clustering.training.batch import BatchTraining
from gpuasm.clustering.training.neighbourhood import NEIGHBOURHOODS, neighbourhood_of
from gpuasm.clustering.training.schedule import decayed, radii, rates
from gpuasm.clustering.training.smoothing import smooth, smooth_terms
from gpuasm.clustering.training.sums import unit_sums
from gpuasm.errors import UsageError
from gpuasm.threads import set_threads
from tests.oracles import som as oracle

GRIDS = [
    MapGrid(1, 1),
    MapGrid(1, 6),
    MapGrid(7, 5),
    MapGrid(6, 9, "toroidal"),
    MapGrid(5, 6, "planar", "hexagonal"),
    MapGrid(6, 7, "toroidal", "hexagonal"),
]


def blobs(rng, n=400, d=6, groups=4) -> np.ndarray:
    centres = rng.normal(0, 5, (groups, d))
    return (centres[rng.integers(groups, size=n)] + rng.normal(size=(n, d))).astype(np.float32)


@pytest.mark.parametrize("radius", [0.05, 0.6, 2.0, 30.0])
@pytest.mark.parametrize("kind", NEIGHBOURHOODS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_smoothing_is_the_sum_over_all_units(xp, rng, threads, grid, kind, radius):
    sums = rng.normal(size=(grid.n_units, 5))
    weights = neighbourhood_of(grid, kind, radius)
    h, envelope = oracle.weighting(grid, kind, radius)
    assert np.allclose(to_host(smooth(to_namespace(xp, sums), grid, weights)), h @ sums, rtol=1e-9, atol=1e-9)
    if kind == "mexican_hat":
        assert (np.abs(h) <= envelope + 1e-12).all()
        found = smooth_terms(to_namespace(xp, sums), grid, weights.envelope)
        assert np.allclose(to_host(found), envelope @ sums, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("n", [1, 100, 3000])
def test_sums_of_units(xp, rng, n, missing):
    rows, unit = rng.normal(size=(n, 3)).astype(np.float32), np.minimum(rng.integers(0, 40, n), 12).astype(np.int32)
    rows[rng.random(rows.shape) < missing] = np.nan
    found = to_host(unit_sums(to_namespace(xp, rows), to_namespace(xp, unit), 50, has_missing=missing > 0))
    present = ~np.isnan(rows)
    total, count = np.zeros((50, 3)), np.zeros((50, 3))
    np.add.at(total, unit, np.where(present, rows, 0))
    np.add.at(count, unit, present)
    assert np.allclose(found[:, :3], total, rtol=1e-12, atol=1e-12)
    assert np.array_equal(found[:, 3:], count if missing else count[:, :1])


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("kind", NEIGHBOURHOODS)
@pytest.mark.parametrize("grid", GRIDS[2:], ids=str)
def test_weights_are_those_of_the_oracle_after_ten_epochs(xp, rng, grid, kind, metric, missing):
    rows = blobs(rng)
    rows[rng.random(rows.shape) < missing] = np.nan
    start = rng.normal(size=(grid.n_units, rows.shape[1])).astype(np.float32)
    som = SelfOrganisingMap(
        grid.rows, grid.columns, topology=grid.topology, lattice=grid.lattice, neighbourhood=kind, metric=metric,
        epochs=10, radius=(2.5, 0.7), start=start,
    ).fit(to_namespace(xp, rows))  # fmt: skip
    training = BatchTraining(to_namespace(xp, rows), grid, metric)
    weights, expected = to_namespace(xp, start), start.astype(np.float64)
    for epoch in range(10):
        radius = decayed((2.5, 0.7), epoch, 10, decay="linear")
        best = to_host(training.searcher(weights)[0][0])
        weights = training.run(weights, [neighbourhood_of(grid, kind, radius)])
        distances = oracle.distances(rows, expected, metric)
        assert (distances[np.arange(len(rows)), best] <= (1 + 1e-5) * distances.min(axis=1)).all()
        expected = oracle.epoch(rows, expected, grid, best, kind=kind, radius=radius)
    assert np.array_equal(to_host(som.weights_), to_host(weights))
    assert np.abs(to_host(som.weights_) - expected).max() < 1e-4


def test_errors_are_recorded_for_each_epoch(xp, rng):
    rows, grid = blobs(rng), MapGrid(6, 5, "planar", "hexagonal")
    som = SelfOrganisingMap(6, 5, lattice="hexagonal", epochs=3).fit(to_namespace(xp, rows))
    distances = oracle.distances(rows, to_host(som.weights_))
    first, second = np.argsort(distances, axis=1)[:, :2].T
    assert len(som.history_) == 4
    assert som.history_[-1].quantisation == pytest.approx(distances.min(axis=1).mean(), rel=1e-6)
    assert som.history_[-1].topographic == pytest.approx(1 - oracle.touching(grid)[first, second].mean())
    assert som.history_[-1].quantisation < som.history_[0].quantisation


@pytest.mark.parametrize("options", [{}, {"metric": "cosine"}, {"start": "random", "neighbourhood": "bubble"}], ids=str)
def test_bytes_do_not_depend_on_threads(rng, options):

    rows, found = blobs(rng, n=3000, d=20), []
    for n in (1, 2):
        set_threads(n)
        som = SelfOrganisingMap(12, 9, epochs=4, **options).fit(rows)
        found.append((som.weights_.tobytes(), som.labels_.tobytes(), som.history_))
    set_threads(None)
    assert found[0] == found[1]


def test_a_map_unfolds_along_a_curve(rng):
    """Rows along a curve in space: places on a map of one row follow it."""
    t = np.sort(rng.random(500))
    rows = np.column_stack([np.cos(3 * t), np.sin(3 * t), 2 * t]).astype(np.float32)
    place = SelfOrganisingMap(1, 20, epochs=30).fit_transform(rows)[:, 1]
    assert abs(np.corrcoef(place, t)[0, 1]) > 0.99
    assert np.unique(place).size == 20


def test_schedules():
    assert [decayed((8, 2), e, 3, decay="exponential") for e in range(3)] == [8, 4, 2]
    assert [decayed((8, 2), e, 3, decay="linear") for e in range(3)] == [8, 5, 2]
    assert decayed((8, 2), 0, 1, decay="linear") == 2
    assert radii(MapGrid(40, 20), None) == (5, 0.5)
    assert rates((0.5, 0.01)) == (0.5, 0.01)
    for bounds in ((1, 2), (0, 0), (1,), "ab", (float("nan"), 1), (1, -1)):
        with pytest.raises(UsageError, match="radius"):
            radii(MapGrid(3, 3), bounds)
    with pytest.raises(UsageError, match="decay"):
        decayed((8, 2), 0, 3, decay="cubic")
    with pytest.raises(UsageError, match="rates"):
        rates((2, 1))
    with pytest.raises(UsageError, match="neighbourhood"):
        neighbourhood_of(MapGrid(3, 3), "square", 1)
    with pytest.raises(UsageError, match="radius"):
        neighbourhood_of(MapGrid(3, 3), "gaussian", 0)
