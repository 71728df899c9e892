"""Tables of text, tabs between columns: read by one reader, with bounds on memory and on the length of a cell."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpuasm.errors import DataError
from gpuasm.io.graph_text import bad_line, lines_of_file, quoted
from gpuasm.io.numbers import real_number, whole_number

_BYTES_OF_ROW = 256
"""Of a row of few cells as readers keep it."""
_MOST = 1e15
_ANEW = "write the table anew"


@dataclass(frozen=True)
class Row:
    """A row of a table, whose cells are checked when they are used.

    Attributes
    ----------
    cells : dict
        The text of each column by its title.
    path, place : str
        The table, and the line for messages.
    """

    cells: dict[str, str]
    path: str
    place: str

    def text(self, column: str) -> str:
        """Return a cell.

        Raises
        ------
        DataError
            If there is no such column.
        """
        if column not in self.cells:
            raise self.error(f"a column {column}", "none", _ANEW)
        return self.cells[column]

    def whole(self, column: str, *, least: int = 0, most: float = _MOST) -> int:
        """Return a whole number; it is an error if there is none, or one outside the range."""
        value = whole_number(self.text(column))
        if value is None or not least <= value <= most:
            raise self.error(f"a whole number as {column}", repr(self.text(column)[:40]), _ANEW)
        return value

    def real(self, column: str, *, least: float = 0.0, most: float = _MOST) -> float:
        """Return a finite number; it is an error if there is none, or one outside the range."""
        value = real_number(self.text(column))
        if value is None or not least <= value <= most:
            raise self.error(f"a number as {column}", repr(self.text(column)[:40]), _ANEW)
        return value

    def error(self, expected: str, found: str, remedy: str) -> DataError:
        """Return an error about this row."""
        return DataError(expected, found, remedy, path=self.path, place=self.place)


def read_table(
    path: str | os.PathLike[str],
    *,
    required: Sequence[str] = (),
    comments: bool = False,
    padded: bool = False,
    remedy: str = _ANEW,
) -> Iterator[Row]:
    """Yield the rows of a table below its titles, without blanks around cells.

    Parameters
    ----------
    path, comments
        As for `read_rows`.
    required
        Titles that must be there.
    padded
        Whether empty cells at the end of a row may be missing, or too many.
    remedy
        For messages.

    Raises
    ------
    DataError
        If a title is missing or twice there, or a row has another number of cells; otherwise as `read_rows`.
    NoInputError, ReadWriteError, ResourceError
        As `read_rows`.
    """
    path, rows = os.fspath(path), read_rows(path, comments=comments)
    titles = [title.strip() for title in next(rows, (0, []))[1]]
    missing = [title for title in required if title not in titles]
    if missing:
        raise DataError(f"the column {missing[0]}", "none", remedy, path=path)
    twice = [title for title, n in Counter(titles).items() if title and n > 1]
    if twice:
        raise DataError("one column of each title", f"two columns {twice[0]!r}", "remove one", path=path)
    for number, row in rows:
        cells = [cell.strip() for cell in row]
        if padded:
            cells += [""] * (len(titles) - len(cells))
            cells = cells if any(cells[len(titles) :]) else cells[: len(titles)]
        if len(cells) != len(titles):
            found = f"{len(cells)} cells for {len(titles)} titles"
            raise bad_line(number, "a cell for each title", found, remedy).of_file(path)
        yield Row(dict(zip(titles, cells, strict=True)), path, f"line {number}")


def read_rows(path: str | os.PathLike[str], *, comments: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of a table with the number of the line that it ends in; empty lines are passed over.

    Cells may be in double quotes, and then contain tabs and ends of lines.

    Parameters
    ----------
    path
        Text in UTF-8, compressed or not; "-" is standard input.
    comments
        Whether lines that begin with # are passed over.

    Raises
    ------
    DataError
        If the file is no text, compressed data are damaged, or a cell has more than 131,072 characters.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    ResourceError
        If the text exceeds the memory.
    """
    lines = lines_of_file(path, per_line=_BYTES_OF_ROW)
    chosen = ((number, line) for number, line in lines if line.strip() and not (comments and line.startswith("#")))
    try:
        yield from rows_of_lines(chosen, delimiter="\t")
    except DataError as error:
        raise error.of_file(path) from error


def rows_of_lines(lines: Iterable[tuple[int, str]], **dialect: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of rows, of lines with their numbers, with the number of the line that each ends in.

    Parameters
    ----------
    lines
        Without their ends.
    **dialect
        Options of `csv.reader`.

    Raises
    ------
    DataError
        If a double quote is not closed, or a cell is too long.
    """
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # noqa: B007 - the rows have it
            yield line + "\n"

    rows = csv.reader(texts(), **dialect)
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            remedy = "close each double quote, write two for one within, and shorten long cells"
            raise bad_line(number, "cells of a table", quoted(str(error)), remedy) from error
        if row is None:
            return
        yield number, row
