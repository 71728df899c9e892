"""Drawings: the text for Graphviz, and the pictures if its programs are installed."""

from __future__ import annotations

import re
import shutil

import pytest

from gpuasm.errors import DataError, DeviceError, UsageError
from gpuasm.graph import DirectedGraph, from_edges, from_strings
from gpuasm.graph.drawing import DrawingOptions, edges_of_tour
from gpuasm.graph.generators import de_bruijn_graph, random_regular

SPARSE = from_strings(
    ["a -> b, c, d", "b -> a, c", "d -> e, f", "e -> f", "1 -> 2, 3", "3 -> 4, 5", "x -> y, z", "2 -> 5"]
)


def line_of(graph: DirectedGraph, vertex: str, dot: str) -> str:
    """Return the line that describes a vertex."""
    (line,) = (line for line in dot.splitlines() if re.match(rf"\s+v{graph.number_of(vertex)} \[", line))
    return line


def edge_lines(dot: str) -> list[str]:
    return [line.strip() for line in dot.splitlines() if "->" in line]


def test_vertices_and_edges() -> None:
    drawing = SPARSE.draw()
    assert drawing.engine == "dot"
    assert len(edge_lines(drawing.dot)) == SPARSE.n_edges
    assert "label=a" in line_of(SPARSE, "a", drawing.dot)
    assert drawing.render("dot").decode() == drawing.dot


def test_many_ins_are_green_many_outs_yellow_both_blue() -> None:
    graph = from_strings(["a -> b, b, c", "b -> a, a, c", "c -> a"])
    dot = graph.draw(into=2, out=3).dot
    assert "#1f5fbf" in line_of(graph, "a", dot)
    assert "fontcolor=white" in line_of(graph, "a", dot)
    assert "#1f5fbf" in line_of(graph, "b", dot)
    assert "#7fd17f" in line_of(graph, "c", dot)
    assert "#ffe066" in line_of(graph, "c", graph.draw(out=1).dot)
    assert "fillcolor" not in graph.draw(into=4, out=4).dot


def test_components_are_framed_in_colours() -> None:
    dot = SPARSE.draw(clusters=True).dot
    frames = re.findall(r"subgraph cluster_(\d+) \{\s+graph \[color=\"(#\w+)\"", dot)
    assert [number for number, _ in frames] == ["0", "6", "11"]
    assert len({colour for _, colour in frames}) == 3
    assert frames[1][1] in line_of(SPARSE, "5", dot)


def test_spanning_tree_over_the_rest_or_alone() -> None:
    over = edge_lines(SPARSE.draw(spanning_tree="over").dot)
    red = [line for line in over if "#d62728" in line]
    assert len(red) == SPARSE.n_vertices - 3
    assert len([line for line in over if "#1f77b4" in line]) == SPARSE.n_edges - len(red)
    alone = edge_lines(SPARSE.draw(spanning_tree="alone", edge_numbers=True).dot)
    hidden = [line for line in alone if "invis" in line]
    assert len(hidden) == SPARSE.n_edges - len(red)
    assert not any("label" in line for line in hidden)


def test_a_circuit_is_numbered_from_its_start() -> None:
    graph = from_strings(["a -> b", "b -> c", "c -> a"])
    dot = graph.draw(walk=[1, 2, 0]).dot
    assert [re.search(r"label=(\w+)", line)[1] for line in edge_lines(dot)] == ["3", "1", "2"]  # type: ignore[index]
    assert "peripheries=2" in line_of(graph, "b", dot)
    assert dot.count("peripheries") == 1
    assert "#ff8080" not in dot
    assert ["#2ca02c" in line for line in edge_lines(dot)] == [True, True, False]


def test_a_path_has_a_red_end_and_other_labels() -> None:
    graph = from_strings(["a -> b", "b -> c"])
    dot = graph.draw(walk=[0, 1], walk_labels=["1:x", "2:y"], edge_numbers=True).dot
    assert '"0, 1:x"' in dot
    assert "#ff8080" in line_of(graph, "c", dot)
    with pytest.raises(UsageError, match="a label for each of the walk's 2 edges"):
        graph.draw(walk=[0, 1], walk_labels=["1"])


def test_each_component_may_have_its_walk() -> None:
    graph = from_strings(["a -> a", "b -> c"])
    dot = graph.draw(walk=[0, 1]).dot
    assert dot.count("peripheries") == 2


def test_edges_that_are_no_walk_are_refused() -> None:
    for walk in ([0, 2], [99], [-1]):
        with pytest.raises(UsageError):
            SPARSE.draw(walk=walk)


def test_edges_of_a_tour_by_its_vertices() -> None:
    graph = from_strings(["a -> b, b", "b -> a"])
    assert edges_of_tour(graph, ["a", "b", "a", "b"]) == [0, 2, 1]
    with pytest.raises(DataError, match=r"step 4: .*none from b to a"):
        edges_of_tour(graph, ["a", "b", "a", "b", "a"])


def test_names_are_shown_as_they_are() -> None:
    graph = from_edges([0], [1], names=['a:b "c"', "x\\n<y>"])
    dot = graph.draw().dot
    assert '[label="a:b \\"c\\""]' in dot
    assert '"x\\\\n<y>"' in dot


def test_engines() -> None:
    assert random_regular(61, 1).draw().engine == "sfdp"
    assert random_regular(61, 1).draw(engine="circo").engine == "circo"
    with pytest.raises(UsageError, match="an engine of Graphviz"):
        SPARSE.draw(engine="paint")


def test_options_may_be_kept_and_changed() -> None:
    options = DrawingOptions(edge_numbers=True)
    assert SPARSE.draw(options) == SPARSE.draw(edge_numbers=True)
    assert SPARSE.draw(options, edge_numbers=False) == SPARSE.draw()


def test_large_graphs_are_refused_with_advice() -> None:
    for graph in (random_regular(2001, 1), random_regular(10, 2001)):
        with pytest.raises(UsageError, match=r"induced.*gpuasm graph info"):
            graph.draw()


def test_without_graphviz_there_is_still_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    drawing = SPARSE.draw()
    with pytest.raises(DeviceError, match="install Graphviz") as caught:
        drawing.render("svg")
    assert caught.value.exit_code == 69
    assert drawing._repr_svg_() is None
    assert drawing.render("dot").startswith(b"digraph")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's programs are not installed")
def test_graphviz_draws_it() -> None:
    graph = de_bruijn_graph("01", 3)
    svg = graph.draw(clusters=True, edge_numbers=True)._repr_svg_()
    assert svg is not None
    assert svg.count('class="edge"') == 8
    assert graph.draw(spanning_tree="alone").render("png").startswith(b"\x89PNG")
