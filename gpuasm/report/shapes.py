"""The values of JSON that a page shows: what has another shape is left out, and its place is named."""

from __future__ import annotations

from typing import Any, TypeGuard

TEXT, NUMBER, ANY = "text", "number", "any"
"""Shapes of single values. A list of one shape is a list of such, a dict an object; "*" is any other key of it."""

Shape = str | list[Any] | dict[str, Any]

_MOST_LEVELS = 32
_MOST = 1e18
_MOST_PLACES = 3


class Fitting:
    """Fits values to shapes, and collects the places of what was left out.

    Attributes
    ----------
    places : list of str
        As "stages.3.wall_s".
    """

    def __init__(self) -> None:
        self.places: list[str] = []

    def __call__(self, value: Any, shape: Shape, place: tuple[str, ...] = ()) -> Any:
        """Return a value without the parts of another shape, None if nothing is left; so are values of null."""
        if value is None:
            return None
        if len(place) <= _MOST_LEVELS:
            if isinstance(value, dict) and (isinstance(shape, dict) or shape == ANY):
                return self._object(value, shape if isinstance(shape, dict) else {"*": ANY}, place)
            if isinstance(value, list) and (isinstance(shape, list) or shape == ANY):
                own = shape[0] if isinstance(shape, list) else ANY
                kept = [self(item, own, (*place, str(number))) for number, item in enumerate(value)]
                return [item for item in kept if item is not None]
            if isinstance(value, str) and shape in (TEXT, ANY):
                return as_text(value)
            if isinstance(value, bool) and shape == ANY:
                return value
            if shape in (NUMBER, ANY) and is_number(value):
                return value
        self.places.append(".".join(place) or "all of it")
        return None

    def _object(self, value: dict[str, Any], shape: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
        kept = {}
        for key, item in value.items():
            name = as_text(key)
            found = self(item, shape.get(key, shape.get("*", ANY)), (*place, name))
            if found is not None:
                kept[name] = found
        return kept

    def described(self) -> str:
        """Return the first places of what was left out, as a note shows them."""
        more = " and others" if len(self.places) > _MOST_PLACES else ""
        return ", ".join(place[:60] for place in self.places[:_MOST_PLACES]) + more


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number, finite and of a size that a page has room for."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= _MOST


def as_text(name: str) -> str:
    """Return a text with the bytes that are no text in UTF-8, as old files have, written as \\udcXX."""
    return name.encode("utf-8", "backslashreplace").decode()
