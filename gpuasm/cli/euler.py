"""``gpuasm euler``: an Euler circuit or path of each component of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.errors import DataError

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.graph import DirectedGraph
    from gpuasm.graph.tours import EulerTour
    from gpuasm.stages import Stages

_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_MORE_STAGES = ("read graph", "order", "hierholzer", "write tour")
STAGES = ("predecessors", "partition", "circuit graph", "swaps", "ranking")
"""The stages of the parallel method."""


@click.command(short_help="Find Euler circuits and paths.")
@click.argument("graph_path", metavar="GRAPH", type=_FILE)
@click.option("-o", "--output", type=_FILE, default="-", metavar="FILE", help="The tour.  [default: standard output]")
@click.option("--path", is_flag=True, help="One component may have a path, from its start to its end.")
@click.option("--start", metavar="VERTEX", help="Begin the circuit of this vertex's component here.")
@click.option("--edges", "as_edges", is_flag=True, help="Write edges, not vertices: number, source, target.")
@click.option(
    "--method",
    type=click.Choice(["auto", "parallel", "hierholzer"]),
    default="auto",
    show_default=True,
    help="Both give valid tours, but different ones; auto takes the one that is faster here.",
)
@click.option(
    "--pairing",
    type=click.Choice(["mixed", "fifo"]),
    default="mixed",
    show_default=True,
    help="How the parallel method pairs edges: mixed by a hash, or first in, first out.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Of the mixed pairing."
)
@click.option("--stages", "stages_path", type=_FILE, metavar="FILE", help="Seconds and circuits by stage, as TSV.")
@common_options
def command(
    *,
    graph_path: Path,
    output: Path,
    path: bool,
    start: str | None,
    as_edges: bool,
    method: Literal["auto", "parallel", "hierholzer"],
    pairing: Literal["mixed", "fifo"],
    seed: int,
    stages_path: Path | None,
    common: CommonOptions,
) -> None:
    """Find a walk over every edge of a graph, once each: a circuit for each component with edges.

    GRAPH is adjacency text, an edge list, Matrix Market, GFA or .npz. The tour has a vertex name a line, one more than
    edges, so a circuit's last line equals its first; an empty line stands between the walks of components. The parallel
    method's tour is the same on every device.

    \b
    Examples:
      gpuasm euler graph.txt -o tour.txt
      gpuasm euler graph.txt --path --edges
      gpuasm euler graph.npz --method parallel --device cuda --stages stages.tsv -o tour.txt
    """
    from gpuasm.cli.session import run_session
    from gpuasm.graph.finding import find_euler_tour
    from gpuasm.io.graphs import read_graph

    with run_session(common) as session:
        with session.stages.stage("read graph") as stage:
            graph = read_graph(graph_path)
            stage.note(vertices=graph.n_vertices, edges=graph.n_edges)
        xp = _namespace(session, graph, method, device=common.device)
        try:
            tour = find_euler_tour(
                graph.moved_to(xp), method=method, path=path, pairing=pairing, seed=seed, stages=session.stages
            ).moved_to(_host())
        except DataError as error:
            remedy = error.remedy.replace("ask for a path", "run with --path")
            raise DataError(error.expected, error.found, remedy, path=graph_path) from error
        if start is not None:
            tour = tour.starting_at(graph, start)
        with session.stages.stage("write tour"):
            _write(output, graph, tour, as_edges=as_edges)
        if stages_path:
            _write_stages(stages_path, session.stages)
    if str(output) != "-" and str(stages_path) != "-":
        _summarise(graph, tour, session.stages)


def _namespace(session: Session, graph: DirectedGraph, method: str, *, device: str) -> Any:
    """Return where to compute: on the host, where the device would not be used; opening it takes a second."""
    from gpuasm.graph.finding import choose_method

    if method == "auto":
        method = choose_method(graph.n_edges, on_device=True)
    return session.xp if method == "parallel" or device.startswith("cuda") else _host()


def _host() -> Any:
    import numpy as np

    return np


def _write(path: Path, graph: DirectedGraph, tour: EulerTour, *, as_edges: bool) -> None:
    from gpuasm.io.tours import write_tour, write_tour_edges

    (write_tour_edges if as_edges else write_tour)(path, graph, tour)


def _write_stages(path: Path, stages: Stages) -> None:
    from gpuasm.io import write_tsv

    records = [record for record in stages.records if record.name in (*STAGES, *_MORE_STAGES)]
    write_tsv(
        path,
        {
            "stage": [record.name for record in records],
            "seconds": [record.wall_s for record in records],
            "circuits": [record.counts.get("circuits") for record in records],
        },
    )


def _summarise(graph: DirectedGraph, tour: EulerTour, stages: Stages) -> None:
    first = next((record for record in stages.records if record.name == "partition"), None)
    click.echo(f"vertices\t{graph.n_vertices}")
    click.echo(f"edges\t{graph.n_edges}")
    click.echo(f"walks\t{tour.n}")
    click.echo(f"method\t{'parallel' if first else 'hierholzer'}")
    if first:
        click.echo(f"circuits before joining\t{first.counts['circuits']}")
