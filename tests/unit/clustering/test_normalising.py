from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from gpuasm.arrays import to_host, to_namespace
from gpuasm.clustering import SelfOrganisingMap
from gpuasm.clustering.normalising import KINDS, fit_normalisation
from gpuasm.errors import DataError, UsageError

# Tiny deviations overflow float32 when large values are divided by them.
FLOATS = st.floats(-1e9, 1e9, width=32).map(lambda value: value if abs(value) > 1e-20 else 0.0)


@pytest.fixture
def rows(rng) -> np.ndarray:
    rows = rng.normal([1000, -3, 0], [0.01, 200, 1], (300, 3))
    rows[::7, 1] = np.nan
    return rows


def test_minmax_maps_the_range_to_0_and_1(xp, rows):
    out = to_host(fit_normalisation(rows, "minmax").apply(to_namespace(xp, rows)))
    assert np.array_equal(np.nanmin(out, axis=0), [0, 0, 0])
    assert np.array_equal(np.nanmax(out, axis=0), [1, 1, 1])
    assert np.array_equal(np.isnan(out), np.isnan(rows))


def test_columns_get_mean_0_and_deviation_1(rows):
    out = fit_normalisation(rows, "zscore").apply(rows)
    assert np.allclose(np.nanmean(out, axis=0), 0, atol=1e-5)
    assert np.allclose(np.nanstd(out, axis=0), 1, atol=1e-5)


def test_outliers_do_not_move_the_robust_scale(rng):
    rows = rng.normal(5, 2, (10_000, 1))
    rows[:500] = 1e6
    out = fit_normalisation(rows, "robust").apply(rows)[500:]
    assert abs(out.mean()) < 0.1
    assert out.std() == pytest.approx(1, rel=0.1)


def test_a_column_that_is_mostly_one_value_is_scaled_by_its_mean_deviation():
    rows = np.array([[0.0]] * 9 + [[10.0]])
    found = fit_normalisation(rows, "robust")
    assert (found.shift[0], found.scale[0]) == (0, pytest.approx(1.2533))


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_become_zeros(kind):
    rows = np.full((50, 2), 0.1)  # the mean of fifty times 0.1 is not 0.1
    found = fit_normalisation(rows, kind)
    assert np.array_equal(found.scale, [1, 1])
    assert np.array_equal(found.apply(rows), np.float32(rows) if kind == "none" else np.zeros((50, 2)))


@given(
    rows=st_numpy.arrays(np.float64, (6, 2), elements=FLOATS),
    kind=st.sampled_from(KINDS),
)
def test_normalisation_is_invertible(rows, kind):
    found = fit_normalisation(rows, kind)
    back = found.undo(found.apply(rows))
    size = np.abs(rows).max(axis=0) + found.scale * np.abs(found.apply(rows)).max(axis=0)
    assert (np.abs(back - rows) <= 1e-6 * size + 1e-30).all()


def test_other_names_are_refused(rows):
    with pytest.raises(UsageError, match="minmax"):
        fit_normalisation(rows, "softmax")


@pytest.mark.parametrize("kind", ["minmax", "zscore", "robust"])
def test_a_map_keeps_its_normalisation(xp, rows, kind):
    som = SelfOrganisingMap(3, 4, epochs=3, normalise=kind).fit(to_namespace(xp, rows))
    by_hand = SelfOrganisingMap(3, 4, epochs=3).fit(fit_normalisation(rows, kind).apply(rows))
    assert np.array_equal(to_host(som.weights_), by_hand.weights_)
    assert np.array_equal(to_host(som.predict(to_namespace(xp, rows[:20]))), by_hand.labels_[:20])
    planes = som.component_planes()  # on the scale of the rows, though 1000 +- 0.01 is coarse in float32
    assert abs(planes[0] - 1000).max() < 0.1
    assert abs(planes[1]).max() > 10


@pytest.mark.parametrize("kind", ["minmax", "zscore", "robust"])
@pytest.mark.parametrize("exponent", [-900, -700, 40])
def test_tiny_and_huge_columns_are_normalised_as_others(kind, exponent):
    column = np.random.default_rng(1).normal(size=(50, 2))
    usual, scaled = (fit_normalisation(x, kind) for x in (column, np.ldexp(column, exponent)))
    assert np.array_equal(np.ldexp(usual.scale, exponent), scaled.scale)
    assert np.array_equal(usual.apply(column), scaled.apply(np.ldexp(column, exponent)))


def test_a_spread_that_is_too_small_is_refused():
    with pytest.raises(DataError, match="1e-290"):
        fit_normalisation(np.array([[0.0], [1e-300]]), "zscore")
