"""Bubbles: the rare branch of two is removed."""

from __future__ import annotations

import pytest

from gpuasm.assembly.simplification.branches import RuleLimits
from gpuasm.assembly.simplification.sibling_branches import find_bubbles
from tests.graphs import K, all_near, graph_of, marked

DEPTH = 30.0
ARCS = "left>main main>right left>rare rare>right"


def bubble(*, rare=(K, 3.0), main=(K, DEPTH), arcs=ARCS, others=(), strictness=1.0, nearby=DEPTH):
    unitigs = [("left", 900, DEPTH), ("right", 900, DEPTH), ("main", *main), ("rare", *rare), *others]
    graph, number = graph_of(unitigs, arcs)
    return marked(find_bubbles(graph, all_near(graph, nearby), RuleLimits(strictness)), number)


@pytest.mark.parametrize(
    "arcs",
    [
        ARCS,
        "left>-main -main>right left>rare rare>right",
        "-left>main main>right -left>-rare -rare>right",
        "right>main main>-left right>rare rare>-left",
    ],
)
def test_rare_branch_is_removed_on_each_strand(arcs):
    assert bubble(arcs=arcs) == {"rare"}


@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        ({"rare": (K + 2, 3.0)}, True),
        ({"rare": (K + 3, 3.0)}, False),
        ({"rare": (K - 2, 3.0)}, True),
        ({"rare": (K - 3, 3.0)}, False),
        ({"rare": (K, 9.5)}, True),
        ({"rare": (K, 10.0)}, False),
        ({"rare": (K, 5.0), "main": (K, 9.0)}, False),
        ({"rare": (K, 3.0), "strictness": 0.25}, False),
        ({"rare": (K, 2.0), "strictness": 0.25}, True),
    ],
)
def test_length_and_depth_of_a_removed_branch(changed, removed):
    assert ("rare" in bubble(**changed)) == removed


def test_variant_of_one_copy_of_a_repeat_is_kept():
    """One of seven copies differs: it has a seventh of the other branch, but the depth of one copy."""
    assert bubble(rare=(K, DEPTH), main=(K, 6 * DEPTH)) == set()


def test_two_equal_branches_are_kept():
    assert bubble(rare=(K, 15.0), main=(K, 15.0)) == set()


@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        ({}, {"rare"}),
        ({"nearby": 4.0}, {"rare"}),
        ({"nearby": 3.9}, set()),  # together more than one copy: two copies of a repeat
        ({"main": (K, 2.0)}, {"main"}),
        ({"main": (K, 2.5), "rare": (K - 1, 2.5)}, {"rare"}),
        ({"main": (K, 2.5), "rare": (K, 2.5)}, {"rare"}),
        ({"main": (K, 3.5), "rare": (K, 3.1)}, set()),
        ({"strictness": 2 / 3}, set()),
    ],
)
def test_one_of_two_branches_of_few_reads_is_removed(changed, removed):
    assert bubble(**{"rare": (K, 2.5), "main": (K, 2.5), "nearby": 9.0, **changed}) == removed


def test_rare_branches_of_three_are_removed():
    arcs = f"{ARCS} left>third third>right"
    assert bubble(arcs=arcs, others=[("third", K, 4.0)]) == {"rare", "third"}


@pytest.mark.parametrize(
    "arcs",
    [
        "left>main main>right left>rare",
        "left>main main>right left>rare rare>right rare>other",
        "left>main main>right left>rare rare>other",
        "left>main main>right main>other left>rare rare>right",
        "left>main other>main main>right left>rare rare>right",
        "left>main main>right other>rare rare>right",
    ],
)
def test_other_branches_are_kept(arcs):
    assert bubble(arcs=arcs, others=[("other", 900, DEPTH)]) == set()


TWO_COPIES = "one>left other>left right>third right>fourth"
FLANKS = (("one", 900, 10.0), ("other", 900, 9.0), ("third", 900, 10.0), ("fourth", 900, 9.0))


@pytest.mark.parametrize(
    ("main", "flanks", "arcs", "removed"),
    [
        (6.0, FLANKS, TWO_COPIES, False),
        (12.0, FLANKS, TWO_COPIES, False),
        (13.0, FLANKS, TWO_COPIES, True),  # both copies pass through main
        (6.0, FLANKS[:3], "one>left other>left right>third", True),  # one copy passes
        (6.0, (*FLANKS[:3], ("fourth", 900, 2.0)), TWO_COPIES, True),  # and an error
        (6.0, (*FLANKS, ("branch", K, 9.0)), TWO_COPIES + " left>branch branch>right", True),
    ],
)
@pytest.mark.parametrize("is_reverse", [False, True])
@pytest.mark.parametrize("strictness", [2 / 3, 1.0])
def test_branch_of_few_reads_may_be_a_second_copy(main, flanks, arcs, removed, is_reverse, strictness):
    every = f"{ARCS} {arcs}"
    if is_reverse:
        every = " ".join(f"{b}>{a}" for a, b in (one.split(">") for one in every.split()))
    found = bubble(rare=(K, 1.0), main=(K, main), arcs=every, others=flanks, nearby=10.0, strictness=strictness)
    assert ("rare" in found) == removed
