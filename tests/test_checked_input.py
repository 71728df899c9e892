"""Public functions check what they are given, as the commands do."""

from __future__ import annotations

import numpy as np
import pytest

import gpuasm
from gpuasm import clustering, densest, geolocation, ranking, samples
from gpuasm.checks import array_of, real, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from gpuasm.graph.values import scaled_rows

NAN = np.nan
PLACES = np.array([[NAN, NAN], [1.0, 1.0], [2.0, 2.0]])
NO_NUMBERS = ["x", None, NAN, np.inf, 10**30, -1, 1.5, True, [1]]
NO_WEIGHTS = [np.ones(2), np.array([1, NAN, 1]), np.array([1.0, -1, 1]), np.array([1, np.inf, 1]), np.ones((3, 1)),
              np.array(["a", "b", "c"]), [1, 1, 1], "x"]  # fmt: skip
NO_PLACES = [
    [[NAN] * 2, [100, 1], [2, 2.0]], [[NAN] * 2, [np.inf, 1], [2, 2.0]], [[NAN] * 2, [1, 181], [2, 2.0]],
    [[NAN] * 2, [10, 1.0]], [[NAN] * 2, [10, 1], [2, 2], [3, 3.0]], [[NAN, 1], [1, 1], [2, 2]], [[1, 1, 1]] * 3,
]  # fmt: skip


def ring() -> DirectedGraph:
    return from_edges([0, 1, 2], [1, 2, 0])


@pytest.mark.parametrize("places", NO_PLACES)
def test_places_belong_to_the_graph_and_lie_on_earth(places):
    for method in (gpuasm.locate, gpuasm.gunrock_locations):
        with pytest.raises(DataError):
            method(ring(), np.array(places))
    with pytest.raises(DataError):
        gpuasm.hold_out(ring(), np.array(places), lambda p: (p, np.zeros(3)), share=0.5)


@pytest.mark.parametrize("weights", NO_WEIGHTS)
def test_weights_belong_to_the_edges(weights):
    for method in (ranking.power_iteration, ranking.random_walks):
        with pytest.raises(DataError):
            method(ring(), weights=weights)
        with pytest.raises(DataError):
            method(ring(), teleport=weights)
    with pytest.raises(DataError):
        gpuasm.locate(ring(), PLACES, weights=weights)
    with pytest.raises(DataError):
        densest.densest_block(ring(), (1, 1), weights=weights)
    with pytest.raises(DataError):
        gpuasm.spherical_median(np.array([[1, 1], [3, 3], [2, 2.0]]), weights)


@pytest.mark.parametrize(
    ("offsets", "columns"),
    [([0, 1], [5]), ([0, 2], [0]), ([1, 1], [0]), ([0, 2, 1], [0]), ([0.0, 1], [0]), ([0, 1], [0.5]), ([0, 1], [-1]),
     ([], []), ([[0, 1]], [0])],
)  # fmt: skip
def test_a_graph_of_other_rows_is_refused(offsets, columns):
    with pytest.raises(DataError):
        DirectedGraph(np.array(offsets), np.array(columns))


@pytest.mark.parametrize(
    ("edges", "start"),
    [([0, 1, 9], [0, 3]), ([0, 1], [0, 2]), ([0, 0, 1], [0, 3]), ([0.0, 1, 2], [0, 3]), ([0, 1, 2], []),
     ([0, 1, 2], [1, 3]), ([0, 1, 2], [0, 2, 1, 3])],
)  # fmt: skip
def test_a_tour_of_another_shape_is_none(edges, start):
    with pytest.raises(DataError):
        gpuasm.check_tour(ring(), gpuasm.EulerTour(np.array(edges), np.array(start)))


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    "call",
    [
        lambda v: ranking.power_iteration(ring(), max_iterations=v),
        lambda v: ranking.random_walks(ring(), coupons=v),
        lambda v: ranking.work_by_coupon(ring(), n_threads=v),
        lambda v: geolocation.LocatingOptions(min_neighbours=v),
        lambda v: gpuasm.gunrock_locations(ring(), PLACES, spatial_iterations=v),
        lambda v: densest.densest_subgraph(undirected_graph(ring()), v),
        lambda v: densest.densest_block(ring(), (v, 1)),
        lambda v: densest.peel(undirected_graph(ring()), rounds=v),
        lambda v: densest.power_support(densest.Adjacency(undirected_graph(ring())), v),
        lambda v: densest.SearchOptions(rank=v),
        lambda v: gpuasm.SketchKind.bottom(21, v),
        lambda v: gpuasm.SketchKind.scaled(v, 10),
        lambda v: gpuasm.GraphOptions(neighbours=v),
        lambda v: gpuasm.de_bruijn_graph(2, v),
        lambda v: gpuasm.deep_eulerian(v, 2),
        gpuasm.rmat,
        lambda v: gpuasm.random_regular(v, 2),
        lambda v: gpuasm.random_eulerian(4, v),
        lambda v: gpuasm.simulate_molecule("a", v),
        lambda v: gpuasm.ReadSimulation([[gpuasm.simulate_molecule("a", 900)]], gpuasm.ReadOptions(1.0, length=v)),
        lambda v: gpuasm.tally_kmers(gpuasm.Reads.from_strings(["ACGT" * 20]), v),
        lambda v: clustering.SelfOrganisingMap(3, 3, epochs=v).fit(np.eye(9)),
    ],
)
def test_numbers_are_checked(call, value):
    with pytest.raises((UsageError, DataError)):
        call(value)


@pytest.mark.parametrize("value", ["x", -1, 0, 1.5, True])
def test_threads_are_checked(value):
    with pytest.raises(UsageError):
        gpuasm.set_threads(value)


@pytest.mark.parametrize(
    "distance",
    [np.zeros((2, 3)), np.zeros(3), np.array([["a", "b"]] * 2), [[0, 1], [1, 0]], np.array([[0, NAN], [NAN, 0]]),
     np.array([[0, -1], [-1, 0.0]]), np.array([[0, 1], [2, 0.0]]), None],
)  # fmt: skip
def test_distances_are_symmetric(distance):
    for call in (
        lambda: samples.neighbour_joining(distance, ["x", "y"]),
        lambda: samples.clusters(distance, 0.5),
        lambda: samples.neighbour_graph(distance, np.ones(2), gpuasm.GraphOptions()),
    ):
        with pytest.raises(DataError):
            call()


def test_units_belong_to_the_map():
    with pytest.raises(DataError, match="units from 0 to 3"):
        clustering.label_units(np.array([0, 4]), ["x", "y"], 4)


def test_arrays_of_an_undirected_graph_fit():
    graph = undirected_graph(ring())
    with pytest.raises(DataError):
        UndirectedGraph(graph.row_offsets, graph.columns, weights=np.ones(2))


def test_the_checks_themselves():
    assert whole(np.int64(3), "n") == 3
    assert real(np.float32(0.5), "x") == 0.5
    assert array_of(np.ones((2, 1)), "rows", "iuf", (None, 1)).shape == (2, 1)
    with pytest.raises(UsageError, match="n: a whole number from 1 to 2"):
        whole(3, "n", least=1, most=2)


def test_rows_are_scaled_without_rounding():
    values = np.array([3e200, 1e200, 5e-324, 0.0, 7.0])
    scaled = scaled_rows(np.array([0, 2, 2, 4, 5]), values)
    assert scaled[0] / scaled[1] == 3.0
    assert scaled[2] == 0.5
    assert scaled[3] == 0.0
    usual = np.array([1.0, 1e50, 0.0])
    assert scaled_rows(np.array([0, 3]), usual) is usual
