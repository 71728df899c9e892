"""What ``gpuasm geolocate`` writes: the table, GeoJSON, the map, and the errors of places held out."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.errors import UsageError
from gpuasm.geolocation.holdout import HeldOut
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import rows_of_slots
from gpuasm.report.world import MAX_EDGES, Located, LocatedSamples, date_line, draw_world

if TYPE_CHECKING:
    from gpuasm.cli.geolocate_related import RelatedRun

_STATUS = {0: "known", -1: "unknown"}
_HALF_TURN = 180.0
_KINDS = {".png": "png", ".svg": "svg", ".pdf": "pdf"}


@dataclass(frozen=True)
class Result:
    """Locations of a graph's vertices, on the host.

    Attributes
    ----------
    graph : DirectedGraph
    weights : (m,) float64 or None
    places : (n, 2) float64
    rounds : (n,) int32
    radius_km : (n,) float64
        NaN where it is unknown.
    base : int
        What the first vertex of a graph without names is called.
    radius_90_km : (n,) float64 or None
        Of related samples; NaN where it is unknown.
    columns : dict
        Further columns of the table.
    """

    graph: DirectedGraph
    weights: np.ndarray | None
    places: np.ndarray
    rounds: np.ndarray
    radius_km: np.ndarray
    base: int
    radius_90_km: np.ndarray | None = None
    columns: dict[str, list[str | None]] = field(default_factory=dict)

    def name_of(self, vertex: int) -> str:
        """Return what a vertex is called."""
        label = self.graph.label_of(vertex)
        return str(label + self.base) if isinstance(label, int) else label

    def names(self) -> list[str]:
        """Return what all vertices are called."""
        n, names = self.graph.n_vertices, self.graph.names
        return [str(v) for v in range(self.base, self.base + n)] if names is None else list(names)

    def status(self) -> list[str]:
        """Return known, inferred or unknown for each vertex."""
        return [_STATUS.get(number, "inferred") for number in self.rounds.tolist()]


def write_table(path: Path, result: Result) -> None:
    """Write a row for each vertex: name, latitude, longitude, status, radius."""
    from gpuasm.io import write_tsv

    is_inferred = (result.rounds > 0).tolist()
    write_tsv(
        path,
        {
            "vertex": result.names(),
            "latitude": [_degrees(value) for value in result.places[:, 0].tolist()],
            "longitude": [_degrees(value) for value in result.places[:, 1].tolist()],
            "status": result.status(),
            "radius_km": [_kilometres(r, i) for r, i in zip(result.radius_km.tolist(), is_inferred, strict=True)],
            **result.columns,
        },
    )


def write_probabilities(path: Path, result: Result, related: RelatedRun) -> None:
    """Write a row for each inferred sample, column and name of a place that has some probability."""
    from gpuasm.io import write_tsv

    write_tsv(path, related.probabilities(result.names()))


def _degrees(value: float) -> str | None:
    return None if math.isnan(value) else f"{value + 0.0:.6f}".replace("-0.000000", "0.000000")


def _kilometres(radius: float, is_inferred: bool) -> str | None:  # noqa: FBT001
    return f"{radius:.3f}" if is_inferred and not math.isnan(radius) else None


def located_samples(result: Result) -> LocatedSamples:
    """Return what there is to draw: samples, and the heaviest edges between places."""
    samples = [_located(result, v, status) for v, status in enumerate(result.status())]
    offsets, target = result.graph.row_offsets, result.graph.columns
    source = rows_of_slots(offsets, target.size)
    apart = (result.places[source] != result.places[target]).any(axis=1)
    placed = ~np.isnan(result.places[:, 0])
    drawn = np.flatnonzero(placed[source] & placed[target] & apart)
    if result.weights is not None:
        drawn = drawn[np.argsort(-result.weights[drawn], kind="stable")]
    pairs = np.sort(np.stack([source[drawn], target[drawn]]), axis=0)
    drawn = drawn[np.sort(np.unique(pairs, axis=1, return_index=True)[1])]  # the heavier of two opposite edges
    ends = [(samples[a], samples[b]) for a, b in zip(source[drawn[:MAX_EDGES]], target[drawn[:MAX_EDGES]], strict=True)]
    lines = [((a.latitude or 0.0, a.longitude or 0.0), (b.latitude or 0.0, b.longitude or 0.0)) for a, b in ends]
    return LocatedSamples(samples, lines, is_calibrated=result.radius_90_km is not None)


def _located(result: Result, vertex: int, status: str) -> Located:
    latitude, longitude = (None if np.isnan(x) else round(x, 6) for x in result.places[vertex].tolist())
    radii = [math.nan if km is None else float(km[vertex]) for km in (result.radius_km, result.radius_90_km)]
    shown = [None if status != "inferred" or math.isnan(radius) else round(radius, 3) for radius in radii]
    return Located(result.name_of(vertex), latitude, longitude, status, *shown)


def write_geojson(path: Path, located: LocatedSamples) -> None:
    """Write GeoJSON (RFC 7946): a point for each vertex, without geometry if unknown, and lines for edges.

    A line that crosses the date line is cut there, as section 3.1.9 asks.
    """
    from gpuasm.io import atomic_output

    features: list[dict[str, Any]] = [
        {
            "type": "Feature",
            "geometry": None if s.latitude is None else {"type": "Point", "coordinates": [s.longitude, s.latitude]},
            "properties": {"vertex": s.name, "status": s.status, "radius_km": s.radius_km}
            | ({"radius_90_km": s.radius_90_km} if located.is_calibrated else {}),
        }
        for s in located.samples
    ]
    features += [
        {
            "type": "Feature",
            "geometry": _line((a[1], a[0]), (b[1], b[0])),
            "properties": {},
        }
        for a, b in located.edges
    ]
    with atomic_output(path) as file:
        file.write('{"type": "FeatureCollection", "features": [\n')
        file.write(",\n".join(json.dumps(feature, ensure_ascii=False) for feature in features))
        file.write("\n]}\n")


def _line(a: tuple[float, float], b: tuple[float, float]) -> dict[str, Any]:
    """Return a line from (longitude, latitude) to (longitude, latitude)."""
    if abs(a[0] - b[0]) <= _HALF_TURN:
        return {"type": "LineString", "coordinates": [a, b]}
    side, latitude = date_line(a, b)
    there, here = (side, round(latitude, 6)), (-side, round(latitude, 6))
    parts = [part for part in ((a, there), (here, b)) if part[0][0] != part[1][0]]
    if len(parts) == 1:
        return {"type": "LineString", "coordinates": parts[0]}
    return {"type": "MultiLineString", "coordinates": parts}


def kind_of_map(path: Path) -> str:
    """Return the format of a map by its name.

    Raises
    ------
    UsageError
        If the name has no such end.
    """
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise UsageError("a map named .png, .svg or .pdf", repr(path.name), "rename it")
    return kind


def write_map(path: Path, located: LocatedSamples) -> None:
    """Draw the map of the world into a file."""
    from gpuasm.io import atomic_output

    data = draw_world(located, kind=kind_of_map(path))
    with atomic_output(path, "wb") as file:
        file.write(data)


def write_errors(path: Path, result: Result, held: HeldOut) -> None:
    """Write a row for each place held out: its errors, and those of the baselines."""
    from gpuasm.io import write_tsv

    columns = (held.error_km, held.commonest_km, held.nearest_km, held.radius_km)
    titles = ("error_km", "commonest_place_km", "nearest_neighbour_km", "radius_km")
    values = {
        title: [None if np.isnan(value) else f"{value:.3f}" for value in column.tolist()]
        for title, column in zip(titles, columns, strict=True)
    }
    write_tsv(path, {"vertex": [result.name_of(v) for v in held.vertices.tolist()], **values})
