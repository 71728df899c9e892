"""Neighbourhood weights: the influence of the rows of one unit on another, by their distance on the map.

Weights are computed once for an epoch, on the host, so that every device uses the same bits. A weight that is a product
of a factor of the distance along x and one along y, or a sum of two such products, is stored as its factors: then all
units are updated in rows + columns steps, not in rows * columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array
from gpuasm.clustering.grid import MapGrid
from gpuasm.errors import UsageError

NEIGHBOURHOODS = ("gaussian", "bubble", "triangle", "mexican_hat")
SHIFTS = (0.0, 0.5, -0.5)
"""Between columns of rows of equal parity; from a shifted to an unshifted row; from an unshifted to a shifted row."""
_NOTHING = 1e-150
"""A smaller factor is set to zero: products of two factors stay in the normal range of float64."""
_ROUNDING = 1e-9
"""Distances on the map that differ by less are equal."""


@dataclass(frozen=True)
class Term:
    """One product: weight = along_columns[shift, offset + columns - 1] * along_rows[offset + rows - 1].

    Attributes
    ----------
    along_columns : (3, 2 * columns - 1) float64
        One row for each of `SHIFTS`; only the first is used on a rectangular lattice.
    along_rows : (2 * rows - 1,) float64
    column_reach, row_reach : int
        Largest distance in columns and in rows at which a factor is not zero.
    """

    along_columns: np.ndarray
    along_rows: np.ndarray
    column_reach: int
    row_reach: int


@dataclass(frozen=True)
class Neighbourhood:
    """The weights of an epoch: the sum of `terms`, or a `table` if they are not such a sum.

    Attributes
    ----------
    terms : tuple of Term
    envelope : tuple of Term
        For weights that may be negative: an upper bound of their absolute values; else empty.
    table : (2, 2 * rows - 1, 2 * columns - 1) float64 or None
        The weight by parity of the updated unit's row and by offset in rows and columns.
    row_reach, column_reach : int
        Reach of the table.
    """

    terms: tuple[Term, ...] = ()
    envelope: tuple[Term, ...] = ()
    table: np.ndarray | None = None
    row_reach: int = 0
    column_reach: int = 0


def neighbourhood_of(grid: MapGrid, kind: str, radius: float) -> Neighbourhood:
    """Compute the weights of an epoch.

    Parameters
    ----------
    grid
        The map.
    kind
        With d the distance on the map and r the radius: "gaussian": exp(-d^2 / 2 r^2); "bubble": 1 up to d = r;
        "triangle": 1 - d / r, not below 0; "mexican_hat": (1 - d^2 / r^2) exp(-d^2 / 2 r^2).
    radius
        In distances between neighbouring units; above 0.

    Raises
    ------
    UsageError
        If the kind is unknown or the radius is not above 0.
    """
    if kind not in NEIGHBOURHOODS:
        raise UsageError(f"a neighbourhood named {', '.join(NEIGHBOURHOODS)}", repr(kind), "use one of those names")
    if not 0 < radius < math.inf:
        raise UsageError("a radius above 0", repr(radius), "give the first and the last radius, such as 20 and 0.5")
    x = np.stack([grid.column_distances(shift) for shift in SHIFTS]) / radius
    y = grid.row_distances() / radius
    if kind in ("bubble", "triangle"):
        return _table(grid, kind, x, y)
    wide, high = _bell(x), _bell(y)
    if kind == "gaussian":
        return Neighbourhood(terms=(_term(grid, wide, high),))
    # (1 - x^2 - y^2) exp(-(x^2 + y^2) / 2) is a sum of two products.
    hat = _term(grid, (1 - x * x) * wide, high), _term(grid, -wide, y * y * high)
    envelope = _term(grid, (1 + x * x) * wide, high), _term(grid, wide, y * y * high)
    return Neighbourhood(terms=hat, envelope=envelope)


def _bell(distance: np.ndarray) -> np.ndarray:
    # math.exp: numpy's differs in the last bit between processors.
    return np.array([math.exp(-0.5 * d * d) if d < 38 else 0.0 for d in distance.ravel()]).reshape(distance.shape)


def _term(grid: MapGrid, along_columns: np.ndarray, along_rows: np.ndarray) -> Term:
    wide = np.where(np.abs(along_columns) < _NOTHING, 0.0, along_columns)
    high = np.where(np.abs(along_rows) < _NOTHING, 0.0, along_rows)
    return Term(wide, high, _reach(wide.any(axis=0), grid), _reach(high != 0, grid))


def _reach(counts: Array, grid: MapGrid) -> int:
    """Return the largest offset with a positive weight, along the shorter arc on a torus."""
    length = (counts.size + 1) // 2
    offset = np.abs(np.arange(1 - length, length))
    if grid.is_toroidal:
        offset = np.minimum(offset, length - offset)
    return int(offset[counts].max(initial=0))


def _table(grid: MapGrid, kind: str, x: np.ndarray, y: np.ndarray) -> Neighbourhood:
    # The updated unit in a row of parity p is at column + p / 2, the other unit at column' + p' / 2.
    odd = (np.arange(1 - grid.rows, grid.rows) % 2).astype(bool) if grid.is_hexagonal else np.zeros(y.size, bool)
    tables = []
    for parity in (0, 1):
        across = x[np.where(odd, 1 if parity else 2, 0)]
        squared = across * across + (y * y)[:, None]
        if kind == "bubble":
            tables.append((squared <= 1 + _ROUNDING).astype(np.float64))  # a unit at the radius is in the bubble
        else:
            height = 1.0 - np.sqrt(squared)
            tables.append(np.where(height < _ROUNDING, 0.0, height))
    table = np.stack(tables)
    return Neighbourhood(
        table=table,
        row_reach=_reach(table.any(axis=(0, 2)), grid),
        column_reach=_reach(table.any(axis=(0, 1)), grid),
    )
