"""Splicing against exchanging and ranking again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.graph.euler import _choose_links
from gpuasm.graph.generators import deep_eulerian, random_eulerian
from gpuasm.graph.pairing import exchange, pair_edges
from gpuasm.graph.splicing import splice
from gpuasm.primitives.cycle_ranking import rank_cycles


def compare(graph, pairing: str, seed: int) -> None:
    paired = pair_edges(graph, pairing=pairing, seed=seed)
    circuits = rank_cycles(paired.successor)
    links = _choose_links(graph, circuits)
    if links.size == 0:
        return
    spliced = splice(circuits, links)
    exchange(graph, paired, links)
    ranked = rank_cycles(paired.successor)
    for name in ("label", "rank", "leader", "size"):
        assert np.array_equal(to_host(getattr(spliced, name)), to_host(getattr(ranked, name))), name


@given(n=st.integers(1, 25), m=st.integers(1, 90), components=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_any_graph(n, m, components, seed):
    graph = random_eulerian(max(n, components), max(m, components), components=components, seed=seed)
    for pairing in ("fifo", "mixed"):
        compare(graph, pairing, seed)


@pytest.mark.parametrize("pairing", ["fifo", "mixed"])
def test_larger_graphs(pairing, xp):
    compare(deep_eulerian(5000, 7, seed=3).moved_to(xp), pairing, 1)
    compare(random_eulerian(300, 2000, components=3, seed=5).moved_to(xp), pairing, 1)
