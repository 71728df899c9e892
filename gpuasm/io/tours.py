"""Write Euler tours: a vertex or an edge a line, an empty line between the walks of different components."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np

from gpuasm.errors import UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.names import StringNames
from gpuasm.graph.rows import rows_of_slots
from gpuasm.graph.tours import EulerTour
from gpuasm.io.digits import put_number
from gpuasm.io.output import atomic_output
from gpuasm.parallel import compiled

_CHUNK = 1 << 18
_ENDS = re.compile(r"[\n\r]")
_MOST_BYTES = 21  # 19 digits, the end of the line, and an empty line


def write_tour(path: str | os.PathLike[str], graph: DirectedGraph, tour: EulerTour) -> None:
    """Write the vertices that a tour passes, one name a line, in walking order.

    A walk has a line more than edges; the last line of a circuit equals its first. An empty line separates walks.

    Parameters
    ----------
    path
        The file; "-" is standard output.
    graph, tour
        On the host.

    Raises
    ------
    UsageError
        If a name is empty or has several lines.
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    _check_names(graph)
    vertices = tour.vertices(graph)
    after_gap = np.zeros(vertices.size, bool)
    after_gap[tour.start[1:-1] + np.arange(1, tour.n)] = True
    with atomic_output(path, "wb") as file:
        for begin in range(0, vertices.size, _CHUNK):
            chunk = slice(begin, begin + _CHUNK)
            file.write(_lines(graph, vertices[chunk], after_gap[chunk]))


def write_tour_edges(path: str | os.PathLike[str], graph: DirectedGraph, tour: EulerTour) -> None:
    """Write the edges of a tour, one a line, in walking order: number, source and target, with tabs between them.

    Edges have the numbers that 'gpuasm graph edges' lists them by, from 0. An empty line separates walks.

    Parameters
    ----------
    path, graph, tour
        As for `write_tour`.

    Raises
    ------
    OutputError, ReadWriteError, ResourceError
        As ``atomic_output``.
    """
    source = rows_of_slots(graph.row_offsets, graph.n_edges)
    with atomic_output(path, "wb") as file:
        gaps = iter(tour.start[1:-1].tolist())
        gap = next(gaps, -1)
        for begin in range(0, graph.n_edges, _CHUNK):
            lines = []
            for place, edge in enumerate(tour.edges[begin : begin + _CHUNK].tolist(), start=begin):
                if place == gap:
                    lines.append("\n")
                    gap = next(gaps, -1)
                lines.append(f"{edge}\t{graph.label_of(source[edge])}\t{graph.label_of(graph.columns[edge])}\n")
            file.write("".join(lines).encode())


def _check_names(graph: DirectedGraph) -> None:
    """Refuse names that are no line of their own."""
    names: Sequence[str] = graph.names or ()
    if isinstance(names, StringNames):
        names = list(names.alphabet) if names.length else [""]
    bad = next((name for name in names if not name or _ENDS.search(name)), None)
    if bad is not None:
        raise UsageError("names that a line can hold", repr(bad), "write edges, by their numbers, with --edges")


def _lines(graph: DirectedGraph, vertices: np.ndarray, after_gap: np.ndarray) -> bytes:
    if graph.names is None:
        room = np.empty(_MOST_BYTES * vertices.size, np.uint8)
        return room[: _format_numbers(vertices, after_gap, room)].tobytes()
    names = map(graph.names.__getitem__, vertices.tolist())
    lines = ("\n" + name if gap else name for name, gap in zip(names, after_gap.tolist(), strict=True))
    return ("\n".join(lines) + "\n").encode()


@compiled()
def _format_numbers(numbers, after_gap, text):
    """Write each number and the end of its line, and an empty line before it if ``after_gap`` is set."""
    at = 0
    for i in range(numbers.size):
        if after_gap[i]:
            text[at] = 10
            at += 1
        at = put_number(text, at, np.int64(numbers[i]))
        text[at] = 10
        at += 1
    return at
