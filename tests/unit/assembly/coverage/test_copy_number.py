"""Depth of one copy in components of a graph."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.copy_number import local_depth, one_copy_depth
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.parameters import DepthModel
from tests.graphs import graph_of

META = Mode("meta", "several depths")


def test_component_of_long_unitigs_has_a_depth():
    unitigs = [("a", 900, 30.0), ("repeat", 1100, 60.0), ("b", 900, 32.0), ("far", 500, 7.0)]
    graph, number = graph_of(unitigs, "a>repeat repeat>b b>-a")
    found = one_copy_depth(graph, DepthModel.LOCAL)
    assert found[[number[name] for name in ("a", "repeat", "b")]].tolist() == [32.0, 32.0, 32.0]
    assert found[number["far"]] == 7.0


def test_component_of_short_unitigs_has_none():
    for n_long, has_depth in ((300, False), (301, True)):
        graph, _ = graph_of([("a", 150, 30.0), ("b", 150, 60.0), ("long", n_long, 20.0)], "a>b b>long")
        assert np.isfinite(one_copy_depth(graph, DepthModel.LOCAL)).tolist() == [has_depth] * 3
    graph, _ = graph_of([("a", 200, 30.0), ("b", 201, 30.0)])
    assert np.isfinite(one_copy_depth(graph, DepthModel.LOCAL)).tolist() == [False, True]


def test_isolate_has_the_local_depth():
    graph, _ = graph_of([("a", 20, 30.0), ("b", 20, 60.0)], "a>b")
    assert one_copy_depth(graph, DepthModel.ONE).tolist() == local_depth(graph).tolist()


def test_population_has_no_depth_of_one_copy():
    graph, _ = graph_of([("a", 900, 30.0), ("b", 20, 60.0)], "a>b")
    assert np.isinf(one_copy_depth(graph, DepthModel.NONE)).all()


def test_components_do_not_depend_on_the_order_of_arcs():
    rng = np.random.default_rng(1)
    names = [f"u{i}" for i in range(40)]
    arcs = [(int(a), int(b)) for a, b in rng.integers(0, 40, (25, 2)) if a != b]
    graph, _ = graph_of(
        [(name, 300, float(i + 1)) for i, name in enumerate(names)], " ".join(f"u{a}>u{b}" for a, b in arcs)
    )
    together = {i: {i} for i in range(40)}
    for a, b in arcs:
        joined = together[a] | together[b]
        for i in joined:
            together[i] = joined
    median = [sorted(i + 1.0 for i in together[u])[(len(together[u]) - 1) // 2] for u in range(40)]
    assert (one_copy_depth(graph, DepthModel.LOCAL) <= np.array(median)).all()
    alone = [u for u in range(40) if len(together[u]) == 1]
    assert one_copy_depth(graph, DepthModel.LOCAL)[alone].tolist() == [u + 1.0 for u in alone]
