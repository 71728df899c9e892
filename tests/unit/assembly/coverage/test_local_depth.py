"""Local depth: the depth of one copy of the sequence around a unitig."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpuasm.assembly.coverage.copy_number import local_depth
from gpuasm.assembly.coverage.graph_depth import high_coverage_depth, low_coverage_depth, missed_share, typical_depth
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


def test_low_coverage_depth_is_the_lowest_tenth():
    errors = [(f"e{i}", K, 1.0) for i in range(50)]
    assert low_coverage_depth(graph_of([("a", 900, 50.0), ("b", 100, 5.0), *errors])[0]) == 5.0
    assert low_coverage_depth(graph_of([("a", 901, 50.0), ("b", 99, 5.0), *errors])[0]) == 50.0
    assert low_coverage_depth(graph_of([("a", 1, 4.0)])[0]) == 4.0


def test_high_coverage_depth_is_the_highest_tenth():
    assert high_coverage_depth(graph_of([("a", 900, 5.0), ("b", 100, 50.0)])[0]) == 5.0
    assert high_coverage_depth(graph_of([("a", 899, 5.0), ("b", 101, 50.0)])[0]) == 50.0


def test_minor_genomes_miss_windows():
    """By Poisson's distribution with a mean of four windows, a share of (1 + 4) / e^4 occurs at most once."""
    errors = [(f"e{i}", K, 1.0) for i in range(50)]
    community = graph_of([("dominant", 900, 50.0), ("minor", 100, 5.0), *errors])[0]
    assert missed_share(community, windows=0.8) == pytest.approx(0.1 * 5 * np.exp(-4))
    assert missed_share(graph_of([("dominant", 900, 50.0), *errors])[0], windows=0.8) < 1e-12


def chain(*, inner=(150, 390.0), first=(900, 24.0), last=(900, 80.0), n=9):
    """Return the local depths of short unitigs of many copies in a row between two long ones."""
    unitigs = [("first", *first), *[(f"i{i}", inner[0], inner[1] + i) for i in range(n)], ("last", *last)]
    names = [name for name, _, _ in unitigs]
    found = local(unitigs, " ".join(f"{a}>{b}" for a, b in itertools.pairwise(names)), model=DepthModel.LOCAL)
    return [found[f"i{i}"] for i in range(n)]


def test_next_long_unitig_bounds_the_depth_in_a_tangle():
    """Nine in a row: three at each side are near a long one; those between use the nearer long one."""
    assert chain() == [24.0] * 5 + [80.0] * 4  # the middle one is as far from both: the lower number counts
    assert chain(last=(901, 80.0)) == [24.0] * 4 + [80.0] * 5
    assert chain(last=(900, 2000.0))[5] == 392.0  # never more than the longest near by


def test_longest_unitig_near_by_counts_if_none_is_long():
    inner = chain(first=(200, 24.0), last=(200, 80.0), inner=(100, 390.0))
    assert inner == [24.0, 24.0, 24.0, 390.0, 391.0, 392.0, 80.0, 80.0, 80.0]
    far = chain(n=40)
    assert far[3:11] == [24.0] * 8
    assert all(depth > 390 for depth in far[14:25])


def test_unitigs_beyond_a_tangle_do_not_bound_a_population():
    """The depth of host traces must not bound that of a plasmid of high coverage."""
    graph, _ = graph_of([("plasmid", 150, 700.0), *[(f"p{i}", 140, 690.0) for i in range(4)], ("host", 900, 2.5)],
                        "plasmid>p0 p0>p1 p1>p2 p2>p3 p3>host")  # fmt: skip
    assert local_depth(graph, model=DepthModel.LOCAL).min() == local_depth(graph, model=DepthModel.LOCAL).max() == 2.5
    assert local_depth(graph, DepthModel.NONE).max() == 700.0


def test_empty_graph_has_no_depth():
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
    assert typical_depth(empty) == low_coverage_depth(empty) == high_coverage_depth(empty) == 0.0
    assert missed_share(empty, windows=1.0) == 0.0
    assert local_depth(empty).size == local_depth(empty, model=DepthModel.LOCAL).size == 0


def test_typical_depth_bounds_the_depth_of_an_isolate():
    found = local(
        [("a", 9000, 30.0), ("repeat", 500, 90.0), ("b", 5000, 28.0), ("plasmid", 400, 900.0)], "a>repeat repeat>b"
    )
    assert found == {"a": 30.0, "repeat": 30.0, "b": 30.0, "plasmid": 30.0}


def test_regions_of_low_coverage_have_their_own_depth():
    found = local([("a", 9000, 30.0), ("low", 300, 6.0), ("lower", 40, 2.0)], "low>lower")
    assert found == {"a": 30.0, "low": 6.0, "lower": 6.0}


METAGENOME = [("a", 5000, 10.0), ("b", 3000, 100.0), ("c", 2500, 1000.0)]


def test_longest_unitig_near_by_counts_in_a_metagenome():
    found = local([*METAGENOME, ("x", 40, 3.0), ("y", 40, 90.0)], "a>x b>y", model=DepthModel.LOCAL)
    assert found == {"a": 10.0, "b": 100.0, "c": 1000.0, "x": 10.0, "y": 100.0}


@pytest.mark.parametrize(
    ("arcs", "reached"), [("b>x x>y y>z", True), ("b>x x>y y>w w>z", False), ("-x>-b y>-x -z>y", True)]
)
def test_unitigs_at_most_three_arcs_away_count(arcs, reached):
    found = local([*METAGENOME, *((name, 40, 5.0) for name in "xywz")], arcs, model=DepthModel.LOCAL)
    assert (found["z"] == 100.0) == reached


def test_first_of_equally_long_unitigs_counts():
    found = local([*METAGENOME, ("d", 3000, 50.0), ("x", 40, 5.0)], "b>x x>d", model=DepthModel.LOCAL)
    assert found["x"] == 100.0
