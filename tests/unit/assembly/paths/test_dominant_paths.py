"""Dominant paths: which edges are followed, and the graph after that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.paths.dominant_paths import find_dominant_paths, follow_dominant_paths
from tests.graphs import graph_of, small_graphs

STRAINS = {"before": (900, 70.0), "rare_before": (600, 20.0), "both": (2000, 90.0)}
STRAINS |= {"after": (800, 65.0), "rare_after": (700, 25.0), "third": (500, 60.0)}
EDGES = "before>both rare_before>both both>after both>rare_after"


def followed(graph: UnitigGraph, number: dict[str, int]) -> set[str]:
    """Return the dominant edges as text, each on its first strand."""
    oriented = {2 * u + s: ("", "-")[s] + name for name, u in number.items() for s in (0, 1)}
    follower = find_dominant_paths(graph)
    pairs = {(here, int(there)) for here, there in enumerate(follower.tolist()) if there >= 0}
    assert pairs == {(there ^ 1, here ^ 1) for here, there in pairs}
    return {f"{oriented[here]}>{oriented[there]}" for here, there in pairs if not here & 1}


@pytest.mark.parametrize(
    ("arcs", "changed", "edges"),
    [
        (EDGES, {}, {"before>both", "both>after"}),
        (EDGES, {"after": (800, 40.0)}, {"before>both"}),  # the rare one has more than half the depth
        (EDGES, {"rare_before": (600, 50.0)}, {"both>after"}),
        (EDGES, {"before": (900, 41.0)}, {"both>after"}),  # the shared unitig has more than twice the depth
        (EDGES + " both>third", {}, {"before>both"}),
        ("before>both both>after", {}, set()),  # nothing to decide
        ("both>after both>rare_after third>after", {}, set()),  # another dominant unitig leads there
        ("both>both both>rare_after", {}, set()),
        ("both>after both>-after", {}, set()),
    ],
)
def test_dominant_edges_are_followed(arcs, changed, edges):
    graph, number = graph_of([(name, *own) for name, own in (STRAINS | changed).items()], arcs)
    assert followed(graph, number) == edges


def test_the_dominant_genome_passes_through_shared_sequence():
    unitigs = {name: own for name, own in STRAINS.items() if name != "third"}
    graph, number = graph_of([(name, *own) for name, own in unitigs.items()], EDGES)
    joined, sources, is_abandoned = follow_dominant_paths(graph)
    inverse = {u: name for name, u in number.items()}
    made = [
        {inverse[int(o) >> 1] for o in sources.oriented[a:b]}
        for a, b in zip(sources.start, sources.start[1:], strict=False)
    ]
    assert made[0] == {"before", "both", "after"}
    assert joined.n == 3
    assert joined.arc_to.size == 0
    # Each of the rare ones has one free end, and one abandoned end.
    assert not is_abandoned[:2].any()
    assert is_abandoned[2:].reshape(-1, 2).sum(axis=1).tolist() == [1, 1]
    for u, names in list(enumerate(made))[1:]:
        inner = int(sources.oriented[sources.start[u]]) & 1
        at_start = names == {"rare_after"}
        assert is_abandoned[2 * u + (at_start != bool(inner))]


def test_a_graph_without_dominant_paths_stays():
    graph, _ = graph_of([("a", 900, 40.0), ("b", 900, 40.0), ("c", 900, 40.0)], "a>b a>c")
    joined, sources, is_abandoned = follow_dominant_paths(graph)
    assert joined is graph
    assert sources.oriented.tolist() == [0, 2, 4]
    assert not is_abandoned.any()
    empty, _, none_abandoned = follow_dominant_paths(graph_of([("a", 900, 40.0)])[0])
    assert (empty.n, none_abandoned.size) == (1, 2)


def plainly(graph: UnitigGraph) -> set[tuple[int, int]]:
    """Return the dominant edges by their definition."""
    rows = [graph.arc_to[graph.arc_start[o] : graph.arc_start[o + 1]].tolist() for o in range(2 * graph.n)]
    edges = set()
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
                edges.add((here, there))
    return edges


@given(small_graphs())
def test_dominant_paths_follow_their_definition(graph):
    follower = find_dominant_paths(graph)
    assert {(here, int(there)) for here, there in enumerate(follower.tolist()) if there >= 0} == plainly(graph)
    joined, sources, is_abandoned = follow_dominant_paths(graph)
    assert sorted(np.unique(sources.oriented >> 1).tolist()) == list(range(graph.n))
    assert joined.n_kmers.sum() == graph.n_kmers.sum()
    assert not is_abandoned[np.diff(joined.arc_start) > 0].any()
