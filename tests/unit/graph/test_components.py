"""Weakly connected components and spanning forests."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from hypothesis import given

from gpuasm.arrays import to_host
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.components import number_components, spanning_edges
from gpuasm.graph.generators import random_eulerian, random_permutation, rmat
from tests.oracles import graphs as oracle
from tests.strategies import edges


@given(edges(max_vertices=30, max_edges=30))
def test_components_match_breadth_first_search(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    graph = from_edges([a for a, _ in pairs], [b for _, b in pairs], n)
    assert graph.components().tolist() == oracle.components(n, pairs)


def test_components_are_equal_on_devices(xp: ModuleType) -> None:
    for graph in (rmat(10, 1, seed=1), random_eulerian(500, 900, components=40), long_path(5000), star(5000)):
        labels = graph.moved_to(xp).components()
        assert labels.dtype == np.int64
        assert to_host(labels).tolist() == graph.components().tolist()
        numbers, n = number_components(labels)
        expected = np.unique(graph.components(), return_inverse=True)
        assert n == expected[0].size
        assert to_host(numbers).tolist() == expected[1].tolist()


def test_long_path_and_star_are_one_component() -> None:
    assert set(long_path(5000).components().tolist()) == {0}
    assert set(star(5000).components().tolist()) == {0}


def test_no_edges_and_no_vertices(xp: ModuleType) -> None:
    nothing = xp.zeros(0, np.int64)
    assert to_host(from_edges(nothing, nothing, 3).components()).tolist() == [0, 1, 2]
    assert from_edges(nothing, nothing, 0).components().size == 0


@given(edges())
def test_spanning_edges_match_kruskal(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    pairs = sorted(pairs, key=lambda edge: edge[0])
    graph = from_edges([a for a, _ in pairs], [b for _, b in pairs], n)
    before = graph.columns.copy()
    assert spanning_edges(graph).tolist() == oracle.spanning_edges(n, pairs)
    assert (graph.columns == before).all()


def test_spanning_edges_are_equal_on_devices(xp: ModuleType) -> None:
    for graph in (rmat(10, 1, seed=1), random_eulerian(500, 2000, components=40)):
        there = graph.moved_to(xp)
        chosen = to_host(spanning_edges(there))
        assert chosen.tolist() == spanning_edges(graph).tolist()
        assert to_host(there.columns).tolist() == graph.columns.tolist()
        assert chosen.size == graph.n_vertices - len(set(graph.components().tolist()))


def long_path(n: int) -> DirectedGraph:
    order = random_permutation(n)
    return from_edges(order[:-1], order[1:], n)


def star(n: int) -> DirectedGraph:
    return from_edges(np.arange(n - 1), np.full(n - 1, n - 1), n)
