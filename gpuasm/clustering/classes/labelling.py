"""Label units by rows of known class, and classify other rows by their nearest units."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.checks import array_of, whole
from gpuasm.errors import DataError

UNKNOWN = ""
"""The class of rows of unknown class."""


@dataclass(frozen=True)
class UnitLabels:
    """Class labels of the units of a map.

    Attributes
    ----------
    classes : list
        The classes, sorted.
    of_unit : (units,) int32
        Index of each unit's class in ``classes``; -1 for units without rows of known class.
    share : (units,) float64
        Share of the unit's class among its rows of known class; NaN without any.
    """

    classes: list
    of_unit: np.ndarray
    share: np.ndarray

    @property
    def labelled(self) -> np.ndarray:
        """Return the units that have a class, ascending."""
        return np.flatnonzero(self.of_unit >= 0)


def as_classes(values: Any) -> Sequence | np.ndarray:
    """Return the classes of rows as a list or an array of one dimension; a column is taken with a warning.

    Some messages contain the text that scikit-learn's `check_estimator` looks for.

    Raises
    ------
    DataError
        If there are none, if they have more dimensions, or if they are numbers with decimals, infinite or NaN.
    """
    remedy = "give one for each row"
    if values is None:
        raise DataError("classes", "none: fit requires y to be passed, but the target y is None", remedy)
    if isinstance(values, (list, tuple)):
        return values
    classes = np.asarray(values)
    if classes.ndim == 2 and classes.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected"
        warnings.warn(message, _conversion_warning(), stacklevel=3)
        classes = classes.ravel()
    if classes.ndim != 1:
        raise DataError("classes: y should be a 1d array", f"shape {classes.shape}", remedy)
    if classes.dtype.kind == "f" and not (np.isfinite(classes) & (classes == np.floor(classes))).all():
        raise DataError("classes", "other numbers (Unknown label type: continuous)", "name the classes")
    return classes


def _conversion_warning() -> type[Warning]:
    if "sklearn" not in sys.modules:
        return UserWarning
    from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415 - only where it is loaded

    found: type[Warning] = DataConversionWarning
    return found


def numbered_classes(classes: Sequence | np.ndarray) -> tuple[list, np.ndarray]:
    """Return the known classes, sorted, and the index of each row's class, -1 for `UNKNOWN` or None.

    Raises
    ------
    DataError
        If no class is known.
    """
    values = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    known = sorted({value for value in values if value not in (UNKNOWN, None)})
    if not known:
        raise DataError("rows whose class is known", "none", "give at least one class")
    place = {value: i for i, value in enumerate(known)}
    return known, np.array([place.get(value, -1) for value in values], np.int32)


def label_units(units: np.ndarray, classes: Sequence | np.ndarray, n_units: int) -> UnitLabels:
    """Assign each unit the commonest class of its rows; of equally common ones the first.

    Parameters
    ----------
    units : (n,) int
        Best unit of each row, on the host.
    classes
        Class of each row; `UNKNOWN` or None if unknown.
    n_units
        Number of units of the map.

    Raises
    ------
    DataError
        If there are not as many classes as rows, or none is known.
    """
    array_of(units, "the best unit of each row", "iu", (None,))
    whole(n_units, "units of the map", least=1)
    if units.size and not 0 <= int(units.min()) <= int(units.max()) < n_units:
        raise DataError(f"units from 0 to {n_units - 1}", f"{units.min()} to {units.max()}", "take those of the map")
    if len(classes) != len(units):
        raise DataError(
            f"a class for each of {len(units)} rows", f"{len(classes)}", "give one each, or none if unknown"
        )
    known, number = numbered_classes(classes)
    is_known = number >= 0
    counts = np.bincount(
        units[is_known].astype(np.int64) * len(known) + number[is_known], minlength=n_units * len(known)
    ).reshape(n_units, len(known))
    total = counts.sum(axis=1)
    of_unit = np.where(total > 0, counts.argmax(axis=1), -1).astype(np.int32)
    share = np.where(total > 0, counts.max(axis=1) / np.maximum(1, total), np.nan)
    return UnitLabels(known, of_unit, share)
