"""``gpuasm geolocate``: infer the locations of samples or vertices from those of their relatives or neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.geolocate_run import OF_ROUNDS, Run, given_options
from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.options import CommonOptions, common_options, warn_of_unused
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT, OUTPUT
from gpuasm.cli.ranges import SEED, Finite, Whole
from gpuasm.errors import UsageError

if TYPE_CHECKING:
    from gpuasm.cli.geolocate_outputs import Result

_COUNT = Whole(1)
_PREDICTORS_SHOWN = 3
_SPHERICAL: dict[str, Any] = {"neighbours": None, "min_neighbours": 1, "max_radius": None, "state": None}
"""Options of the true median alone, and what they are if not given."""


@click.command(short_help="Infer where vertices or samples are from their neighbours.")
@click.argument("graph_path", metavar="GRAPH", type=INPUT)
@click.argument("labels_path", metavar="LABELS", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The table.  [default: standard output]")
@click.option(
    "--method",
    type=click.Choice(["auto", "related", "spherical", "gunrock"]),
    default="auto",
    show_default=True,
    help="By related samples, by medians of neighbours on the sphere, or as Gunrock; auto takes related for a GRAPH of"
    " compared samples without options of rounds, else spherical.",
)
@click.option("--iterations", type=_COUNT, default=3, show_default=True, metavar="N", help="Rounds at most.")
@click.option("--complete", is_flag=True, help="Go on until a round changes nothing.")
@click.option(
    "--spatial-iterations", type=_COUNT, default=1000, show_default=True, metavar="N",
    help="Steps of a median at most, with --method gunrock.",
)  # fmt: skip
@click.option(
    "--label-base", type=click.Choice(["auto", "0", "1"]), default="auto", show_default=True,
    help="Whether LABELS number vertices from 0 or from 1.",
)  # fmt: skip
@click.option("--skip-unknown", is_flag=True, help="Pass over labels of vertices that GRAPH does not have.")
@click.option("--directed", is_flag=True, help="Only vertices that edges lead to are neighbours, as often as they do.")
@click.option("--unweighted", is_flag=True, help="Take all edges alike, though GRAPH has weights.")
@format_option()
@click.option("--neighbours", type=_COUNT, metavar="K", help="Use the K located neighbours of the greatest weight.")
@click.option(
    "--min-neighbours", type=_COUNT, default=1, show_default=True, metavar="N",
    help="Leave unknown what has fewer located neighbours.",
)  # fmt: skip
@click.option(
    "--max-radius", type=Finite(min=0, min_open=True), metavar="KM",
    help="Leave unknown what may be further off, or has no radius.",
)  # fmt: skip
@click.option(
    "--radius-share", type=Finite(0, 1, min_open=True), default=0.5, show_default=True, metavar="SHARE",
    help="Of the neighbours' weight, that the radius holds.",
)  # fmt: skip
@click.option(
    "--holdout", type=Finite(0, 1, min_open=True, max_open=True), metavar="SHARE",
    help="Also hide this share of the known places, infer them, and report the errors.",
)  # fmt: skip
@click.option(
    "--names", "name_columns", multiple=True, metavar="COLUMN",
    help="Also infer the names in this column of LABELS; repeatable.  [default: continent, country, city, ...]",
)  # fmt: skip
@click.option(
    "--probabilities", "probabilities_path", type=NAMED_OUTPUT, metavar="FILE",
    help="The probability of each name of a place, as TSV.",
)  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of what is hidden.")
@click.option(
    "--errors", "errors_path", type=NAMED_OUTPUT, metavar="FILE", help="The error of each place hidden, as TSV."
)
@click.option(
    "--state", type=NAMED_OUTPUT, metavar="FILE",
    help="Keep the locations here, and compute only what changed in GRAPH or LABELS since.",
)  # fmt: skip
@click.option("--geojson", "geojson_path", type=NAMED_OUTPUT, metavar="FILE", help="Places and edges as GeoJSON.")
@click.option("--map", "map_path", type=NAMED_OUTPUT, metavar="FILE", help="A map of the world: .png, .svg or .pdf.")
@click.option("--json", "manifest_path", type=NAMED_OUTPUT, metavar="FILE", help="Manifest of the run.")
@common_options
def command(
    *,
    graph_path: Path,
    labels_path: Path,
    output: Path,
    geojson_path: Path | None,
    map_path: Path | None,
    errors_path: Path | None,
    probabilities_path: Path | None,
    manifest_path: Path | None,
    common: CommonOptions,
    **options: Any,
) -> None:
    """Infer the places of samples without one from related samples, or of vertices from their neighbours.

    GRAPH is Matrix Market, an edge list, .npz, adjacency text or GFA; weights, if it has any, are greater for nearer
    neighbours. LABELS is a label file of Gunrock ("N 2 2", then "id latitude longitude", or "id" alone) or a table with
    columns latitude and longitude and a column of names, which may be a sample sheet. The table that comes out has a
    row for each vertex: vertex, latitude, longitude, status (known, inferred, unknown) and radius_km, how far an
    inferred place may be off.

    For graph.npz of 'gpuasm relate', predictors by nearest relatives, trees and dates are weighted by cross-validation;
    radius_km and radius_90_km hold the true place with 50 % and 90 %; columns such as country are inferred too.

    \b
    Examples:
      gpuasm geolocate samples/graph.npz samples.tsv --map samples.png -o located.tsv
      gpuasm geolocate samples/graph.npz samples.tsv --names country --holdout 0.2 -o located.tsv
      gpuasm geolocate network.mtx users.labels --method gunrock --iterations 10 -o located.tsv
    """
    from gpuasm.cli.graph_inputs import check_standard_input
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import geolocate_work
    from gpuasm.cli.session import run_session
    from gpuasm.cli.summaries import print_summary

    check_standard_input(graph_path, labels_path)
    _check(options, errors_path, map_path)
    options["names"] = [title.strip().lower() for title in options.pop("name_columns")]
    with run_session(common) as session:
        if options["method"] != "gunrock":
            warn_of_unused(("spatial_iterations",), "without --method gunrock")
        if options["complete"]:
            warn_of_unused(("iterations",), "with --complete")
        if not options["holdout"]:
            warn_of_unused(("seed",), "without --holdout")
        work = geolocate_work(options, draws=geojson_path is not None or map_path is not None)
        run = Run(graph_path, labels_path, options, MemoryPlan(session, work))
        run.read()
        if run.related is None and (options["names"] or probabilities_path is not None):
            raise UsageError(
                "compared samples for names of places", "a graph without, or options of rounds",
                "give graph.npz of gpuasm relate, and leave the options out",
            )  # fmt: skip
        result = run.locate()
        held = run.hold_out() if options["holdout"] else None
        with session.stages.stage("write"):
            _write(result, output, geojson_path, map_path)
            if probabilities_path is not None and run.related is not None:
                from gpuasm.cli.geolocate_outputs import write_probabilities

                write_probabilities(probabilities_path, result, run.related)
            if errors_path is not None and held is not None:
                from gpuasm.cli.geolocate_outputs import write_errors

                write_errors(errors_path, result, held)
        if manifest_path is not None:
            run.write_manifest(manifest_path, result)
    print_summary(_summary(run.results(result)), (output,), quiet=common.quiet)


def _check(options: dict[str, Any], errors_path: Path | None, map_path: Path | None) -> None:
    """Refuse what contradicts itself before anything is read."""
    method = options["method"]
    given = given_options(options, {"gunrock": _SPHERICAL, "related": OF_ROUNDS}.get(method, {}))
    if given:
        raise UsageError(
            "--method spherical for " + ", ".join(f"--{name.replace('_', '-')}" for name in given), method,
            "leave them out, or leave --method out",
        )  # fmt: skip
    if errors_path is not None and not options["holdout"]:
        raise UsageError("--holdout with --errors", "none", "give the share to hide, as in --holdout 0.2")
    if map_path is not None:
        from gpuasm.cli.geolocate_outputs import kind_of_map

        kind_of_map(map_path)


def _write(result: Result, output: Path, geojson_path: Path | None, map_path: Path | None) -> None:
    from gpuasm.cli.geolocate_outputs import located_samples, write_geojson, write_map, write_table

    write_table(output, result)
    if geojson_path is not None or map_path is not None:
        located = located_samples(result)
        if geojson_path is not None:
            write_geojson(geojson_path, located)
        if map_path is not None:
            write_map(map_path, located)


def _summary(values: dict[str, Any]) -> list[str]:
    """Return the lines of the summary, a title and a value each."""
    values = {name: value for name, value in values.items() if value is not None}
    predictors = values.pop("predictors", [])
    for key, title in (("names", "macro_f1"), ("held_out_names", "held_out_macro_f1")):
        for row in values.pop(key, []):
            values |= {} if row["macro_f1"] is None else {f"{title}_{row['column']}": row["macro_f1"]}
    for row in predictors[:_PREDICTORS_SHOWN]:
        values[f"weight of {row['predictor']}"] = row["weight"]
    return [
        f"{name.replace('_', ' ')}\t{f'{value:.6g}' if isinstance(value, float) else value}"
        for name, value in values.items()
    ]
