"""The random surfer of both PageRank methods: graph, weights, reset probability and teleport vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph

DEFAULT_RESET = 0.15


@dataclass(frozen=True)
class Surfer:
    """The input that both PageRank methods share.

    A surfer at a vertex stops with probability ``reset``; else an edge is taken with a probability in proportion to
    its weight, or, without an outgoing edge of positive weight, a vertex of the teleport vector.

    Attributes
    ----------
    graph
        On the host or a device.
    weights : (m,) float64, or None
        Weights of the edges, finite and not negative, in the memory of the graph; None: 1 each.
    teleport : (n,) float64 on the host, or None
        Sums to 1; None is uniform.
    reset
        Above 0, at most 1.
    """

    graph: DirectedGraph
    weights: Array | None
    teleport: np.ndarray | None
    reset: float

    @property
    def xp(self) -> Any:
        return array_namespace(self.graph.columns)


def make_surfer(
    graph: DirectedGraph, *, weights: Array | None = None, teleport: Array | None = None, reset: float = DEFAULT_RESET
) -> Surfer:
    """Check the parameters of a PageRank and move them to the memory in which they are used.

    Raises
    ------
    DataError
        If weights or teleport vector have another size, are negative or not finite, or the teleport vector sums to 0.
    UsageError
        If ``reset`` is not above 0 and at most 1.
    """
    if not 0 < reset <= 1:
        raise UsageError("a reset probability above 0 and at most 1", str(reset), "take 0.15, for example")
    if weights is not None:
        xp = array_namespace(graph.columns)
        weights = to_namespace(xp, _checked(weights, graph.n_edges, "weight", "edge"))
    if teleport is not None:
        teleport = _normalised(to_host(_checked(teleport, graph.n_vertices, "share of the teleport vector", "vertex")))
    return Surfer(graph, weights, teleport, float(reset))


def starts_of(surfer: Surfer, n_walks: int) -> np.ndarray:
    """Return how many of ``n_walks`` walks begin at each vertex, (n,) int64: the teleport vector in integers.

    Fractions are rounded by the method of largest remainders; of equal remainders those of the first vertices count.
    """
    n = surfer.graph.n_vertices
    if surfer.teleport is None:
        return np.full(n, n_walks // n) + (np.arange(n) < n_walks % n)
    exact = surfer.teleport * n_walks
    starts = np.floor(exact).astype(np.int64)
    missing = n_walks - int(starts.sum())
    starts[np.argsort(starts - exact, kind="stable")[:missing]] += 1
    return starts


def _checked(values: Array, size: int, what: str, whose: str) -> Array:
    if values.shape != (size,) or values.dtype.kind not in "iuf":
        raise DataError(
            f"a {what} for each {whose}, {size}",
            f"{values.dtype} of shape {values.shape}",
            f"give one number for each {whose}",
        )
    xp = array_namespace(values)
    values = values.astype(np.float64, copy=False)
    wrong = ~(xp.isfinite(values) & (values >= 0))
    if bool(wrong.any()):
        at = int(wrong.argmax())
        raise DataError(f"a finite {what} of 0 or more", f"{float(values[at])} at {whose} {at}", f"correct the {what}s")
    return values


def _normalised(teleport: np.ndarray) -> np.ndarray:
    total = float(teleport.sum())
    if not 0 < total < np.inf:
        raise DataError("a teleport vector that sums to more than 0", str(total), "give at least one vertex a share")
    return teleport / total
