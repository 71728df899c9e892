"""Drawings of small graphs by Graphviz: components, spanning tree, walks and degrees."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import graphviz
import numpy as np

from gpuasm.arrays import to_host
from gpuasm.checks import array_of
from gpuasm.errors import DataError, DeviceError, UsageError
from gpuasm.graph.components import spanning_edges, weak_components

if TYPE_CHECKING:
    from gpuasm.graph.csr_graph import CsrGraph
    from gpuasm.graph.names import Label

MOST_VERTICES, MOST_EDGES = 2_000, 20_000
"""Larger graphs are refused: the picture would be unreadable, and Graphviz would take hours."""

_MOST_VERTICES_OF_DOT = 60
_FRAMES = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"]
_INTO, _OUT, _BOTH = "#7fd17f", "#ffe066", "#1f5fbf"
_WALK = ("#2ca02c", "#d62728")
_START, _END, _TREE, _REST, _LABEL = "#7fd17f", "#ff8080", "#d62728", "#1f77b4", "#0000c0"


@dataclass(frozen=True)
class DrawingOptions:
    """Options of a drawing.

    Attributes
    ----------
    clusters
        Frame each weakly connected component in a different colour.
    spanning_tree
        "over" draws the edges of the spanning forest red and the others blue; "alone" omits the others.
    walk
        Edges in the order of a walk: they are numbered from 1 on, green and red in turn; its first vertex is green
        with a double border, and if it ends elsewhere, its last vertex is red. Each component may have a walk, one
        after the other.
    walk_labels
        Labels instead of the numbers.
    into, out
        Vertices with at least as many edges in are green, with at least as many out yellow, with both blue.
    edge_numbers
        Write its number at each edge.
    engine
        A program of Graphviz; None: dot for up to 60 vertices, else sfdp.
    """

    clusters: bool = False
    spanning_tree: Literal["no", "over", "alone"] = "no"
    walk: Sequence[int] | None = None
    walk_labels: Sequence[str] | None = None
    into: int | None = None
    out: int | None = None
    edge_numbers: bool = False
    engine: str | None = None


@dataclass(frozen=True)
class Drawing:
    """A picture in the DOT language; a notebook shows it as SVG if Graphviz is installed."""

    dot: str
    engine: str

    def render(self, file_format: str = "svg") -> bytes:
        """Return the picture in a format of Graphviz: svg, png, pdf.

        Raises
        ------
        DeviceError
            If Graphviz's programs are not installed.
        """
        if file_format == "dot":
            return self.dot.encode()
        try:
            return graphviz.Source(self.dot, engine=self.engine).pipe(format=file_format)
        except graphviz.ExecutableNotFound as error:
            raise DeviceError(
                f"Graphviz's program '{self.engine}' to draw with",
                "none on the PATH",
                "install Graphviz (apt, conda or brew install graphviz), or write a .dot file and draw it elsewhere",
            ) from error
        except subprocess.CalledProcessError as error:
            raise DeviceError(
                f"a picture from Graphviz's '{self.engine}'", str(error).strip(), "try another format or engine"
            ) from error

    def _repr_svg_(self) -> str | None:
        try:
            return self.render("svg").decode()
        except DeviceError:
            return None  # the notebook shows the text instead


def draw_graph(graph: CsrGraph, options: DrawingOptions | None = None, **changes: Any) -> Drawing:
    """Make the drawing of a graph.

    Parameters
    ----------
    graph
        Of up to 2,000 vertices and 20,000 edges.
    options, changes
        Options; changes are fields of `DrawingOptions`.

    Raises
    ------
    UsageError
        If the graph is too large to draw, or the walk is not one of this graph.
    """
    chosen = replace(options or DrawingOptions(), **changes)
    if graph.n_vertices > MOST_VERTICES or graph.n_edges > MOST_EDGES:
        raise UsageError(
            f"at most {MOST_VERTICES:,} vertices and {MOST_EDGES:,} edges to draw",
            f"{graph.n_vertices:,} and {graph.n_edges:,}",
            "draw some of its vertices (--vertices, or DirectedGraph.induced), or describe it with 'gpuasm graph info'",
        )
    engine = chosen.engine or ("dot" if graph.n_vertices <= _MOST_VERTICES_OF_DOT else "sfdp")
    if engine not in graphviz.ENGINES:
        raise UsageError(
            "an engine of Graphviz", repr(engine), "take dot, sfdp, neato, circo or another of its programs"
        )
    graph = graph.moved_to(np)
    picture = graphviz.Digraph(
        engine=engine,
        graph_attr={"overlap": "prism", "splines": "true"} if engine == "sfdp" else {},
        node_attr={"shape": "ellipse", "fontname": "Helvetica"},
        edge_attr={"fontname": "Helvetica", "fontsize": "10"},
    )
    _add_vertices(picture, graph, chosen)
    _add_edges(picture, graph, chosen)
    return Drawing(picture.source, engine)


def edges_of_tour(graph: CsrGraph, tour: Sequence[Label]) -> list[int]:
    """Return the edges of a walk given by its vertices; of parallel edges, the next unused one.

    Raises
    ------
    DataError
        If there is no edge, or no further one, from a vertex to the next.
    """
    graph = graph.moved_to(np)
    numbers = [graph.number_of(vertex) for vertex in tour]
    waiting: dict[tuple[int, int], list[int]] = {}
    source, target = graph.edges()
    for edge in range(graph.n_edges - 1, -1, -1):
        waiting.setdefault((int(source[edge]), int(target[edge])), []).append(edge)
    edges = []
    for step, pair in enumerate(itertools.pairwise(numbers), start=1):
        if not waiting.get(pair):
            first, second = (graph.label_of(v) for v in pair)
            raise DataError(
                "an unused edge for each step of the walk",
                f"none from {first} to {second}",
                "take a walk of this graph",
                place=f"step {step}",
            )
        edges.append(waiting[pair].pop())
    return edges


def _add_vertices(picture: graphviz.Digraph, graph: CsrGraph, options: DrawingOptions) -> None:
    styles = [_degree_style(graph, v, options) for v in range(graph.n_vertices)]
    if options.walk is not None and np.size(options.walk):
        for first, last in _ends_of_walks(graph, options.walk):
            styles[last] = {"style": "filled", "fillcolor": _END}
            styles[first] = {"style": "filled", "fillcolor": _START, "peripheries": "2"}
    homes = [picture] * graph.n_vertices
    frames = []
    if options.clusters:
        labels = to_host(weak_components(graph)).tolist()
        least = sorted(set(labels))
        for number, vertex in enumerate(least):
            colour = _FRAMES[number % len(_FRAMES)]
            frames.append(graphviz.Digraph(f"cluster_{vertex}", graph_attr={"color": colour, "penwidth": "2"}))
        number_of = {vertex: number for number, vertex in enumerate(least)}
        homes = [frames[number_of[label]] for label in labels]
        for vertex, label in enumerate(labels):
            styles[vertex]["color"] = _FRAMES[number_of[label] % len(_FRAMES)]
    for vertex, style in enumerate(styles):
        homes[vertex].node(_key(vertex), graphviz.escape(str(graph.label_of(vertex))), **style)
    for frame in frames:
        picture.subgraph(frame)


def _degree_style(graph: CsrGraph, vertex: int, options: DrawingOptions) -> dict[str, str]:
    many_in = options.into is not None and int(graph.in_degree[vertex]) >= options.into
    many_out = options.out is not None and int(graph.out_degree[vertex]) >= options.out
    if many_in and many_out:
        return {"style": "filled", "fillcolor": _BOTH, "fontcolor": "white"}
    if many_in or many_out:
        return {"style": "filled", "fillcolor": _INTO if many_in else _OUT}
    return {}


def _ends_of_walks(graph: CsrGraph, walk: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and the last vertex of each component's walk."""
    source, target = graph.edges()
    edges = array_of(np.asarray(walk), "a walk", "iu", (None,)).astype(np.int64)
    if edges.min() < 0 or edges.max() >= graph.n_edges:
        raise UsageError(f"edges from 0 to {graph.n_edges - 1}", "one outside", "give a walk of this graph")
    breaks = np.flatnonzero(target[edges[:-1]] != source[edges[1:]])
    component = weak_components(graph)
    if np.any(component[target[edges[breaks]]] == component[source[edges[breaks + 1]]]):
        raise UsageError(
            "a walk of this graph", "edges that do not follow one another", "give its edges in their order"
        )
    first = np.concatenate([[0], breaks + 1])
    last = np.concatenate([breaks, [edges.size - 1]])
    return list(zip(source[edges[first]].tolist(), target[edges[last]].tolist(), strict=True))


