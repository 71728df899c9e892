"""Checks of the rows with which a map is trained, or which are placed on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.errors import DataError

_TABLE = "a table of at least one row and one column"
_LEAST_SPREAD = 1e-15
_LARGEST = 1e15
"""Sums of squares of larger values could exceed the range of float32."""


class WrongTypeError(DataError, TypeError):
    """A value that is neither a number nor text of one."""


def as_array(values: Any) -> Array:
    """Return lists, tables and objects that numpy takes as an array of numbers; arrays of them stay in their memory.

    Some messages contain the text that scikit-learn's `check_estimator` looks for.

    Raises
    ------
    DataError
        If they are no numbers, or a sparse matrix.
    """
    if hasattr(values, "tocsr"):
        raise DataError("rows of numbers in a dense array", "a sparse matrix", "convert it by toarray")
    is_array = hasattr(values, "dtype") and hasattr(values, "reshape") and values.dtype.kind != "O"
    try:
        array = values if is_array else np.asarray(values, dtype=np.float64)
    except TypeError as error:
        raise WrongTypeError("rows of numbers", str(error), "give a table of numbers") from error
    except ValueError as error:
        raise DataError("rows of numbers", str(error), "give a table of numbers") from error
    if array.dtype.kind not in "iufb":
        reason = ": Complex data not supported" if array.dtype.kind == "c" else ""
        raise DataError("rows of numbers", f"an array of {array.dtype}{reason}", "give a table of numbers")
    return array


def checked_rows(rows: Array, *, n_columns: int | None = None) -> Array:
    """Return rows as C-contiguous float32 in their memory.

    Parameters
    ----------
    rows : (n, d) numbers
        NaN for missing values.
    n_columns
        Required number of columns, if a map is already trained.

    Raises
    ------
    DataError
        If there are no rows or columns, another number of columns than in the map, infinite or huge values, or a row
        or a column without any value.
    """
    xp = array_namespace(rows)
    given = rows
    with np.errstate(over="ignore"):  # infinite values are refused below
        rows = xp.ascontiguousarray(xp.asarray(rows, dtype=np.float32))
    if rows.ndim != 2:
        raise DataError(_TABLE, f"shape {rows.shape}", "Reshape your data to rows and columns")
    if 0 in rows.shape:
        found = f"{rows.shape[1]} feature(s) (shape={rows.shape}) while a minimum of 1 is required"
        raise DataError(_TABLE, found if rows.shape[0] else f"shape {rows.shape}", "give rows of numbers")
    if n_columns is not None and rows.shape[1] != n_columns:
        expected = f"X has {rows.shape[1]} features, but SelfOrganisingMap is expecting {n_columns} features as input"
        remedy = "give the columns that it was trained with"
        raise DataError(f"{n_columns} columns, as the map has", f"{rows.shape[1]} ({expected})", remedy)
    is_missing = xp.isnan(rows)
    bad = ~is_missing & ~(xp.abs(xp.where(is_missing, 0, rows)) <= _LARGEST)
    if bool(bad.any()):
        row, column = (int(place[0]) for place in xp.nonzero(bad))
        raise DataError(
            f"values up to {_LARGEST:g}, or NaN where one is missing",
            f"{float(given[row, column])}",
            "scale the column, or correct the value",
            place=f"row {row}, column {column}",
        )
    for axis, name in ((1, "row"), (0, "column")):
        is_empty = is_missing.all(axis=axis)
        if bool(is_empty.any()) and (axis == 1 or n_columns is None):
            raise DataError(
                f"a value in each {name}",
                f"{int(is_empty.sum())} without any",
                f"leave out each {name} in which everything is missing",
                place=f"{name} {int(xp.flatnonzero(is_empty)[0])}",
            )
    return rows


def check_spread(rows: Array) -> None:
    """Refuse rows with which no map can be trained, as their differences are too small for squares in float32.

    Parameters
    ----------
    rows : (n, d) numbers
        NaN for missing values.

    Raises
    ------
    DataError
        If the values of a column differ, but those of no column by enough.
    """
    low, high = column_ranges(rows)
    spread = float((high - low).max())
    if 0 < spread < _LEAST_SPREAD:
        raise DataError(
            f"a column whose values differ by {_LEAST_SPREAD:g} or more", f"{spread:.3g} at most",
            "multiply the values, or normalise the columns, as with --normalise zscore",
        )  # fmt: skip


def column_ranges(rows: Array) -> tuple[Array, Array]:
    """Return the least and the greatest value of each column, float32, infinite where all are missing."""
    xp = array_namespace(rows)
    missing = xp.isnan(rows)
    low, high = (xp.where(missing, xp.float32(sign * np.inf), rows) for sign in (1, -1))
    return low.min(axis=0), high.max(axis=0)
