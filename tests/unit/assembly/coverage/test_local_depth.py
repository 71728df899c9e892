"""Depth of one copy of what lies around a unitig."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuasm.assembly.coverage.local_depth import (
    high_coverage_depth,
    local_depth,
    low_coverage_depth,
    missed_share,
    typical_depth,
)
from gpuasm.assembly.parameters import DepthModel
from tests.graphs import K, graph_of


def local(unitigs, arcs="", model=DepthModel.ONE):
    graph, number = graph_of(unitigs, arcs)
    return dict(zip(number, local_depth(graph, model).tolist(), strict=True))


def test_typical_depth_is_the_median_over_kmers_of_long_unitigs():
    graph, _ = graph_of([("a", 100, 10.0), ("b", 60, 20.0), ("c", 40, 300.0)])
    assert typical_depth(graph) == 10.0
    graph, _ = graph_of([("a", 90, 10.0), ("b", 60, 20.0), ("c", 40, 300.0)])
    assert typical_depth(graph) == 20.0
    errors = [(f"e{i}", K, 1.0) for i in range(50)]
    assert typical_depth(graph_of([("a", 90, 10.0), ("b", 60, 20.0), ("c", 40, 300.0), *errors])[0]) == 20.0
    assert typical_depth(graph_of([*errors, ("f", 20, 9.0)])[0]) == 1.0
    assert typical_depth(graph_of([("a", 1, 4.0)])[0]) == 4.0


def test_nine_tenths_of_the_kmers_are_at_least_as_deep_as_thin_members():
    errors = [(f"e{i}", K, 1.0) for i in range(50)]
    assert low_coverage_depth(graph_of([("a", 900, 50.0), ("b", 100, 5.0), *errors])[0]) == 5.0
    assert low_coverage_depth(graph_of([("a", 901, 50.0), ("b", 99, 5.0), *errors])[0]) == 50.0
    assert low_coverage_depth(graph_of([("a", 1, 4.0)])[0]) == 4.0


def test_nine_tenths_of_the_kmers_are_at_most_as_deep_as_deep_members():
    assert high_coverage_depth(graph_of([("a", 900, 5.0), ("b", 100, 50.0)])[0]) == 5.0
    assert high_coverage_depth(graph_of([("a", 899, 5.0), ("b", 101, 50.0)])[0]) == 50.0


def test_thin_members_miss_windows():
    """As Poisson's distribution says of each unitig: of four windows each, (1 + 4) / e^4 are seen at most once."""
    errors = [(f"e{i}", K, 1.0) for i in range(50)]
    community = graph_of([("deep", 900, 50.0), ("thin", 100, 5.0), *errors])[0]
    assert missed_share(community, windows=0.8) == pytest.approx(0.1 * 5 * np.exp(-4))
    assert missed_share(graph_of([("deep", 900, 50.0), *errors])[0], windows=0.8) < 1e-12


def chain(*, inner=(150, 390.0), first=(900, 24.0), last=(900, 80.0), n=9):
    """A tangle as a path: a long unitig, short ones of many copies, another long one; the inner ones' local depths."""
    unitigs = [("first", *first), *[(f"i{i}", inner[0], inner[1] + i) for i in range(n)], ("last", *last)]
    names = [name for name, _, _ in unitigs]
    found = local(unitigs, " ".join(f"{a}>{b}" for a, b in itertools.pairwise(names)), model=DepthModel.LOCAL)
    return [found[f"i{i}"] for i in range(n)]


def test_out_of_a_tangle_the_next_long_unitig_bounds_it():
    """Nine in a row: three at either side have the long one near by, those between look on, and find the nearer."""
    assert chain() == [24.0] * 5 + [80.0] * 4  # the middle one is as far from both: of equals the lesser number
    assert chain(last=(901, 80.0)) == [24.0] * 4 + [80.0] * 5
    assert chain(last=(900, 2000.0))[5] == 392.0  # never more than the longest near by


def test_where_nothing_is_long_the_longest_near_by_stands():
    inner = chain(first=(200, 24.0), last=(200, 80.0), inner=(100, 390.0))
    assert inner == [24.0, 24.0, 24.0, 390.0, 391.0, 392.0, 80.0, 80.0, 80.0]
    far = chain(n=40)
    assert far[3:11] == [24.0] * 8
    assert all(depth > 390 for depth in far[14:25])


def test_in_a_population_nothing_beyond_a_tangle_bounds_it():
    """A plasmid at 700-fold beside traces of its host had all its errors kept: the host's depth stood for it."""
    graph, _ = graph_of([("plasmid", 150, 700.0), *[(f"p{i}", 140, 690.0) for i in range(4)], ("host", 900, 2.5)],
                        "plasmid>p0 p0>p1 p1>p2 p2>p3 p3>host")  # fmt: skip
    assert local_depth(graph, model=DepthModel.LOCAL).min() == local_depth(graph, model=DepthModel.LOCAL).max() == 2.5
    assert local_depth(graph, DepthModel.NONE).max() == 700.0


def test_of_an_empty_graph():
    graph, _ = graph_of([("a", 5, 1.0)])
    empty = type(graph)(
        graph.k,
        graph.bases[:0],
        np.zeros(1, np.int64),
        graph.count[:0],
        graph.is_circular[:0],
        np.zeros(1, np.int64),
        graph.arc_to,
        graph.arc_count,
    )
    assert typical_depth(empty) == low_coverage_depth(empty) == high_coverage_depth(empty) == missed_share(empty, windows=1.0) == 0.0
    assert local_depth(empty).size == local_depth(empty, model=DepthModel.LOCAL).size == 0


def test_in_an_isolate_the_typical_depth_bounds_it():
    found = local(
        [("a", 9000, 30.0), ("repeat", 500, 90.0), ("b", 5000, 28.0), ("plasmid", 400, 900.0)], "a>repeat repeat>b"
    )
    assert found == {"a": 30.0, "repeat": 30.0, "b": 30.0, "plasmid": 30.0}


def test_in_an_isolate_thin_regions_have_their_own():
    found = local([("a", 9000, 30.0), ("thin", 300, 6.0), ("thinner", 40, 2.0)], "thin>thinner")
    assert found == {"a": 30.0, "thin": 6.0, "thinner": 6.0}


METAGENOME = [("a", 5000, 10.0), ("b", 3000, 100.0), ("c", 2500, 1000.0)]


def test_in_a_metagenome_it_is_that_of_the_longest_unitig_near_by():
    found = local([*METAGENOME, ("x", 40, 3.0), ("y", 40, 90.0)], "a>x b>y", model=DepthModel.LOCAL)
    assert found == {"a": 10.0, "b": 100.0, "c": 1000.0, "x": 10.0, "y": 100.0}


@pytest.mark.parametrize(
    ("arcs", "reached"), [("b>x x>y y>z", True), ("b>x x>y y>w w>z", False), ("-x>-b y>-x -z>y", True)]
)
def test_near_is_at_most_three_arcs_away(arcs, reached):
    found = local([*METAGENOME, *((name, 40, 5.0) for name in "xywz")], arcs, model=DepthModel.LOCAL)
    assert (found["z"] == 100.0) == reached


def test_of_equally_long_ones_the_first_counts():
    found = local([*METAGENOME, ("d", 3000, 50.0), ("x", 40, 5.0)], "b>x x>d", model=DepthModel.LOCAL)
    assert found["x"] == 100.0
