"""Generated graphs: their properties, and equality for a seed on every device."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.errors import UsageError
from gpuasm.graph import DirectedGraph
from gpuasm.graph.generators import (
    de_bruijn_graph,
    deep_eulerian,
    many_circuits,
    random_eulerian,
    random_permutation,
    random_regular,
    rmat,
    shallow_eulerian,
    shuffled,
)
from gpuasm.graph.pairing import pair_edges
from gpuasm.parallel import compiled
from gpuasm.primitives.cycle_ranking import rank_cycles
from gpuasm.primitives.randomness import below
from tests.oracles import graphs as oracle

MAKERS: dict[str, Callable[..., DirectedGraph]] = {
    "deep": lambda **to: deep_eulerian(500, 5, **to),
    "path": lambda **to: deep_eulerian(500, 5, path=True, **to),
    "shallow": lambda **to: shallow_eulerian(500, 1600, **to),
    "circuits": lambda **to: many_circuits(500, **to),
    "rmat": lambda **to: rmat(8, 5, **to),
    "regular": lambda **to: random_regular(300, 4, **to),
    "eulerian": lambda **to: random_eulerian(300, 1000, components=7, **to),
    "open": lambda **to: random_eulerian(300, 1000, components=7, path=True, **to),
    "shuffled": lambda **to: shuffled(rmat(7, 4, **to), seed=3),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_gives_the_same_graph_on_every_device(name: str, xp: ModuleType) -> None:
    graph, there = MAKERS[name](seed=5), MAKERS[name](seed=5, xp=xp)
    assert isinstance(there.columns, xp.ndarray)
    assert to_host(there.row_offsets).tolist() == graph.row_offsets.tolist()
    assert to_host(there.columns).tolist() == graph.columns.tolist()
    assert there.columns.dtype == np.int32
    other = MAKERS[name](seed=6)
    assert (other.n_edges, other.columns.tolist()) != (graph.n_edges, graph.columns.tolist())


@pytest.mark.parametrize("name", ["deep", "shallow", "circuits", "regular", "eulerian"])
def test_eulerian_graphs_are(name: str) -> None:
    assert MAKERS[name](seed=1).is_eulerian()


@pytest.mark.parametrize("name", ["path", "open"])
def test_paths_are_open(name: str) -> None:
    for seed in range(20):
        assert MAKERS[name](seed=seed).euler_check().has_path


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 50))
def test_deep_eulerian_matches_the_oracle(n: int, k: int, seed: int) -> None:
    graph = deep_eulerian(n, k, seed=seed)
    degrees = graph.out_degree.tolist()
    assert 1 <= min(degrees) <= max(degrees) <= k
    assert [targets for _, targets in graph] == oracle.deep_eulerian(degrees)
    assert set(graph.components().tolist()) == {0}


def test_degrees_of_deep_eulerian_are_uniform() -> None:
    counts = np.bincount(deep_eulerian(70_000, 7).out_degree)[1:]
    assert np.abs(counts - 10_000).max() < 500


def test_an_euler_path_lacks_one_edge() -> None:
    whole, path = deep_eulerian(8, 3, seed=1), deep_eulerian(8, 3, seed=1, path=True)
    assert path.n_edges == whole.n_edges - 1
    assert not path.is_eulerian()


@given(st.integers(2, 40), st.integers(0, 20), st.integers(0, 50))
def test_shallow_eulerian_has_the_requested_edges(n: int, n_pairs: int, seed: int) -> None:
    m = 3 * n - 4 + 2 * n_pairs
    graph = shallow_eulerian(n, m, seed=seed)
    assert (graph.n_vertices, graph.n_edges) == (n, m)
    assert graph.is_eulerian()
    assert set(graph.components().tolist()) == {0}


def test_shallow_eulerian_has_three_edges_per_vertex() -> None:
    # Small ones of the same shape: N - 1 vertices and 3 N - 1 edges.
    graph = shallow_eulerian(2**10 - 1, 3 * 2**10 - 1)
    assert graph.n_edges == 3 * graph.n_vertices + 2


@pytest.mark.parametrize("pairing", ["fifo", "mixed"])
def test_many_circuits(pairing: Any) -> None:
    graph = many_circuits(40_000)
    circuits = rank_cycles(pair_edges(graph, pairing=pairing, seed=0).successor).n
    assert graph.n_edges == 70_000
    assert set(graph.components().tolist()) == {0}
    if pairing == "fifo":
        assert circuits == 30_001
    else:
        assert circuits > 7_000


@pytest.mark.parametrize(("alphabet", "order"), [("01", 1), ("01", 3), ("abc", 2), ("ACGT", 4), ("x", 3)])
def test_edges_of_a_de_bruijn_graph_are_all_strings(alphabet: str, order: int, xp: ModuleType) -> None:
    graph = de_bruijn_graph(alphabet, order, xp=xp)
    source, target = (to_host(ends).tolist() for ends in graph.edges())
    strings = [
        str(graph.label_of(a)) + (str(graph.label_of(b)) or "?")[-1] for a, b in zip(source, target, strict=True)
    ]
    if order > 1:
        assert strings == sorted(set(strings))
        assert all(
            str(graph.label_of(a))[1:] == str(graph.label_of(b))[:-1] for a, b in zip(source, target, strict=True)
        )
    assert graph.n_edges == len(alphabet) ** order
    assert graph.is_eulerian()


def test_an_alphabet_may_be_a_number() -> None:
    assert de_bruijn_graph(2, 3) == de_bruijn_graph("01", 3)
    assert de_bruijn_graph(100, 2).names is None
    assert de_bruijn_graph(100, 2).n_edges == 10_000


def test_rmat_prefers_the_first_quarter() -> None:
    graph = rmat(10, 16)
    source, target = graph.edges()
    share = float(((source < 512) & (target < 512)).mean())
    assert abs(share - 0.57) < 0.02
    assert rmat(3, 2, chances=(1.0, 0.0, 0.0)).columns.tolist() == [0] * 16
    assert rmat(3, 2, chances=(0.0, 0.0, 0.0)).edges()[0].tolist() == [7] * 16


def test_regular_graphs_are_regular() -> None:
    graph = random_regular(50, 3)
    assert graph.out_degree.tolist() == graph.in_degree.tolist() == [3] * 50


@given(st.integers(1, 4), st.integers(0, 60), st.integers(0, 20))
def test_random_eulerian_components_are_apart(components: int, m: int, seed: int) -> None:
    graph = random_eulerian(40, m, components=components, seed=seed)
    assert graph.n_edges == m
    assert graph.is_eulerian()
    with_edges = graph.components()[graph.out_degree > 0]
    assert len(set(with_edges.tolist())) == min(components, m)


def test_permutations(xp: ModuleType) -> None:
    order = to_host(random_permutation(1000, seed=2, xp=xp))
    assert sorted(order.tolist()) == list(range(1000))
    assert order.tolist() == random_permutation(1000, seed=2).tolist()


def test_random_numbers_below_a_bound_are_the_upper_bits_of_a_product() -> None:
    @compiled()
    def call(bits, n):
        return below(bits, n)

    for bits in (0, 1, 2**32, 2**63 + 12345, 2**64 - 1):
        for n in (1, 2, 10, 2**31, 2**40 + 7, 2**62):
            assert call(np.uint64(bits), n) == bits * n >> 64


@pytest.mark.parametrize(
    "make",
    [
        lambda: deep_eulerian(0, 1),
        lambda: deep_eulerian(1, 1, path=True),
        lambda: shallow_eulerian(10, 25),
        lambda: shallow_eulerian(10, 27),
        lambda: many_circuits(3),
        lambda: de_bruijn_graph("00", 2),
        lambda: de_bruijn_graph("01", 0),
        lambda: de_bruijn_graph("01", 60),
        lambda: rmat(0),
        lambda: random_regular(0, 1),
        lambda: random_eulerian(2, 5, components=3),
    ],
)
def test_impossible_numbers_are_refused(make: Callable[[], DirectedGraph]) -> None:
    with pytest.raises(UsageError):
        make()
