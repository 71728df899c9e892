"""Units labelled by rows whose class is known, and the classes of other rows by the units nearest to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.errors import DataError

UNKNOWN = ""
"""The class of rows whose class is not known."""


@dataclass(frozen=True)
class UnitLabels:
    """What the units of a map say of classes.

    Attributes
    ----------
    classes : list
        The classes, sorted.
    of_unit : (units,) int32
        Place of each unit's class in ``classes``; -1 where no row of known class lies.
    share : (units,) float64
        Share of the unit's rows of known class that are of its class; NaN where there are none.
    """

    classes: list
    of_unit: np.ndarray
    share: np.ndarray

    @property
    def labelled(self) -> np.ndarray:
        """Return the units that have a class, ascending."""
        return np.flatnonzero(self.of_unit >= 0)


def numbered_classes(classes: Sequence) -> tuple[list, np.ndarray]:
    """Return the known classes, sorted, and the place of each row's among them, -1 where it is `UNKNOWN` or None.

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


def label_units(units: np.ndarray, classes: Sequence, n_units: int) -> UnitLabels:
    """Give each unit the class that most of its rows have; of equally many the first in order.

    Parameters
    ----------
    units : (n,) int
        Best unit of each row, on the host.
    classes
        Class of each row, `UNKNOWN` or None where it is not known.
    n_units
        Units of the map.

    Raises
    ------
    DataError
        If there are not as many classes as rows, or none is known.
    """
    if len(classes) != len(units):
        raise DataError(
            f"a class for each of {len(units)} rows", f"{len(classes)}", "give one each, or none where unknown"
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
