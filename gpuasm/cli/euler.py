"""``gpuasm euler``: an Euler circuit or path of each component of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.cli.paths import INPUT, OUTPUT
from gpuasm.cli.ranges import SEED
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.graph import DirectedGraph
    from gpuasm.graph.tours import EulerTour
    from gpuasm.stages import Stages

_MORE_STAGES = ("read graph", "order", "hierholzer", "write tour")
STAGES = ("predecessors", "partition", "circuit graph", "swaps", "ranking")
"""The stages of the parallel method."""


@click.command(short_help="Find Euler circuits and paths.")
@click.argument("graph_path", metavar="GRAPH", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The tour.  [default: standard output]")
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
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of the mixed pairing.")
@click.option(
    "--assembly",
    is_flag=True,
    help="GRAPH is an assembly graph, GFA: walk each segment as often as its depth requires, and write a table.",
)
@format_option()
@click.option("--stages", "stages_path", type=OUTPUT, metavar="FILE", help="Seconds and circuits by stage, as TSV.")
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
    assembly: bool,
    graph_format: str | None,
    stages_path: Path | None,
    common: CommonOptions,
) -> None:
    """Find a walk over every edge of a graph, once each: a circuit for each component with edges.

    GRAPH is adjacency text, an edge list, Matrix Market, GFA or .npz. The tour has a vertex name a line, one more than
    edges, so a circuit's last line equals its first; an empty line separates the walks of components. The parallel
    method's tour is the same on every device.

    With --assembly, segments are edges between the junctions of links, as many as their copy number. The table has a
    row for each component: whether it has a circuit, a path or none and why, and the walk, one of many as a rule.

    \b
    Examples:
      gpuasm euler graph.txt -o tour.txt
      gpuasm euler graph.txt --path --edges
      gpuasm euler graph.npz --method parallel --device cuda --stages stages.tsv -o tour.txt
      gpuasm euler assembly/graph.gfa --assembly -o tours.tsv
    """
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import euler_work
    from gpuasm.cli.session import run_session
    from gpuasm.graph.finding import find_euler_tour
    from gpuasm.io.graphs import read_graph

    if assembly:
        if path or as_edges or start is not None:
            raise UsageError("--assembly alone", "--path, --edges or --start with it", "leave one of the two out")
        with run_session(common) as session:
            _walk_assembly(graph_path, output, session)
        return
    with run_session(common) as session:
        plan = MemoryPlan(session, euler_work(method, path=path, as_edges=as_edges))
        plan.before_reading(graph_path, file_format=graph_format)
        with session.stages.stage("read graph") as stage:
            graph = read_graph(graph_path, file_format=graph_format)
            stage.note(vertices=graph.n_vertices, edges=graph.n_edges)
        plan.before_work(graph.n_vertices, graph.n_edges, graph.names)
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


def _walk_assembly(path: Path, output: Path, session: Session) -> None:
    """Write a row for each component of an assembly graph."""
    import numpy as np

    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import assembly_work
    from gpuasm.graph.segment_tours import segment_tours
    from gpuasm.io import write_tsv
    from gpuasm.io.gfa_segments import read_segment_graph

    stages, plan = session.stages, MemoryPlan(session, assembly_work())
    plan.before_reading(path, segments=True)
    with stages.stage("read graph") as stage:
        graph = read_segment_graph(path)
        stage.note(segments=len(graph.names), links=graph.first.size)
    plan.before_work(len(graph.names), graph.first.size)
    with stages.stage("walk components", total=len(graph.names), unit="segments") as stage:
        tours = []
        try:
            for tour in segment_tours(graph.lengths, graph.depths, graph.first, graph.second):
                tours.append(tour)
                stage.advance(tour.segments.size)
        except DataError as error:
            raise error.of_file(path) from error
        kinds = [tour.kind for tour in tours]
        stage.note(components=len(tours), circuits=kinds.count("circuit"), paths=kinds.count("path"))
    named = [[graph.names[s >> 1] + "+-"[s & 1] for s in tour.steps.tolist()] for tour in tours]
    write_tsv(
        output,
        {
            "component": np.arange(1, len(tours) + 1),
            "segments": [tour.segments.size for tour in tours],
            "bases": [int(graph.lengths[tour.segments].sum()) for tour in tours],
            "depth": [None if np.isnan(tour.depth) else round(tour.depth, 1) for tour in tours],
            "strands": ["both" if tour.both_strands else "one" for tour in tours],
            "copies": [int(tour.copies.sum()) for tour in tours],
            "tour": kinds,
            "reason": [tour.reason for tour in tours],
            "walk": [",".join(steps) for steps in named],
        },
    )
    if str(output) != "-":
        for kind in ("circuit", "path", "none"):
            click.echo(f"{kind}\t{kinds.count(kind)}")


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
