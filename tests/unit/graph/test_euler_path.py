"""Euler paths by every method."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import DataError
from gpuasm.graph import from_edges
from gpuasm.graph.euler_path import find_euler_path
from gpuasm.graph.finding import find_euler_tour
from gpuasm.graph.generators import deep_eulerian
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.graph.random_graphs import random_eulerian
from gpuasm.graph.tours import check_tour
from tests.euler_graphs import FINDERS, Finder, pairs_of, walks_of
from tests.oracles.euler import faults
from tests.strategies import eulerian_graphs

every_method = pytest.mark.parametrize("find", FINDERS)


@every_method
@given(graph=eulerian_graphs(), data=st.data())
def test_a_circuit_without_an_edge(find: Finder, graph, data: st.DataObject) -> None:
    pairs = pairs_of(graph)
    if pairs:
        pairs.pop(data.draw(st.integers(0, len(pairs) - 1)))
    cut = from_edges([a for a, _ in pairs], [b for _, b in pairs], graph.n_vertices)
    check = cut.euler_check()
    tour = find_euler_path(cut, find)
    check_tour(cut, tour, path=True)
    assert faults(pairs_of(cut), walks_of(tour), open_walks=int(check.has_path)) == []
    if check.has_path:
        vertices, start = tour.vertices(cut).tolist(), tour.start.tolist()
        ends = {(vertices[a + i], vertices[b + i]) for i, (a, b) in enumerate(itertools.pairwise(start))}
        assert (check.start, check.end) in ends


@every_method
@pytest.mark.parametrize("seed", range(5))
def test_large_graphs(find: Finder, seed: int) -> None:
    for graph in (
        deep_eulerian(3000, 4, path=True, seed=seed),
        random_eulerian(2000, 10_000, components=3, path=True, seed=seed),
    ):
        tour = find_euler_path(graph, find)
        check_tour(graph, tour, path=True)
        assert faults(pairs_of(graph), walks_of(tour), open_walks=1) == []


def test_the_least_path() -> None:
    for find in (hierholzer, lambda graph: find_euler_tour(graph, method="parallel")):
        tour = find_euler_path(from_edges([1], [0], 2), find)
        assert (tour.edges.tolist(), tour.start.tolist()) == ([0], [0, 1])


def test_hierholzer_finds_paths() -> None:
    graph = from_edges([3, 0, 1, 2], [0, 1, 2, 0], 4)
    assert hierholzer(graph, path=True).vertices(graph).tolist() == [3, 0, 1, 2, 0]
    with pytest.raises(DataError, match=r"ask for a path \(from 3\)"):
        hierholzer(graph)


@pytest.mark.parametrize("method", ["parallel", "hierholzer"])
@pytest.mark.parametrize(
    "edges",
    [[(0, 1), (2, 3)], [(0, 1), (0, 1)], [(0, 1), (1, 2), (1, 2)], [(0, 1), (0, 2), (0, 3)]],
    ids=["two paths", "twice", "three", "fan"],
)
def test_no_path(edges: list[tuple[int, int]], method: str) -> None:
    graph = from_edges([a for a, _ in edges], [b for _, b in edges], 4)
    with pytest.raises(DataError, match=r"an Euler path or circuits, found [234] unbalanced vertices"):
        find_euler_tour(graph, method=method, path=True)
