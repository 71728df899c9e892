"""Neighbour-joining trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.parallel import compiled


@dataclass(frozen=True)
class Tree:
    """A tree without a root; its inner nodes are numbered from n on, children before parents.

    Attributes
    ----------
    names : tuple of str
        Of the n leaves, nodes 0 to n - 1.
    parent : (nodes,) int64
        The node that each is joined to; -1 for the last, of which up to three branches go out.
    length : (nodes,) float64
        Of the branch to the parent.
    """

    names: tuple[str, ...]
    parent: np.ndarray
    length: np.ndarray

    def children(self) -> list[list[int]]:
        """Return the nodes joined to each node, in the order of their least leaf."""
        found: list[list[int]] = [[] for _ in self.parent]
        least = np.arange(self.parent.size)
        least[len(self.names) :] = self.parent.size
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(node)
                least[parent] = min(least[parent], least[node])
        return [sorted(nodes, key=lambda node: least[node]) for nodes in found]

    def leaves(self) -> list[int]:
        """Return the leaves as the tree is drawn: those that are joined stand together."""
        children, found = self.children(), []
        waiting = [self.parent.size - 1] if self.names else []
        while waiting:
            node = waiting.pop()
            if node < len(self.names):
                found.append(node)
            waiting += reversed(children[node])
        return found


def neighbour_joining(distance: np.ndarray, names: Sequence[str]) -> Tree:
    """Join neighbours until a tree is left.

    Saitou and Nei 1987 (doi:10.1093/oxfordjournals.molbev.a040454) with the sums of Studier and Keppler 1988
    (doi:10.1093/oxfordjournals.molbev.a040527): time grows with the cube of the samples. Of pairs that are as good,
    the first is joined. A branch that would be negative gets length 0 and what it lacks is taken off its sister
    (Kuhner and Felsenstein 1994, doi:10.1093/oxfordjournals.molbev.a040126).

    Parameters
    ----------
    distance : (n, n) float64
        Symmetric.
    names
        Of the samples.
    """
    n = len(names)
    n_nodes = max(2 * n - 2, n) if n > 2 else n + (n == 2)
    parent = np.full(n_nodes, -1, np.int64)
    length = np.zeros(n_nodes, np.float64)
    if n == 2:
        parent[:2], length[:2] = 2, distance[0, 1] / 2
    elif n > 2:
        _join(np.ascontiguousarray(distance, np.float64).copy(), parent, length)
    return Tree(tuple(names), parent, length)


def newick(tree: Tree) -> str:
    """Return the tree as Newick text, children in the order of their least leaf; names with special letters quoted."""
    children = tree.children()
    texts = [_quoted(name) for name in tree.names]
    for node in range(len(tree.names), tree.parent.size):
        texts.append("(" + ",".join(f"{texts[child]}:{tree.length[child]:.9g}" for child in children[node]) + ")")
        for child in children[node]:
            texts[child] = ""  # a long chain of nested texts would fill the memory
    return (texts[-1] if texts else "") + ";"


def _quoted(name: str) -> str:
    if any(letter in " ()[]':;,\t\n" for letter in name):
        return "'" + name.replace("'", "''") + "'"
    return name


@compiled()
def _join(distance, parent, length):
    n = distance.shape[0]
    node = np.arange(n)
    total = np.zeros(n)
    for i in range(n):
        for j in range(n):
            total[i] += distance[i, j]
    alive = n
    new = n
    # Rows of what is left are kept dense: the joined pair's first row is the new node's, the last row moves up.
    while alive > 3:
        best = np.inf
        a, b = 0, 1
        for i in range(alive - 1):
            for j in range(i + 1, alive):
                value = (alive - 2) * distance[i, j] - total[i] - total[j]
                if value < best or (value == best and (node[i], node[j]) < (node[a], node[b])):
                    best = value
                    a, b = i, j
        between = distance[a, b]
        first = 0.5 * between + (total[a] - total[b]) / (2 * (alive - 2))
        first = min(max(first, 0.0), max(between, 0.0))
        parent[node[a]] = new
        parent[node[b]] = new
        length[node[a]] = first
        length[node[b]] = max(between, 0.0) - first
        for i in range(alive):
            if i not in (a, b):
                joined = 0.5 * (distance[a, i] + distance[b, i] - between)
                total[i] += joined - distance[a, i] - distance[b, i]
                distance[a, i] = joined
                distance[i, a] = joined
        node[a] = new
        new += 1
        last = alive - 1
        if b != last:
            for i in range(alive):
                distance[b, i] = distance[last, i]
                distance[i, b] = distance[i, last]
            distance[b, b] = 0.0
            total[b] = total[last]
            node[b] = node[last]
        alive = last
        total[a] = 0.0
        for i in range(alive):
            if i != a:
                total[a] += distance[a, i]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parent[node[i]] = new
        length[node[i]] = max(0.5 * (distance[i, j] + distance[i, k] - distance[j, k]), 0.0)
