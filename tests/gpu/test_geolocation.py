"""Geolocation on a device against the same on the CPU, byte for byte."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.errors import DataError
from gpuasm.geolocation import LocatingOptions, gunrock_locations, locate
from gpuasm.geolocation.spread import radii_of_rounds
from tests.unit.geolocation.test_gunrock import mutual
from tests.unit.geolocation.test_locating import same

pytestmark = pytest.mark.gpu


def skewed_case(n=60_000, m=200_000, share=0.5):
    rng = np.random.default_rng(4)
    source, target = (np.minimum(n * rng.random((2, m)) ** 2.5, n - 1)).astype(np.int64)
    places = np.stack([rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)], axis=1)
    places[rng.random(n) >= share] = places[:4] = np.nan
    return mutual(source, target, n), places


def both(function):
    return [function(arrays.namespace_of(name)) for name in ("cpu", "cuda", "cuda")]


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_gunrock_rounds_are_the_same(share):
    graph, places = skewed_case(share=share)
    assert int(graph.out_degree.max()) > 4000

    def run(xp):
        found = gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places), iterations=10)
        return [arrays.to_host(part).tobytes() for part in found]

    host, device, again = both(run)
    assert host == device == again


@pytest.mark.parametrize("options", [{}, {"nearest": 5, "min_neighbours": 2, "max_radius_km": 3000.0}], ids=str)
def test_medians_are_the_same(options):
    graph, places = skewed_case(n=20_000, m=60_000)
    weights = np.random.default_rng(5).random(graph.n_edges)

    def run(xp):
        chosen, given = LocatingOptions(**options), arrays.to_namespace(xp, weights)
        return locate(graph.moved_to(xp), arrays.to_namespace(xp, places), chosen, weights=given).moved_to(np)

    host, device, again = both(run)
    assert same(host, device)
    assert same(device, again)


@pytest.mark.parametrize("iterations", [40, None])
def test_deep_graphs_are_finished_on_the_host(iterations):
    n = 3000
    graph, places = mutual(np.arange(n - 1), np.arange(1, n), n), np.full((n, 2), np.nan)
    places[0], places[n // 2], places[-1] = (1.0, 170.0), (60.0, -170.0), (-5.0, 0.0)

    def run(xp):
        given, on = arrays.to_namespace(xp, places), graph.moved_to(xp)
        found = gunrock_locations(on, given, iterations=iterations)
        located = locate(on, given, LocatingOptions(iterations=iterations)).moved_to(np)
        radii = radii_of_rounds(on, *found, share=0.5)
        parts = (*found, radii, located.units, located.rounds, located.radius_km)
        return [arrays.to_host(part).tobytes() for part in parts]

    host, device, again = both(run)
    assert host == device == again


def test_places_print_the_same():
    graph, places = skewed_case(n=20_000, m=60_000)

    def run(xp):
        found = locate(graph.moved_to(xp), arrays.to_namespace(xp, places))
        return [f"{lat:.6f} {lon:.6f}" for lat, lon in arrays.to_host(found.places).tolist()]

    host, device, _ = both(run)
    assert host == device


def test_changes_on_a_device():
    graph, places = skewed_case(n=20_000, m=60_000)
    xp = arrays.namespace_of("cuda")
    graph, places = graph.moved_to(xp), arrays.to_namespace(xp, places)
    before = locate(graph, places)
    places = places.copy()
    places[7] = xp.asarray([1.0, 2.0])
    assert same(locate(graph, places, previous=before), locate(graph, places))


@pytest.mark.parametrize("wrong", [(91.0, 0.0), (0.0, -180.5), (np.nan, 5.0), (np.inf, 0.0)], ids=str)
def test_the_first_place_not_on_earth_is_named(wrong):
    graph, places = skewed_case(n=20_000, m=60_000)
    places[15_000], places[19_999] = wrong, (1.0, np.nan)

    def run(xp):
        with pytest.raises(DataError, match="vertex 15000"):
            gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places))
        return True

    assert all(both(run))
