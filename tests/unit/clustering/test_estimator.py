from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import SelfOrganisingMap, memory
from gpuasm.errors import DataError, ResourceError, UsageError
from tests.oracles import som as oracle


@pytest.fixture
def rows(rng) -> np.ndarray:
    return rng.normal(size=(200, 5)).astype(np.float32)


def test_places_units_and_maps_agree(xp, rows):
    som = SelfOrganisingMap(4, 6, epochs=3)
    rows = to_namespace(xp, rows)
    units = som.fit_predict(rows)
    assert np.array_equal(to_host(som.predict(rows)), to_host(units))
    places = to_host(som.transform(rows))
    assert np.array_equal(places @ [6, 1], to_host(units))
    assert np.array_equal(to_host(som.fit_transform(rows)), places)
    assert np.array_equal(som.hit_map(), som.hit_map(rows))
    assert som.hit_map().sum() == 200
    assert som.component_planes().shape == (5, 4, 6)
    assert som.component_planes()[2, 1, 3] == to_host(som.weights_)[9, 2]
    assert som.n_features_in_ == 5


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
def test_u_matrix_is_the_mean_distance_to_the_units_that_touch(rows, metric):
    som = SelfOrganisingMap(4, 6, lattice="hexagonal", topology="toroidal", metric=metric, epochs=2).fit(rows)
    distances, near = oracle.distances(som.weights_, som.weights_, metric), oracle.touching(som.grid_)
    expected = (distances * near).sum(axis=1) / near.sum(axis=1)
    assert np.allclose(som.u_matrix().ravel(), expected, rtol=1e-4)


@pytest.mark.parametrize("start", ["pca", "linear", "random"])
def test_starts_lie_among_the_rows(rows, start):
    from gpuasm.clustering.grid import MapGrid
    from gpuasm.clustering.training.start import start_weights

    rows = rows * np.array([5, 1, 1, 1, 3], np.float32)
    rows[3, 2] = np.nan
    weights = start_weights(rows, MapGrid(3, 8), start, seed=1)
    assert weights.shape == (24, 5)
    assert np.isfinite(weights).all()
    assert not np.array_equal(weights[0], weights[-1])
    if start == "pca":  # the first component along the longer side, the second along the other
        assert abs(weights[7, 0] - weights[0, 0]) == pytest.approx(4 * rows[:, 0].std(), rel=0.1)
        assert abs(weights[16, 4] - weights[0, 4]) == pytest.approx(4 * rows[:, 4].std(), rel=0.1)
    elif start == "linear":
        assert weights[[0, 7, 16], 0].tolist() == [rows[:, 0].min(), rows[:, 0].max(), rows[:, 0].min()]
    else:
        assert not np.array_equal(weights, start_weights(rows, MapGrid(3, 8), start, seed=2))


def test_degenerate_rows_have_maps_all_the_same(xp):
    """One row; constant columns; fewer rows than units; one column."""
    for rows in (np.ones((1, 3)), np.ones((9, 2)), np.column_stack([np.arange(4), np.ones(4)]), np.arange(5)[:, None]):
        som = SelfOrganisingMap(3, 4, epochs=2).fit(to_namespace(xp, rows.astype(np.float32)))
        assert np.isfinite(to_host(som.weights_)).all()
        assert to_host(som.labels_).shape == (len(rows),)
    assert SelfOrganisingMap(1, 1, epochs=1).fit([[1.0, 2.0], [3.0, 4.0]]).weights_.tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:, 0], "at least one row and one column"),
        (lambda rows: rows[:0], "at least one row"),
        (lambda rows: np.full_like(rows, np.nan), "row 0: expected a value in each row, found 200 without any"),
        (lambda rows: np.where(np.arange(5) == 3, np.nan, rows), "column 3: expected a value in each column, found 1"),
        (lambda rows: np.where(rows == rows[7, 2], np.inf, rows), "row 7, column 2: expected values up to 1e"),
        (lambda rows: np.where(rows == rows[7, 2], 1e20, rows), "row 7, column 2: expected values up to 1e"),
    ],
    ids=["one axis", "no rows", "nothing", "empty column", "infinite", "huge"],
)
def test_unusable_rows_raise_an_error(xp, rows, change, message):
    with pytest.raises(DataError, match=message):
        SelfOrganisingMap(3, 3).fit(to_namespace(xp, change(rows)))


