"""One run of ``gpuasm geolocate``: read, infer, hold out, and describe."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuasm.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.cli.geolocate_outputs import Result
    from gpuasm.cli.geolocate_related import RelatedRun
    from gpuasm.cli.graph_memory import MemoryPlan
    from gpuasm.cli.session import Session
    from gpuasm.geolocation import HeldOut, LocatingOptions
    from gpuasm.graph import DirectedGraph

OF_ROUNDS: dict[str, Any] = {
    "neighbours": None, "min_neighbours": 1, "state": None, "iterations": 3, "complete": False, "directed": False,
    "unweighted": False, "radius_share": 0.5,
}  # fmt: skip
"""Options of rounds over neighbours, which related samples do not have."""


def given_options(options: dict[str, Any], defaults: dict[str, Any]) -> list[str]:
    """Return which options differ from their defaults."""
    return [name for name, default in defaults.items() if options[name] != default]


@dataclass
class Run:
    """One geolocation."""

    graph_path: Path
    labels_path: Path
    options: dict[str, Any]
    plan: MemoryPlan
    graph: DirectedGraph = field(init=False)
    weights: np.ndarray | None = field(init=False)
    places: np.ndarray = field(init=False)
    base: int = field(init=False)
    related: RelatedRun | None = field(init=False, default=None)
    of_held: dict[str, Any] = field(init=False, default_factory=dict)

    @property
    def session(self) -> Session:
        return self.plan.session

    def read(self) -> None:
        """Read the graph and the labels."""
        import logging

        import numpy as np

        from gpuasm.cli.related_inputs import columns_of_labels, compared_samples, related_run
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
            compared, columns = None, list[str]()
            if self._may_use_relatives:
                memory = self.session.memory
                compared = compared_samples(self.graph_path, graph, method=options["method"], memory=memory)
                columns = columns_of_labels(options["names"]) if compared else []
        with self.session.stages.stage("read labels") as stage:
            first = None if base == "auto" else int(base)
            labels = read_labels(
                self.labels_path, graph, base=first, skip_unknown=options["skip_unknown"], columns=columns
            )
            if labels.passed_over:
                n, log = len(labels.passed_over), logging.getLogger("gpuasm")
                log.info("labels of %d vertices that the graph does not have", n)
                if graph.n_vertices and np.isnan(labels.places).all():
                    log.warning("%s names no vertex of the graph that has a place: all stay unknown", self.labels_path)
        self.graph, self.weights, self.places, self.base = graph, weights, labels.places, labels.base
        if compared is not None and not np.isnan(labels.places).all():
            with self.session.stages.stage("distances and trees", samples=graph.n_vertices):
                self.related = related_run(compared, labels, self.labels_path, options)

    @property
    def _may_use_relatives(self) -> bool:
        method = self.options["method"]
        return method == "related" or (method == "auto" and not given_options(self.options, OF_ROUNDS))

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
            related = self.related
            if related is not None:
                related.run(self.places)
                places, rounds, radius_km = related.located.places, related.located.rounds, related.located.radius_km
            else:
                places, rounds, radius_km = self._inferred(self.places, with_state=True)
            stage.advance(self.graph.n_vertices)
            stage.note(rounds=int(rounds.max(initial=0)), inferred=int((rounds > 0).sum()))
        if related is None:
            return Result(self.graph, self.weights, places, rounds, radius_km, self.base)
        return Result(
            self.graph, self.weights, places, rounds, radius_km[:, 0], self.base,
            radius_90_km=radius_km[:, 1], columns=related.columns(),
        )  # fmt: skip

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
        return _asgiven_options(located.places, places), located.rounds, located.radius_km

    def hold_out(self) -> HeldOut:
        """Hide some known places, infer them, and measure the errors."""
        from gpuasm.geolocation import hold_out

        related = self.related

        def infer(left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if related is not None:
                return related.infer_again(left)
            places, _, radius_km = self._inferred(left)
            return places, radius_km

        with self.session.stages.stage("hold out"):
            share, seed = self.options["holdout"], self.options["seed"]
            try:
                held = hold_out(self.graph, self.places, infer, share=share, seed=seed, weights=self.weights)
            except DataError as error:
                raise error.of_file(self.labels_path) from error
        self.of_held = held.summary() | (related.held_out(held) if related is not None else {})
        return held

    def results(self, result: Result) -> dict[str, Any]:
        """Return counts and errors by name."""
        status = result.status()
        found: dict[str, Any] = {"vertices": len(status)}
        found |= {name: status.count(name) for name in ("known", "inferred", "unknown")}
        found["rounds"] = int(result.rounds.max(initial=0))
        return found | (self.related.errors() if self.related is not None else {}) | self.of_held

    def write_manifest(self, path: Path, result: Result) -> None:
        """Write what was run and what came out."""
        self.session.write_manifest(
            path,
            command="geolocate",
            parameters=self.options | self.plan.parameters(),
            inputs=[{"path": str(self.graph_path)}, {"path": str(self.labels_path)}],
            results=self.results(result),
        )


def _asgiven_options(found: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the places found, those that were given in their own digits."""
    import numpy as np

    return np.where(np.isnan(given).any(axis=1)[:, None], found, given)
