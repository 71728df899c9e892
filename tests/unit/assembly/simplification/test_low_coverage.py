"""Low-coverage edges and isolated unitigs."""

from __future__ import annotations

import pytest

from gpuasm.assembly.simplification.branches import RuleLimits, find_isolated, find_low_coverage_edges
from tests.graphs import K, all_near, graph_of, marked

DEPTH = 30.0
ARCS = "a>b c>d a>rare rare>d"


def edges(*, rare=(K, 2.0), flank=DEPTH, arcs=ARCS, nearby=DEPTH, strictness=1.0):
    """Return the marked unitigs of two paths and a chimera from one to the other."""
    unitigs = [(name, 900, flank) for name in "abcd"] + [("rare", *rare)]
    graph, number = graph_of(unitigs, arcs)
    return marked(find_low_coverage_edges(graph, all_near(graph, nearby), RuleLimits(strictness)), number)


@pytest.mark.parametrize("arcs", [ARCS, "a>b c>d a>-rare -rare>d", "a>b -d>-c a>rare rare>d"])
def test_chimera_is_removed(arcs):
    assert edges(arcs=arcs) == {"rare"}


@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        ({"rare": (2 * K, 2.0)}, True),
        ({"rare": (2 * K + 1, 2.0)}, False),
        ({"rare": (K, 7.5)}, True),
        ({"rare": (K, 7.6)}, False),
        ({"rare": (K, 7.5), "nearby": 20.0}, False),
        ({"rare": (K, 2.9), "flank": 9.0, "nearby": 9.0}, True),
        ({"rare": (K, 2.9), "flank": 7.2, "nearby": 9.0}, False),
        ({"rare": (K, 2.9), "flank": 9.0, "nearby": 8.0}, False),
        ({"rare": (K, 3.1), "flank": 12.0, "nearby": 12.0}, False),
        ({"rare": (K, 2.9), "flank": 9.0, "nearby": 30.0, "strictness": 2 / 3}, False),
        ({"rare": (K, 1.5), "strictness": 1 / 3}, True),
        ({"rare": (K, 2.6), "strictness": 1 / 3}, False),
    ],
)
def test_length_and_depth_of_a_removed_edge(changed, removed):
    assert ("rare" in edges(**changed)) == removed


def test_single_copy_between_repeats_is_kept():
    assert edges(rare=(K, DEPTH), flank=7 * DEPTH) == set()


def test_negligible_edge_of_a_repeat_is_removed():
    """Errors in a repeat of 40 copies may exceed a third of one copy; those in a plasmid a whole copy."""
    assert edges(rare=(K, 0.45 * DEPTH), flank=40 * DEPTH) == {"rare"}
    assert edges(rare=(K, 1.4 * DEPTH), flank=200 * DEPTH) == {"rare"}


@pytest.mark.parametrize("copies", [20, 40, 90])
def test_variant_of_one_copy_of_a_repeat_is_kept(copies):
    assert edges(rare=(K, 0.9 * DEPTH), flank=copies * DEPTH) == set()


@pytest.mark.parametrize("arcs", ["a>b a>rare rare>d", "c>d a>rare rare>d", "a>b a>rare", "-d>-c a>rare rare>d"])
def test_edge_with_one_competing_branch_is_removed_if_short_and_rare(arcs):
    assert edges(rare=(K, 2.0), arcs=arcs) == {"rare"}
    assert edges(rare=(K + 1, 2.0), arcs=arcs) == set()
    assert edges(rare=(K, 10.0), flank=10 * DEPTH, arcs=arcs) == set()  # a third of one copy


@pytest.mark.parametrize("arcs", ["a>rare rare>d", "a>rare", ""])
def test_edge_without_competing_branches_is_kept(arcs):
    assert edges(arcs=arcs) == set()


def isolated(n_kmers, depth, arcs="", circles="", others=()):
    graph, number = graph_of([("genome", 900, DEPTH), ("small", n_kmers, depth), *others], arcs, circles=circles)
    return marked(find_isolated(graph), number)


def test_isolated_unitigs_are_removed():
    assert isolated(K, 14.0) == {"small"}


@pytest.mark.parametrize(
    ("n_kmers", "depth", "arcs", "circles"),
    [
        (K + 1, 2.0, "", ""),
        (K, 15.0, "", ""),
        (K, 2.0, "genome>small", ""),
        (K, 2.0, "small>genome", ""),
        (K, 2.0, "-small>genome", ""),
        (K, 2.0, "", "small"),
    ],
)
def test_other_unitigs_are_not_isolated(n_kmers, depth, arcs, circles):
    assert isolated(n_kmers, depth, arcs, circles) == set()
