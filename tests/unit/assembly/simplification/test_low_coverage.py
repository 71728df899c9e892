"""Connections and isolated_unitigs of low depth."""

from __future__ import annotations

import pytest

from gpuasm.assembly.simplification.low_coverage import find_isolated, find_low_coverage_edges
from tests.graphs import K, all_near, graph_of, marked

DEPTH = 30.0
ARCS = "a>b c>d a>thin thin>d"


def connections(*, thin=(K, 2.0), flank=DEPTH, arcs=ARCS, nearby=DEPTH, strictness=1.0):
    """Two ways that pass each other, and a chimera from one to the other."""
    unitigs = [(name, 900, flank) for name in "abcd"] + [("thin", *thin)]
    graph, number = graph_of(unitigs, arcs)
    return marked(find_low_coverage_edges(graph, all_near(graph, nearby), strictness=strictness), number)


@pytest.mark.parametrize("arcs", [ARCS, "a>b c>d a>-thin -thin>d", "a>b -d>-c a>thin thin>d"])
def test_a_chimera_goes(arcs):
    assert connections(arcs=arcs) == {"thin"}


@pytest.mark.parametrize(
    ("changed", "goes"),
    [
        ({"thin": (2 * K, 2.0)}, True),
        ({"thin": (2 * K + 1, 2.0)}, False),
        ({"thin": (K, 7.5)}, True),
        ({"thin": (K, 7.6)}, False),
        ({"thin": (K, 7.5), "nearby": 20.0}, False),
        ({"thin": (K, 2.9), "flank": 9.0, "nearby": 9.0}, True),
        ({"thin": (K, 2.9), "flank": 7.2, "nearby": 9.0}, False),
        ({"thin": (K, 2.9), "flank": 9.0, "nearby": 8.0}, False),
        ({"thin": (K, 3.1), "flank": 12.0, "nearby": 12.0}, False),
        ({"thin": (K, 2.9), "flank": 9.0, "nearby": 30.0, "strictness": 2 / 3}, False),
        ({"thin": (K, 1.5), "strictness": 1 / 3}, True),
        ({"thin": (K, 2.6), "strictness": 1 / 3}, False),
    ],
)
def test_how_long_and_how_deep(changed, goes):
    assert ("thin" in connections(**changed)) == goes


def test_one_copy_between_repeats_of_many_stays():
    """A branch as deep as one copy is real, though both ways past it are seven times as deep."""
    assert connections(thin=(K, DEPTH), flank=7 * DEPTH) == set()


def test_what_is_negligible_even_for_a_repeat_goes():
    """Errors in a repeat of 40 copies may be deeper than a third of one copy; in a plasmid, than a whole one."""
    assert connections(thin=(K, 0.45 * DEPTH), flank=40 * DEPTH) == {"thin"}
    assert connections(thin=(K, 1.4 * DEPTH), flank=200 * DEPTH) == {"thin"}


@pytest.mark.parametrize("copies", [20, 40, 90])
def test_a_variant_of_one_copy_beside_a_repeat_of_many_stays(copies):
    assert connections(thin=(K, 0.9 * DEPTH), flank=copies * DEPTH) == set()


@pytest.mark.parametrize("arcs", ["a>b a>thin thin>d", "c>d a>thin thin>d", "a>b a>thin", "-d>-c a>thin thin>d"])
def test_beside_one_deep_way_only_short_and_rare_ones_go(arcs):
    assert connections(thin=(K, 2.0), arcs=arcs) == {"thin"}
    assert connections(thin=(K + 1, 2.0), arcs=arcs) == set()
    assert connections(thin=(K, 10.0), flank=10 * DEPTH, arcs=arcs) == set()  # a third of one copy, however deep others


@pytest.mark.parametrize("arcs", ["a>thin thin>d", "a>thin", ""])
def test_the_only_way_stays(arcs):
    assert connections(arcs=arcs) == set()


def isolated_unitigs(n_kmers, depth, arcs="", circles="", others=()):
    graph, number = graph_of([("genome", 900, DEPTH), ("small", n_kmers, depth), *others], arcs, circles=circles)
    return marked(find_isolated(graph), number)


def test_islands_go():
    assert isolated_unitigs(K, 14.0) == {"small"}


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
def test_what_is_long_deep_joined_or_circular_is_no_island(n_kmers, depth, arcs, circles):
    assert isolated_unitigs(n_kmers, depth, arcs, circles) == set()
