"""Maps of the world with located samples: their places, how far these may be off, and the graph's edges."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.graph_text import quoted
from gpuasm.io.json_text import read_json
from gpuasm.report.figures import FIRST, GRID, INK, SECOND, literal, short_name, svg_figure
from gpuasm.report.shapes import as_text, is_number
from gpuasm.report.world_places import Frame, borders, cities_in, countries_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARTH_RADIUS_KM = 6371.0
MAX_EDGES, MAX_CIRCLES, MAX_NAMES = 2000, 400, 40
"""How many are drawn at most: the edges of the greatest weight, the first inferred samples."""

STATUSES = ("known", "inferred", "unknown")

MAX_ROWS = 500
"""Of the table next to a map."""

CAPTION = (
    "Dots are places that were given, diamonds those inferred from related samples, each in a circle that holds half of"
    " its neighbours, or else in two that hold the true place with 50 % and 90 %; lines join neighbours. Land, borders"
    " and names: Natural Earth."
)

_LAND = Path(__file__).parent / "data" / "land_110m.json.gz"
_SIZE = (9.0, 4.9)
_LEAST_DEGREES = 12.0  # of a map's width
_FILE_COLOURS = {INK: "#1d2430", FIRST: "#2a6fb0", SECOND: "#c2571a", GRID: "#d5dae1"}
_UNDATED: dict[str, Any] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_STEPS = 48
_DEGREES = (180.0, 90.0)
_INNER, _OUTER = "radius_km", "radius_90_km"
_REMEDY = "write it anew with gpuasm geolocate --geojson"


@dataclass(frozen=True)
class Located:
    """A sample and its place.

    Attributes
    ----------
    name : str
    latitude, longitude : float or None
        In degrees.
    status : "known", "inferred" or "unknown"
    radius_km : float or None
        How far an inferred place may be off.
    radius_90_km : float or None
        How far at most with a probability of 90 %, if it was calibrated.
    """

    name: str
    latitude: float | None
    longitude: float | None
    status: str
    radius_km: float | None = None
    radius_90_km: float | None = None


@dataclass(frozen=True)
class LocatedSamples:
    """Samples, and the pairs (latitude, longitude) of places between which there are edges, the heaviest first."""

    samples: list[Located]
    edges: list[tuple[tuple[float, float], tuple[float, float]]] = field(default_factory=list)
    note: str = ""
    """Why there are none, if the file is damaged."""
    is_calibrated: bool = False
    """Whether radii hold the true place with probabilities of 50 % and 90 %."""

    def placed(self, status: str) -> list[Located]:
        """Return the samples of a status that have a place."""
        return [sample for sample in self.samples if sample.status == status and sample.latitude is not None]


def read_located(path: str | Path) -> LocatedSamples:
    """Read what ``gpuasm geolocate --geojson`` wrote.

    Raises
    ------
    DataError
        If it holds something else.
    NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.json_text.read_json`.
    """
    found = read_json(path, remedy=_REMEDY)
    features = found.get("features") if isinstance(found, dict) else None
    located, is_calibrated = LocatedSamples([]), False
    for number, feature in enumerate(_list(features, "features", path)):
        parts = [feature.get(key) for key in ("properties", "geometry")] if isinstance(feature, dict) else [None, None]
        about, geometry = (part if isinstance(part, dict) else None for part in parts)
        place = f"feature {number}"
        if about is None or (geometry is None and parts[1] is not None):
            raise _bad("properties and a geometry", feature, place, path)
        if "status" in about:
            located.samples.append(_located(about, geometry, place, path))
            is_calibrated |= "radius_90_km" in about
        elif geometry is not None:
            located.edges.append(_edge(geometry, place, path))
    return replace(located, is_calibrated=is_calibrated)


def _located(about: dict[str, Any], geometry: dict[str, Any] | None, place: str, path: str | Path) -> Located:
    name, status = about.get("vertex"), about["status"]
    radii = [about.get("radius_km"), about.get("radius_90_km")]
    if not isinstance(name, (str, int)) or status not in STATUSES:
        raise _bad(f"a vertex with one of the statuses {', '.join(STATUSES)}", about, place, path)
    for radius in radii:
        if radius is not None and not (is_number(radius) and radius >= 0):
            raise _bad("a radius from 0 on", radius, place, path)
    longitude, latitude = _point(geometry.get("coordinates"), place, path) if geometry else (None, None)
    return Located(as_text(str(name)), latitude, longitude, status, *radii)


def _edge(geometry: dict[str, Any], place: str, path: str | Path) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of an edge, which is in two parts where it crosses the date line."""
    lines = geometry.get("coordinates")
    if geometry.get("type") != "MultiLineString":
        lines = [lines]
    lines = [_list(line, place, path) for line in _list(lines, place, path)]
    (x, y), (to_x, to_y) = _point(lines[0][0], place, path), _point(lines[-1][-1], place, path)
    return (y, x), (to_y, to_x)


def _list(value: Any, place: str, path: str | Path) -> list[Any]:
    if not isinstance(value, list) or (not value and place != "features"):
        raise _bad("a list", value, place, path)
    return value


def _point(value: Any, place: str, path: str | Path) -> tuple[float, float]:
    """Return longitude and latitude of a point on Earth."""
    is_point = isinstance(value, list) and len(value) == len(_DEGREES) and all(map(is_number, value))
    if not is_point or any(abs(x) > most for x, most in zip(value, _DEGREES, strict=True)):
        raise _bad("a longitude and a latitude in degrees", value, place, path)
    return value[0], value[1]


def _bad(expected: str, found: Any, place: str, path: str | Path) -> DataError:
    return DataError(expected, quoted(repr(found)), _REMEDY, path=path, place=place)


def world_figure(located: LocatedSamples, name: str) -> str:
    """Return the map as SVG for use inside a page."""
    return svg_figure(lambda axes: _draw(axes, located, {}), f"{name}-world", "map of the samples", size=_SIZE)


def draw_world(located: LocatedSamples, *, kind: str) -> bytes:
    """Return the map as the bytes of a file, the same for the same samples.

    Parameters
    ----------
    located
        What to draw.
    kind
        "png", "svg" or "pdf".
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second, only where a figure is drawn
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": "gpuasm", "font.size": 10}):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        axes.set_axisbelow(True)
        axes.tick_params(colors=_FILE_COLOURS[INK], length=0)
        axes.spines[:].set_color(_FILE_COLOURS[GRID])
        _draw(axes, located, _FILE_COLOURS)
        data = io.BytesIO()
        figure.savefig(data, format=kind, dpi=150, metadata=_UNDATED[kind])
    return data.getvalue()


def _draw(axes: Axes, located: LocatedSamples, colours: dict[str, str]) -> None:
    from matplotlib.collections import LineCollection, PolyCollection  # noqa: PLC0415 - as in draw_world

    ink, first, second, grid = (colours.get(name, name) for name in (INK, FIRST, SECOND, GRID))
    outlines = [np.array(polygon[0]) for polygon in land()]
    axes.add_collection(PolyCollection(outlines, facecolor=grid, edgecolor="none", alpha=0.7, zorder=0))
    known, inferred = located.placed("known"), located.placed("inferred")
    _draw_places(axes, _frame_of([*known, *inferred]), ink)
    edges = [part for edge in located.edges[:MAX_EDGES] for part in _parts(great_circle(*edge))]
    axes.add_collection(LineCollection(edges, colors=ink, linewidths=0.6, alpha=0.25, zorder=1))
    for radius, width, alpha, label in ((_INNER, 1.0, 0.6, "holds 50 %"), (_OUTER, 0.6, 0.4, "holds 90 %")):
        if radius is _INNER or located.is_calibrated:
            circles = list(_circles(inferred[:MAX_CIRCLES], radius))
            shown = label if circles and located.is_calibrated else None
            lines = LineCollection(circles, colors=second, linewidths=width, alpha=alpha, zorder=2, label=shown)
            axes.add_collection(lines)
    blind = [sample for sample in inferred if located.is_calibrated and sample.radius_90_km is None]
    for samples, colour, marker, size, label in (
        (inferred, second, "D", 30, "inferred"), (known, first, "o", 16, "known"),
        (blind, ink, "x", 22, "no idea how far off"),
    ):  # fmt: skip
        if samples:
            axes.scatter(
                [s.longitude or 0.0 for s in samples], [s.latitude or 0.0 for s in samples], s=size, c=colour,
                marker=marker, linewidth=0 if marker != "x" else 1, alpha=0.85, label=f"{label} ({len(samples)})",
                zorder=3,
            )  # fmt: skip
    if 0 < len(inferred) <= MAX_NAMES:
        for sample in inferred:
            at = (sample.longitude or 0.0, sample.latitude or 0.0)
            axes.annotate(
                short_name(sample.name), at, (4, 3), textcoords="offset points", fontsize=7, color=ink, clip_on=True
            )
    west, east, south, north = _frame_of([*known, *inferred])
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect("equal", adjustable="box")
    axes.grid(visible=True, color=grid, linewidth=0.5)
    axes.set_xlabel("longitude")
    axes.set_ylabel("latitude")
    if known or inferred:
        axes.legend(frameon=False, labelcolor=ink, fontsize=9, loc="lower left")


def _circles(samples: Sequence[Located], radius: str) -> Iterator[np.ndarray]:
    """Yield the parts of the circles around samples that have a radius of this name."""
    for sample in samples:
        if kilometres := getattr(sample, radius):
            yield from _parts(circle(sample.latitude or 0.0, sample.longitude or 0.0, kilometres))


def _draw_places(axes: Axes, frame: Frame, ink: str) -> None:
    """Draw the borders, and the names that a map has room for."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - as in draw_world

    axes.add_collection(LineCollection(borders(), colors=ink, linewidths=0.5, alpha=0.35, zorder=0.5))
    style: dict[str, Any] = {"color": ink, "clip_on": True, "ha": "center", "zorder": 0.6}
    for place in countries_in(frame):
        axes.text(place.longitude, place.latitude, literal(place.name), fontsize=8, alpha=0.6, **style)
    cities = cities_in(frame)
    axes.scatter([c.longitude for c in cities], [c.latitude for c in cities], s=5, c=ink, alpha=0.6, zorder=0.6)
    for city in cities:
        at = (city.longitude, city.latitude)
        axes.annotate(literal(city.name), at, (0, -8), textcoords="offset points", fontsize=6, alpha=0.7, **style)


def _frame_of(samples: Sequence[Located]) -> Frame:
    """Return where the samples are, and the whole world if that is much of it."""
    west, east, south, north = -180.0, 180.0, -90.0, 90.0
    if samples:
        longitudes = [s.longitude or 0.0 for s in samples]
        latitudes = [s.latitude or 0.0 for s in samples]
        width = max(_LEAST_DEGREES, 1.4 * (max(longitudes) - min(longitudes)), 2.8 * (max(latitudes) - min(latitudes)))
        if width < 180:
            x, y = (max(longitudes) + min(longitudes)) / 2, (max(latitudes) + min(latitudes)) / 2
            west, east = max(-180.0, x - width / 2), min(180.0, x + width / 2)
            south, north = max(-90.0, y - width / 4), min(90.0, y + width / 4)
    return west, east, south, north


@cache
def land() -> list[list[list[list[float]]]]:
    """Return the outlines of land: polygons of rings of (longitude, latitude), of Natural Earth at 1:110 million."""
    with gzip.open(_LAND) as file:
        return json.load(file)


def great_circle(a: tuple[float, float], b: tuple[float, float]) -> np.ndarray:
    """Return points (longitude, latitude) along the great circle between two places (latitude, longitude)."""
    ends = _units(np.array([a, b]))
    cosine = float(np.clip(ends[0] @ ends[1], -1, 1))
    angle = math.acos(cosine)
    if angle < 1e-9 or angle > math.pi - 1e-9:
        return np.array([a[::-1], b[::-1]], float)
    share = np.linspace(0, 1, max(2, int(_STEPS * angle / math.pi)))[:, None]
    return _places((np.sin((1 - share) * angle) * ends[0] + np.sin(share * angle) * ends[1]) / math.sin(angle))


def circle(latitude: float, longitude: float, radius_km: float) -> np.ndarray:
    """Return points (longitude, latitude) at a distance from a place."""
    centre = _units(np.array([[latitude, longitude]]))[0]
    east = np.array([-math.sin(math.radians(longitude)), math.cos(math.radians(longitude)), 0.0])
    north = np.cross(centre, east)
    angle = min(radius_km / EARTH_RADIUS_KM, math.pi)
    turn = np.linspace(0, 2 * math.pi, 2 * _STEPS + 1)[:, None]
    around = math.cos(angle) * centre + math.sin(angle) * (np.cos(turn) * east + np.sin(turn) * north)
    return _places(around)


def _parts(line: np.ndarray) -> Iterator[np.ndarray]:
    """Cut a line where it crosses the date line, at which its parts end."""
    first: np.ndarray = np.empty((0, 2))
    jumps = np.flatnonzero(np.abs(np.diff(line[:, 0])) > 180) + 1
    for jump, part in zip([*jumps.tolist(), 0], np.split(line, jumps), strict=True):
        side, latitude = date_line(line[jump - 1], line[jump]) if jump else (0.0, 0.0)
        whole = np.concatenate([first, part, [[side, latitude]] if jump else first[:0]])
        first = np.array([[-side, latitude]])
        if len(whole) > 1:
            yield whole


def date_line(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Return where a line between two points (longitude, latitude) that crosses the date line reaches it.

    Returns
    -------
    The longitude on the side of the first point, 180 or -180, and the latitude.
    """
    side = math.copysign(180.0, a[0])
    share = (side - a[0]) / (b[0] + 2 * side - a[0])
    return side, a[1] + share * (b[1] - a[1])


def _units(places: np.ndarray) -> np.ndarray:
    lat, lon = np.radians(places.astype(float)).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def _places(units: np.ndarray) -> np.ndarray:
    return np.degrees(
        np.stack([np.arctan2(units[:, 1], units[:, 0]), np.arctan2(units[:, 2], np.hypot(*units[:, :2].T))], axis=1)
    )
