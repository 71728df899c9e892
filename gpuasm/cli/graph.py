"""``gpuasm graph``: generate, describe, convert and draw directed graphs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.graph_generators import generate, output_options
from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.paths import INPUT, OUTPUT
from gpuasm.cli.ranges import SEED, Whole
from gpuasm.errors import DataError, DeviceError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.graph import DirectedGraph
    from gpuasm.graph.drawing import Drawing

_PICTURES = ("svg", "png", "pdf", "dot")
_COUNT = Whole(1)


def _graph_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument("graph_path", metavar="GRAPH", type=INPUT)(function)


def _unweighted_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--unweighted", is_flag=True, help="Leave the weights of edges out.")(function)


@click.group(name="graph")
@click.pass_context
def command(context: click.Context) -> None:
    """Generate, describe, convert and draw directed graphs.

    GRAPH is adjacency text ("a -> b, c", a line for each vertex), an edge list (two columns, or three with weights),
    Matrix Market, GFA 1 or .npz, compressed or not; its content determines the format; - is standard input.

    \b
    gpuasm graph generate deep --vertices 15 --degree 5 -o deep.txt
    gpuasm graph info deep.txt
    gpuasm graph draw deep.txt --edge-numbers -o deep.svg
    """
    from gpuasm.cli.options import CommonOptions
    from gpuasm.cli.progress import NoProgress
    from gpuasm.cli.session import messages_to

    context.with_resource(messages_to(NoProgress(sys.stderr), CommonOptions(quiet=True)))  # warnings of readers


command.add_command(generate)


@command.command()
@_graph_argument
@format_option()
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="The same as JSON.")
def info(graph_path: Path, *, graph_format: str | None, json_path: Path | None) -> None:
    """Describe a graph: vertices, edges, degrees, components, whether it is Eulerian and why not.

    \b
    gpuasm graph info graph.txt
    """
    from gpuasm.graph.directed_graph import describe
    from gpuasm.io import write_json

    facts = describe(_read(graph_path, graph_format))
    if json_path:
        write_json(json_path, facts)
    if json_path is None or str(json_path) != "-":
        for name, value in facts.items():
            if value is not None:
                click.echo(f"{name.replace('_', ' ')}\t{_text_of(value)}")


@command.command()
@_graph_argument
@format_option()
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="Edge list.  [default: standard output]")
def edges(graph_path: Path, *, graph_format: str | None, output: Path) -> None:
    """List the edges in their order, two columns: source and target.

    \b
    gpuasm graph edges graph.txt -o edges.tsv
    """
    from gpuasm.io.graphs import write_graph

    write_graph(output, _read(graph_path, graph_format), file_format="edges")


@command.command()
@_graph_argument
@output_options
@format_option("--input-format")
@_unweighted_option
def reverse(
    graph_path: Path, output: Path, *, file_format: str | None, graph_format: str | None, unweighted: bool
) -> None:
    """Turn every edge round.

    \b
    gpuasm graph reverse rays.txt -o reversed.txt
    """
    from gpuasm.graph.rows import group_by

    chosen = _output_format(output, file_format)
    graph, weights = _read_weighted(graph_path, graph_format, unweighted=unweighted)
    if weights is not None:
        weights = group_by(graph.columns, weights, graph.n_vertices)[1]
    _write(output, graph.reverse(), weights, chosen)


@command.command()
@_graph_argument
@output_options
@format_option("--input-format")
@_unweighted_option
@click.option("--vertices", metavar="LIST", help="Only these, by name, with commas between them.")
@click.option("--both-ways", is_flag=True, help="Add an edge back for each edge.")
@click.option("--shuffle", type=SEED, metavar="SEED", help="Number the vertices anew at random.")
def convert(
    graph_path: Path,
    output: Path,
    *,
    file_format: str | None,
    graph_format: str | None,
    unweighted: bool,
    vertices: str | None,
    both_ways: bool,
    shuffle: int | None,
) -> None:
    """Write a graph in another format, or a part of it, with the weights of its edges.

    \b
    gpuasm graph convert assembly.gfa -o edges.tsv
    gpuasm graph convert links.mtx --vertices 0,1,2 -o part.npz
    """
    from gpuasm.graph.weighted_edges import weights_of_both_ways, weights_of_part, weights_of_shuffled

    chosen = _output_format(output, file_format)
    graph, weights = _read_weighted(graph_path, graph_format, unweighted=unweighted)
    if vertices is not None:
        graph, weights = weights_of_part(graph, weights, [name.strip() for name in vertices.split(",")])
    if both_ways:
        graph, weights = weights_of_both_ways(graph, weights)
    if shuffle is not None:
        graph, weights = weights_of_shuffled(graph, weights, seed=shuffle)
    _write(output, graph, weights, chosen)


@command.command()
@_graph_argument
@format_option()
@click.option("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="The picture: .svg .png .pdf .dot.")
@click.option("--clusters", is_flag=True, help="Frame each weakly connected component in a colour of its own.")
@click.option(
    "--spanning-tree",
    type=click.Choice(["over", "alone"]),
    help="Spanning forest in red, over the other edges in blue, or alone.",
)
@click.option("--walk", "walk_path", type=INPUT, metavar="FILE", help="Number the edges of a walk, a vertex a line.")
@click.option("--euler", is_flag=True, help="Number the edges of Euler circuits, or a path.")
@click.option("--letters", is_flag=True, help="Add to the numbers of a walk the last letter of each vertex reached.")
@click.option("--into", type=_COUNT, metavar="N", help="Colour vertices with at least N edges in green.")
@click.option("--out", type=_COUNT, metavar="N", help="With at least N edges out yellow; with both blue.")
@click.option("--edge-numbers", is_flag=True, help="Write its number at each edge.")
@click.option("--vertices", metavar="LIST", help="Only these, by name, with commas between them.")
@click.option("--engine", metavar="NAME", help="Program of Graphviz.  [default: dot; sfdp above 60 vertices]")
def draw(
    graph_path: Path,
    output: Path,
    *,
    graph_format: str | None,
    walk_path: Path | None,
    euler: bool,
    letters: bool,
    vertices: str | None,
    spanning_tree: str | None,
    **options: Any,
) -> None:
    """Draw a graph of up to 2,000 vertices with Graphviz.

    The first vertex of a walk is green with a double border; its last one, if it is another, is red. Without
    Graphviz's programs the .dot file is written all the same, to draw elsewhere.

    \b
    gpuasm graph draw graph.txt --clusters --into 3 --out 3 -o graph.svg
    gpuasm graph draw graph.txt --euler -o tour.png
    """
    graph = _read(graph_path, graph_format)
    graph = graph if vertices is None else graph.induced([name.strip() for name in vertices.split(",")])
    walk = _walk(graph, walk_path, euler=euler)
    if letters:
        if walk is None:
            raise UsageError("a walk for --letters", "none", "add --euler, or --walk FILE")
        options["walk_labels"] = [
            f"{step}:{str(graph.label_of(int(graph.columns[edge])))[-1:]}" for step, edge in enumerate(walk, start=1)
        ]
    drawing = graph.draw(walk=walk, spanning_tree=spanning_tree or "no", **options)
    _write_picture(output, drawing)


def _read(path: Path, graph_format: str | None) -> DirectedGraph:
    """Read a graph; its weights, if it has any, are passed over."""
    from gpuasm.io.graphs import read_graph

    return read_graph(path, file_format=graph_format, pass_over_weights=True)


def _read_weighted(
    path: Path, graph_format: str | None, *, unweighted: bool
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a graph, and its weights unless these are to be left out."""
    from gpuasm.io.graphs import read_weighted_graph

    if unweighted:
        return _read(path, graph_format), None
    return read_weighted_graph(path, allow_negative=True, file_format=graph_format)


