"""``gpuasm graph generate``: graphs of several kinds, each from a seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.graph_inputs import FORMATS
from gpuasm.cli.paths import OUTPUT
from gpuasm.cli.ranges import MOST_ITEMS, SEED, Whole

if TYPE_CHECKING:
    from gpuasm.graph import DirectedGraph

_COUNT = Whole(1)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add where a graph is written, and in which format."""
    function = click.option(
        "--format",
        "file_format",
        type=click.Choice(FORMATS),
        help="Format of the output.  [default: by suffix: .npz .mtx .gfa .tsv .csv .edges .el .txt; none: adjacency]",
    )(function)
    return click.option(
        "-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The graph.  [default: standard output]"
    )(function)


def seed_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the seed of random numbers."""
    return click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of all that is random.")(
        function
    )


@click.group()
def generate() -> None:
    """Generate a graph; a seed gives the same graph on every machine.

    \b
    gpuasm graph generate deep --vertices 15 --degree 5
    gpuasm graph generate debruijn --alphabet 01 --order 3
    """


def _generator(
    name: str, *options: Callable[..., Any]
) -> Callable[[Callable[..., DirectedGraph]], Callable[..., None]]:
    """Make a subcommand of ``generate`` of a function that returns a graph."""

    def made(function: Callable[..., DirectedGraph]) -> Callable[..., None]:
        def run(*, output: Path, file_format: str | None, shuffle: bool, seed: int, **arguments: Any) -> None:
            from gpuasm.graph.random_graphs import shuffled
            from gpuasm.io.graphs import write_graph

            graph = function(seed=seed, **arguments)
            write_graph(output, shuffled(graph, seed=seed) if shuffle else graph, file_format=file_format)

        run.__doc__ = function.__doc__
        wrapped: Callable[..., Any] = output_options(seed_option(run))
        wrapped = click.option("--shuffle", is_flag=True, help="Number the vertices at random.")(wrapped)
        for option in reversed(options):
            wrapped = option(wrapped)
        return generate.command(name)(wrapped)

    return made


_VERTICES = click.option("--vertices", type=_COUNT, required=True, metavar="N", help="How many vertices.")
_EDGES = click.option("--edges", type=Whole(0, MOST_ITEMS), required=True, metavar="N", help="How many edges.")


@_generator(
    "deep",
    _VERTICES,
    click.option("--degree", type=_COUNT, required=True, metavar="K", help="Most edges out of a vertex."),
    click.option("--path", is_flag=True, help="An Euler path instead of a circuit."),
)
def _deep(*, vertices: int, degree: int, path: bool, seed: int) -> DirectedGraph:
    """Eulerian, with few and long circuits: each vertex leads to the next ones that have room.

    \b
    gpuasm graph generate deep --vertices 15 --degree 5 -o deep.txt
    """
    from gpuasm.graph.generators import deep_eulerian

    return deep_eulerian(vertices, degree, path=path, seed=seed)


@_generator("shallow", _VERTICES, _EDGES)
def _shallow(*, vertices: int, edges: int, seed: int) -> DirectedGraph:
    """Eulerian, with many short circuits: triangles hung on at random, and two-cycles.

    \b
    gpuasm graph generate shallow --vertices 100 --edges 300 -o shallow.txt
    """
    from gpuasm.graph.generators import shallow_eulerian

    return shallow_eulerian(vertices, edges, seed=seed)


@_generator("circuits", _VERTICES)
def _circuits(*, vertices: int, seed: int) -> DirectedGraph:
    """Eulerian, with about as many circuits as vertices: a ring of hubs, each with leaves.

    \b
    gpuasm graph generate circuits --vertices 100 -o circuits.txt
    """
    from gpuasm.graph.generators import many_circuits

    return many_circuits(vertices, seed=seed)


@_generator(
    "debruijn",
    click.option("--alphabet", default="01", show_default=True, metavar="LETTERS", help="Letters of the strings."),
    click.option("--order", type=_COUNT, required=True, metavar="N", help="Letters of the string of an edge."),
)
def _debruijn(*, alphabet: str, order: int, seed: int) -> DirectedGraph:  # noqa: ARG001 - not random
    """De Bruijn graph: an edge for each string of an alphabet.

    \b
    gpuasm graph generate debruijn --alphabet 01 --order 3 -o binary.txt
    """
    from gpuasm.graph.generators import de_bruijn_graph

    return de_bruijn_graph(alphabet, order)


@_generator(
    "rmat",
    click.option("--scale", type=Whole(1, 40), required=True, metavar="N", help="There are 2^N vertices."),
    click.option("--edge-factor", type=_COUNT, default=16, show_default=True, metavar="N", help="Edges by vertex."),
)
def _rmat(*, scale: int, edge_factor: int, seed: int) -> DirectedGraph:
    """R-MAT graph with the parameters of Graph500: degrees follow a power law.

    \b
    gpuasm graph generate rmat --scale 16 --edge-factor 8 -o rmat.npz
    """
    from gpuasm.graph.generators import rmat

    return rmat(scale, edge_factor, seed=seed)


@_generator(
    "regular", _VERTICES, click.option("--degree", type=_COUNT, required=True, metavar="D", help="Edges out and in.")
)
def _regular(*, vertices: int, degree: int, seed: int) -> DirectedGraph:
    """Random regular graph: as many edges out of and into each vertex.

    \b
    gpuasm graph generate regular --vertices 100 --degree 3 -o regular.txt
    """
    from gpuasm.graph.generators import random_regular

    return random_regular(vertices, degree, seed=seed)


@_generator(
    "eulerian",
    _VERTICES,
    _EDGES,
    click.option("--components", type=_COUNT, default=1, show_default=True, metavar="N", help="Closed walks."),
    click.option("--path", is_flag=True, help="Leave the first walk open."),
)
def _eulerian(*, vertices: int, edges: int, components: int, path: bool, seed: int) -> DirectedGraph:
    """Random closed walks: self-loops, repeated edges, several components.

    \b
    gpuasm graph generate eulerian --vertices 20 --edges 60 --components 3 -o walks.txt
    """
    from gpuasm.graph.generators import random_eulerian

    return random_eulerian(vertices, edges, components=components, path=path, seed=seed)
