"""Rounds of medians: weights, nearest neighbours, least numbers of neighbours, radii, changes and hold-out."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gpuasm import arrays
from gpuasm.errors import DataError, UsageError
from gpuasm.geolocation import LocatingOptions, gunrock_locations, hold_out, locate
from gpuasm.graph import DirectedGraph
from gpuasm.graph.building import from_edges
from gpuasm.graph.undirected_graph import undirected_graph
from tests.oracles import geolocation as oracle
from tests.unit.geolocation.test_gunrock import mutual, random_case

KM = 6371.0


def star(near, **options):
    """Return the locations of a graph whose vertex 0 leads to places, in the order given."""
    places = np.array([(np.nan, np.nan), *near])
    graph = from_edges(np.zeros(len(near), np.int64), np.arange(1, len(near) + 1), len(places))
    weights = options.pop("weights", None)
    return locate(graph, places, LocatingOptions(**options), weights=weights)


def same(one, other):
    return all(
        arrays.to_host(getattr(one, name)).tobytes() == arrays.to_host(getattr(other, name)).tobytes()
        for name in ("units", "rounds", "radius_km")
    )


def test_rounds_give_the_medians_of_the_slow_search(xp, rng):
    graph, places = random_case(rng, n=120, m=260, share=0.5)
    found = locate(graph.moved_to(xp), arrays.to_namespace(xp, places), LocatingOptions(iterations=2)).moved_to(np)
    for number in (1, 2):
        located = (found.rounds >= 0) & (found.rounds < number)
        for v in np.flatnonzero(found.rounds == number):
            near = graph.columns[graph.row_offsets[v] : graph.row_offsets[v + 1]]
            points = found.units[near[located[near]]]
            expected = oracle.median(points, np.ones(len(points)), n_starts=4)
            sums = [oracle.arcs(points, place).sum() for place in (found.units[v], expected)]
            assert sums[0] <= sums[1] + 1e-9
    waiting = np.flatnonzero(found.rounds == -1)
    located = (found.rounds >= 0) & (found.rounds < 2)
    assert not any(located[graph.columns[graph.row_offsets[v] : graph.row_offsets[v + 1]]].any() for v in waiting)


def test_weights_attract_and_weight_zero_is_no_edge():
    near = [(0.0, 0.0), (0.0, 10.0), (10.0, 0.0), (80.0, 80.0)]
    found = star(near, weights=np.array([9.0, 1.0, 1.0, 0.0]))
    assert found.places[0] == pytest.approx((0, 0), abs=1e-9)
    assert star(near[3:], weights=np.array([0.0])).rounds[0] == -1


def test_the_nearest_neighbours_with_a_place_count():
    near = [(0.0, 0.0), (np.nan, np.nan), (0.0, 10.0), (50.0, 50.0), (60.0, 50.0)]
    weights = np.array([0.8, 1.0, 0.8, 0.2, 0.1])
    assert star(near, nearest=2, weights=weights).places[0] == pytest.approx((0, 5), abs=1e-9)
    assert star(near, nearest=1, weights=weights).places[0] == pytest.approx((0, 0), abs=1e-9)
    with pytest.raises(UsageError, match="weights"):
        star(near, nearest=2)


def test_a_vertex_with_few_located_neighbours_stays_unknown():
    near = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    assert star(near, min_neighbours=3).rounds[0] == 1
    assert star(near[:2], min_neighbours=3).rounds[0] == -1
    assert star(near, max_radius_km=200).rounds[0] == 1
    assert star(near, max_radius_km=20).rounds[0] == -1
    assert star(near[:1]).rounds[0] == 1
    assert star(near[:1], max_radius_km=20).rounds[0] == -1  # of one neighbour nobody knows how far it may be off


def test_radii_hold_their_share_of_the_neighbours():
    near = [(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (0.0, 40.0)]
    degree = KM * np.pi / 180
    found = star(near)
    assert found.places[0] == pytest.approx((0, 2), abs=1e-9)
    assert found.radius_km[0] == pytest.approx(degree)  # distances 0 1 1 2 38: six fifths of a half is the third
    assert star(near, share=0.7).radius_km[0] == pytest.approx(38 * degree)
    assert np.isnan(star(near[:1]).radius_km[0])
    assert star(near).radius_km[1:].tolist() == [0.0] * 5


def test_radii_add_up_along_a_chain():
    graph = from_edges([0, 0, 1], [2, 3, 0], 4)  # 1 looks at 0, which looks at 2 and 3
    places = np.array([[np.nan, np.nan], [np.nan, np.nan], [0.0, 0.0], [0.0, 2.0]])
    found = locate(graph, places)
    assert found.rounds.tolist() == [1, 2, 0, 0]
    assert found.radius_km[1] == found.radius_km[0] == pytest.approx(KM * np.pi / 180)


def test_iterations_and_completion():
    n = 30
    graph = mutual(np.arange(n - 1), np.arange(1, n), n)
    places = np.full((n, 2), np.nan)
    places[0] = 1, 2
    assert locate(graph, places, LocatingOptions(iterations=4)).rounds.tolist() == [0, 1, 2, 3, 4, *[-1] * 25]
    assert locate(graph, places, LocatingOptions(iterations=None)).rounds.tolist() == list(range(n))


def test_no_vertex_is_located_without_places_or_edges():
    graph = mutual(np.array([0]), np.array([1]), 3)
    assert (locate(graph, np.full((3, 2), np.nan), LocatingOptions(iterations=None)).rounds == -1).all()
    places = np.array([[1.0, 2.0], [np.nan, np.nan], [np.nan, np.nan]])
    assert locate(graph, places).rounds.tolist() == [0, 1, -1]
    assert locate(from_edges([], [], 0), np.empty((0, 2))).places.shape == (0, 2)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    iterations=st.sampled_from([None, 1, 3]),
    min_neighbours=st.integers(1, 3),
    max_radius_km=st.sampled_from([None, 2000.0]),
    nearest=st.sampled_from([None, 2]),
)
def test_updates_equal_a_full_computation(seed, **options):
    rng = np.random.default_rng(seed)
    n, m = 80, int(rng.integers(30, 160))
    ends, weight = rng.integers(0, n, (2, m)), rng.integers(1, 9, m).astype(float)
    places = np.stack([rng.uniform(30, 50, n), rng.uniform(-20, 180, n)], axis=1)
    places[rng.random(n) > 0.2] = np.nan
    options = LocatingOptions(**options)

    def graph_of(ends, weight):
        rows, columns = np.concatenate([ends, ends[::-1]], axis=1)
        order = np.argsort(rows, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        return DirectedGraph(offsets, columns[order]), np.concatenate([weight, weight])[order]

    graph, weights = graph_of(ends, weight)
    before = locate(graph, places, options, weights=weights)
    lost, found = int(rng.integers(0, 3)), rng.integers(0, n, (2, int(rng.integers(0, 5))))
    touched = np.concatenate([ends[:, :lost].ravel(), found.ravel()])
    ends = np.concatenate([ends[:, lost:], found], axis=1)
    weight = np.concatenate([weight[lost:], rng.integers(1, 9, found.shape[1]).astype(float)])
    if rng.random() < 0.5:
        places = places.copy()
        places[rng.integers(0, n, 3)] = [[40, 2], [np.nan, np.nan], [33, 4]]
    graph, weights = graph_of(ends, weight)
    anew = locate(graph, places, options, weights=weights)
    changed = locate(graph, places, options, weights=weights, previous=before, touched=touched)
    assert same(anew, changed)


def test_vertices_independent_of_a_change_are_not_processed(monkeypatch, rng):
    from gpuasm.geolocation import locating

    graph, places = random_case(rng, n=2000, m=2500, share=0.4)
    before = locate(graph, places)
    looked_at = []
    real = locating.neighbourhoods
    monkeypatch.setattr(
        locating, "neighbourhoods", lambda *args, **named: looked_at.append(len(args[2])) or real(*args, **named)
    )
    vertex = int(np.flatnonzero(before.rounds == 1)[0])
    locate(graph, places, previous=before, touched=np.array([vertex]))
    assert 0 < sum(looked_at) < 10


def test_previous_locations_must_fit():
    graph = mutual(np.array([0]), np.array([1]), 2)
    places = np.array([[1.0, 2.0], [np.nan, np.nan]])
    before = locate(graph, places)
    with pytest.raises(UsageError, match="options"):
        locate(graph, places, LocatingOptions(iterations=9), previous=before)
    with pytest.raises(UsageError, match="previous locations of 3 vertices"):
        locate(mutual(np.array([0]), np.array([1]), 3), np.full((3, 2), np.nan), previous=before)


@pytest.mark.parametrize(
    "options", [{"iterations": 0}, {"nearest": 0}, {"min_neighbours": 0}, {"share": 0}, {"max_radius_km": -1}], ids=str
)
def test_options_out_of_range(options):
    with pytest.raises(UsageError):
        LocatingOptions(**options)


def clusters(rng, n=300):
    """Return a graph of three groups of vertices, whose edges stay within, weighted, and places near three cities."""
    group = rng.integers(0, 3, n)
    ends = np.array([(a, rng.choice(np.flatnonzero(group == group[a]))) for a in range(n) for _ in range(4)]).T
    ends = ends[:, ends[0] != ends[1]]
    places = np.array([[50.0, 10.0], [-30.0, 140.0], [40.0, -75.0]])[group] + rng.normal(0, 1, (n, 2))
    graph = mutual(*ends, n)
    return graph, places, rng.uniform(0.5, 1, graph.n_edges)


@pytest.mark.parametrize("method", ["spherical", "gunrock"])
def test_hold_out_measures_errors(rng, method):
    graph, places, weights = clusters(rng)

    def infer(left):
        if method == "gunrock":
            return gunrock_locations(graph, left)[0], np.full(len(left), np.nan)
        found = locate(graph, left, weights=weights)
        return found.places, found.radius_km

    result = hold_out(graph, places, infer, share=0.2, seed=3, weights=weights)
    summary = result.summary()
    assert summary["held_out"] == 60
    assert summary["held_out_inferred"] >= 58
    assert summary["median_error_km"] < summary["nearest_neighbour_median_km"] < summary["commonest_place_median_km"]
    again = hold_out(graph, places, infer, share=0.2, seed=3, weights=weights)
    assert np.array_equal(result.vertices, again.vertices)
    assert not np.array_equal(result.vertices, hold_out(graph, places, infer, share=0.2, seed=4).vertices)
    if method == "spherical":
        assert 0.3 < summary["within_radius"] < 0.7


def test_baselines_of_places_held_out():
    places = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 10.0], [0.0, 20.0]])
    graph = from_edges([0, 0, 1, 1, 2, 2, 3, 3], [3, 2, 3, 2, 1, 3, 2, 1], 4)
    weights = np.array([1.0, 2, 1, 2, 1, 2, 1, 2])
    result = hold_out(graph, places, lambda left: (left, np.zeros(4)), share=0.25, seed=1, weights=weights)
    (vertex,) = result.vertices
    rest = [tuple(p) for i, p in enumerate(places.tolist()) if i != vertex]
    commonest = max(rest, key=rest.count)
    assert result.commonest_km[0] == pytest.approx(oracle.haversine(tuple(places[vertex]), commonest), rel=1e-9)
    nearest = {0: 2, 1: 2, 2: 3, 3: 1}[int(vertex)]
    assert result.nearest_km[0] == pytest.approx(oracle.haversine(tuple(places[vertex]), tuple(places[nearest])))
    assert np.isnan(result.error_km[0])
    assert result.summary()["median_error_km"] is None


def test_holding_out_needs_places():
    graph = mutual(np.array([0]), np.array([1]), 2)
    with pytest.raises(DataError, match="two known places"):
        hold_out(graph, np.array([[1.0, 2.0], [np.nan, np.nan]]), lambda left: (left, left[:, 0]), share=0.2)
    with pytest.raises(UsageError, match="share"):
        hold_out(graph, np.zeros((2, 2)), lambda left: (left, left[:, 0]), share=1.0)


def test_weights_of_any_size_have_a_median():
    """Their squares leave the range of numbers, whose quotients once ended the run."""
    weights = np.array([1e-200, 1e160, 2.0, 1e307, 1e300, 5e-324, 1e-300, 1e-300, 1e160, 1e160, 1.0])
    source = [2, 1, 0, 3, 0, 3, 1, 2, 4, 3, 3]
    target = [3, 3, 1, 2, 2, 3, 3, 0, 0, 4, 0]
    merged = undirected_graph(from_edges(source, target), weights)
    places = np.full((5, 2), np.nan)
    places[[1, 2, 4]] = [[10.0000001, 20], [90, 0], [-90, 10]]
    located = locate(DirectedGraph(merged.row_offsets, merged.columns), places, weights=merged.weights)
    assert np.isfinite(located.places).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_only_ratios_of_weights_count(scale):
    graph = from_edges([0, 0, 0], [1, 2, 3], 4)
    places = np.array([[np.nan] * 2, [1, 1], [5, 5], [3, 9.0]])
    weights = np.array([1.0, 2.0, 1.5])
    usual, scaled = (locate(graph, places, weights=w) for w in (weights, weights * scale))
    assert np.allclose(usual.places, scaled.places, atol=1e-9)
    assert np.allclose(usual.radius_km[0], scaled.radius_km[0])
