"""Graphs for commands that know weights, and standard input for one file of a run alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gpuasm.graph import DirectedGraph


FORMATS = ("adjacency", "edges", "mtx", "gfa", "graphml", "gml", "npz")
"""Formats of graphs: keys of `gpuasm.io.graphs.FORMATS`, which takes long to import."""


def format_option(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that names the format of GRAPH, as the argument ``graph_format``."""
    return click.option(
        *(names or ("--format", "--input-format")), "graph_format", type=click.Choice(FORMATS),
        help="Format of GRAPH; of edges, each line is one, the first too.  [default: by its content]",
    )  # fmt: skip


def check_standard_input(*paths: Path | None) -> None:
    """Refuse two inputs of one run that are both standard input.

    Raises
    ------
    UsageError
        If there are two.
    """
    if [str(path) for path in paths].count("-") > 1:
        raise UsageError("standard input for one file", "'-' twice", "write one of them to a file")


def read_given_graph(
    path: Path, *, weighted: bool, file_format: str | None = None
) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read a graph, and its weights if requested by ``--weighted``; its format is that of ``--format``, if given.

    Raises
    ------
    DataError
        If the content is wrong, weights are requested and there are none, or present and not requested.
    NoInputError, ReadWriteError
        If the file cannot be opened, or a read fails.
    """
    from gpuasm.io.edge_lists import TWO_COLUMNS
    from gpuasm.io.graphs import read_graph, read_weighted_graph

    if not weighted:
        try:
            return read_graph(path, file_format=file_format), None
        except DataError as error:
            if error.expected != TWO_COLUMNS:
                raise
            remedy = f"{error.remedy}; or, if a third column has weights, add --weighted"
            raise DataError(error.expected, error.found, remedy, path=error.path, place=error.place) from error
    graph, weights = read_weighted_graph(path, file_format=file_format)
    if weights is None and graph.n_edges:
        raise DataError("weights of edges", "none", "add them as a third column, or leave --weighted out", path=path)
    return graph, weights
