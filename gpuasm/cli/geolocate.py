"""``gpuasm geolocate``: infer the locations of the vertices of a graph from those of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.graph_inputs import format_option
from gpuasm.cli.options import CommonOptions, common_options, warn_of_unused
from gpuasm.cli.paths import INPUT, NAMED_OUTPUT, OUTPUT
from gpuasm.cli.ranges import SEED, Finite, Whole
from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.cli.geolocate_outputs import Result
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.session import Session
    from gpuasm.geolocation import HeldOut, LocatingOptions
    from gpuasm.graph import DirectedGraph

_COUNT = Whole(1)
_SPHERICAL = {"neighbours": None, "min_neighbours": 1, "max_radius": None, "state": None}
"""Options of the true median alone, and what they are if not given."""


@click.command(short_help="Infer where vertices or samples are from their neighbours.")
@click.argument("graph_path", metavar="GRAPH", type=INPUT)
@click.argument("labels_path", metavar="LABELS", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The table.  [default: standard output]")
@click.option(
    "--method",
    type=click.Choice(["spherical", "gunrock"]),
    default="spherical",
    show_default=True,
    help="The true median on the sphere, or exactly what Gunrock computes.",
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
    manifest_path: Path | None,
    common: CommonOptions,
    **options: Any,
) -> None:
    """Infer the places of vertices without one from the places of their neighbours, round after round.

    GRAPH is Matrix Market, an edge list, .npz, adjacency text or GFA; weights, if it has any, are greater for nearer
    neighbours. LABELS is a label file of Gunrock ("N 2 2", then "id latitude longitude", or "id" alone) or a table with
    columns latitude and longitude and a column of names, which may be a sample sheet. The table that comes out has a
    row for each vertex: vertex, latitude, longitude, status (known, inferred, unknown) and radius_km, how far an
    inferred place may be off.

    \b
    Examples:
      gpuasm geolocate samples/graph.npz samples.tsv --map samples.png -o located.tsv
      gpuasm geolocate samples/graph.npz samples.tsv --neighbours 5 --holdout 0.2 -o located.tsv
      gpuasm geolocate network.mtx users.labels --method gunrock --iterations 10 -o located.tsv
    """
    from gpuasm.cli.graph_inputs import check_standard_input
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.graph_needs import geolocate_work
    from gpuasm.cli.session import run_session
    from gpuasm.cli.summaries import print_summary

    check_standard_input(graph_path, labels_path)
    _check(options, errors_path, map_path)
    with run_session(common) as session:
        if options["method"] == "spherical":
            warn_of_unused(("spatial_iterations",), "without --method gunrock")
        if options["complete"]:
            warn_of_unused(("iterations",), "with --complete")
        if not options["holdout"]:
            warn_of_unused(("seed",), "without --holdout")
        work = geolocate_work(options, draws=geojson_path is not None or map_path is not None)
        run = _Run(graph_path, labels_path, options, MemoryPlan(session, work))
        run.read()
        result = run.locate()
        held = run.hold_out() if options["holdout"] else None
        with session.stages.stage("write"):
            _write(result, output, geojson_path, map_path)
            if errors_path is not None and held is not None:
                from gpuasm.cli.geolocate_outputs import write_errors

                write_errors(errors_path, result, held)
        if manifest_path is not None:
            run.write_manifest(manifest_path, result, held)
    print_summary(_summary(result, held), (output,), quiet=common.quiet)


def _check(options: dict[str, Any], errors_path: Path | None, map_path: Path | None) -> None:
    """Refuse what contradicts itself before anything is read."""
    given = [name for name, default in _SPHERICAL.items() if options[name] != default]
    if options["method"] == "gunrock" and given:
        raise UsageError(
            "--method spherical for " + ", ".join(f"--{name.replace('_', '-')}" for name in given), "gunrock",
            "leave them out, or leave --method out",
        )  # fmt: skip
    if errors_path is not None and not options["holdout"]:
        raise UsageError("--holdout with --errors", "none", "give the share to hide, as in --holdout 0.2")
    if map_path is not None:
        from gpuasm.cli.geolocate_outputs import kind_of_map

        kind_of_map(map_path)


@dataclass
class _Run:
    """One geolocation."""

    graph_path: Path
    labels_path: Path
    options: dict[str, Any]
    plan: MemoryPlan
    graph: DirectedGraph = field(init=False)
    weights: np.ndarray | None = field(init=False)
    places: np.ndarray = field(init=False)
    base: int = field(init=False)

    @property
    def session(self) -> Session:
        return self.plan.session

    def read(self) -> None:
        """Read the graph and the labels."""
        import logging

        import numpy as np

        from gpuasm.graph import DirectedGraph
        from gpuasm.graph.undirected_graph import undirected_graph
        from gpuasm.io.graphs import read_weighted_graph
        from gpuasm.io.labels import read_labels

        options, base = self.options, self.options["label_base"]
        given = {"file_format": options["graph_format"]}
        self.plan.before_reading(self.graph_path, weighted=not options["unweighted"], **given)
        with self.session.stages.stage("read graph") as stage:
            graph, weights = read_weighted_graph(self.graph_path, **given)
            if options["unweighted"]:
                weights = None
            self.plan.before_work(graph.n_vertices, graph.n_edges, graph.names, weighted=weights is not None)
            if not options["directed"]:
                merged = undirected_graph(graph, weights)
                graph = DirectedGraph(merged.row_offsets, merged.columns, graph.names)
                weights = merged.weights
            stage.note(vertices=graph.n_vertices, edges=graph.n_edges)
        with self.session.stages.stage("read labels") as stage:
            first = None if base == "auto" else int(base)
            labels = read_labels(self.labels_path, graph, base=first, skip_unknown=options["skip_unknown"])
            if labels.passed_over:
                n, log = len(labels.passed_over), logging.getLogger("gpuasm")
                log.info("labels of %d vertices that the graph does not have", n)
                if graph.n_vertices and np.isnan(labels.places).all():
                    log.warning("%s names no vertex of the graph that has a place: all stay unknown", self.labels_path)
        self.graph, self.weights, self.places, self.base = graph, weights, labels.places, labels.base

    @property
    def _iterations(self) -> int | None:
        return None if self.options["complete"] else self.options["iterations"]

    @property
    def _locating(self) -> LocatingOptions:
        from gpuasm.geolocation import LocatingOptions

        return LocatingOptions(
            iterations=self._iterations,
            nearest=self.options["neighbours"],
            min_neighbours=self.options["min_neighbours"],
            max_radius_km=self.options["max_radius"],
            share=self.options["radius_share"],
        )

    def locate(self) -> Result:
        """Infer the places of all vertices."""
        from gpuasm.cli.geolocate_outputs import Result

        with self.session.stages.stage("locate", total=self.graph.n_vertices, unit="vertices") as stage:
            places, rounds, radius_km = self._inferred(self.places, with_state=True)
            stage.advance(self.graph.n_vertices)
            stage.note(rounds=int(rounds.max(initial=0)), inferred=int((rounds > 0).sum()))
        return Result(self.graph, self.weights, places, rounds, radius_km, self.base)

    def _inferred(self, places: np.ndarray, *, with_state: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return places, rounds and radii on the host."""
        import numpy as np

        from gpuasm.arrays import to_host, to_namespace
        from gpuasm.cli.geolocate_state import read_state, write_state
        from gpuasm.geolocation import gunrock_locations, locate
        from gpuasm.geolocation.spread import radii_of_rounds

        xp = self.session.xp
        graph, given = self.graph.moved_to(xp), to_namespace(xp, places)
        if self.options["method"] == "gunrock":
            steps = self.options["spatial_iterations"]
            found, rounds = gunrock_locations(graph, given, iterations=self._iterations, spatial_iterations=steps)
            radius_km = radii_of_rounds(graph, found, rounds, share=self.options["radius_share"])
            return to_host(found), to_host(rounds), to_host(radius_km)
        state, kept = (self.options["state"] if with_state else None), None
        if state is not None:
            kept = read_state(state, self.graph, self._locating, weights=self.weights)
        weights = None if self.weights is None else to_namespace(xp, self.weights)
        previous, touched = (kept[0], to_namespace(xp, kept[1])) if kept else (None, None)
        located = locate(graph, given, self._locating, weights=weights, previous=previous, touched=touched).moved_to(np)
        if state is not None:
            write_state(state, self.graph, located, weights=self.weights)
        return _as_given(located.places, places), located.rounds, located.radius_km

    def hold_out(self) -> HeldOut:
        """Hide some known places, infer them, and measure the errors."""
        from gpuasm.geolocation import hold_out

        def infer(left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            places, _, radius_km = self._inferred(left)
            return places, radius_km

        with self.session.stages.stage("hold out"):
            share, seed = self.options["holdout"], self.options["seed"]
            try:
                return hold_out(self.graph, self.places, infer, share=share, seed=seed, weights=self.weights)
            except DataError as error:
                raise error.of_file(self.labels_path) from error

    def write_manifest(self, path: Path, result: Result, held: HeldOut | None) -> None:
        """Write what was run and what came out."""
        self.session.write_manifest(
            path,
            command="geolocate",
            parameters=self.options | self.plan.parameters(),
            inputs=[{"path": str(self.graph_path)}, {"path": str(self.labels_path)}],
            results={**_counts(result), **(held.summary() if held else {})},
        )


def _as_given(found: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the places found, those that were given in their own digits."""
    import numpy as np

    return np.where(np.isnan(given).any(axis=1)[:, None], found, given)


def _write(result: Result, output: Path, geojson_path: Path | None, map_path: Path | None) -> None:
    from gpuasm.cli.geolocate_outputs import located_samples, write_geojson, write_map, write_table

    write_table(output, result)
    if geojson_path is not None or map_path is not None:
        located = located_samples(result)
        if geojson_path is not None:
            write_geojson(geojson_path, located)
        if map_path is not None:
            write_map(map_path, located)


def _counts(result: Result) -> dict[str, Any]:
    status = result.status()
    counts = {name: status.count(name) for name in ("known", "inferred", "unknown")}
    return {"vertices": len(status), **counts, "rounds": int(result.rounds.max(initial=0))}


def _summary(result: Result, held: HeldOut | None) -> list[str]:
    """Return the lines of the summary, a title and a value each."""
    values = {**_counts(result), **(held.summary() if held else {})}
    return [
        f"{name.replace('_', ' ')}\t{f'{value:.6g}' if isinstance(value, float) else value}"
        for name, value in values.items()
        if value is not None
    ]
