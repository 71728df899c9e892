"""Read the teleport vector of a personalised PageRank: a share for each vertex."""

from __future__ import annotations

import math
import os
import re

import numpy as np

from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.io.graph_text import lines_of_file, quoted
from gpuasm.io.numbers import real_number

_BETWEEN = re.compile(r"[\s,]+")
_BYTES_OF_LINE = 128
"""Of a name in a set."""


def read_personalisation(path: str | os.PathLike[str], graph: DirectedGraph, *, by_segment: bool = False) -> np.ndarray:
    """Read a vertex a line with its share; a vertex alone has share 1, those that are not named have none.

    Parameters
    ----------
    path
        Text with a tab, spaces or a comma between the columns; # begins a comment; "-" is standard input.
    graph
        Whose vertices are named.
    by_segment
        The names are those of segments: each share counts for both strands, "name+" and "name-".

    Returns
    -------
    (n,) float64

    Raises
    ------
    DataError
        If a vertex is unknown or named twice, a share is no number of 0 or more, or all are 0; it names the line.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    shares, seen = np.zeros(graph.n_vertices), set()
    for number, line in lines_of_file(path, per_line=_BYTES_OF_LINE):
        fields = [field for field in _BETWEEN.split(line.strip()) if field]
        if not fields or fields[0].startswith("#"):
            continue
        name, share = fields[0], _share_of(fields)
        if share is None:
            raise _bad(path, number, "a vertex and a share of 0 or more", line, "correct the line")
        if name in seen:
            raise _bad(path, number, "each vertex once", line, "leave one of the two out")
        seen.add(name)
        try:
            for strand in ("+", "-") if by_segment else ("",):
                shares[graph.number_of(name + strand)] = share
        except UsageError as error:
            raise _bad(path, number, "a vertex of the graph", line, error.remedy) from error
    if not shares.any():
        raise DataError("at least one vertex with a share above 0", "none", "name one", path=os.fspath(path))
    return shares


def _share_of(fields: list[str]) -> float | None:
    if len(fields) > 2:
        return None
    share = real_number(fields[1]) if len(fields) == 2 else 1.0
    return share if share is not None and math.isfinite(share) and share >= 0 else None


def _bad(path: str | os.PathLike[str], number: int, expected: str, line: str, remedy: str) -> DataError:
    return DataError(expected, quoted(line.strip()), remedy, path=os.fspath(path), place=f"line {number}")
