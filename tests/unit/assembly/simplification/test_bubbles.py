"""Bubbles: the rare of two branches goes."""

from __future__ import annotations

import pytest

from gpuasm.assembly.simplification.bubbles import find_bubbles
from tests.graphs import K, all_near, graph_of, marked

DEPTH = 30.0
ARCS = "left>main main>right left>rare rare>right"


def bubble(*, rare=(K, 3.0), main=(K, DEPTH), arcs=ARCS, others=(), strictness=1.0, nearby=DEPTH):
    unitigs = [("left", 900, DEPTH), ("right", 900, DEPTH), ("main", *main), ("rare", *rare), *others]
    graph, number = graph_of(unitigs, arcs)
    return marked(find_bubbles(graph, all_near(graph, nearby), strictness=strictness), number)


@pytest.mark.parametrize(
    "arcs",
    [
        ARCS,
        "left>-main -main>right left>rare rare>right",
        "-left>main main>right -left>-rare -rare>right",
        "right>main main>-left right>rare rare>-left",
    ],
)
def test_the_rare_branch_goes_on_any_strand(arcs):
    assert bubble(arcs=arcs) == {"rare"}


@pytest.mark.parametrize(
    ("changed", "goes"),
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
def test_how_rare_and_how_alike(changed, goes):
    assert ("rare" in bubble(**changed)) == goes


def test_a_variant_of_one_copy_beside_a_repeat_of_many_stays():
    """One of seven copies differs: a seventh of the depth beside it, but all of one copy's."""
    assert bubble(rare=(K, DEPTH), main=(K, 6 * DEPTH)) == set()


def test_two_equal_branches_both_stay():
    assert bubble(rare=(K, 15.0), main=(K, 15.0)) == set()


@pytest.mark.parametrize(
    ("changed", "goes"),
    [
        ({}, {"rare"}),
        ({"nearby": 4.0}, {"rare"}),
        ({"nearby": 3.9}, set()),  # together deeper than one copy: two copies of a repeat
        ({"main": (K, 2.0)}, {"main"}),
        ({"main": (K, 2.5), "rare": (K - 1, 2.5)}, {"rare"}),
        ({"main": (K, 2.5), "rare": (K, 2.5)}, {"rare"}),
        ({"main": (K, 3.5), "rare": (K, 3.1)}, set()),
        ({"strictness": 2 / 3}, set()),
    ],
)
def test_of_two_branches_a_few_reads_deep_one_goes(changed, goes):
    assert bubble(**{"rare": (K, 2.5), "main": (K, 2.5), "nearby": 9.0, **changed}) == goes


def test_the_rarest_of_three_go():
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
def test_what_is_no_simple_bubble_stays(arcs):
    assert bubble(arcs=arcs, others=[("other", 900, DEPTH)]) == set()


TWO_COPIES = "one>left other>left right>third right>fourth"
WAYS = (("one", 900, 10.0), ("other", 900, 9.0), ("third", 900, 10.0), ("fourth", 900, 9.0))


@pytest.mark.parametrize(
    ("main", "ways", "arcs", "goes"),
    [
        (6.0, WAYS, TWO_COPIES, False),
        (12.0, WAYS, TWO_COPIES, False),
        (13.0, WAYS, TWO_COPIES, True),  # both copies are in it
        (6.0, WAYS[:3], "one>left other>left right>third", True),  # one copy passes
        (6.0, (*WAYS[:3], ("fourth", 900, 2.0)), TWO_COPIES, True),  # and an error beside it
        (6.0, (*WAYS, ("branch", K, 9.0)), TWO_COPIES + " left>branch branch>right", True),
    ],
)
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("strictness", [2 / 3, 1.0])
def test_where_two_copies_pass_few_reads_may_be_the_second(main, ways, arcs, goes, is_turned, strictness):
    every = f"{ARCS} {arcs}"
    if is_turned:
        every = " ".join(f"{b}>{a}" for a, b in (one.split(">") for one in every.split()))
    found = bubble(rare=(K, 1.0), main=(K, main), arcs=every, others=ways, nearby=10.0, strictness=strictness)
    assert ("rare" in found) == goes
