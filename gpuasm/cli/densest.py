"""``gpuasm densest``: dense subgraphs, with a bound on how dense any can be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.cli.paths import INPUT, OUTPUT
from gpuasm.cli.ranges import SEED, Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    from gpuasm.cli.densest_outputs import Found
    from gpuasm.cli.graph_memory import MemoryPlan

_PICTURES = ("png", "svg", "pdf")
_METHODS = ("rank", "peel", "power", "degree", "flow", "batches")
_OF_ANY_SIZE = ("flow", "batches")
"""Methods that take no K."""


@click.command(short_help="Find the densest subgraph, of K vertices or of any size.")
@click.argument("graph_path", metavar="GRAPH", type=INPUT)
@click.option("-k", type=Whole(1), metavar="K", help="Number of vertices.  [default: any number]")
@click.option(
    "-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The members.  [default: standard output]"
)
@click.option(
    "--method",
    type=click.Choice(_METHODS),
    help="rank: low-rank form, improved, never below the others; greedy peeling; truncated power method; greatest"
    " degrees. For any number: peel; flow, peeling and then maximum flow: exact; peeling in batches.  [default: rank;"
    " without -k flow where it is quick]",
)
@click.option(
    "--rank", type=Whole(1, 16), default=2, show_default=True, metavar="D",
    help="Eigenvectors of the low-rank form: exact for 1 and 2, by random directions above.",
)  # fmt: skip
@click.option("--directions", type=Whole(1), default=512, show_default=True, metavar="N", help="For --rank above 2.")
@click.option(
    "--iterations", type=Whole(1), default=8, show_default=True, metavar="N",
    help="Of peeling: 1 is greedy, more come closer to the densest.",
)  # fmt: skip
@click.option(
    "--max-products", type=Whole(20), default=2000, show_default=True, metavar="N",
    help="Products with the adjacency matrix after which eigenvectors are given up.",
)  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of all random.")
@click.option("--weighted", is_flag=True, help="Edges have weights: third column, values of .mtx, or weights of .npz.")
@format_option()
@click.option("--bipartite", is_flag=True, help="Of a directed graph: K vertices with most edges to --columns others.")
@click.option("--columns", "n_columns", type=Whole(1), metavar="L", help="See --bipartite.  [default: K]")
@click.option(
    "--assembly", is_flag=True,
    help="GRAPH is an assembly graph, GFA: segments that links join. Where there are fewer than K, all are taken.",
)  # fmt: skip
@click.option("--picture", type=OUTPUT, metavar="FILE", help="Draw the subgraph: .png, .svg or .pdf.")
@click.option("--json", "json_path", type=OUTPUT, metavar="FILE", help="Manifest of the run, with the summary.")
@common_options
def command(*, graph_path: Path, common: CommonOptions, **options: Any) -> None:
    """Find vertices with as many edges among them as possible, and an upper bound of these edges.

    GRAPH is adjacency text, an edge list, Matrix Market, GFA or .npz; directions, parallel edges and self-loops do not
    count. The table has a line for each member: name, degree, and its edges (or their weight) within.

    The average degree is twice the edges within by vertex, the density the edges by pair of vertices. No subgraph of as
    many vertices has a greater average degree than the bound.

    \b
    Examples:
      gpuasm densest graph.txt -k 50 -o members.tsv --picture members.svg
      gpuasm densest samples.tsv --weighted -k 12
      gpuasm densest assembly/graph.gfa --assembly -k 20 -o tangle.tsv
      gpuasm densest web.mtx --bipartite -k 100 --columns 300 --device cuda -o block.tsv
    """
    from gpuasm.cli.densest_outputs import summary_lines, write_outputs
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import densest_work
    from gpuasm.cli.session import run_session
    from gpuasm.cli.summaries import print_summary

    _check(options)
    with run_session(common) as session:
        plan = MemoryPlan(session, densest_work(options))
        found = _find(graph_path, options, plan)
        with session.stages.stage("write"):
            write_outputs(found, options["output"], options["picture"])
        if options["json_path"] is not None:
            session.write_manifest(
                options["json_path"],
                command="densest",
                parameters=options | plan.parameters(),
                inputs=[{"path": str(found.given.path)}],
                results={name.replace(" ", "_"): value for name, value in found.figures.items()},
            )
    print_summary(summary_lines(found), (options["output"], options["json_path"]), quiet=common.quiet)


def _check(options: dict[str, Any]) -> None:
    k, method = options["k"], options["method"]
    if k is None and method not in (None, "peel", *_OF_ANY_SIZE):
        raise UsageError(f"-k K, for --method {method}", "none", "give the number of vertices, or take --method flow")
    if k is not None and method in _OF_ANY_SIZE:
        raise UsageError(f"--method {method} without -k", f"-k {k}", "leave -k out, or take --method rank or peel")
    if options["bipartite"] and (k is None or method not in (None, "rank")):
        raise UsageError("-k K and no --method, for --bipartite", "others", "give the number of rows with -k")
    if options["bipartite"] and options["assembly"]:
        raise UsageError("one of --bipartite and --assembly", "both", "segments have no sides: leave one out")
    if options["n_columns"] and not options["bipartite"]:
        raise UsageError("--bipartite, for --columns", "none", "add --bipartite")
    if options["assembly"] and options["weighted"]:
        raise UsageError("--assembly alone", "--weighted with it", "links have no weights: leave --weighted out")
    picture = options["picture"]
    if picture is not None and picture.suffix.lower().removeprefix(".") not in _PICTURES:
        raise UsageError(f"a picture: .{', .'.join(_PICTURES)}", repr(picture.name), "choose one of these suffixes")


def _find(path: Path, options: dict[str, Any], plan: MemoryPlan) -> Found:
    from gpuasm.cli.densest_inputs import read_input
    from gpuasm.cli.densest_outputs import any_size, block, of_size
    from gpuasm.densest import SearchOptions

    search = SearchOptions(
        method=options["method"] if options["method"] in ("peel", "power", "degree") else "rank",
        rank=options["rank"],
        directions=options["directions"],
        rounds=options["iterations"],
        seed=options["seed"],
        max_products=options["max_products"],
    )
    session = plan.session
    given_format = {"weighted": options["weighted"], "file_format": options["graph_format"]}
    plan.before_reading(path, segments=options["assembly"], **given_format)
    with session.stages.stage("read graph") as stage:
        given = read_input(path, assembly=options["assembly"], **given_format)
        stage.note(vertices=given.graph.n_vertices, edges=given.graph.n_edges)
    graph = given.graph
    plan.before_work(graph.n_vertices, graph.n_edges, graph.names, weighted=given.weights is not None)
    try:
        if options["bipartite"]:
            return block(given, (options["k"], options["n_columns"] or options["k"]), (search, session))
        if options["k"] is None:
            return any_size(given, search, session, method=options["method"])
        return of_size(given, options["k"], (search, session))
    except DataError as error:
        raise error.of_file(path) from error
