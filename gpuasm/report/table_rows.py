"""Rows of the tables of a run, whose cells are checked when they are used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from gpuasm.errors import DataError
from gpuasm.io.numbers import real_number, whole_number
from gpuasm.io.text_tables import read_rows

_MOST = 1e15


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    cells : dict
        The text of each column by its title.
    place : str
        For messages.
    """

    cells: dict[str, str]
    place: str

    def text(self, column: str) -> str:
        """Return a cell.

        Raises
        ------
        DataError
            If there is no such column.
        """
        if column not in self.cells:
            raise DataError(f"a column {column}", "none", "write the table anew", place=self.place)
        return self.cells[column]

    def whole(self, column: str, *, least: int = 0) -> int:
        """Return a whole number.

        Raises
        ------
        DataError
            If there is none, or a lesser one.
        """
        value = whole_number(self.text(column))
        if value is None or not least <= value <= _MOST:
            raise self._bad(column, "a whole number")
        return value

    def real(self, column: str, *, least: float = 0.0, most: float = _MOST) -> float:
        """Return a finite number.

        Raises
        ------
        DataError
            If there is none, or one outside the range.
        """
        value = real_number(self.text(column))
        if value is None or not least <= value <= most:
            raise self._bad(column, "a number")
        return value

    def real_or_nothing(self, column: str, *, least: float = 0.0) -> None:
        """Check that a cell is empty or holds a number; see `real`."""
        if self.text(column):
            self.real(column, least=least)

    def _bad(self, column: str, expected: str) -> DataError:
        return DataError(f"{expected} as {column}", repr(self.text(column)[:40]), "write it anew", place=self.place)


def rows_of_table(path: str | os.PathLike[str]) -> Iterator[Row]:
    """Yield the rows below the titles of a table.

    Raises
    ------
    DataError
        If a row has another number of cells than there are titles; otherwise as `gpuasm.io.text_tables.read_rows`.
    NoInputError, ReadWriteError, ResourceError
        As `gpuasm.io.text_tables.read_rows`.
    """
    rows = read_rows(path)
    titles = next(rows, (0, []))[1]
    for number, cells in rows:
        place = f"line {number}"
        if len(cells) != len(titles):
            raise DataError(f"{len(titles)} cells", str(len(cells)), "write the table anew", path=path, place=place)
        yield Row(dict(zip(titles, cells, strict=True)), place)
