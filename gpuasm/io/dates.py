"""Dates in tables of samples."""

from __future__ import annotations

import math
import re
from calendar import isleap, monthrange

from gpuasm.io.numbers import real_number

_DATE = re.compile(r"(\d{4})(?:-(\d{2}|XX)(?:-(\d{2}|XX))?)?(?:T.*)?", re.IGNORECASE)
_LEAST_YEAR, _MOST_YEAR = -10_000, 10_000
_MONTHS = 12


def year_of(text: str | None) -> float:
    """Return a date as a year with decimals; NaN if it is missing or none.

    Dates are YYYY-MM-DD, YYYY-MM or YYYY, XX for an unknown month or day, or years with decimals. An incomplete date is
    the middle of its month or year.
    """
    text = (text or "").strip()
    match = _DATE.fullmatch(text)
    if match is None:
        value = real_number(text)
        return value if value is not None and _LEAST_YEAR <= value <= _MOST_YEAR else math.nan
    year, month, day = (int(part) if part and part.isdecimal() else None for part in match.groups())
    if year is None or (month is not None and not 1 <= month <= _MONTHS):
        return math.nan
    if month is None or year == 0:
        return (year or 0) + 0.5
    n_days = monthrange(year, month)[1]
    if day is not None and not 1 <= day <= n_days:
        return math.nan
    before = sum(monthrange(year, other)[1] for other in range(1, month))
    return year + (before + (n_days / 2 if day is None else day - 0.5)) / (365 + isleap(year))
