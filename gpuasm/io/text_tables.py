"""Tables of text, tabs between columns: read by one reader, with bounds on memory and on the length of a cell."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator

from gpuasm.errors import DataError
from gpuasm.io.graph_text import lines_of_file, quoted

_BYTES_OF_ROW = 256
"""Of a row of few cells as readers keep it."""


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
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for number, line in lines_of_file(path, per_line=_BYTES_OF_ROW):  # noqa: B007 - the rows have it
            if line.strip() and not (comments and line.startswith("#")):
                yield line + "\n"

    rows = csv.reader(lines(), delimiter="\t")
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            place = f"line {number}"
            found = quoted(str(error))
            remedy = "close each double quote, and shorten the cell"
            raise DataError("cells of a table", found, remedy, path=os.fspath(path), place=place) from error
        if row is None:
            return
        yield number, row
