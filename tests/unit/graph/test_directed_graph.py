"""DirectedGraph: edges, degrees, reverse, names, comparison, print."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given

from gpuasm.arrays import to_host
from gpuasm.errors import DataError, UsageError
from gpuasm.graph import DirectedGraph, from_edges, from_strings
from gpuasm.graph.balance import require_eulerian
from gpuasm.graph.generators import random_eulerian, rmat, shuffled
from gpuasm.graph.names import StringNames
from tests.oracles import graphs as oracle
from tests.strategies import edges, eulerian_graphs, graphs, named_graphs

RAYS = from_strings(["a -> b, c, d, e"])


def pairs(graph: DirectedGraph) -> list[tuple[int, int]]:
    source, target = graph.edges()
    return list(zip(to_host(source).tolist(), to_host(target).tolist(), strict=True))


@given(edges())
def test_edges_of_one_source_keep_their_order(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, given_edges = drawn
    graph = from_edges([a for a, _ in given_edges], [b for _, b in given_edges], n)
    assert pairs(graph) == sorted(given_edges, key=lambda edge: edge[0])
    assert graph.out_degree.tolist() == [sum(a == v for a, _ in given_edges) for v in range(n)]
    assert graph.in_degree.tolist() == [sum(b == v for _, b in given_edges) for v in range(n)]


@given(graphs())
def test_reverse_groups_by_target_and_keeps_the_order(graph: DirectedGraph) -> None:
    turned = [(b, a) for a, b in sorted(pairs(graph), key=lambda edge: edge[1])]
    assert pairs(graph.reverse()) == turned
    assert graph.reverse().n_vertices == graph.n_vertices


@given(named_graphs())
def test_reversed_twice_is_the_graph(graph: DirectedGraph) -> None:
    twice = DirectedGraph(graph.row_offsets, graph.columns, graph.names).reverse().reverse()
    assert twice == graph
    assert hash(twice) == hash(graph)


def test_reversing_keeps_vertices_without_incoming_edges() -> None:
    assert list(RAYS.reverse()) == [("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["a"]), ("e", ["a"])]


def test_on_devices(xp: ModuleType) -> None:
    graph = rmat(9, 6, seed=3)
    there = graph.moved_to(xp)
    assert isinstance(there.columns, xp.ndarray)
    assert there.moved_to(xp) is there
    assert there == graph
    assert pairs(there) == pairs(graph)
    assert pairs(there.reverse()) == pairs(graph.reverse())
    assert to_host(there.in_degree).tolist() == graph.in_degree.tolist()
    assert there.euler_check() == graph.euler_check()
    part = [5, 3, 100, 7, 0, 1]
    assert pairs(there.induced(part)) == pairs(graph.induced(part))
    assert list(there) == list(graph)
    assert repr(there) == repr(graph)


def test_reverse_whatever_the_threads(threads: int) -> None:
    graph = rmat(9, 6, seed=8)
    turned = [(b, a) for a, b in sorted(pairs(graph), key=lambda edge: edge[1])]
    assert pairs(graph.reverse()) == turned


def test_a_hub_among_empty_rows(xp: ModuleType) -> None:
    source = xp.full(1000, 7)
    graph = from_edges(source, xp.arange(1000) % 20, 30)
    assert to_host(graph.edges()[0]).tolist() == [7] * 1000


@given(graphs())
def test_induced_keeps_the_edges_between_the_chosen(graph: DirectedGraph) -> None:
    chosen = list(range(0, graph.n_vertices, 2))[::-1]
    part = graph.induced(chosen)
    number = {v: i for i, v in enumerate(chosen)}
    kept = [(number[a], number[b]) for a, b in pairs(graph) if a in number and b in number]
    assert pairs(part) == sorted(kept, key=lambda edge: edge[0])
    assert part.names == tuple(map(str, chosen))


def test_induced_takes_names_each_once() -> None:
    assert list(RAYS.induced(["c", "a"])) == [("c", []), ("a", ["c"])]
    with pytest.raises(UsageError, match="each vertex once"):
        RAYS.induced(["a", 0])


def test_vertices_by_name_and_number() -> None:
    graph = from_strings(["a -> b, b, a", "c -> a"])
    assert graph["a"] == graph.successors(0) == ["b", "b", "a"]
    assert graph.predecessors("a") == ["a", "c"]
    assert graph.neighbours("a") == ["a", "b", "c"]
    assert [graph.number_of(v) for v in ("c", 2, np.int64(1))] == [2, 2, 1]
    for missing in ("d", 3, -1, "0"):
        with pytest.raises(UsageError, match="a vertex of the graph"):
            graph.successors(missing)


def test_edges_by_name(xp: ModuleType) -> None:
    graph = from_strings(["a -> b, c", "b -> c", "x -> y"]).moved_to(xp)
    assert list(graph.named_edges()) == [("a", "b"), ("a", "c"), ("b", "c"), ("x", "y")]
    assert list(graph.named_edges(graph.spanning_edges())) == [("a", "b"), ("a", "c"), ("x", "y")]
    assert not graph.is_connected()
    assert graph.induced(["c", "b"]).is_connected()


def test_vertices_without_names_are_called_by_number() -> None:
    graph = from_edges([0, 5], [1, 1])
    assert graph.successors(5) == graph.successors("5") == [1]
    assert len(graph) == 6
    assert list(graph)[:2] == [(0, [1]), (1, [])]


def test_names_are_one_for_each_vertex_and_distinct() -> None:
    with pytest.raises(DataError, match="a name for each of 2 vertices"):
        from_edges([0], [1], 2, names=["a"])
    with pytest.raises(DataError, match="'a' twice"):
        from_edges([0], [1], names=["a", "a"]).number_of("a")


@pytest.mark.parametrize(
    ("offsets", "columns"), [([0, 2, 1], [0]), ([0, 1], [1]), ([0, 1], [-1]), ([1, 1], [0]), ([0, 2], [0]), ([], [])]
)
def test_bad_rows_are_refused(offsets: list[int], columns: list[int]) -> None:
    with pytest.raises(DataError):
        DirectedGraph.from_csr(np.array(offsets, np.int64), np.array(columns, np.int64))


def test_types_of_the_arrays() -> None:
    graph = DirectedGraph.from_csr(np.array([0, 1], np.uint32), np.array([0], np.uint8))
    assert (graph.row_offsets.dtype, graph.columns.dtype) == (np.int64, np.int32)


def test_equal_by_names_whatever_the_numbers() -> None:
    graph = from_strings(["a -> b, c", "b -> a"])
    assert graph == from_strings(["b -> a", "a -> c, b"])
    assert graph != from_strings(["b -> a", "a -> c, c"])
    assert graph != from_strings(["b -> a", "a -> b, d"])
    assert graph != "a -> b"
    assert len({graph, from_strings(["b -> a", "a -> c, b"])}) == 1


@given(eulerian_graphs())
def test_shuffled_differs_in_numbers_only(graph: DirectedGraph) -> None:
    other = shuffled(graph, seed=4)
    assert sorted(other.out_degree.tolist()) == sorted(graph.out_degree.tolist())
    assert other.is_eulerian()
    named = DirectedGraph(graph.row_offsets, graph.columns, [f"v{i}" for i in range(len(graph))])
    assert shuffled(named) == named


def test_repr_shows_the_first_vertices() -> None:
    assert repr(RAYS).splitlines()[:2] == ["DirectedGraph: 5 vertices, 4 edges", "  a -> b, c, d, e"]
    large = repr(random_eulerian(1000, 100_000))
    assert large.startswith("DirectedGraph: 1,000 vertices, 100,000 edges")
    assert len(large.splitlines()) == 10
    assert large.endswith("  ...")
    assert repr(from_edges([], [])) == "DirectedGraph: 0 vertices, 0 edges"


@given(edges())
def test_balance_matches_the_oracle(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    n, given_edges = drawn
    graph = from_edges([a for a, _ in given_edges], [b for _, b in given_edges], n)
    unbalanced = oracle.unbalanced(n, given_edges)
    check = graph.euler_check()
    assert check.n_unbalanced == len(unbalanced)
    assert graph.is_eulerian() == (not unbalanced)
    assert all(f"{v} (" in check.reason for v in unbalanced[:5])


def test_a_path_has_a_start_and_an_end() -> None:
    graph = from_strings(["a -> b", "b -> c, b"])
    check = graph.euler_check()
    assert (check.start, check.end) == (0, 2)
    assert graph.is_eulerian(path=True)
    assert not graph.is_eulerian()
    assert require_eulerian(graph, path=True) == check
    with pytest.raises(DataError, match=r"2 unbalanced vertices: a .0 in, 1 out., c .*ask for a path"):
        require_eulerian(graph)
    assert not from_strings(["a -> b, b"]).is_eulerian(path=True)


def test_the_first_five_unbalanced_are_named() -> None:
    with pytest.raises(DataError, match=r"7 unbalanced vertices: b \(2 in, 0 out\), c .*, f .*, \.\.\.;") as caught:
        require_eulerian(from_strings(["c -> b", "d -> b", "e -> f", "g -> h"]).induced(list("bcdefgh")), path=True)
    assert caught.value.exit_code == 65


def test_string_names_are_computed_on_request() -> None:
    names = StringNames("ACGT", 3)
    assert (len(names), names[0], names[27], names[-1:]) == (64, "AAA", "CGT", ["TTT"])
    assert all(names.index(names[i]) == i for i in range(64))
    assert names == StringNames("ACGT", 3)
    assert names == list(names)
    assert len({names, StringNames("ACGT", 3)}) == 1
    for bad in ("AA", "AAN", "AAAA"):
        with pytest.raises(ValueError, match=f"^{bad}$"):
            names.index(bad)
    with pytest.raises(IndexError):
        names[64]
