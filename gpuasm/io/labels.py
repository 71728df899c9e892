"""Where vertices are: label files as Gunrock reads them, and tables of names."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuasm.errors import DataError, GpuasmError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.graph_text import bad_line, lines_of_file, quoted
from gpuasm.io.numbers import MISSING, real_number, whole_number

_NAME_COLUMNS = ("vertex", "sample", "name", "strain")
_COORDINATES = ("latitude", "longitude")
_LIMITS = (90.0, 180.0)
_SOME = 5
_BYTES_OF_LINE = 256
"""Of what is kept of a line."""
_TITLES = (frozenset(("lat", "latitude")), frozenset(("lon", "long", "lng", "longitude")))
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class Labels:
    """Places of the vertices of a graph.

    Attributes
    ----------
    places : (n, 2) float64
        Latitude and longitude in degrees, NaN where unknown.
    base
        What the file calls the first vertex of a graph without names: 0 or 1.
    passed_over
        Names in the file that the graph does not have.
    columns
        Cells of other columns by their titles, one for each vertex; None where missing.
    """

    places: np.ndarray
    base: int
    passed_over: tuple[str, ...] = ()
    columns: dict[str, list[str | None]] = field(default_factory=dict)


@dataclass
class _Lines:
    """The lines of a file: a name and a place each."""

    names: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    places: list[tuple[float, float]] = field(default_factory=list)
    stated: int | None = None
    stated_in: int = 0
    is_table: bool = False
    cells: dict[str, list[str]] = field(default_factory=dict)

    def add(self, number: int, name: str, latitude: str, longitude: str) -> None:
        self.names.append(name)
        self.numbers.append(number)
        self.places.append(_place(number, latitude, longitude))


def read_labels(
    path: str | os.PathLike[str],
    graph: DirectedGraph,
    *,
    base: int | None = None,
    skip_unknown: bool = False,
    columns: Sequence[str] = (),
) -> Labels:
    """Read the places of a graph's vertices; the content determines the format.

    Label files have a line "N 2 2" with the number of vertices, which may be missing, then "id latitude longitude", or
    "id" alone, with blanks between. Tables have a header with the columns latitude and longitude, tabs between, and the
    names of vertices in a column vertex, sample, name or strain, or else in the first. Lines with % or # are comments;
    vertices that the file does not name are unknown. A vertex may have several lines, if not two places.

    Parameters
    ----------
    path
        The file, compressed or not; "-" is standard input.
    graph
        Whose vertices they are.
    base
        What the file calls the first vertex, where vertices have numbers: 0 or 1. If None, a label file counts
        from 0 if it names 0, from 1 if it names the number of vertices; a table counts as the graph does.
    skip_unknown
        Pass over names that the graph does not have.
    columns
        Titles, in lower case, of other columns of a table to keep; those that it lacks are passed over.

    Raises
    ------
    UsageError
        If the file does not determine whether numbers begin at 0 or at 1.
    DataError
        If a line is malformed, a place is none on Earth, a vertex has two places or is none of the graph, the file
        is about another number of vertices, or there is no place at all and no name was passed over. It names the
        line.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    try:
        lines = _read(lines_of_file(path, per_line=_BYTES_OF_LINE), columns)
        if graph.names is None and not lines.is_table and base is None:
            base = _base_of_numbers(lines, graph.n_vertices)
        labels = _of_vertices(lines, graph, base or 0, skip_unknown=skip_unknown)
        if np.isnan(labels.places).all() and not labels.passed_over:
            raise DataError("the place of at least one vertex", "none", "fill in latitude and longitude where known")
    except GpuasmError as error:
        raise error.of_file(path) from error
    return labels


def _read(numbered: Iterable[tuple[int, str]], others: Sequence[str]) -> _Lines:
    lines, columns = _Lines(), None
    kept: dict[str, int] = {}
    is_first = True
    for number, line in numbered:
        if not line.strip() or line.lstrip()[0] in "%#":
            continue
        if is_first:
            is_first = False
            columns = _header(line)
            if columns is not None:
                lines.is_table = True
                titles = _titles(line)
                kept = {title: titles.index(title) for title in others if title in titles}
                lines.cells = {title: [] for title in kept}
                continue
            _check_no_header(number, line)
            fields = line.split()
            if fields[1:] == ["2", "2"] and (stated := whole_number(fields[0])) is not None:
                lines.stated = stated
                lines.stated_in = number
                continue
        if columns is None:
            fields = line.split("\t") if "\t" in line.strip() else line.split()
            if len(fields) not in (1, 3):
                raise bad_line(
                    number, "a vertex, latitude and longitude, or a vertex alone", quoted(line), "check the line"
                )
            lines.add(number, *([text.strip() for text in fields] if len(fields) == 3 else [fields[0].strip(), "", ""]))
        else:
            cells = [cell.strip() for cell in line.split("\t")]
            cells += [""] * (max(*columns, *kept.values()) + 1 - len(cells))
            lines.add(number, *(cells[column] for column in columns))
            for title, column in kept.items():
                lines.cells[title].append(cells[column])
    return lines


