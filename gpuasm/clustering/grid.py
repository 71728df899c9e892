"""The grid of a map: positions of its units, and their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array
from gpuasm.errors import UsageError

TOPOLOGIES = ("planar", "toroidal")
LATTICES = ("rectangular", "hexagonal")
ROW_HEIGHT = 3**0.5 / 2
"""Distance between two rows of a hexagonal lattice with units at distance 1."""


@dataclass(frozen=True)
class MapGrid:
    """Units in rows and columns; unit u lies in row u // columns and column u % columns.

    On a hexagonal lattice odd rows are shifted by half a unit to the right and rows are sqrt(3)/2 apart, so that each
    unit has six neighbours at distance 1. On a torus the last row touches the first, and the last column the first.

    Attributes
    ----------
    rows, columns
        Units along each axis.
    topology
        "planar" or "toroidal".
    lattice
        "rectangular" (eight neighbours) or "hexagonal" (six).
    """

    rows: int
    columns: int
    topology: str = "planar"
    lattice: str = "rectangular"

    def __post_init__(self) -> None:
        for name, size in (("rows", self.rows), ("columns", self.columns)):
            if not isinstance(size, (int, np.integer)) or size < 1:
                raise UsageError(f"a whole number of {name} from 1", repr(size), "give the map a size, such as 40 x 60")
        for name, value, known in (
            ("topology", self.topology, TOPOLOGIES),
            ("lattice", self.lattice, LATTICES),
        ):
            if value not in known:
                raise UsageError(f"a {name} named {' or '.join(known)}", repr(value), "use one of those names")
        if self.n_units >= 1 << 31:
            raise UsageError("fewer than 2,147,483,648 units", f"{self.n_units:,}", "train a smaller map")
        if self.is_hexagonal and self.is_toroidal and self.rows % 2:
            raise UsageError(
                "an even number of rows on a hexagonal torus, so that shifted rows are next to unshifted ones",
                f"{self.rows} rows",
                "add a row or take the planar topology",
            )

    @property
    def n_units(self) -> int:
        return int(self.rows) * int(self.columns)

    @property
    def is_toroidal(self) -> bool:
        return self.topology == "toroidal"

    @property
    def is_hexagonal(self) -> bool:
        return self.lattice == "hexagonal"

    def positions(self) -> np.ndarray:
        """Return (units, 2) float64: x and y of each unit, in units of the distance between neighbours."""
        row, column = np.divmod(np.arange(self.n_units), self.columns)
        if not self.is_hexagonal:
            return np.column_stack([column, row]).astype(np.float64)
        return np.column_stack([column + 0.5 * (row % 2), row * ROW_HEIGHT])

    def column_distances(self, shift: float = 0.0) -> np.ndarray:
        """Return (2 * columns - 1,) float64: distance along x at offset i - (columns - 1), plus ``shift``."""
        offset = np.arange(1 - self.columns, self.columns) + shift
        return self._wrapped(np.abs(offset), self.columns)

    def row_distances(self) -> np.ndarray:
        """Return (2 * rows - 1,) float64: distance along y at offset i - (rows - 1)."""
        steps = self._wrapped(np.abs(np.arange(1 - self.rows, self.rows, dtype=np.float64)), self.rows)
        return steps * ROW_HEIGHT if self.is_hexagonal else steps

    def neighbours(self) -> np.ndarray:
        """Return (units, 8 or 6) int32: the neighbours of each unit, ascending, then -1 for missing ones."""
        row, column = np.divmod(np.arange(self.n_units), self.columns)
        sides_of: list[np.ndarray] = []
        for step in (-1, 0, 1):
            if step == 0:
                sides = [np.full(self.n_units, -1), np.full(self.n_units, 1)]
            elif self.is_hexagonal:
                sides = [row % 2 - 1, row % 2]
            else:
                sides = [np.full(self.n_units, side) for side in (-1, 0, 1)]
            sides_of += [self._unit_at(row + step, column + side) for side in sides]
        found = np.sort(np.column_stack(sides_of).astype(np.int32), axis=1)
        # On a torus of one or two rows a unit may be a neighbour twice, or of itself.
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found[(found < 0) | (found == np.arange(self.n_units)[:, None])] = self.n_units
        found.sort(axis=1)
        found[found == self.n_units] = -1
        return found

    def image(self, values: Array) -> Array:
        """Return values of units as (rows, columns, ...), by their positions on the map."""
        return values.reshape(self.rows, self.columns, *values.shape[1:])

    def _wrapped(self, distance: np.ndarray, length: int) -> np.ndarray:
        return np.minimum(distance, np.abs(length - distance)) if self.is_toroidal else distance.astype(np.float64)

    def _unit_at(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        if self.is_toroidal:
            return (row % self.rows) * self.columns + column % self.columns
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        return np.where(inside, row * self.columns + column, -1)
