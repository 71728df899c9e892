"""Read tables of numbers, a row for each item: text, arrays of numpy, and the .lrn of Databionic ESOM."""

from __future__ import annotations

import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.errors import DataError, GpuasmError, UsageError
from gpuasm.io.archives import NPY, ZIP, read_archive, read_array
from gpuasm.io.graph_text import LineBlocks, bad_line, joined, lines_of_file, numbered_lines, quoted
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.numbers import MISSING, real_number, whole_number
from gpuasm.io.text_tables import rows_of_lines

_QUOTED = re.compile(r'"[^"]*"')
_BYTES_OF_ROW = 300  # as an array of its own, with its name
_ESOM_DATA, _ESOM_TEXTS = 1, (9, 3)
"""Kinds of columns: numbers; keys and classes."""


@dataclass(frozen=True)
class Matrix:
    """A table of numbers.

    Attributes
    ----------
    names : list of str
        Of the rows; "1", "2" and so on if the file names none.
    columns : list of str
        Of the columns; "column_1" and so on if the file names none.
    values : (n, d) float64
        NaN where a value is missing.
    classes : list of str
        Of the rows, "" where unknown; empty if there is no column of classes.
    has_header : bool
        Whether the file contains the names of the columns.
    """

    names: list[str]
    columns: list[str]
    values: np.ndarray
    classes: list[str] = field(default_factory=list)
    has_header: bool = False

    def with_columns(self, requested: Sequence[str]) -> Matrix:
        """Return the columns of these names in this order; the table as it is, if it or they have no names.

        Raises
        ------
        DataError
            If a column is missing or there are two of its name.
        """
        if not self.has_header or not requested or list(requested) == self.columns:
            return self
        place = {name: i for i, name in enumerate(self.columns)}
        for name in requested:
            n_found = self.columns.count(name)
            if n_found != 1 or requested.count(name) != 1:
                found = f"no column {quoted(name)}" if not n_found else f"several columns {quoted(name)}"
                remedy = "name the columns as those of the map, or leave the header out to take them in their order"
                raise DataError(f"{len(requested)} columns with the names of the map's", found, remedy)
        chosen = [place[name] for name in requested]
        return Matrix(self.names, list(requested), self.values[:, chosen], self.classes, has_header=True)


def read_matrix(
    path: str | os.PathLike[str], *, name_column: str | None = None, class_column: str | None = None
) -> Matrix:
    """Read a table of numbers; its content determines the format.

    Parameters
    ----------
    path
        Text, compressed or not, with tabs, semicolons, commas or blanks between fields; .npy; .npz; or .lrn. "-" is
        standard input. The first line is a header if any of its fields, the first aside, is no number. In an .npz the
        values are "values", "X" or the only matrix; "names", "columns" and "classes" are optional.
    name_column, class_column
        Headers of the columns that hold the names and the classes of rows. Without: the first column holds names if it
        is no number in the first row; a key (9) and a class (3) in an .lrn.

    Raises
    ------
    DataError
        If there are no rows, lines differ in length, or a field is neither a number nor missing.
    UsageError
        If there is no such column.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    lines_of_path = LineBlocks(path)
    lines_of_path.per_line = _BYTES_OF_ROW
    blocks = iter(lines_of_path)
    head = next(blocks, b"")
    blocks = itertools.chain([head], blocks)
    try:
        if head.startswith((NPY, ZIP)):
            if name_column or class_column:
                raise UsageError("no name of a column with arrays", name_column or class_column or "", "leave it out")
            return _from_arrays(joined(blocks, lines_of_path.bound), is_archive=head.startswith(ZIP))
        lines = ((number, line) for number, line in numbered_lines(blocks) if line.strip() and line[0] != "#")
        if head.lstrip().startswith((b"%", b"#")) and (esom := _esom_header(lines)) is not None:
            header, rows = esom
            return _from_esom(header, rows)
        return _from_text(lines, name_column, class_column)
    except GpuasmError as error:
        raise error.of_file(path) from error


def read_classes(path: str | os.PathLike[str], names: Sequence[str]) -> list[str]:
    """Read the classes of rows: two columns, name and class, or the .cls of Databionic ESOM.

    Returns
    -------
    The class of each of ``names``, "" where the file names none.

    Raises
    ------
    DataError
        If a line has no two fields, or no row has a class.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    found: dict[str, str] = {}
    titles: dict[str, str] = {}
    try:
        for number, line in lines_of_file(path, per_line=_BYTES_OF_ROW):
            if not line.strip() or line[0] == "#":
                continue
            fields = _fields(line.lstrip("% "), _separator(line.lstrip("% ")))
            if line[0] == "%":  # "% n", or "% class name red green blue"
                titles |= {fields[0]: fields[1]} if len(fields) > 1 else {}
                continue
            if len(fields) < 2:
                raise bad_line(number, "a name and a class", quoted(line), "separate them by a tab")
            found[fields[0]] = titles.get(fields[1], fields[1])
    except DataError as error:
        raise error.of_file(path) from error
    if not found.keys() & set(names):
        raise DataError(
            "classes of rows of the table", "other names", "give names as the table has them", path=os.fspath(path)
        )
    return [found.get(name, "") for name in names]


