"""Graphs for ``gpuasm densest``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gpuasm.cli.graph_inputs import read_given_graph
from gpuasm.graph.building import from_edges
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.undirected_graph import UndirectedGraph, undirected_graph
from gpuasm.io.gfa_segments import SegmentGraph, read_segment_graph


@dataclass(frozen=True)
class GivenGraph:
    """A graph as it was read, with its weights, or with its segments if it is an assembly graph."""

    path: Path
    graph: DirectedGraph
    weights: np.ndarray | None = None
    segments: SegmentGraph | None = None

    @cached_property
    def undirected(self) -> UndirectedGraph:
        return undirected_graph(self.graph, self.weights)


def read_input(path: Path, *, weighted: bool, assembly: bool, file_format: str | None = None) -> GivenGraph:
    """Read a graph, with weights or as segments if requested.

    Raises
    ------
    DataError
        If its content is wrong, or weights are requested and there are none.
    """
    if assembly:
        segments = read_segment_graph(path)
        ends = segments.first >> 1, segments.second >> 1
        return GivenGraph(path, from_edges(*ends, len(segments.names), names=segments.names), None, segments)
    return GivenGraph(path, *read_given_graph(path, weighted=weighted, file_format=file_format))
