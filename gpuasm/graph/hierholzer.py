"""Euler circuits by Hierholzer's sequential method (1873, doi:10.1007/BF01442866), without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import is_on_device
from gpuasm.graph.balance import require_eulerian
from gpuasm.graph.euler_path import find_euler_path
from gpuasm.graph.tours import EulerTour
from gpuasm.parallel import compiled

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph

_INT32_MAX = 2**31 - 1


def hierholzer(graph: DirectedGraph, *, path: bool = False) -> EulerTour:
    """Find an Euler circuit of each weakly connected component with edges, on one CPU thread, in linear time.

    Besides the graph it needs one number for each edge and two for each vertex.

    Parameters
    ----------
    graph
        On the host; every vertex has as many incoming as outgoing edges.
    path
        One component may have a path instead of a circuit; see `find_euler_path`.

    Returns
    -------
    EulerTour: components by their least edge, each circuit from its least edge on. As a rule it
    differs from that of `find_euler_circuits`.

    Raises
    ------
    DataError
        If some vertex is unbalanced; it names the first five.
    TypeError
        If the graph is on a device.
    """
    if is_on_device(graph.columns):
        msg = "Hierholzer's method runs on the host; move the graph there first"
        raise TypeError(msg)
    if path:
        return find_euler_path(graph, hierholzer)
    edge_type = np.int32 if graph.n_edges <= _INT32_MAX else np.int64
    unused = np.stack([graph.row_offsets[:-1], graph.row_offsets[1:]], axis=1, dtype=edge_type, casting="same_kind")
    edges = np.empty(graph.n_edges, edge_type)
    start = np.empty(min(graph.n_vertices, graph.n_edges) + 1, np.int64)
    n_walks = _walk(unused, graph.columns, edges, start)
    if n_walks < 0:  # a walk did not close: some vertex is unbalanced
        require_eulerian(graph)
    return EulerTour(edges, start[: n_walks + 1].copy())


@compiled()
def _walk(unused, columns, edges, start):
    """Fill ``edges`` and ``start``; return the number of circuits, or -1 if a walk cannot be closed.

    ``unused[v]`` bounds the unused edges out of v. From ``done`` to ``top``, ``edges`` holds the current walk; from
    ``low`` on, the final part of the circuit. The two never overlap, as each edge is in at most one of them. When they
    touch, all edges are used and in their places.
    """
    done, n_walks, m = 0, 0, edges.size
    for root in range(unused.shape[0]):
        if unused[root, 0] == unused[root, 1]:
            continue
        start[n_walks] = done
        n_walks += 1
        top, low, vertex = done, m, root
        while True:
            begin = vertex
            edge = np.int64(unused[vertex, 0])
            while edge < unused[vertex, 1]:
                unused[vertex, 0] = edge + 1
                edges[top] = edge
                top += 1
                vertex = np.int64(columns[edge])
                edge = np.int64(unused[vertex, 0])
            if vertex != begin:
                return -1
            while done < top < low:
                top -= 1
                low -= 1
                edges[low] = edges[top]
                vertex = np.int64(columns[edges[top - 1]]) if top > done else root
                if unused[vertex, 0] < unused[vertex, 1]:
                    break
            if top in (done, low):
                break
        if top == low:
            done = m
            break
        for i in range(low, m):
            edges[done + i - low] = edges[i]
        done += m - low
    start[n_walks] = done
    return n_walks
