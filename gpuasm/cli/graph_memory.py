"""Estimate the host memory of commands on graphs, before the graph is read and again before the work begins.

Constants are bytes by vertex and by edge, measured as the highest mark of whole commands on graphs of up to ten million
edges: docs/graphs.md has the table. The process comes on top, with what compiling its loops takes the first time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuasm.resources import format_bytes, require_memory

if TYPE_CHECKING:
    from gpuasm.cli.session import Session
    from gpuasm.io.graph_sizes import GraphSize

_LOG = logging.getLogger(__name__)


class Size(NamedTuple):
    """Vertices and edges of a graph, and whether these have weights."""

    n: int
    m: int
    weighted: bool


Estimate = Callable[[Size], float]
"""Bytes in addition to those of the process; they include the graph."""

_DEVICE_PROCESS = 400 << 20  # more, for libraries and context of a device; not measured
_NAME = 130  # a name as a string, its place in the tuple of names, and in the numbers of names


@dataclass(frozen=True)
class Work:
    """A computation, and its memory.

    Attributes
    ----------
    name
        A noun phrase: "PageRank".
    process
        Bytes of the process on the CPU before there is a graph.
    on_cpu
        In addition to the process, if the CPU does the work.
    host_with_device
        Likewise, if a device does it.
    """

    name: str
    process: int
    on_cpu: Estimate
    host_with_device: Estimate


@dataclass
class MemoryPlan:
    """The estimate of one run, compared with its budget.

    Attributes
    ----------
    session
        Of the run.
    work
        What it does.
    figures
        For the manifest: bytes to read the graph (None if unknown before), vertices, edges, and bytes of the
        whole.
    """

    session: Session
    work: Work
    figures: dict[str, int | None] = field(default_factory=lambda: {"reading_bytes": None})

    def before_reading(
        self, path: Path, *, weighted: bool = False, segments: bool = False, file_format: str | None = None
    ) -> None:
        """Refuse a graph that cannot be read; if headers state its size, also one on which the work cannot be done.

        Standard input is not examined.

        Parameters
        ----------
        path
            The graph.
        weighted, segments
            Whether weights are read; whether the file is read as segments and links.
        file_format
            Of its text, if the user names one.

        Raises
        ------
        ResourceError
            If the budget is too small; with the number that would do.
        NoInputError
            If the file cannot be opened.
        """
        from gpuasm.io.graph_sizes import size_of_graph

        size = size_of_graph(path, file_format)
        if size is None:
            return
        reading = self.work.process + bytes_to_read(size, weighted=weighted, segments=segments)
        self.figures["reading_bytes"] = reading
        if size.is_exact:
            own = Size(size.n_vertices, size.n_edges, weighted and size.has_weights)
            whole = self._whole(own, size.n_names, size.name_bytes)
            self._require(max(reading, whole), size.n_vertices, size.n_edges)
        else:
            what = f"reading a graph of about {size.n_vertices:,} vertices and {size.n_edges:,} edges"
            require_memory(reading, self.session.memory, what)

    def before_work(
        self, n_vertices: int, n_edges: int, names: Sequence[str] | None = None, *, weighted: bool = False
    ) -> None:
        """Refuse work that exceeds the memory, and log what it takes.

        Parameters
        ----------
        n_vertices, n_edges, names
            Of the graph that was read.
        weighted
            Whether its edges have weights.

        Raises
        ------
        ResourceError
            If the budget is too small; with the number that would do.
        """
        given = names if isinstance(names, tuple) else ()  # others are made on demand
        whole = self._whole(Size(n_vertices, n_edges, weighted), len(given), sum(map(len, given)))
        needed = max(whole, self.figures["reading_bytes"] or 0)
        self.figures |= {"vertices": n_vertices, "edges": n_edges, "host_bytes": needed}
        _LOG.info("expecting to take %s of memory", format_bytes(needed))
        self._require(needed, n_vertices, n_edges)

    def parameters(self) -> dict[str, Any]:
        """Return budget and estimate, for the manifest."""
        return {"memory": self.session.memory, "plan": self.figures}

    def _whole(self, size: Size, n_names: int, name_bytes: int) -> int:
        opened = self.session.namespace
        is_on_cpu = opened.done() and opened.exception() is None and opened.result().__name__ == "numpy"
        own = self.work.on_cpu(size) if is_on_cpu else _DEVICE_PROCESS + self.work.host_with_device(size)
        return round(self.work.process + own + _bytes_of_names(n_names, name_bytes))

    def _require(self, needed: int, n: int, m: int) -> None:
        require_memory(needed, self.session.memory, f"{self.work.name} of {n:,} vertices and {m:,} edges")


def bytes_to_read(size: GraphSize, *, weighted: bool = False, segments: bool = False) -> int:
    """Return the bytes that reading a graph takes, in addition to the process.

    Parameters
    ----------
    size
        Of the graph.
    weighted, segments
        As for `MemoryPlan.before_reading`.
    """
    from gpuasm.io.graph_formats import TIMES_OF_NETWORKX

    n, m, names = size.n_vertices, size.n_edges, _bytes_of_names(size.n_names, 2 * size.name_bytes)
    has_weights = weighted and size.has_weights
    match size.file_format:
        case "npz":  # arrays as they are, and a look at them
            unread = 0 if has_weights or not size.has_weights else 8 * m
            return size.text_bytes - unread + n + 2 * m * has_weights + names
        case "mtx":
            return 16 * n + (62 if size.is_symmetric else 45) * m + 22 * m * has_weights
        case "edges":
            return 8 * n + 29 * m + 24 * m * has_weights + 120 * size.n_names + names
        case "graphml" | "gml":
            return (1 + TIMES_OF_NETWORKX) * size.text_bytes
        case "adjacency":
            return 260 * n + 200 * m + size.text_bytes
        case _:  # GFA: half as many segments and links
            return (150 * n if segments else 240 * n) + (285 * m if segments else 425 * m) + size.name_bytes


def _bytes_of_names(n: int, text: int) -> int:
    return _NAME * n + text
