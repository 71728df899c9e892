"""Deep ways: which are followed, and what the graph is after that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gpuasm.assembly.graph.deep_ways import find_deep_ways, follow_deep_ways
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from tests.graphs import graph_of, small_graphs

STRAINS = {"before": (900, 70.0), "rare_before": (600, 20.0), "both": (2000, 90.0)}
STRAINS |= {"after": (800, 65.0), "rare_after": (700, 25.0), "third": (500, 60.0)}
WAYS = "before>both rare_before>both both>after both>rare_after"


def followed(graph: UnitigGraph, number: dict[str, int]) -> set[str]:
    """Return the deep ways as text, each on the strand on which it was written first."""
    oriented = {2 * u + s: ("", "-")[s] + name for name, u in number.items() for s in (0, 1)}
    follower = find_deep_ways(graph)
    pairs = {(here, int(there)) for here, there in enumerate(follower.tolist()) if there >= 0}
    assert pairs == {(there ^ 1, here ^ 1) for here, there in pairs}
    return {f"{oriented[here]}>{oriented[there]}" for here, there in pairs if not here & 1}


@pytest.mark.parametrize(
    ("arcs", "changed", "ways"),
    [
        (WAYS, {}, {"before>both", "both>after"}),
        (WAYS, {"after": (800, 49.0)}, {"before>both"}),  # the rare one is more than half as deep
        (WAYS, {"rare_before": (600, 36.0)}, {"both>after"}),
        (WAYS, {"before": (900, 44.0)}, {"both>after"}),  # not what is as deep as both together
        (WAYS + " both>third", {}, {"before>both"}),
        ("before>both both>after", {}, set()),  # nothing to decide
        ("both>after both>rare_after third>after", {}, set()),  # another deep one leads there
        ("both>both both>rare_after", {}, set()),
        ("both>after both>-after", {}, set()),
    ],
)
def test_what_is_followed(arcs, changed, ways):
    graph, number = graph_of([(name, *own) for name, own in (STRAINS | changed).items()], arcs)
    assert followed(graph, number) == ways


def test_the_deep_member_is_told_through_what_it_shares():
    unitigs = {name: own for name, own in STRAINS.items() if name != "third"}
    graph, number = graph_of([(name, *own) for name, own in unitigs.items()], WAYS)
    joined, pieces, is_left = follow_deep_ways(graph)
    inverse = {u: name for name, u in number.items()}
    made = [
        {inverse[int(o) >> 1] for o in pieces.piece[a:b]} for a, b in zip(pieces.start, pieces.start[1:], strict=False)
    ]
    assert made[0] == {"before", "both", "after"}
    assert joined.n == 3
    assert joined.arc_to.size == 0
    # Each of the rare ones has one end that is free, and one that the others left.
    assert not is_left[:2].any()
    assert is_left[2:].reshape(-1, 2).sum(axis=1).tolist() == [1, 1]
    for u, names in list(enumerate(made))[1:]:
        inner = int(pieces.piece[pieces.start[u]]) & 1
        at_start = names == {"rare_after"}
        assert is_left[2 * u + (at_start != bool(inner))]


def test_a_graph_without_deep_ways_stays():
    graph, _ = graph_of([("a", 900, 40.0), ("b", 900, 40.0), ("c", 900, 40.0)], "a>b a>c")
    joined, pieces, is_left = follow_deep_ways(graph)
    assert joined is graph
    assert pieces.piece.tolist() == [0, 2, 4]
    assert not is_left.any()
    empty, _, none_left = follow_deep_ways(graph_of([("a", 900, 40.0)])[0])
    assert (empty.n, none_left.size) == (1, 2)


def plainly(graph: UnitigGraph) -> set[tuple[int, int]]:
    """Return the deep ways by the words of the rule."""
    rows = [graph.arc_to[graph.arc_start[o] : graph.arc_start[o + 1]].tolist() for o in range(2 * graph.n)]
    ways = set()
    for here, row in enumerate(rows):
        for there in row:
            entrances = [o ^ 1 for o in rows[there ^ 1]]
            one, other = graph.depth[here >> 1], graph.depth[there >> 1]
            if (
                here >> 1 != there >> 1
                and len(row) + len(entrances) > 2
                and all(o == there or 2 * graph.depth[o >> 1] <= other for o in row)
                and all(o == here or 2 * graph.depth[o >> 1] <= one for o in entrances)
                and one <= 2 * other <= 4 * one
            ):
                ways.add((here, there))
    return ways


@given(small_graphs())
def test_as_the_rule_says(graph):
    follower = find_deep_ways(graph)
    assert {(here, int(there)) for here, there in enumerate(follower.tolist()) if there >= 0} == plainly(graph)
    joined, pieces, is_left = follow_deep_ways(graph)
    assert sorted(np.unique(pieces.piece >> 1).tolist()) == list(range(graph.n))
    assert joined.n_kmers.sum() == graph.n_kmers.sum()
    assert not is_left[np.diff(joined.arc_start) > 0].any()