def _add_edges(picture: graphviz.Digraph, graph: CsrGraph, options: DrawingOptions) -> None:
    styles: list[dict[str, str]] = [{} for _ in range(graph.n_edges)]
    texts: list[list[str]] = [[str(e)] if options.edge_numbers else [] for e in range(graph.n_edges)]
    if options.spanning_tree != "no":
        rest = {"color": _REST} if options.spanning_tree == "over" else {"style": "invis"}
        in_tree = set(spanning_edges(graph).tolist())
        styles = [{"color": _TREE, "penwidth": "2"} if e in in_tree else rest.copy() for e in range(graph.n_edges)]
    walk = [] if options.walk is None else [int(e) for e in options.walk]
    labels = options.walk_labels or [str(i + 1) for i in range(len(walk))]
    if len(labels) != len(walk):
        raise UsageError(f"a label for each of the walk's {len(walk)} edges", str(len(labels)), "give as many")
    for step, (edge, label) in enumerate(zip(walk, labels, strict=True)):
        texts[edge].append(label)
        if options.spanning_tree == "no":
            styles[edge]["color"] = _WALK[step % 2]
        styles[edge]["fontcolor"] = _LABEL
    source, target = graph.edges()
    for edge, (style, text) in enumerate(zip(styles, texts, strict=True)):
        if text and style.get("style") != "invis":
            style["label"] = graphviz.escape(", ".join(text))
        picture.edge(_key(int(source[edge])), _key(int(target[edge])), **style)


def _key(vertex: int) -> str:
    return f"v{vertex}"