def _output_format(output: Path, file_format: str | None) -> str:
    """Return the format of an output before its input is read."""
    from gpuasm.io.graphs import format_of_suffix

    return file_format or format_of_suffix(output)


def _write(output: Path, graph: DirectedGraph, weights: np.ndarray | None, file_format: str) -> None:
    from gpuasm.io.graphs import WITH_WEIGHTS, write_graph

    if weights is not None and file_format not in WITH_WEIGHTS:
        raise UsageError(
            f"a format that holds weights: {', '.join(WITH_WEIGHTS)}", repr(file_format),
            "take one of those, or add --unweighted",
        )  # fmt: skip
    write_graph(output, graph, file_format=file_format, weights=weights)


def _walk(graph: DirectedGraph, path: Path | None, *, euler: bool) -> list[int] | None:
    """Return the edges of the requested walk."""
    if path is not None and euler:
        raise UsageError("one walk", "--walk and --euler", "leave one of the two out")
    if path is not None:
        return _edges_of_walks(graph, path)
    if not euler:
        return None
    from gpuasm.graph.hierholzer import hierholzer

    return [int(edge) for edge in hierholzer(graph, path=True).edges]


def _edges_of_walks(graph: DirectedGraph, path: Path) -> list[int]:
    from gpuasm.graph.drawing import edges_of_tour
    from gpuasm.io.graph_text import lines_of_file

    lines = list(lines_of_file(path, per_line=160))
    for number, name in lines:
        try:
            _ = name and graph.number_of(name)
        except UsageError as error:
            raise DataError(error.expected, error.found, error.remedy, path=path, place=f"line {number}") from error
    walks = [list(walk) for named, walk in itertools.groupby((name for _, name in lines), bool) if named]
    try:
        return [edge for walk in walks for edge in edges_of_tour(graph, walk)]
    except DataError as error:
        raise error.of_file(path) from error


def _write_picture(output: Path, drawing: Drawing) -> None:
    from gpuasm.cli.file_uses import note_output
    from gpuasm.io import atomic_output

    kind = "dot" if str(output) == "-" else output.suffix.lower().removeprefix(".")
    if kind not in _PICTURES:
        raise UsageError(f"a picture: .{', .'.join(_PICTURES)}", repr(output.name), "choose one of these suffixes")
    try:
        picture = drawing.render(kind)
    except DeviceError as error:
        text_path = output.with_suffix(".dot")
        note_output(text_path)
        with atomic_output(text_path, "wb") as file:
            file.write(drawing.render("dot"))
        raise DeviceError(error.expected, error.found, f"{error.remedy}: {text_path} is written") from error
    with atomic_output(output, "wb") as file:
        file.write(picture)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
