"""Graphs, plainly: lists of pairs of vertices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

Edges = list[tuple[int, int]]


def components(n: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the least vertex that each vertex can be reached from, whatever the direction of edges."""
    label = list(range(n))
    edges, changed = list(edges), True
    while changed:
        changed = False
        for a, b in edges:
            least = min(label[a], label[b])
            changed |= label[a] != least or label[b] != least
            label[a] = label[b] = least
    return label


def spanning_edges(n: int, edges: Edges) -> list[int]:
    """Return the edges whose ends no earlier edges join."""
    chosen: list[int] = []
    for number, (a, b) in enumerate(edges):
        label = components(n, [edges[i] for i in chosen])
        if label[a] != label[b]:
            chosen.append(number)
    return chosen


def unbalanced(n: int, edges: Edges) -> list[int]:
    """Return the vertices whose numbers of incoming and outgoing edges differ."""
    surplus: Counter[int] = Counter()
    for a, b in edges:
        surplus[a] += 1
        surplus[b] -= 1
    return [v for v in range(n) if surplus[v]]


def deep_eulerian(degrees: list[int]) -> list[list[int]]:
    """Return the targets of each vertex: the next ones with room, one after the other."""
    n, room, rows = len(degrees), degrees.copy(), []
    for vertex, degree in enumerate(degrees):
        row, at = [], vertex
        while len(row) < degree:
            at = (at + 1) % n
            if room[at]:
                room[at] -= 1
                row.append(at)
        rows.append(row)
    return rows
