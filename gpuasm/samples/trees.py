"""Neighbour-joining trees, written in Newick format by Bio.Phylo (doi:10.1186/1471-2105-13-209)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from gpuasm.checks import instance
from gpuasm.parallel import compiled
from gpuasm.samples.distances import checked_distances

_LEAST_STACK, _STACK_PER_LEVEL, _FRAMES_PER_LEVEL = 1 << 20, 1 << 12, 4
T = TypeVar("T")


@dataclass(frozen=True)
class Tree:
    """An unrooted tree; its inner nodes are numbered from n on, children before parents.

    Attributes
    ----------
    names : tuple of str
        Names of the n leaves, nodes 0 to n - 1.
    parent : (nodes,) int64
        The parent of each node; -1 for the last node, which has up to three branches.
    length : (nodes,) float64
        Length of the branch to the parent.
    """

    names: tuple[str, ...]
    parent: np.ndarray
    length: np.ndarray

    def children(self) -> list[list[int]]:
        """Return the children of each node, in the order of their least leaf."""
        found: list[list[int]] = [[] for _ in self.parent]
        least = np.arange(self.parent.size)
        least[len(self.names) :] = self.parent.size
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(node)
                least[parent] = min(least[parent], least[node])
        return [sorted(nodes, key=lambda node: least[node]) for nodes in found]

    def leaves(self) -> list[int]:
        """Return the leaves in the order of a drawing: joined leaves are adjacent."""
        children, found = self.children(), []
        waiting = [self.parent.size - 1] if self.names else []
        while waiting:
            node = waiting.pop()
            if node < len(self.names):
                found.append(node)
            waiting += reversed(children[node])
        return found


def neighbour_joining(distance: np.ndarray, names: Sequence[str]) -> Tree:
    """Build a tree by neighbour joining.

    Saitou and Nei 1987 (doi:10.1093/oxfordjournals.molbev.a040454) with the sums of Studier and Keppler 1988
    (doi:10.1093/oxfordjournals.molbev.a040527): the time is cubic in the samples. Of equally good pairs the
    first is joined. A negative branch length is set to 0 and the difference is subtracted from its sister
    (Kuhner and Felsenstein 1994, doi:10.1093/oxfordjournals.molbev.a040126).

    Parameters
    ----------
    distance : (n, n) float64
        Symmetric.
    names
        Names of the samples.
    """
    n = len(names)
    distance = checked_distances(distance, n)
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
    from Bio.Phylo import BaseTree, NewickIO  # noqa: PLC0415 - slow to import, and only trees need it

    instance(tree, Tree, "the tree")
    if not tree.names:
        return ";"
    children = tree.children()
    clades = [BaseTree.Clade(length, name) for length, name in zip_longest(tree.length.tolist(), tree.names)]
    for clade, own in zip(clades, children, strict=True):
        clade.clades = [clades[child] for child in own]
    writer = NewickIO.Writer([BaseTree.Tree(clades[-1])])
    text = _with_large_stack(lambda: next(writer.to_strings(format_branch_length="%.9g")), len(clades))
    return str(text).removesuffix(":0;") + ";"  # the root has no branch


def _with_large_stack(call: Callable[[], T], n_levels: int) -> T:
    """Return the result of a recursive call, from a thread whose stack has room for so many levels."""
    limit, size = sys.getrecursionlimit(), threading.stack_size(_LEAST_STACK + n_levels * _STACK_PER_LEVEL)
    sys.setrecursionlimit(limit + _FRAMES_PER_LEVEL * n_levels)
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)


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
    # Rows stay contiguous: the new node takes the first row of the joined pair, and the last row takes the second.
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
