"""Pictures of subgraphs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gpuasm.report.graph_figures import draw_subgraph, spring_layout


def ring(n: int, first: int = 0) -> np.ndarray:
    v = np.arange(n)
    return np.column_stack([first + v, first + (v + 1) % n, np.ones(n)])


def test_names_and_edges_are_drawn() -> None:
    svg = draw_subgraph(ring(5), ["one", "two", "three", "four", "five"]).decode()
    assert all(f">{name}</text>" in svg for name in ("one", "five"))
    assert len(re.findall(r'<path d="M [\d. ]+ \nL [\d. ]+ ?\n?" ', svg)) == 5


def test_names_of_many_are_left_out() -> None:
    assert "</text>" not in draw_subgraph(ring(100), [f"v{i}" for i in range(100)]).decode()


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_nothing_and_lone_vertices(kind: str) -> None:
    nothing = np.empty((0, 3))
    assert draw_subgraph(nothing, [], kind=kind)
    assert draw_subgraph(nothing, ["a", "b"], kind=kind) == draw_subgraph(nothing, ["a", "b"], kind=kind)


def test_components_are_drawn_apart() -> None:
    edges = np.concatenate([ring(8), ring(8, 8), ring(3, 16)])
    place = spring_layout(np.arange(19), edges[:, :2].astype(np.int64), edges[:, 2], 19)
    boxes = [(place[part].min(axis=0), place[part].max(axis=0)) for part in (range(8), range(8, 16), range(16, 19))]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert np.any((high < other_low) | (other_high < low))


def test_two_sides_have_two_colours() -> None:
    svg = draw_subgraph(ring(4), list("abcd"), sides=np.array([False, True, False, True])).decode()
    assert svg.count("#c2571a") == svg.count("#2a6fb0") == 2


def test_long_names_are_cut() -> None:
    svg = draw_subgraph(np.array([[0, 1, 1.0]]), ["short", "A/Peru/PER172/2010|CY161642|11/03/2010"]).decode()
    assert ">short</text>" in svg
    assert ">A/Peru/PER172/2010|CY16…</text>" in svg
