"""Undirected graphs: directions and parallel edges merged, loops left out, subgraphs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.errors import DataError
from gpuasm.graph.building import from_edges, from_strings
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


def as_dict(graph: UndirectedGraph) -> dict[tuple[int, int], float]:
    """Return the weight of each slot by row and column."""
    offsets, columns = to_host(graph.row_offsets), to_host(graph.columns)
    weights = np.ones(columns.size) if graph.weights is None else to_host(graph.weights)
    rows = np.repeat(np.arange(graph.n_vertices), np.diff(offsets))
    assert all(np.all(np.diff(columns[a:b]) > 0) for a, b in itertools.pairwise(offsets))
    return {(int(u), int(v)): float(w) for u, v, w in zip(rows, columns, weights, strict=True)}


def plain(edges: list[tuple[int, int]], weights: list[float]) -> dict[tuple[int, int], float]:
    """Merge edges one by one."""
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for (u, v), weight in zip(edges, weights, strict=True):
        if u != v:
            sums[u, v] += weight
    symmetric = all(sums.get((v, u)) == weight for (u, v), weight in list(sums.items()))
    merged: dict[tuple[int, int], float] = defaultdict(float)
    for (u, v), weight in sums.items():
        merged[u, v] += weight
        if not symmetric:
            merged[v, u] += weight
    return dict(merged)


@given(EDGES, st.booleans())
def test_as_merged_one_by_one(edges: list[tuple[int, int]], symmetric: bool) -> None:
    edges = edges + [(v, u) for u, v in edges] if symmetric else edges
    graph = from_edges([u for u, _ in edges], [v for _, v in edges], 7)
    source, target = graph.edges()
    ordered = list(zip(source.tolist(), target.tolist(), strict=True))
    weights = [float(1 + (min(u, v) * 7 + max(u, v)) % 5) for u, v in ordered]
    assert as_dict(undirected_graph(graph, np.array(weights))) == plain(ordered, weights)
    assert set(as_dict(undirected_graph(graph))) == set(plain(ordered, weights))


def test_both_devices(xp: ModuleType, rng: np.random.Generator) -> None:
    source, target = rng.integers(0, 50, (2, 400))
    graph, weights = from_edges(source, target, 50), rng.random(400)
    here = undirected_graph(graph.moved_to(xp), to_namespace(xp, weights))
    assert as_dict(here) == as_dict(undirected_graph(graph, weights))
    chosen = np.array([3, 7, 8, 20, 49])
    assert as_dict(here.induced(xp.asarray(chosen))) == as_dict(undirected_graph(graph, weights).induced(chosen))
    assert to_host(here.strength) == pytest.approx(to_host(here.moved_to(np).strength), abs=0)


def test_names_degree_and_subgraph() -> None:
    graph = undirected_graph(from_strings(["a -> b, c, a", "c -> a, b", "d"]))
    assert (graph.n_vertices, graph.n_edges, graph.degree.tolist()) == (4, 3, [2, 2, 2, 0])
    assert [graph.label_of(v) for v in range(4)] == ["a", "b", "c", "d"]
    assert as_dict(graph.induced(np.array([1, 2, 3]))) == {(0, 1): 1, (1, 0): 1}
    assert graph.strength.tolist() == [2, 2, 2, 0]


def test_graphs_without_edges() -> None:
    empty = undirected_graph(from_edges([], [], 0))
    assert (empty.n_vertices, empty.n_edges) == (0, 0)
    loops = undirected_graph(from_edges([0, 1], [0, 1], 2), np.ones(2))
    assert (loops.n_vertices, loops.n_edges, loops.strength.tolist()) == (2, 0, [0, 0])


def test_weights_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="a weight for each of 1 edges"):
        undirected_graph(from_edges([0], [1], 2), np.ones(3))
