"""Spanning forest of the undirected shadow."""

from __future__ import annotations

from types import ModuleType

from hypothesis import given

from gpuasm.arrays import to_host
from gpuasm.graph import from_edges
from gpuasm.graph.generators import random_eulerian, rmat
from gpuasm.graph.spanning_tree import spanning_edges
from tests.oracles import graphs as oracle
from tests.strategies import edges


@given(edges())
def test_like_the_oracle(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = drawn
    pairs = sorted(pairs, key=lambda edge: edge[0])
    graph = from_edges([a for a, _ in pairs], [b for _, b in pairs], n)
    before = graph.columns.copy()
    assert spanning_edges(graph).tolist() == oracle.spanning_edges(n, pairs)
    assert (graph.columns == before).all()


def test_same_on_devices(xp: ModuleType) -> None:
    for graph in (rmat(10, 1, seed=1), random_eulerian(500, 2000, components=40)):
        there = graph.moved_to(xp)
        chosen = to_host(spanning_edges(there))
        assert chosen.tolist() == spanning_edges(graph).tolist()
        assert to_host(there.columns).tolist() == graph.columns.tolist()
        assert chosen.size == graph.n_vertices - len(set(graph.components().tolist()))
