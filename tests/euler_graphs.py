"""Graphs with Euler circuits that several tests walk, and the ways to walk them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuasm import arrays
from gpuasm.graph import DirectedGraph, from_edges
from gpuasm.graph.euler import find_euler_circuits
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.graph.tours import EulerTour

Finder = Callable[[DirectedGraph], EulerTour]


def _parallel(device: str, **options: Any) -> Finder:
    def find(graph: DirectedGraph) -> EulerTour:
        return find_euler_circuits(graph.moved_to(arrays.namespace_of(device)), **options).moved_to(np)

    return find


FINDERS = [
    pytest.param(hierholzer, id="hierholzer"),
    pytest.param(_parallel("cpu"), id="parallel"),
    pytest.param(_parallel("cpu", seed=3), id="parallel, seed 3"),
    pytest.param(_parallel("cpu", pairing="fifo"), id="parallel, fifo"),
    pytest.param(_parallel("cuda"), id="parallel, cuda", marks=pytest.mark.gpu),
    pytest.param(_parallel("cuda", pairing="fifo"), id="parallel, fifo, cuda", marks=pytest.mark.gpu),
]
"""Every way to find Euler circuits, as parameters of a test; graph and tour are on the host."""


def pairs_of(graph: DirectedGraph) -> list[tuple[int, int]]:
    """Return source and target of each edge."""
    return [
        (source, int(target))
        for source in range(graph.n_vertices)
        for target in graph.columns[graph.row_offsets[source] : graph.row_offsets[source + 1]]
    ]


def walks_of(tour: EulerTour) -> list[list[int]]:
    """Return the edges of each walk."""
    return [tour.edges[a:b].tolist() for a, b in zip(tour.start[:-1], tour.start[1:], strict=True)]


def one_long_circuit(n: int, rng: np.random.Generator) -> DirectedGraph:
    """Return a circuit through all vertices, in an order drawn at random."""
    order = rng.permutation(n)
    return from_edges(order, np.roll(order, -1), n)


def only_two_cycles(n: int) -> DirectedGraph:
    """Return a path there and back: as many circuits of two edges as there can be in a chain."""
    there = np.arange(n - 1)
    return from_edges(np.concatenate([there, there + 1]), np.concatenate([there + 1, there]), n)


def star(n_leaves: int) -> DirectedGraph:
    """Return a hub with an edge to and an edge from each leaf."""
    leaf, hub = np.arange(1, n_leaves + 1), np.zeros(n_leaves, np.int64)
    return from_edges(np.concatenate([hub, leaf]), np.concatenate([leaf, hub]), n_leaves + 1)


def self_loops(n: int, each: int) -> DirectedGraph:
    """Return vertices that have nothing but edges to themselves."""
    vertex = np.repeat(np.arange(n), each)
    return from_edges(vertex, vertex, n)