def _from_arrays(data: bytes, *, is_archive: bool) -> Matrix:
    file = io.BytesIO(data)
    arrays = read_archive(file) if is_archive else {"values": read_array(file, len(data))}
    matrices = {name: a for name, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiub"}
    name = next((n for n in ("values", "X") if n in matrices), next(iter(matrices), None))
    if name is None or (name not in ("values", "X") and len(matrices) > 1):
        raise DataError(
            'a matrix of numbers, named "values" if it is not the only one',
            ", ".join(f"{n} {a.shape}" for n, a in arrays.items()) or "nothing",
            "write it with numpy.savez(file, values=...)",
        )
    titles = [key for key in ("names", "columns", "classes") if key in arrays]
    texts: dict[str, list[str]] = {key: [str(v) for v in arrays[key].ravel()] for key in titles}
    MemoryBound().require(8 * matrices[name].size)
    values = matrices[name].astype(np.float64)
    for key, size in (("names", values.shape[0]), ("columns", values.shape[1]), ("classes", values.shape[0])):
        if len(texts.get(key, ())) not in (0, size):
            raise DataError(f"{size} {key}", f"{len(texts[key])}", "write one for each row or column")
    return _matrix(values, texts.get("names"), texts.get("columns"), texts.get("classes", []))


def _matrix(
    values: np.ndarray, names: list[str] | None, columns: list[str] | None, classes: list[str] | None = None
) -> Matrix:
    if 0 in values.shape:
        raise DataError(
            "at least one row and one column of numbers", f"{values.shape[0]} rows, {values.shape[1]} columns",
            "give a table with numbers",
        )  # fmt: skip
    return Matrix(
        names or [str(i + 1) for i in range(values.shape[0])],
        columns or [f"column_{i + 1}" for i in range(values.shape[1])],
        values,
        classes or [],
        has_header=bool(columns),
    )


def _from_text(lines: Iterator[tuple[int, str]], name_column: str | None, class_column: str | None) -> Matrix:
    first = next(lines, (1, ""))
    if not first[1]:
        raise DataError("rows of numbers", "an empty file", "give a table with numbers")
    records = _records(itertools.chain([first], lines), _separator(first[1]))
    first_number, fields = next(records)
    has_header = bool(name_column or class_column) or not all(map(_is_number, fields[1:] or fields))
    header = fields if has_header else []
    name_place, class_place = _place(header, name_column), _place(header, class_column)
    beginning = [(first_number, fields)] if not has_header else list(itertools.islice(records, 1))
    width = len(fields)
    for _, cells in beginning:
        if len(cells) == width + 1 and header:  # as R writes tables: no header above the names
            width, header = width + 1, ["", *header]
            class_place = class_place + 1 if class_place is not None else None
            name_place = 0 if name_place is None else name_place + 1
        if name_place is None and not _is_number(cells[0]):
            name_place = 0
    kept = [i for i in range(width) if i not in (name_place, class_place)]
    values, names, classes = _gathered(itertools.chain(beginning, records), width, kept, (name_place, class_place))
    return _matrix(values, names, [header[i] for i in kept] if header else None, classes)


def _gathered(
    records: Iterable[tuple[int, list[str]]], width: int, kept: list[int], places: tuple[int | None, int | None]
) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the numbers in the columns that are kept, and the texts in those of names and of classes."""
    rows: list[np.ndarray] = []
    names: list[str] = []
    classes: list[str] = []
    name_place, class_place = places
    for number, cells in records:
        if len(cells) != width:
            raise bad_line(number, f"{width} fields, as before", f"{len(cells)}", "check the separators")
        if name_place is not None:
            names.append(cells[name_place])
        if class_place is not None:
            classes.append("" if cells[class_place].lower() in MISSING else cells[class_place])
        rows.append(_numbers(cells if len(kept) == width else [cells[i] for i in kept], number))
    return np.array(rows).reshape(len(rows), len(kept)), names, classes


def _place(header: list[str], requested: str | None) -> int | None:
    if requested is None:
        return None
    if requested in header:
        return header.index(requested)
    raise UsageError(
        f"a column named {requested!r}", ", ".join(header[:8]) or "no header", "give the name as the first line has it"
    )


def _numbers(chosen: list[str], number: int) -> np.ndarray:
    text = "".join(chosen)
    if text.isascii() and "_" not in text:  # of other texts, Python takes some for numbers
        try:
            return np.array(list(map(float, chosen)))
        except ValueError:
            pass
    return np.array([_number(cell, number) for cell in chosen])


def _number(cell: str, line: int) -> float:
    if cell.lower() in MISSING:
        return np.nan
    value = real_number(cell)
    if value is None:
        raise bad_line(line, "a number, or NA where it is missing", quoted(cell), "correct it, or leave the column out")
    return value


def _is_number(cell: str) -> bool:
    return real_number(cell) is not None or cell.lower() in MISSING


def _separator(line: str) -> str | None:
    """Return what separates the fields of a line, quoted ones aside; None: blanks."""
    bare = _QUOTED.sub("", line)
    return next((s for s in "\t;," if s in bare), None)


def _fields(line: str, separator: str | None) -> list[str]:
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    return next(_records(iter([(1, line)]), separator))[1]


def _records(lines: Iterable[tuple[int, str]], separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row, and the number of the line that it ends in; a field may be in double quotes."""
    if separator is None:
        lines = ((number, " ".join(line.split())) for number, line in lines)
    for number, row in rows_of_lines(lines, delimiter=separator or " ", skipinitialspace=True, strict=True):
        yield number, [cell.strip() for cell in row]


def _esom_header(lines: Iterator[tuple[int, str]]) -> tuple[list[list[str]], Iterable[tuple[int, str]]] | None:
    """Take the lines that begin with % off; return their fields, and the lines that follow."""
    header: list[list[str]] = []
    for number, line in lines:
        if line[0] != "%":
            return (header, itertools.chain([(number, line)], lines)) if len(header) >= 3 else None
        text = line[1:].strip()
        header.append(_fields(text, "\t" if "\t" in text else None))
    return (header, ()) if len(header) >= 3 else None


def _from_esom(header: list[list[str]], lines: Iterable[tuple[int, str]]) -> Matrix:
    types = [whole_number(kind) for kind in header[2]]
    if None in types:
        found = " ".join(header[2][:8])
        raise DataError("a third line with the kinds of columns, % 9 1 1 ...", found, "fix the header")
    titles = header[3] if len(header) > 3 and len(header[3]) == len(types) else []
    kept = [i for i, kind in enumerate(types) if kind == _ESOM_DATA]
    key, of_class = (next((i for i, kind in enumerate(types) if kind == sought), None) for sought in _ESOM_TEXTS)
    records = ((number, _fields(line, "\t" if "\t" in line else None)) for number, line in lines)
    values, keys, classes = _gathered(records, len(types), kept, (key, of_class))
    return _matrix(values, keys, [titles[i] for i in kept] if titles else None, classes)
