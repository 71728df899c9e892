"""Gunrock's geolocation: its sample, a plain implementation, and invariances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.geolocation import gunrock_locations
from gpuasm.graph.building import from_edges
from gpuasm.io.graphs import read_graph
from tests.oracles import geolocation as oracle

SAMPLE = Path(__file__).parent / "gunrock"
REFERENCE = {
    0: (37.744907, -122.009430), 1: (37.866806, -122.257973), 2: (9.427616, -110.640709), 3: (37.869114, -122.259109),
    35: (37.864429, -122.199409), 36: (37.807079, -122.134163), 37: (37.053719, -115.913628),
    38: (9.427616, -110.640709),
}  # fmt: skip


def sample_places() -> np.ndarray:
    places = np.full((39, 2), np.nan)
    for line in (SAMPLE / "locations.labels").read_text().splitlines()[2:]:
        vertex, *place = line.split()
        places[int(vertex)] = [float(x) for x in place]
    return places


def mutual(source, target, n):
    return from_edges(np.concatenate([source, target]), np.concatenate([target, source]), n)


def random_case(rng, n=400, m=700, share=0.3):
    source, target = rng.integers(0, n - 3, (2, m))  # the last vertices have no edges
    places = np.stack([rng.uniform(-85, 85, n), rng.uniform(-180, 180, n)], axis=1)
    places[rng.random(n) >= share] = np.nan
    return mutual(source, target, n), places


def as_list(places):
    return [None if np.isnan(p).any() else tuple(p) for p in places.tolist()]


def close(found, expected):
    apart = np.abs(np.array(found) - np.array(expected))
    return max(apart[0], min(apart[1], abs(apart[1] - 360))) < 1e-7


def test_the_published_sample(xp):
    graph = read_graph(SAMPLE / "geolocation.mtx").moved_to(xp)
    places, rounds = gunrock_locations(graph, arrays.to_namespace(xp, sample_places()), iterations=2)
    places = arrays.to_host(places)
    for vertex, expected in REFERENCE.items():
        assert places[vertex] == pytest.approx(expected, abs=1e-4), vertex
    assert arrays.to_host(rounds).max() <= 2
    assert not np.isnan(places).any()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("iterations", [1, 3])
def test_places_match_the_plain_rules(xp, rng, share, iterations):
    graph, places = random_case(rng, share=share)
    near = [graph.columns[graph.row_offsets[v] : graph.row_offsets[v + 1]].tolist() for v in range(len(graph))]
    expected = oracle.gunrock(near, as_list(places), iterations)
    found, rounds = gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places), iterations=iterations)
    found, rounds = arrays.to_host(found), arrays.to_host(rounds)
    for v, place in enumerate(expected):
        assert np.isnan(found[v]).all() if place is None else close(found[v], place), v
        assert (rounds[v] == -1) == (place is None)


@pytest.mark.parametrize("length", [3, 7, 8, 16, 17, 64, 65, 128, 129, 512, 513, 2048, 2049, 5000])
def test_rows_of_every_length(xp, rng, length):
    places = np.stack([rng.uniform(20, 60, 500), rng.uniform(-40, 40, 500)], axis=1)
    places[0] = np.nan
    places[1:100:3] = np.nan
    columns = rng.integers(1, 500, length)
    graph = from_edges(np.zeros(length, np.int64), columns, 500)
    found, _ = gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places), iterations=1)
    near = [tuple(p) for p in places[columns].tolist() if p[0] == p[0]]
    expected = near[0] if len(near) == 1 else oracle.midpoint(*near) if len(near) == 2 else oracle.gunrock_median(near)
    assert close(arrays.to_host(found)[0], expected)


@pytest.mark.parametrize("length", [2, 10, 100, 300, 3000])
def test_few_neighbours_with_a_location_in_a_long_row(xp, length):
    places = np.full((length + 1, 2), np.nan)
    places[length] = 10.0, 170.0
    graph = from_edges(np.zeros(length, np.int64), np.arange(length) + 1, length + 1).moved_to(xp)
    found, _ = gunrock_locations(graph, arrays.to_namespace(xp, places))
    assert arrays.to_host(found)[0].tolist() == [10.0, 170.0]
    places[1] = -20.0, -160.0
    found, _ = gunrock_locations(graph, arrays.to_namespace(xp, places))
    assert close(arrays.to_host(found)[0], oracle.midpoint((-20.0, -160.0), (10.0, 170.0)))
    assert abs(arrays.to_host(found)[0, 1]) <= 180


def test_all_neighbours_at_one_place(xp):
    places = np.array([[np.nan, np.nan], [12.5, 7.25], [12.5, 7.25], [12.5, 7.25]])
    graph = from_edges(np.zeros(3, np.int64), np.arange(1, 4), 4)
    found, _ = gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places))
    assert arrays.to_host(found)[0].tolist() == [12.5, 7.25]


def test_the_mean_on_a_neighbour(xp):
    """One of the points is where the iteration begins: it pulls back with its own weight."""
    near = [(10.0, 10.0), (0.0, 0.0), (20.0, 20.0), (0.0, 20.0), (20.0, 0.0), (10.0, 10.0)]
    places = np.array([(np.nan, np.nan), *near])
    graph = from_edges(np.zeros(6, np.int64), np.arange(1, 7), 7)
    found, _ = gunrock_locations(graph.moved_to(xp), arrays.to_namespace(xp, places))
    assert close(arrays.to_host(found)[0], oracle.gunrock_median(near))


def test_rounds_see_the_round_before_only():
    """On a line, a location reaches one vertex further in each round."""
    n = 50
    graph = mutual(np.arange(n - 1), np.arange(1, n), n)
    places = np.full((n, 2), np.nan)
    places[0] = 1, 2
    _, rounds = gunrock_locations(graph, places, iterations=10)
    assert rounds.tolist() == [*range(11), *[-1] * 39]
    found, rounds = gunrock_locations(graph, places, iterations=None)
    assert rounds.tolist() == list(range(n))
    assert (found == [1, 2]).all()


def test_no_locations_and_no_edges():
    graph = mutual(np.array([0]), np.array([1]), 4)
    found, rounds = gunrock_locations(graph, np.full((4, 2), np.nan), iterations=None)
    assert np.isnan(found).all()
    assert (rounds == -1).all()
    found, rounds = gunrock_locations(from_edges([], [], 0), np.empty((0, 2)))
    assert found.shape == (0, 2)
    assert rounds.size == 0


def test_the_input_stays_as_it_was(rng):
    graph, places = random_case(rng)
    before = places.tobytes()
    gunrock_locations(graph, places)
    assert places.tobytes() == before


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_does_not_matter():
    graph, places = random_case(np.random.default_rng(7), n=4000, m=9000)
    found, _ = gunrock_locations(graph, places, iterations=None)
    assert found.tobytes() == _expected_bytes()


def _expected_bytes(kept=[]):  # noqa: B006 - kept between the two calls of the test
    if not kept:
        graph, places = random_case(np.random.default_rng(7), n=4000, m=9000)
        kept.append(gunrock_locations(graph, places, iterations=None)[0].tobytes())
    return kept[0]
