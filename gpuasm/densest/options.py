"""How a dense subgraph of k vertices is searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Method = Literal["rank", "peel", "power", "degree"]


@dataclass(frozen=True)
class SearchOptions:
    """How to search.

    Attributes
    ----------
    method
        "rank": all candidates, improved; the others are single methods as they are: "peel" (greedy), "power" (truncated
        power method), "degree" (the greatest degrees).
    rank
        Eigenvectors: with 1 and 2 their form of the problem is solved exactly, with more by directions.
    directions
        Random directions for ranks above 2.
    rounds
        Of peeling: 1 is greedy peeling, more are Greedy++.
    starts
        Candidates that are improved, the best ones.
    patience
        Exchanges without a gain after which an improvement ends.
    seed
        Of the eigensolver's first vector and of the directions.
    tolerance, max_products
        Of the eigensolver.
    whole_slots
        A graph of at most so many slots (twice its edges) is peeled as a whole on the host; a larger one where it is,
        in batches, down to its core.
    core_vertices
        Candidates are improved within a core of at least so many vertices that peeling leaves, and themselves.
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
