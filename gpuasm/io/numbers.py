"""Numbers in text files, of bounded size and in ASCII digits."""

from __future__ import annotations

_MOST_DIGITS = 18
"""Of whole numbers: all such are below 2^63."""
_MOST_CHARACTERS = 400
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?"))
"""Cells of tables, in lower case, that hold no value."""


def whole_number(text: str) -> int | None:
    """Return a whole number from 0 on, or None if the text is none or has more than 18 digits."""
    is_number = len(text) <= _MOST_DIGITS and text.isascii() and text.isdecimal()
    return int(text) if is_number else None


def real_number(text: str) -> float | None:
    """Return a number in one of the usual notations, which may be infinite or not a number; None if it is none."""
    if len(text) > _MOST_CHARACTERS or "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None
