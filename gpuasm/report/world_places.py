"""Borders and names on maps: countries and large cities of Natural Earth at 1:110 million."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).parent / "data" / "borders_110m.json.gz"
_MOST_COUNTRIES, _MOST_CITIES = 14, 16
"""Names in a map, where there is room."""
_WIDEST_WITH_COUNTRIES, _WIDEST_WITH_CITIES = 120.0, 40.0
"""Degrees of a map with such names."""
_INSIDE = 0.04
"""Share of a map at its edge where no name begins."""

Frame = tuple[float, float, float, float]
"""West, east, south and north."""


class NamedPlace(NamedTuple):
    """A name and where it belongs, in degrees."""

    name: str
    longitude: float
    latitude: float


def borders() -> list[list[list[float]]]:
    """Return the borders between countries: lines of (longitude, latitude)."""
    return _places()["borders"]


def countries_in(frame: Frame) -> list[NamedPlace]:
    """Return the largest countries whose middle is in a map, unless it shows much of the world."""
    return _inside("countries", frame, widest=_WIDEST_WITH_COUNTRIES, most=_MOST_COUNTRIES)


def cities_in(frame: Frame) -> list[NamedPlace]:
    """Return the cities in a map that has room for them."""
    return _inside("cities", frame, widest=_WIDEST_WITH_CITIES, most=_MOST_CITIES)


def _inside(kind: str, frame: Frame, *, widest: float, most: int) -> list[NamedPlace]:
    west, east, south, north = frame
    if east - west > widest:
        return []
    side, end = _INSIDE * (east - west), _INSIDE * (north - south)
    found = [
        NamedPlace(*place)
        for place in _places()[kind]
        if west + side <= place[1] <= east - side and south + end <= place[2] <= north - end
    ]
    return found[:most]


@cache
def _places() -> dict[str, list]:
    with gzip.open(_FILE) as file:
        return json.load(file)