def test_value_beyond_float32_is_shown_as_it_was_given(rows):
    """The cast made it infinite, with a warning of numpy's."""
    with pytest.raises(DataError, match=r"row 7, column 2: .* found 1e\+300"):
        SelfOrganisingMap(3, 3).fit(np.where(rows == rows[7, 2], 1e300, rows.astype(np.float64)))


@pytest.mark.parametrize(
    "options",
    [{"epochs": 0}, {"training": "x"}, {"metric": "l0"}, {"start": "middle"}, {"decay": "none"}, {"radius": (1, 2)},
     {"neighbourhood": "cube"}, {"topology": "sphere"}, {"lattice": "cubic"}],
    ids=str,
)  # fmt: skip
def test_parameters_out_of_range_raise_an_error(rows, options):
    with pytest.raises(UsageError, match="expected"):
        SelfOrganisingMap(3, 3, **options).fit(rows)


def test_weights_to_start_from_must_fit_the_map(rows):
    with pytest.raises(DataError, match="9 x 5 weights"):
        SelfOrganisingMap(3, 3, start=np.zeros((9, 4))).fit(rows)
    with pytest.raises(DataError, match="finite"):
        SelfOrganisingMap(3, 3, start=np.full((9, 5), np.nan)).fit(rows)


def test_an_untrained_map_or_other_columns_raise_an_error(rows):
    som = SelfOrganisingMap(3, 3)
    with pytest.raises(UsageError, match="trained map"):
        som.predict(rows)
    som.fit(rows)
    with pytest.raises(DataError, match="5 columns, as the map has, found 4"):
        som.predict(rows[:, :4])


def test_a_map_larger_than_memory_is_refused(rows, monkeypatch):
    with pytest.raises(ResourceError, match="a map of 40,000 x 40,000 units"):
        SelfOrganisingMap(40_000, 40_000).fit(rows)
    monkeypatch.setattr(memory, "memory_budget", lambda: 1 << 18)
    with pytest.raises(ResourceError, match="a map of 100 x 100 units and 200 rows"):
        SelfOrganisingMap(100, 100).fit(rows)


def test_scikit_learn_clones_it_and_puts_it_in_pipelines(rows):
    sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not needed to run gpuasm")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    som = SelfOrganisingMap(3, 4, epochs=2, start="linear")
    twin = sklearn.base.clone(som)
    assert twin is not som
    assert twin.get_params() == som.get_params()
    pipeline = make_pipeline(StandardScaler(), som)
    units = pipeline.fit_predict(rows)
    assert np.array_equal(pipeline.predict(rows), units)
    assert pipeline.transform(rows).shape == (200, 2)
    pipeline.set_params(selforganisingmap__epochs=1)
    assert som.epochs == 1
    assert "epochs=1" in repr(som)
    with pytest.raises(UsageError, match="parameter"):
        som.set_params(colour="red")


@pytest.mark.parametrize("scale", [1e-25, 1e-200])
def test_values_too_small_for_distances_are_refused(scale):
    rows = np.random.default_rng(1).normal(size=(60, 4)) * scale
    with pytest.raises(DataError, match="1e-15 or more"):
        SelfOrganisingMap(3, 4, epochs=2).fit(rows)
    whole = SelfOrganisingMap(3, 4, epochs=2, normalise="zscore").fit(rows / scale)
    assert np.array_equal(whole.labels_, SelfOrganisingMap(3, 4, epochs=2, normalise="zscore").fit(rows).labels_)