def _header(line: str) -> tuple[int, int, int] | None:
    """Return where names, latitudes and longitudes are, if a line is a header of a table."""
    titles = _titles(line)
    if not set(_COORDINATES) <= set(titles):
        return None
    if twice := next((title for title in _COORDINATES if titles.count(title) > 1), None):
        raise DataError(f"one column {twice}", "two", "remove one of the two", place="the first line")
    name = next((titles.index(title) for title in _NAME_COLUMNS if title in titles), 0)
    return name, titles.index("latitude"), titles.index("longitude")


def _titles(line: str) -> list[str]:
    return [title.strip().lower() for title in line.split("\t")]


def _check_no_header(number: int, line: str) -> None:
    """Refuse a header with other titles, or with other signs between them than tabs."""
    cells = {cell.strip("\"'").lower() for cell in _BETWEEN.split(line)}
    if all(cells & titles for titles in _TITLES):
        remedy = "call the columns latitude and longitude, and write tabs between them"
        raise bad_line(number, "a header with the columns latitude and longitude, tabs between", quoted(line), remedy)


def _place(number: int, latitude: str, longitude: str) -> tuple[float, float]:
    is_missing = [text.lower() in MISSING for text in (latitude, longitude)]
    if all(is_missing):
        return math.nan, math.nan
    found = []
    for text, name, limit in zip((latitude, longitude), _COORDINATES, _LIMITS, strict=True):
        value = real_number(text)
        if value is None or not -limit <= value <= limit:
            raise bad_line(
                number, f"a {name} from -{limit:.0f} to {limit:.0f} degrees", quoted(text),
                "write degrees with a decimal point, latitude first; leave both out where unknown",
            )  # fmt: skip
        found.append(value)
    return found[0], found[1]


def _base_of_numbers(lines: _Lines, n: int) -> int:
    """Return the number of the first vertex in the file, 0 or 1: 0 occurs only in the one case, n in the other."""
    named = {whole_number(name) for name in lines.names} - {None}
    if 0 in named or not named or n == 0:
        return 0
    if n in named:
        return 1
    raise UsageError(
        "numbers of vertices that begin at 0 or at 1", f"neither 0 nor {n}",
        "give --label-base 0 or --label-base 1",
    )  # fmt: skip


def _of_vertices(lines: _Lines, graph: DirectedGraph, base: int, *, skip_unknown: bool) -> Labels:
    n = graph.n_vertices
    if lines.stated is not None and lines.stated != n:
        name = str(lines.stated)
        if name not in lines.names and _vertex(graph, name, base) is not None:
            raise bad_line(
                lines.stated_in, f"the number of vertices, {n}, or a vertex and its place",
                f"'{name} 2 2', which may be either", "write the place of the vertex as 2.0 2.0, or remove the line",
            )  # fmt: skip
        raise DataError(
            f"labels of {n} vertices, as many as the graph has", str(lines.stated), "give the labels of this graph"
        )
    places, passed_over = np.full((n, 2), np.nan), []
    seen: dict[int, int] = {}
    vertices = []
    for name, number, place in zip(lines.names, lines.numbers, lines.places, strict=True):
        vertex = _vertex(graph, name, base)
        vertices.append(vertex)
        if vertex is None:
            if skip_unknown:
                passed_over.append(name)
                continue
            raise bad_line(
                number, f"a vertex of the graph, such as {_some(graph, base)}", repr(name),
                "correct the name, or pass such lines over with --skip-unknown",
            )  # fmt: skip
        if vertex in seen and not _agree(places[vertex], place):
            raise bad_line(
                number, "one place for each vertex", f"another for {name!r} than in line {seen[vertex]}",
                "remove one of the two",
            )  # fmt: skip
        seen.setdefault(vertex, number)
        if not math.isnan(place[0]):
            places[vertex] = place
    columns = {title: _cells_of_vertices(cells, vertices, n) for title, cells in lines.cells.items()}
    return Labels(places, base, tuple(passed_over), columns)


def _cells_of_vertices(cells: list[str], vertices: list[int | None], n: int) -> list[str | None]:
    """Return the first cell of each vertex that is not missing."""
    found: list[str | None] = [None] * n
    for text, vertex in zip(cells, vertices, strict=True):
        if vertex is not None and found[vertex] is None and text.lower() not in MISSING:
            found[vertex] = text
    return found


def _agree(place: np.ndarray, other: tuple[float, float]) -> bool:
    """Return whether two lines about one vertex agree: a sample may have a line for each of its lanes."""
    return math.isnan(place[0]) or math.isnan(other[0]) or place.tolist() == list(other)


def _vertex(graph: DirectedGraph, name: str, base: int) -> int | None:
    """Return the number of a vertex as the file calls it, None if there is none."""
    if graph.names is None:
        number = whole_number(name)
        return number - base if number is not None and 0 <= number - base < graph.n_vertices else None
    try:
        return graph.number_of(name)
    except UsageError:
        return None


def _some(graph: DirectedGraph, base: int) -> str:
    labels = [graph.label_of(i) for i in range(min(_SOME, graph.n_vertices))]
    shown = ", ".join(str(label + base if isinstance(label, int) else label) for label in labels)
    return shown + (", ..." if graph.n_vertices > _SOME else "") if labels else "none: it has no vertices"
