from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import MapGrid, SelfOrganisingMap
from gpuasm.clustering.search.search import unit_vectors
from gpuasm.clustering.training import online_cuda
from gpuasm.clustering.training.neighbourhood import NEIGHBOURHOODS
from gpuasm.clustering.training.online import FORMS, OnlineTraining
from gpuasm.clustering.training.schedule import decayed
from gpuasm.errors import UsageError
from tests.oracles import som as oracle

GRIDS = [MapGrid(1, 1), MapGrid(5, 7), MapGrid(4, 6, "toroidal", "hexagonal")]


def training(grid, kind="gaussian", metric="euclidean") -> OnlineTraining:
    return OnlineTraining(grid, metric, kind, (2.0, 0.5), (0.4, 0.05), "exponential", 2, 7)


@pytest.mark.parametrize("metric", FORMS)
@pytest.mark.parametrize("kind", NEIGHBOURHOODS)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_weights_are_those_of_the_oracle(xp, rng, grid, kind, metric):
    rows, start = (rng.normal(1, 1, (size, 4)).astype(np.float32) for size in (60, grid.n_units))
    if metric == "cosine":
        rows = unit_vectors(rows)
    else:
        rows[::9, 2] = np.nan
    online = training(grid, kind, metric)
    weights, expected, step = to_namespace(xp, start), start, 0
    for stages in online.stages(60):
        weights = online.epoch(to_namespace(xp, rows), weights, stages)
        radii = [decayed((2.0, 0.5), step + i, 2 * len(stages), decay="exponential") for i in range(len(stages))]
        expected = oracle.online(rows, expected, grid, stages, kind=kind, radii=radii, metric=metric)
        step += len(stages)
    assert np.abs(to_host(weights) - expected).max() < 1e-4


def test_mexican_hat_weights_keep_units_within_the_rows(xp, rng):
    """Found on a device: 1500 rows drove units to infinity, and then to what no two devices agree on."""
    rows = rng.normal(0, 1, (1500, 5)).astype(np.float32)
    options = {"training": "online", "neighbourhood": "mexican_hat", "radius": (6, 1), "epochs": 4}
    weights = to_host(SelfOrganisingMap(12, 15, **options).fit(to_namespace(xp, rows)).weights_)
    assert (weights >= rows.min(axis=0)).all()
    assert (weights <= rows.max(axis=0)).all()


def test_every_row_is_presented_once_in_an_epoch():
    epochs = list(training(MapGrid(3, 3)).stages(5000))
    orders = [np.concatenate([stage.order for stage in stages]) for stages in epochs]
    assert len(orders) == 2
    assert [len(stages) for stages in epochs] == [500, 500]
    assert all(np.array_equal(np.sort(order), np.arange(5000)) for order in orders)
    assert not np.array_equal(*orders)
    assert epochs[0][0].rate == 0.4
    assert epochs[1][-1].rate == pytest.approx(0.05)


@pytest.mark.parametrize("metric", FORMS)
@pytest.mark.parametrize("kind", NEIGHBOURHOODS)
@pytest.mark.parametrize("grid", [*GRIDS, MapGrid(12, 21)], ids=str)
def test_the_kernel_gives_the_same_bytes(rng, monkeypatch, emulated_functions, grid, kind, metric):
    monkeypatch.setattr(online_cuda, "cuda_functions", emulated_functions)
    rows, start = (rng.normal(1, 1, (size, 4)).astype(np.float32) for size in (30, grid.n_units))
    if metric != "cosine":
        rows[::9, 2] = np.nan
    online = training(grid, kind, metric)
    stages = next(online.stages(30))
    found = online_cuda.online_epoch_cuda(rows, start, grid, stages, form=FORMS[metric])
    assert np.array_equal(found, online.epoch(rows, start, stages))


def test_online_training_unfolds_a_map(xp, rng):
    rows = to_namespace(xp, rng.random((400, 2)).astype(np.float32))
    som = SelfOrganisingMap(6, 6, training="online", epochs=5, seed=3).fit(rows)
    assert len(som.history_) == 6
    assert som.history_[-1].quantisation < 0.1
    assert som.history_[-1].topographic < 0.1
    again = SelfOrganisingMap(6, 6, training="online", epochs=5, seed=4).fit(rows)
    assert not np.array_equal(to_host(again.weights_), to_host(som.weights_))
    with pytest.raises(UsageError, match="rate"):
        SelfOrganisingMap(6, 6, training="online", rate=(0.1, 0.5)).fit(rows)
