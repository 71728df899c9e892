"""Weak arcs go, each with its twin."""

from __future__ import annotations

import pytest

from gpuasm.assembly.weak_arcs import find_weak_arcs
from tests.graphs import all_near, graph_of

DEPTH = 30.0


def weak(arcs, *, nearby=DEPTH, strictness=1.0, depth=DEPTH):
    """Return the weak arcs between long unitigs a, b, c and d, written as they were given."""
    graph, number = graph_of([(name, 900, depth) for name in "abcd"], arcs)
    names = {2 * u: name for name, u in number.items()} | {2 * u + 1: f"-{name}" for name, u in number.items()}
    mask = find_weak_arcs(graph, all_near(graph, nearby), strictness=strictness)
    return {f"{names[s]}>{names[t]}" for s, t in zip(graph.arc_from[mask], graph.arc_to[mask], strict=True)}


@pytest.mark.parametrize(
    ("arcs", "expected"),
    [
        ("a>b c>d a>d:2", {"a>d", "-d>-a"}),
        ("a>b c>d a>-c:2", {"a>-c", "c>-a"}),
        ("a>b d>c a>-c:2", set()),  # no other way leads into -c
        ("a>b -d>-c a>d:2", {"a>d", "-d>-a"}),
        ("a>b:30 c>d:30 a>d:4.4", {"a>d", "-d>-a"}),
        ("a>b:30 c>d:30 a>d:4.5", set()),
        ("a>b:30 c>d:20 a>d:3.1", set()),  # the lesser of the two others counts
        ("a>b a>d:2", set()),
        ("c>d a>d:2", set()),
    ],
)
def test_weak_at_both_ends(arcs, expected):
    assert weak(arcs) == expected


def test_one_copy_between_repeats_stays():
    assert weak("a>b c>d a>d:10", depth=10 * DEPTH, nearby=DEPTH) == set()
    assert weak("a>b c>d a>d:9", depth=10 * DEPTH, nearby=DEPTH) == {"a>d", "-d>-a"}


def test_gentle_rounds_take_the_weakest_only():
    assert weak("a>b c>d a>d:1.6", strictness=1 / 3) == set()
    assert weak("a>b c>d a>d:1.4", strictness=1 / 3) == {"a>d", "-d>-a"}


def test_an_arc_that_is_its_own_twin():
    assert weak("a>-a:1 a>b") == {"a>-a"}


def test_both_ways_from_one_to_the_same_other_strand_by_strand():
    assert weak("a>b:30 a>-b:1 c>-b:30") == {"a>-b", "b>-a"}
