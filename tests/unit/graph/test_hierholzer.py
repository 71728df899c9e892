"""Euler circuits by every method, checked by an independent oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.errors import DataError
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.finding import choose_method, find_euler_tour
from gpuasm.graph.generators import de_bruijn_graph, deep_eulerian, many_circuits, shallow_eulerian
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.graph.random_graphs import random_eulerian, shuffled
from gpuasm.graph.tours import check_tour
from tests.euler_graphs import FINDERS, Finder, one_long_circuit, only_two_cycles, pairs_of, self_loops, star, walks_of
from tests.oracles.euler import faults, n_components
from tests.strategies import eulerian_graphs

every_method = pytest.mark.parametrize("find", FINDERS)


def verify(graph: DirectedGraph, find: Finder, *, n_walks: int | None = None) -> None:
    tour = find(graph)
    check_tour(graph, tour)
    assert faults(pairs_of(graph), walks_of(tour)) == []
    if n_walks is not None:
        assert tour.n == n_walks
    first_edges = tour.edges[tour.start[:-1]]
    assert (np.diff(first_edges) > 0).all()
    assert all(walk[0] == min(walk) for walk in walks_of(tour))


@every_method
@given(graph=eulerian_graphs())
@example(graph=from_edges([], [], 0))
@example(graph=from_edges([], [], 3))
@example(graph=from_edges([0], [0], 1))
def test_closed_walks(find: Finder, graph: DirectedGraph) -> None:
    verify(graph, find, n_walks=n_components(graph.n_vertices, pairs_of(graph)))


@every_method
@given(n=st.integers(5, 2000), m=st.integers(1, 10_000), parts=st.integers(1, 5), seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_random_multigraphs(find: Finder, n: int, m: int, parts: int, seed: int) -> None:
    verify(random_eulerian(n, max(m, parts), components=parts, seed=seed), find, n_walks=parts)


@every_method
@pytest.mark.parametrize("n_letters", range(2, 11))
def test_all_debruijn_graphs(find: Finder, n_letters: int) -> None:
    for order in range(1, 18):
        if n_letters**order <= 20_000:
            verify(de_bruijn_graph(n_letters, order), find, n_walks=1)


@every_method
@pytest.mark.parametrize(
    ("n_letters", "order"),
    [
        (2, 16), (4, 8), (10, 5), pytest.param(2, 19, marks=pytest.mark.thorough),
        pytest.param(4, 9, marks=pytest.mark.thorough), pytest.param(10, 6, marks=pytest.mark.thorough),
    ],
)  # fmt: skip
def test_large_debruijn_graphs(find: Finder, n_letters: int, order: int) -> None:
    verify(de_bruijn_graph(n_letters, order), find, n_walks=1)


@every_method
@pytest.mark.parametrize("numbered_at_random", [False, True], ids=["in order", "shuffled"])
def test_extremes(find: Finder, numbered_at_random: bool, rng: np.random.Generator) -> None:
    graphs = [
        only_two_cycles(5000),
        star(5000),
        self_loops(100, 30),
        one_long_circuit(10_000, rng),
        deep_eulerian(3000, 5),
        shallow_eulerian(2000, 7000),
        many_circuits(4000),
    ]
    for graph in graphs:
        verify(shuffled(graph) if numbered_at_random else graph, find)


def test_hierholzer_starts_with_the_least_edges() -> None:
    graph = from_edges([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], 3)
    assert hierholzer(graph).edges.tolist() == [0, 2, 1, 4, 3, 5]


@pytest.mark.parametrize("method", ["auto", "parallel", "hierholzer"])
def test_unbalanced_vertices_are_named(method: str) -> None:
    names = [f"v{i}" for i in range(9)]
    graph = DirectedGraph(np.array([0, 1, 2, 2, 3, 4, 4, 5, 6, 6]), np.array([1, 2, 4, 5, 7, 8]), names)
    with pytest.raises(DataError, match=r"6 unbalanced vertices: v0 \(0 in, 1 out\), v2 \(1 in, 0 out\)") as info:
        find_euler_tour(graph, method=method)
    assert info.value.exit_code == 65
    assert "v7" not in str(info.value)


@given(graph=eulerian_graphs(), data=st.data())
def test_any_unbalanced_graph_is_refused(graph: DirectedGraph, data: st.DataObject) -> None:
    edges = pairs_of(graph)
    vertex = st.integers(0, graph.n_vertices - 1)
    extra = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=3))
    source, target = np.array([*edges, *extra]).T
    spoiled = from_edges(source, target, graph.n_vertices)
    if spoiled.is_eulerian():
        verify(spoiled, hierholzer)
    else:
        with pytest.raises(DataError, match="unbalanced"):
            hierholzer(spoiled)


def test_method_auto() -> None:
    assert choose_method(1 << 24, on_device=True) == "parallel"
    assert choose_method(1 << 24, on_device=False) == "hierholzer"
    assert choose_method(100, on_device=True) == "hierholzer"


@pytest.mark.gpu
def test_hierholzer_requires_the_host() -> None:
    from gpuasm import arrays

    with pytest.raises(TypeError, match="host"):
        hierholzer(de_bruijn_graph(2, 3, xp=arrays.namespace_of("cuda")))
