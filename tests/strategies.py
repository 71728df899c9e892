"""Hypothesis strategies for graphs: any, Eulerian, named, and the adjacency strings of the seeds' generator."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gpuasm.graph import DirectedGraph, from_edges

NAMES = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=3, max_size=3)


@st.composite
def edges(draw: st.DrawFn, max_vertices: int = 12, max_edges: int = 40) -> tuple[int, list[tuple[int, int]]]:
    """Draw a number of vertices, and edges between them, self-loops and repeated ones among them."""
    n = draw(st.integers(1, max_vertices))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex), max_size=max_edges))


@st.composite
def graphs(draw: st.DrawFn, max_vertices: int = 12, max_edges: int = 40) -> DirectedGraph:
    """Draw a graph without names."""
    n, pairs = draw(edges(max_vertices, max_edges))
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    return from_edges(source, target, n)


@st.composite
def named_graphs(draw: st.DrawFn) -> DirectedGraph:
    """Draw a graph whose vertices have names of three letters."""
    graph = draw(graphs())
    names = draw(st.lists(NAMES, min_size=graph.n_vertices, max_size=graph.n_vertices, unique=True))
    return DirectedGraph(graph.row_offsets, graph.columns, names)


@st.composite
def adjacency_lines(draw: st.DrawFn, max_lines: int = 12) -> list[str]:
    """Draw lines "A -> B, C" over a few names; sources may repeat."""
    names = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    row = st.tuples(st.sampled_from(names), st.lists(st.sampled_from(names), max_size=5))
    return [f"{source} -> {', '.join(targets)}" for source, targets in draw(st.lists(row, max_size=max_lines))]


@st.composite
def eulerian_graphs(draw: st.DrawFn, max_vertices: int = 10, max_walk: int = 30, max_walks: int = 4) -> DirectedGraph:
    """Draw a graph of closed walks: balanced at every vertex, in one or several components."""
    n = draw(st.integers(1, max_vertices))
    walks = draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=max_walk), max_size=max_walks))
    pairs = [(walk[i - 1], vertex) for walk in walks for i, vertex in enumerate(walk)]
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    return from_edges(source, target, n)
