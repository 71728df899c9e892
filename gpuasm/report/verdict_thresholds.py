"""The thresholds of verdicts: a table that a laboratory may edit, and the one that is shipped."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from gpuasm.errors import DataError, GpuasmError
from gpuasm.io.numbers import real_number
from gpuasm.io.text_tables import read_table
from gpuasm.report.shapes import is_number

CHECKS = (
    "depth", "size", "contigs", "n50", "reads_aligned", "auto_community", "bins", "depth_peaks", "gc_peaks",
    "mixed_bases", "phix", "adapters", "duplicates", "quality", "unknown_bases",
)  # fmt: skip
"""What is judged, in the order of the reasons."""

SHIPPED = "verdict_thresholds.tsv"
_BOUNDS = ("warn_below", "fail_below", "warn_above", "fail_above")
_COLUMNS = ("check", *_BOUNDS, "communities")
_ANSWERS = {"yes": True, "no": False}
_REMEDY = "correct the table; the shipped one is in docs/verdict.md"


@dataclass(frozen=True)
class Threshold:
    """The limits of one value.

    Attributes
    ----------
    check : str
        One of ``CHECKS``.
    warn_below, fail_below, warn_above, fail_above : float or None
        The limits, None for none.
    communities : bool
        Whether they hold for a sample that the user states to be a community.
    """

    check: str
    warn_below: float | None = None
    fail_below: float | None = None
    warn_above: float | None = None
    fail_above: float | None = None
    communities: bool = True

    def level(self, value: float) -> tuple[str, str]:
        """Return "pass", "warn" or "fail", and the name of the limit that a value misses."""
        for level in ("fail", "warn"):
            low, high = f"{level}_below", f"{level}_above"
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and value < least:
                return level, low
            if most is not None and value > most:
                return level, high
        return "pass", ""

    def as_dict(self) -> dict[str, Any]:
        """Return the columns of the table."""
        return asdict(self)


@functools.cache
def shipped_thresholds() -> tuple[Threshold, ...]:
    """Return the thresholds that hold where no others are given."""
    with resources.as_file(resources.files("gpuasm.report") / "data" / SHIPPED) as path:
        return read_thresholds(path)


def read_thresholds(path: str | os.PathLike[str]) -> tuple[Threshold, ...]:
    """Read a table of thresholds, tab-separated, with the titles of the shipped one; "meaning" may be left out.

    Raises
    ------
    DataError
        If titles, checks or limits are not those of such a table.
    NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.text_tables.read_rows`.
    """
    found: dict[str, Threshold] = {}
    for row in read_table(path, required=_COLUMNS, comments=True, remedy=_REMEDY):
        if unknown := row.cells.keys() - {*_COLUMNS, "meaning"}:
            raise DataError(f"the titles {', '.join(_COLUMNS)}", ", ".join(unknown)[:200], _REMEDY, path=path)
        try:
            threshold = _threshold(row.cells)
        except DataError as error:
            raise row.error(error.expected, error.found, error.remedy) from error
        if threshold.check in found:
            raise row.error("each check once", f"{threshold.check} again", _REMEDY)
        found[threshold.check] = threshold
    return in_order(found.values())


def stored_thresholds(rows: Any) -> tuple[Threshold, ...] | None:
    """Return the thresholds that a run.json holds, or None if it holds none that can be used."""
    if not isinstance(rows, Sequence) or not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    try:
        return in_order([_threshold({key: _cell(value) for key, value in row.items()}) for row in rows])
    except GpuasmError:
        return None


def in_order(thresholds: Iterable[Threshold]) -> tuple[Threshold, ...]:
    """Return thresholds in the order of ``CHECKS``."""
    return tuple(sorted(thresholds, key=lambda threshold: CHECKS.index(threshold.check)))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _threshold(cells: Mapping[str, str]) -> Threshold:
    check, answer = cells.get("check", ""), cells.get("communities", "")
    if check not in CHECKS:
        raise DataError(f"one of the checks {', '.join(CHECKS)}", repr(check[:40]), _REMEDY)
    if answer not in _ANSWERS:
        raise DataError("yes or no as communities", repr(answer[:40]), _REMEDY)
    bounds = {name: _limit(name, cells.get(name, "")) for name in _BOUNDS}
    order = [bounds[name] for name in ("fail_below", "warn_below", "warn_above", "fail_above")]
    rising = [limit for limit in order if limit is not None]
    if rising != sorted(rising):
        raise DataError(f"limits of {check} that rise from fail_below to fail_above", str(rising)[1:-1], _REMEDY)
    return Threshold(check, **bounds, communities=_ANSWERS[answer])


def _limit(name: str, text: str) -> float | None:
    if not text:
        return None
    value = real_number(text)
    if value is None or not is_number(value):
        raise DataError(f"a number as {name}, or nothing", repr(text[:40]), _REMEDY)
    return value
