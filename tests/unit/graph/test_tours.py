"""The check of tours finds every fault; tours can be rotated, moved and converted to vertices."""

from __future__ import annotations

import itertools
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import DataError, UsageError
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.generators import de_bruijn_graph
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.graph.tours import EulerTour, check_tour
from tests.euler_graphs import pairs_of, walks_of
from tests.oracles.euler import faults
from tests.strategies import eulerian_graphs

TWO_TRIANGLES = from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], 6)
EIGHT = from_edges([0, 0, 1, 2], [1, 2, 0, 0], 3)


def tour(edges: list[int], *start: int) -> EulerTour:
    return EulerTour(np.array(edges, np.int32), np.array(start))


def test_a_valid_tour_is_accepted(xp: ModuleType) -> None:
    right = tour([2, 0, 1, 3, 4, 5], 0, 3, 6).moved_to(xp)
    check_tour(TWO_TRIANGLES.moved_to(xp), right)
    assert right.n == 2
    check_tour(from_edges([], [], 0), tour([], 0))


@pytest.mark.parametrize(
    ("edges", "start", "reason"),
    [
        ([0, 1, 2, 3, 4], (0, 3, 5), "6 edges"),
        ([0, 1, 2, 3, 4, 5], (0, 3, 3, 6), "at least one edge"),
        ([0, 1, 2, 3, 4, 5], (0, 3), "at least one edge"),
        ([0, 1, 2, 3, 4, 6], (0, 3, 6), "edges from 0 to 5"),
        ([0, 1, -1, 3, 4, 5], (0, 3, 6), "edges from 0 to 5"),
        ([0, 1, 2, 3, 4, 3], (0, 3, 6), "each edge once"),
        ([0, 2, 1, 3, 4, 5], (0, 3, 6), "follow each other"),
        ([0, 1, 2, 3, 4, 5], (0, 6), "follow each other"),
        ([0, 1, 2, 3, 4, 5], (0, 2, 6), "follow each other"),
    ],
)
def test_faults_are_found(edges: list[int], start: tuple[int, ...], reason: str, xp: ModuleType) -> None:
    with pytest.raises(DataError, match=reason):
        check_tour(TWO_TRIANGLES.moved_to(xp), tour(edges, *start).moved_to(xp))


def test_place_of_the_fault_is_named() -> None:
    with pytest.raises(DataError, match="edge 5 of the tour"):
        check_tour(TWO_TRIANGLES, tour([0, 1, 2, 3, 5, 4], 0, 3, 6))


def test_circuits_that_share_a_vertex_are_refused() -> None:
    with pytest.raises(DataError, match="share a vertex"):
        check_tour(EIGHT, tour([0, 2, 1, 3], 0, 2, 4))
    check_tour(EIGHT, tour([0, 2, 1, 3], 0, 4))


def test_open_walks() -> None:
    path = from_edges([0, 1, 2], [1, 2, 0], 3)
    broken = from_edges([0, 1], [1, 2], 3)
    check_tour(broken, tour([0, 1], 0, 2), path=True)
    check_tour(path, tour([0, 1, 2], 0, 3), path=True)
    with pytest.raises(DataError, match="closed walks, found 1 open"):
        check_tour(broken, tour([0, 1], 0, 2))
    with pytest.raises(DataError, match="at most one open walk, found 2 open"):
        check_tour(broken, tour([0, 1], 0, 1, 2), path=True)


@given(graph=eulerian_graphs(), data=st.data())
def test_the_check_agrees_with_the_oracle(graph: DirectedGraph, data: st.DataObject) -> None:
    right = hierholzer(graph)
    edges = right.edges.copy()
    if edges.size:
        place = st.integers(0, edges.size - 1)
        for a, b in data.draw(st.lists(st.tuples(place, place), max_size=2)):
            edges[a], edges[b] = edges[b], edges[a]
    changed = EulerTour(edges, right.start)
    if faults(pairs_of(graph), walks_of(changed)):
        with pytest.raises(DataError):
            check_tour(graph, changed)
    else:
        check_tour(graph, changed)


@given(graph=eulerian_graphs())
def test_vertices(graph: DirectedGraph) -> None:
    found, pairs = hierholzer(graph), pairs_of(graph)
    expected = [[pairs[walk[0]][0], *(pairs[edge][1] for edge in walk)] for walk in walks_of(found)]
    assert found.vertices(graph).tolist() == list(itertools.chain(*expected))


def test_vertices_of_a_tour_on_any_device(xp: ModuleType) -> None:
    right = tour([2, 0, 1, 3, 4, 5], 0, 3, 6)
    vertices = right.moved_to(xp).vertices(TWO_TRIANGLES.moved_to(xp))
    assert vertices.tolist() == [2, 0, 1, 2, 3, 4, 5, 3]


def test_starting_at(xp: ModuleType) -> None:
    graph = TWO_TRIANGLES.moved_to(xp)
    turned = tour([0, 1, 2, 3, 4, 5], 0, 3, 6).moved_to(xp).starting_at(graph, 4)
    check_tour(graph, turned)
    assert turned.edges.tolist() == [0, 1, 2, 4, 5, 3]
    named = de_bruijn_graph("01", 4)
    assert hierholzer(named).starting_at(named, "101").vertices(named)[0] == 5


def test_starting_where_no_circuit_can() -> None:
    path = from_edges([0, 1], [1, 2], 3)
    walk = tour([0, 1], 0, 2)
    assert walk.starting_at(path, 0).edges.tolist() == [0, 1]
    with pytest.raises(DataError, match="found a path"):
        walk.starting_at(path, 1)
    with pytest.raises(DataError, match="an edge out of 2"):
        walk.starting_at(path, 2)
    with pytest.raises(UsageError, match="a vertex"):
        walk.starting_at(path, 7)
