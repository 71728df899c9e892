"""The random surfer of both PageRank methods: graph, weights, reset probability and teleport vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.checks import instance, real
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.values import checked_values, scaled_rows

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
        Weights of the edges, finite and not negative, in the memory of the graph; None: 1 each. Extreme ones are
        scaled: only the ratios of those that leave one vertex count.
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
    instance(graph, DirectedGraph, "the graph")
    if not 0 < real(reset, "the reset probability") <= 1:
        raise UsageError("a reset probability above 0 and at most 1", str(reset), "take 0.15, for example")
    if weights is not None:
        xp = array_namespace(graph.columns)
        weights = checked_values(weights, graph.n_edges, what="weight", whose="edge")
        weights = scaled_rows(graph.row_offsets, to_namespace(xp, weights))
    if teleport is not None:
        shares = checked_values(teleport, graph.n_vertices, what="share of the teleport vector", whose="vertex")
        teleport = _normalised(to_host(shares))
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


def _normalised(teleport: np.ndarray) -> np.ndarray:
    teleport = scaled_rows(np.array([0, teleport.size]), teleport)
    total = float(teleport.sum())
    if not total > 0:
        raise DataError("a teleport vector that sums to more than 0", str(total), "give at least one vertex a share")
    return teleport / total
