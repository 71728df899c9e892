"""``gpuasm pagerank``: the PageRank of the vertices of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.options import CommonOptions, common_options, warn_of_unused
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT, OUTPUT
from gpuasm.cli.ranges import SEED, Finite, Whole
from gpuasm.errors import ConvergenceError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.rank_outputs import Ranking
    from gpuasm.cli.session import Session
    from gpuasm.graph import DirectedGraph

_COUPONS_EACH, _MOST_THREADS = 64, 128 * 128  # of the heat map


@click.command(short_help="Rank the vertices of a graph by PageRank.")
@click.argument("graph_path", metavar="GRAPH", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The table.  [default: standard output]")
@click.option(
    "--method",
    type=click.Choice(["power", "walks"]),
    default="power",
    show_default=True,
    help="Power iteration to a tolerance, or random walks, which are an estimate with a standard error.",
)
@click.option(
    "--reset", type=Finite(), default=0.15, show_default=True, metavar="P", help="Probability to stop at a vertex."
)
@click.option("--coupons", type=Whole(1), default=10, show_default=True, metavar="N", help="Walks by vertex.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of the walks.")
@click.option(
    "--tolerance",
    type=Finite(),
    default=1e-9,
    show_default=True,
    metavar="X",
    help="Power iteration ends when the ranks change by no more than this in sum.",
)
@click.option(
    "--max-iterations",
    type=Whole(1),
    default=1000,
    show_default=True,
    metavar="N",
    help="Iterations after which power iteration is given up.",
)
@click.option("--personalise", type=INPUT, metavar="FILE", help="Where walks begin: a vertex a line, and its share.")
@click.option("--weighted", is_flag=True, help="Edges are taken in proportion to their weights in GRAPH.")
@format_option()
@click.option("--compare", is_flag=True, help="Run the other method too, and report the error of the walks.")
@click.option("--oriented", is_flag=True, help="Of GFA: a row for each strand of a segment, not for both together.")
@click.option("--top", type=Whole(1), metavar="N", help="Only the first rows.")
@click.option("--picture", type=NAMED_OUTPUT, metavar="FILE", help="Ranks in their order: .png .svg .pdf.")
@click.option("--heat-map", type=NAMED_OUTPUT, metavar="FILE", help="Work of threads before and after it is balanced.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(*, graph_path: Path, output: Path, json_path: Path | None, common: CommonOptions, **options: Any) -> None:
    """Rank the vertices of a graph by PageRank, the highest first.

    GRAPH is adjacency text, an edge list, Matrix Market, GFA or .npz; weights are the values of Matrix Market, or the
    third column of an edge list. Of GFA the segments are ranked, both strands together; repeats, which many links lead
    to, have high ranks. Walks visit the same vertices as often on every device.

    \b
    Examples:
      gpuasm pagerank links.tsv -o ranks.tsv
      gpuasm pagerank assembly/graph.gfa -o ranks.tsv --picture ranks.svg
      gpuasm pagerank web.mtx --method walks --coupons 20 --compare --heat-map work.png -o ranks.tsv
      gpuasm pagerank flows.tsv --weighted --personalise sources.tsv --top 100
    """
    from gpuasm.cli.graph_inputs import check_standard_input
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import pagerank_work
    from gpuasm.cli.rank_outputs import draw_table, facts_of, picture_kind, table_of
    from gpuasm.cli.session import run_session
    from gpuasm.cli.summaries import print_summary
    from gpuasm.io import write_tsv

    for path in filter(None, (options["picture"], options["heat_map"])):
        picture_kind(path)
    if options["heat_map"] and options["method"] == "power" and not options["compare"]:
        raise UsageError("walks for --heat-map", "power iteration", "add --method walks, or --compare")
    check_standard_input(graph_path, options["personalise"])
    with run_session(common) as session:
        if not options["compare"]:
            is_power = options["method"] == "power"
            unused = ("coupons", "seed") if is_power else ("tolerance", "max_iterations")
            warn_of_unused(unused, f"with --method {options['method']}")
        plan = MemoryPlan(session, pagerank_work(options, threads=session.threads))
        ranking = _rank(graph_path, plan, options)
        with session.stages.stage("write ranks"):
            order = ranking.order()
            rows = order[: options["top"]]
            write_tsv(output, table_of(ranking, rows))
            if options["picture"]:
                draw_table(options["picture"], ranking, order)
        facts = facts_of(ranking)
        if json_path:
            inputs = [{"path": str(graph_path)}]
            parameters = options | plan.parameters()
            session.write_manifest(json_path, command="pagerank", parameters=parameters, inputs=inputs, results=facts)
    lines = (f"{n.replace('_', ' ')}\t{f'{v:.3g}' if isinstance(v, float) else v}" for n, v in facts.items())
    print_summary(lines, (output, json_path), quiet=common.quiet)


def _rank(graph_path: Path, plan: MemoryPlan, options: dict[str, Any]) -> Ranking:
    """Read the graph and run the requested methods."""
    import numpy as np

    from gpuasm.cli.rank_outputs import Ranking, draw_heat_map
    from gpuasm.io.gfa_segments import read_segment_graph
    from gpuasm.io.graphs import is_gfa
    from gpuasm.io.personalisation import read_personalisation
    from gpuasm.ranking import WARP, power_iteration, random_walks, work_by_coupon

    session, stages, segments = plan.session, plan.session.stages, None
    given = {"weighted": options["weighted"], "file_format": options["graph_format"]}
    plan.before_reading(graph_path, **given)
    graph, weights = _read(graph_path, session, given)
    plan.before_work(graph.n_vertices, graph.n_edges, graph.names, weighted=weights is not None)
    if str(graph_path) == "-" and not options["oriented"] and _has_strands(graph):
        raise UsageError("GFA as a file, as it is read twice", "standard input", "name a file, or add --oriented")
    if options["graph_format"] in (None, "gfa") and is_gfa(graph_path) and not options["oriented"]:
        segments = read_segment_graph(graph_path)
    teleport = None
    if options["personalise"]:
        teleport = read_personalisation(options["personalise"], graph, by_segment=segments is not None)
    there = graph.moved_to(session.xp)
    surfer = {"weights": weights, "teleport": teleport, "reset": options["reset"]}
    power = walks = None
    if options["method"] == "power" or options["compare"]:
        limits = {key: options[key] for key in ("tolerance", "max_iterations")}
        try:
            power = power_iteration(there, **surfer, **limits, stages=stages)
        except ConvergenceError as error:
            remedy = error.remedy.replace("allow more iterations", "raise --max-iterations")
            remedy = remedy.replace("tolerance", "--tolerance", 1)
            raise ConvergenceError(error.expected, error.found, remedy, path=graph_path) from error
    if options["method"] == "walks" or options["compare"]:
        own = {key: options[key] for key in ("coupons", "seed")}
        walks = random_walks(there, **surfer, **own, stages=stages)
        if options["heat_map"]:
            with stages.stage("draw work"):
                shared = {"teleport": teleport, "reset": options["reset"]}
                n_threads = int(np.clip(graph.n_vertices * options["coupons"] // _COUPONS_EACH, WARP, _MOST_THREADS))
                work = work_by_coupon(there, n_threads=n_threads // WARP * WARP, **own, **shared)
                draw_heat_map(options["heat_map"], walks.visits, work)
    return Ranking(graph, options["method"], power, walks, segments)


def _read(path: Path, session: Session, given: dict[str, Any]) -> tuple[DirectedGraph, np.ndarray | None]:
    from gpuasm.cli.graph_inputs import read_given_graph

    with session.stages.stage("read graph") as stage:
        graph, weights = read_given_graph(path, **given)
        stage.note(vertices=graph.n_vertices, edges=graph.n_edges)
    return graph, weights


def _has_strands(graph: DirectedGraph) -> bool:
    """Return whether the vertices are the strands of segments, as those of GFA are."""
    names = [] if graph.names is None else [str(name) for name in graph.names]
    return bool(names) and names[1::2] == [name[:-1] + "-" for name in names[::2] if name.endswith("+")]
