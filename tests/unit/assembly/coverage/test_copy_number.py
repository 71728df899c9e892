"""The depth of one copy: of connected unitigs, unless nothing long tells it."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.coverage.copy_number import one_copy_depth
from gpuasm.assembly.coverage.local_depth import local_depth
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.parameters import DepthModel
from tests.graphs import graph_of

META = Mode("meta", "several depths")


def test_a_component_that_is_mostly_long_has_a_depth():
    unitigs = [("a", 900, 30.0), ("repeat", 1100, 60.0), ("b", 900, 32.0), ("far", 500, 7.0)]
    graph, number = graph_of(unitigs, "a>repeat repeat>b b>-a")
    found = one_copy_depth(graph, DepthModel.LOCAL)
    assert found[[number[name] for name in ("a", "repeat", "b")]].tolist() == [32.0, 32.0, 32.0]
    assert found[number["far"]] == 7.0


def test_where_all_is_short_nothing_tells():
    for n_long, telling in ((300, False), (301, True)):
        graph, _ = graph_of([("a", 150, 30.0), ("b", 150, 60.0), ("long", n_long, 20.0)], "a>b b>long")
        assert np.isfinite(one_copy_depth(graph, DepthModel.LOCAL)).tolist() == [telling] * 3
    graph, _ = graph_of([("a", 200, 30.0), ("b", 201, 30.0)])
    assert np.isfinite(one_copy_depth(graph, DepthModel.LOCAL)).tolist() == [False, True]


def test_of_an_isolate_the_local_depth_tells():
    graph, _ = graph_of([("a", 20, 30.0), ("b", 20, 60.0)], "a>b")
    assert one_copy_depth(graph, DepthModel.ONE).tolist() == local_depth(graph).tolist()


def test_of_a_population_nothing_tells():
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
