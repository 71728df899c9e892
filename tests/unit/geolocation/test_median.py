"""The median on the sphere: against many searches, and its invariances."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gpuasm import arrays
from gpuasm.errors import DataError
from gpuasm.geolocation import medians_of, spherical_median
from gpuasm.geolocation.sphere_cuda import arcs_between, places_of, units_of
from tests.oracles import geolocation as oracle

METRES = 6_371_000.0


def unit_vectors(rng, n):
    vectors = rng.normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def random_set(rng, kind):
    """Return points and weights: all over the sphere, or around one place with one of several spreads."""
    n = int(np.exp(rng.uniform(np.log(3), np.log(1000)))) if rng.random() < 0.7 else int(rng.integers(3, 20))
    points = unit_vectors(rng, n)
    if kind:
        points = unit_vectors(rng, 1) + [1e-6, 1e-3, 0.05, 0.3, 1.0][kind - 1] * rng.normal(size=(n, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
    if rng.random() < 0.2:
        points = points[rng.integers(0, n, n)]
    return points, np.ones(n) if rng.random() < 0.6 else rng.uniform(0.1, 2, n)


def median(points, weights=None, xp=np):
    points = np.asarray(points, float)
    weights = np.ones(len(points)) if weights is None else np.asarray(weights, float)
    given_ = [arrays.to_namespace(xp, a) for a in (np.array([0, len(points)]), points, weights)]
    return arrays.to_host(medians_of(*given_))[0]


def metres(a, b):
    return float(oracle.arcs(np.atleast_2d(a), np.asarray(b))[0]) * METRES


@pytest.mark.parametrize("kind", range(6))
def test_within_ten_metres_of_many_searches(xp, kind):
    rng = np.random.default_rng(kind)
    for i in range(3):
        points, weights = random_set(rng, kind)
        expected, found = oracle.median(points, weights, n_starts=12, seed=i), median(points, weights, xp)
        sums = [weights @ oracle.arcs(points, place) for place in (found, expected)]
        assert metres(found, expected) < 10 or sums[0] <= sums[1] * (1 + 1e-12)


places = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@settings(max_examples=60)
@given(st.lists(places, min_size=3, max_size=12), st.integers(0, 2**32 - 1))
def test_no_place_near_it_or_far_from_it_is_better(near, seed):
    rng = np.random.default_rng(seed)
    points = oracle.unit(np.array(near))
    found = median(points)
    lowest = oracle.arcs(points, found).sum()
    for size in (1e-6, 1e-3, 0.1, 10.0):
        for other in found + size * unit_vectors(rng, 4):
            assert oracle.arcs(points, other / np.linalg.norm(other)).sum() >= lowest - 1e-9
    assert all(oracle.arcs(points, point).sum() >= lowest - 1e-9 for point in points)


@settings(max_examples=40)
@given(st.integers(3, 200), st.integers(0, 2**32 - 1), st.floats(1e-4, 0.5))
def test_a_rotated_sphere_has_its_median_rotated(n, seed, spread):
    rng = np.random.default_rng(seed)
    points = unit_vectors(rng, 1) + spread * rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    assert metres(median(points @ turn.T), turn @ median(points)) < 0.1


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_the_order_of_neighbours_does_not_matter(n, seed):
    rng = np.random.default_rng(seed)
    points, weights = unit_vectors(rng, n), rng.uniform(0.5, 2, n)
    order = rng.permutation(n)
    assert metres(median(points, weights), median(points[order], weights[order])) < 0.1


def test_across_the_date_line_and_at_the_poles():
    latitude, longitude = spherical_median(np.array([[0.0, 179.0], [0.0, -179.0], [1.0, 180.0], [-1.0, -180.0]]))
    assert abs(latitude) < 1e-9
    assert abs(longitude) == pytest.approx(180)
    ring = np.array([[89.0, 0.0], [89.0, 90.0], [89.0, 180.0], [89.0, -90.0]])
    assert spherical_median(ring)[0] == pytest.approx(90, abs=1e-9)
    assert spherical_median(-ring)[0] == pytest.approx(-90, abs=1e-9)


def test_one_and_two_points():
    assert spherical_median(np.array([[12.0, 34.0]])) == pytest.approx((12, 34), abs=1e-12)
    assert spherical_median(np.array([[0.0, 10.0], [0.0, 20.0]])) == pytest.approx((0, 15), abs=1e-12)
    assert spherical_median(np.array([[0.0, 170.0], [0.0, -170.0]]))[1] == pytest.approx(180, abs=1e-12)
    heavier = spherical_median(np.array([[5.0, 10.0], [7.0, 20.0]]), np.array([1.0, 1.5]))
    assert heavier == pytest.approx((7, 20), abs=1e-12)


def test_a_heavy_point_is_the_median_itself():
    points = oracle.unit(np.array([[10.0, 20.0], [11.0, 20.0], [10.0, 21.0], [9.0, 19.0]]))
    assert np.array_equal(median(points, [5, 1, 1, 1]), points[0])


def test_opposite_points_and_other_ties_have_one_answer():
    opposite = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    assert np.array_equal(median(opposite), median(opposite[::-1]))
    triangle = oracle.unit(np.array([[0.0, 0.0], [0.0, 120.0], [0.0, -120.0]]))
    assert metres(median(triangle), median(triangle[[2, 0, 1]])) < 1e-3
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / np.sqrt(3)
    assert metres(median(corners), median(corners[::-1])) < 1e-3
    assert np.array_equal(median(np.repeat(opposite, 3, axis=0)), median(np.repeat(opposite[::-1], 3, axis=0)))


def test_many_points_at_one_place():
    point = oracle.unit(np.array([[-33.9, 151.2]]))
    assert np.array_equal(median(np.repeat(point, 2000, axis=0)), point[0])


def test_rows_are_apart(xp, rng):
    sets = [random_set(rng, kind) for kind in (0, 1, 2, 3, 4, 5)] + [(unit_vectors(rng, 3000), np.ones(3000))]
    starts = np.concatenate([[0], np.cumsum([len(w) for _, w in sets])])
    together = [np.concatenate(parts) for parts in zip(*sets, strict=True)]
    found = arrays.to_host(medians_of(*(arrays.to_namespace(xp, a) for a in (starts, *together))))
    assert all(np.array_equal(row, median(*one)) for row, one in zip(found, sets, strict=True))


def test_a_median_of_no_points_is_refused():
    with pytest.raises(DataError, match="0 places"):
        spherical_median(np.empty((0, 2)))
    with pytest.raises(DataError, match="above 0"):
        spherical_median(np.zeros((2, 2)), np.array([1.0, 0.0]))


@given(st.lists(places, min_size=1, max_size=50))
def test_units_places_and_arcs_are_those_of_the_mathematical_library(near):
    near = np.array(near)
    units = units_of(near)
    assert np.abs(units - oracle.unit(near)).max() < 1e-15
    again = oracle.unit(places_of(units))
    assert np.abs(again - units).max() < 1e-15
    others = np.roll(units, 1, axis=0)
    cross, dot = np.linalg.norm(np.cross(units, others), axis=1), (units * others).sum(axis=1)
    assert arcs_between(units, others) == pytest.approx(np.arctan2(cross, dot), abs=1e-7, rel=1e-9)


def test_unknown_places_stay_unknown():
    assert np.isnan(units_of(np.array([[np.nan, 1.0], [1.0, np.nan]]))).all()
    assert np.isnan(places_of(np.full((2, 3), np.nan))).all()
