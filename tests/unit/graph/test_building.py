"""Graphs from edges, adjacency strings, functions, scipy and networkx."""

from __future__ import annotations

from types import ModuleType

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from gpuasm.arrays import to_host
from gpuasm.errors import DataError, UsageError
from gpuasm.graph import (
    DirectedGraph,
    from_edges,
    from_function,
    from_named_edges,
    from_networkx,
    from_scipy,
    from_strings,
    to_networkx,
    to_scipy,
    undirected,
)
from tests.strategies import adjacency_lines, graphs, named_graphs


def test_lines_with_the_same_source_are_merged() -> None:
    graph = from_strings(["a -> b, c", "# a comment", "", "b->a", "a -> d,b"])
    assert list(graph) == [("a", ["b", "c", "d", "b"]), ("b", ["a"]), ("c", []), ("d", [])]


@given(adjacency_lines())
def test_every_naming_is_an_edge(lines: list[str]) -> None:
    rows: dict[str, list[str]] = {}
    for line in lines:
        source, _, targets = line.partition(" -> ")
        rows.setdefault(source, []).extend(targets.split(", ") if targets else [])
        for name in rows[source].copy():
            rows.setdefault(name, [])
    assert dict(from_strings(lines)) == rows


def test_vertices_without_edges() -> None:
    assert list(from_strings(["a", "b ->"])) == [("a", []), ("b", [])]
    assert from_strings([]).n_vertices == 0


@pytest.mark.parametrize("line", ["a -> b -> c", "-> b", "a -> b,", "a, b -> c", "a -> , b"])
def test_bad_lines_are_named(line: str) -> None:
    with pytest.raises(DataError, match="line 2: expected 'vertex -> vertex"):
        from_strings(["a -> b", line])


def test_names_equal_to_the_numbers_are_dropped() -> None:
    graph = from_strings(["2 -> 0", "1 -> 2"])
    assert graph.names is None
    assert list(graph) == [(0, []), (1, [2]), (2, [0])]
    for lines in (["1 -> 2"], ["00 -> 1", "1 -> 0"], ["0 -> 2"]):
        assert from_strings(lines).names is not None


def test_a_vertex_without_edges_out_keeps_its_number(xp: ModuleType) -> None:
    graph = from_edges(xp.asarray([4, 0]), xp.asarray([1, 4]))
    assert to_host(graph.row_offsets).tolist() == [0, 1, 1, 1, 1, 2]
    assert to_host(graph.columns).tolist() == [4, 1]


def test_edges_outside_are_refused() -> None:
    for source, target, n in (([0], [3], 3), ([-1], [0], 2), ([0, 1], [0], 2), ([0.5], [1], 2), ([[0]], [[0]], 1)):
        with pytest.raises(DataError):
            from_edges(source, target, n)


def test_named_edges_number_vertices_as_they_occur() -> None:
    graph = from_named_edges([("x", "y"), ("y", "x")], vertices=["z"])
    assert graph.names == ("z", "x", "y")


def test_a_function(xp: ModuleType) -> None:
    graph = from_function(xp.asarray([2, 2, -1, 0]))
    assert list(graph) == [(0, [2]), (1, [2]), (2, []), (3, [0])]


@given(graphs())
def test_scipy_and_back(graph: DirectedGraph) -> None:
    counts = to_scipy(graph)
    assert counts.sum() == graph.n_edges
    assert np.array_equal(counts.sum(axis=0), graph.in_degree)
    assert (from_scipy(counts).edges()[1] == counts.indices).all()
    source, target = graph.edges()
    stored = sparse.coo_array((np.zeros(graph.n_edges), (source, target)), shape=counts.shape)
    assert from_scipy(stored) == graph


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(UsageError, match="2 x 3"):
        from_scipy(sparse.csr_array((2, 3)))


@given(named_graphs())
def test_networkx_and_back(graph: DirectedGraph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


def test_networkx_without_directions() -> None:
    graph = from_networkx(nx.Graph([(0, 1), (1, 1)]))
    assert list(graph) == [(0, [1]), (1, [0, 1])]
    with pytest.raises(DataError, match="different texts"):
        from_networkx(nx.DiGraph([(1, "1")]))


def test_undirected_adds_reverse_edges() -> None:
    assert list(undirected(from_strings(["a -> b, a"]))) == [("a", ["b", "a", "a"]), ("b", ["a"])]
