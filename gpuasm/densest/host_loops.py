"""The loops of the search that run on the host, compiled while a device has the work before them."""

from __future__ import annotations

import numpy as np

from gpuasm.densest.local_search import improve, weights_within
from gpuasm.densest.peeling import peel
from gpuasm.graph.undirected_graph import UndirectedGraph


def load_host_loops(graph: UndirectedGraph) -> None:
    """Compile what improves candidates of a graph, or fetch it from the disk: the same steps on two vertices.

    Where nothing is kept yet, these loops take five seconds to compile, about as long as the device has to do first.
    """
    columns = np.array([1, 0], graph.columns.dtype)
    weights = None if graph.weights is None else np.ones(2)
    pair = UndirectedGraph(np.arange(3), columns, weights=weights)
    pair = pair.induced(np.arange(2))
    peel(pair)
    weights_within(pair, np.arange(2)[None])
    improve(pair, np.arange(2))
