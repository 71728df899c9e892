"""Tables and JSON out."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gpuasm.io.numbers import real_number
from gpuasm.io.output import atomic_output

_TO_SPACES = dict.fromkeys(map(ord, "\t\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
"""What ends a cell or a line for some reader."""

_BEGIN_FORMULAS = ("=", "+", "-", "@")


def write_tsv(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
    """Write columns of one length as tab-separated text with a header line.

    Floats have six significant digits, truth is yes or no, and None is an empty field.

    Raises
    ------
    ValueError
        If the columns differ in length.
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    cells = [_cells(column.tolist() if isinstance(column, np.ndarray) else column) for column in columns.values()]
    with atomic_output(path) as file:
        file.write("\t".join(columns) + "\n")
        file.writelines("\t".join(row) + "\n" for row in zip(*cells, strict=True))


def write_json(path: str | os.PathLike[str], obj: Any) -> None:
    """Write an object as indented JSON; arrays become lists, numbers that are not finite null.

    Raises
    ------
    TypeError
        If something in it has no form in JSON.
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    text = json.dumps(_plain(obj), indent=2, allow_nan=False, ensure_ascii=False)
    with atomic_output(path) as file:
        file.write(text + "\n")


def for_spreadsheet(text: str) -> str:
    """Return a cell on one line, with an apostrophe before what a spreadsheet would take for a formula."""
    text = text.translate(_TO_SPACES)
    is_formula = text.lstrip().startswith(_BEGIN_FORMULAS) and real_number(text) is None
    return "'" + text if is_formula else text


def _cells(column: Sequence[Any]) -> Iterable[str]:
    """Return the texts of a column; those of one type need not be looked at one by one."""
    kinds = set(map(type, column))
    if kinds == {int}:
        return map(str, column)
    if kinds == {float}:
        return map("{:.6g}".format, column)
    return column if kinds == {str} and "".join(column).isprintable() else map(_cell, column)


def _cell(value: Any) -> str:
    if isinstance(value, str):  # what is to be replaced is not printable
        return value if value.isprintable() else value.translate(_TO_SPACES)
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return _cell(str(value))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return os.fspath(value) if isinstance(value, os.PathLike) else value
