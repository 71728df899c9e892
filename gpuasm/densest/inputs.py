"""Options of the search for dense subgraphs, and checks of its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from gpuasm.arrays import Array
from gpuasm.checks import instance, real, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.graph.values import MODERATE, are_moderate, checked_values, checked_weights

Method = Literal["rank", "peel", "power", "degree"]
METHODS = get_args(Method)
_MOST_RANK = 64
_SIDES = 2


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search.

    Attributes
    ----------
    method
        "rank": all candidates, improved. The others are single methods without improvement: "peel" (greedy), "power"
        (truncated power method), "degree" (the greatest degrees).
    rank
        Number of eigenvectors: the low-rank problem is solved exactly for 1 and 2, by directions for more.
    directions
        Random directions for ranks above 2.
    rounds
        Rounds of peeling: 1 is greedy peeling, more are Greedy++.
    starts
        Number of best candidates that are improved.
    patience
        Exchanges without a gain after which an improvement ends.
    seed
        Seed of the eigensolver's first vector and of the directions.
    tolerance, max_products
        Limits of the eigensolver.
    whole_slots
        A graph of at most so many slots (twice its edges) is peeled completely on the host; a larger one on its device,
        in batches, down to its core.
    core_vertices
        Candidates are improved within themselves and a core from peeling of at least so many vertices.
    """

    method: Method = "rank"
    rank: int = 2
    directions: int = 512
    rounds: int = 8
    starts: int = 16
    patience: int = 20
    seed: int = 0
    tolerance: float = 1e-5
    max_products: int = 2000
    whole_slots: int = 1 << 26
    core_vertices: int = 1 << 13

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"a method named {', '.join(METHODS)}", repr(self.method), "use one of those names")
        whole(self.rank, "rank", least=1, most=_MOST_RANK)
        for name in ("directions", "rounds", "starts", "patience", "max_products"):
            whole(getattr(self, name), name, least=1)
        for name in ("whole_slots", "core_vertices"):
            whole(getattr(self, name), name)
        if not real(self.tolerance, "tolerance") > 0:
            raise UsageError("a tolerance above 0", str(self.tolerance), "give for example 1e-5")


def without_eigenvectors(options: SearchOptions) -> str:
    """Return the note of a result without eigenvectors."""
    return f"eigenvectors did not converge in {options.max_products} products: the other candidates were compared"


def check_graph(graph: UndirectedGraph, k: int) -> None:
    """Raise an error if the graph has no edges or fewer than k vertices, or if a weight is negative."""
    instance(graph, UndirectedGraph, "the graph")
    whole(k, "k")
    if k < 1:
        raise UsageError("a k of 1 or more", str(k), "choose one vertex or more")
    _check_counts(graph.n_vertices, graph.n_edges, k)
    check_weights(graph.weights)


def check_block(graph: DirectedGraph, sizes: tuple[int, int], weights: Array | None) -> None:
    """Raise an error if there are no edges or too few vertices for the rows or columns, or a weight is negative."""
    instance(graph, DirectedGraph, "the graph")
    if not isinstance(sizes, (tuple, list)) or len(sizes) != _SIDES:
        raise UsageError("the numbers of rows and of columns", repr(sizes), "give two whole numbers")
    for size in sizes:
        whole(size, "rows or columns")
    if min(sizes) < 1:
        raise UsageError("at least one row and one column", f"{sizes[0]} and {sizes[1]}", "choose more")
    _check_counts(graph.n_vertices, graph.n_edges, max(sizes))
    check_weights(checked_weights(graph, weights))


def check_weights(weights: Array | None) -> None:
    """Raise DataError if a weight is negative or not finite, or if sums of weights or squares may not be exact."""
    if weights is None or weights.size == 0:
        return
    checked_values(weights, weights.size, what="weight", whose="edge")
    if not are_moderate(weights):
        least = float(weights[weights > 0].min())
        raise DataError(
            f"weights of 0, or from {1 / MODERATE:g} to {MODERATE:g}",
            f"{least:g} to {float(weights.max()):g}",
            "divide all weights by one number",
        )


def _check_counts(n: int, m: int, k: int) -> None:
    if n == 0:
        raise DataError("a graph with vertices", "none", "check that the right file was read")
    if k > n:
        raise DataError(f"at least k = {k} vertices", str(n), "choose a smaller k")
    if m == 0:
        raise DataError("a graph with edges", "none, self-loops aside", "check that the right file was read")
