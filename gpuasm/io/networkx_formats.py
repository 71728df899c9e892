"""Graphs as GraphML and GML, which networkx reads and writes; for graphs that fit into memory many times over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

import numpy as np

from gpuasm.errors import DataError, GpuasmError
from gpuasm.graph.building import from_networkx
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import group_by
from gpuasm.io.edge_weights import EdgeWeights, check_weights
from gpuasm.io.graph_formats import TIMES_OF_NETWORKX
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.output import atomic_output

_REMEDY = "check the line, or write the file anew"


def read_graphml(text: bytes, weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read GraphML: names are the ids of nodes, weights the attribute "weight"; an undirected edge is two.

    Raises
    ------
    DataError
        If networkx cannot read it, or an edge has no weight where others have one; with the line.
    ResourceError
        If networkx would take more memory than there is.
    """
    return _read(text, weights, _parsed_graphml, name="GraphML")


def read_gml(text: bytes, weights: EdgeWeights | None) -> tuple[DirectedGraph, np.ndarray | None]:
    """Read GML: names are the labels of nodes, or the ids where a node has no label of its own; as `read_graphml`."""
    return _read(text, weights, _parsed_gml, name="GML")


def write_graphml(path: str | os.PathLike[str], graph: DirectedGraph, weights: np.ndarray | None = None) -> None:
    """Write GraphML, with weights as the attribute "weight" of edges."""
    from networkx import generate_graphml  # noqa: PLC0415 - slow to import

    _write(path, generate_graphml(_as_networkx(graph, weights)))


def write_gml(path: str | os.PathLike[str], graph: DirectedGraph, weights: np.ndarray | None = None) -> None:
    """Write GML, with names as labels and weights as the attribute "weight" of edges."""
    from networkx import generate_gml  # noqa: PLC0415 - slow to import

    _write(path, generate_gml(_as_networkx(graph, weights)))


def _parsed_graphml(text: bytes) -> Any:
    from networkx import read_graphml as read  # noqa: PLC0415 - slow to import

    return read(BytesIO(text))


def _parsed_gml(text: bytes) -> Any:
    from networkx import parse_gml, relabel_nodes  # noqa: PLC0415 - slow to import

    found = parse_gml(text.decode().splitlines(), label=None)
    labels = {node: str(label) for node, label in found.nodes(data="label") if label is not None}
    own = len(set(labels.values())) == found.number_of_nodes()
    return relabel_nodes(found, labels) if own else found


def _read(
    text: bytes, weights: EdgeWeights | None, parse: Callable[[bytes], Any], *, name: str
) -> tuple[DirectedGraph, np.ndarray | None]:
    MemoryBound().require(TIMES_OF_NETWORKX * len(text))
    try:
        found = parse(text)
        graph = from_networkx(found)
    except (GpuasmError, MemoryError):
        raise
    except Exception as error:  # networkx raises the errors of its parsers
        raise DataError(name, " ".join(str(error).split()) or type(error).__name__, _REMEDY) from error
    return graph, None if weights is None else _weights_of(found, graph, weights)


def _weights_of(found: Any, graph: DirectedGraph, rule: EdgeWeights) -> np.ndarray | None:
    """Return the weights of the edges of a graph that was made of networkx's."""
    edges = [(str(u), str(v), value) for u, v, value in found.edges(data="weight")]
    values = [value for _, _, value in edges]
    if all(value is None for value in values):
        return None
    for source, target, value in edges:
        if not isinstance(value, (int, float)):
            shown = f"{source} {target}: {value!r}"
            raise DataError("a number as the weight of each edge, or no weights", shown, "correct the attribute weight")
    sources = [u for u, _, _ in edges]
    if not found.is_directed():
        kept = [both for u, v, value in edges for both in (((u, value), (v, value)) if u != v else ((u, value),))]
        sources, values = [u for u, _ in kept], [value for _, value in kept]
    number: Callable[[str], int] = int
    if graph.names is not None:
        number = {name: i for i, name in enumerate(graph.names)}.__getitem__
    numbers = np.array([number(source) for source in sources], np.int64)
    ordered = group_by(numbers, np.array(values, np.float64), graph.n_vertices)[1]
    return check_weights(ordered, graph.n_edges, allow_negative=rule.allow_negative)


def _as_networkx(graph: DirectedGraph, weights: np.ndarray | None) -> Any:
    import networkx as nx  # noqa: PLC0415 - slow to import

    graph = graph.moved_to(np)
    labels = [graph.label_of(i) for i in range(graph.n_vertices)]
    source, target = (ends.tolist() for ends in graph.edges())
    edges = list(zip(source, target, strict=True))
    result = nx.DiGraph() if len(set(edges)) == len(edges) else nx.MultiDiGraph()
    result.add_nodes_from(labels)
    data: Iterable[dict[str, float]] = [{}] * len(edges)
    if weights is not None:
        data = [{"weight": value} for value in weights.tolist()]
    result.add_edges_from((labels[u], labels[v], attributes) for (u, v), attributes in zip(edges, data, strict=True))
    return result


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    with atomic_output(path) as file:
        file.writelines(f"{line}\n" for line in lines)
