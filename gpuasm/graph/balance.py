"""Whether a graph has Euler circuits or an Euler path, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.errors import DataError

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph

_NAMED = 5


@dataclass(frozen=True)
class EulerCheck:
    """What the degrees say.

    Attributes
    ----------
    n_unbalanced
        Vertices with other numbers of edges in and out.
    start, end
        Where an Euler path begins and ends; None where there is none, or where circuits do.
    reason
        Why there are no circuits: the number of unbalanced vertices and the first five by name; "" where there are.
    """

    n_unbalanced: int
    start: int | None
    end: int | None
    reason: str

    @property
    def has_circuits(self) -> bool:
        """Whether each weakly connected component with edges has an Euler circuit."""
        return self.n_unbalanced == 0

    @property
    def has_path(self) -> bool:
        """Whether one component has an Euler path that is no circuit, and each other one a circuit."""
        return self.start is not None


def check_balance(graph: DirectedGraph) -> EulerCheck:
    """Compare the numbers of edges in and out at every vertex.

    Components need no check: a path's two ends lie in the same one, as degrees sum up to nothing in each.
    """
    xp = array_namespace(graph.columns)
    surplus = graph.out_degree - graph.in_degree
    unbalanced = xp.flatnonzero(surplus)
    n = int(unbalanced.size)
    if n == 0:
        return EulerCheck(0, None, None, "")
    start = end = None
    if n == 2:
        first, second = (int(v) for v in to_host(unbalanced))
        if abs(int(surplus[first])) == 1:
            start, end = (first, second) if int(surplus[first]) == 1 else (second, first)
    some = to_host(unbalanced[:_NAMED]).astype(np.int64)
    described = ", ".join(
        f"{graph.label_of(v)} ({int(graph.in_degree[v])} in, {int(graph.out_degree[v])} out)" for v in some.tolist()
    )
    more = ", ..." if n > _NAMED else ""
    vertices = "1 unbalanced vertex" if n == 1 else f"{n} unbalanced vertices"
    return EulerCheck(n, start, end, f"{vertices}: {described}{more}")


def require_eulerian(graph: DirectedGraph, *, path: bool = False) -> EulerCheck:
    """Refuse a graph without Euler circuits; with ``path`` one component may have a path instead.

    Raises
    ------
    DataError
        It names the number of unbalanced vertices, and the first five of them.
    """
    check = graph.euler_check()
    if check.has_circuits or (path and check.has_path):
        return check
    wanted = "an Euler path or circuits" if path else "as many edges in as out at every vertex"
    remedy = "add or remove edges, or take components that are balanced"
    if check.has_path:
        remedy = f"ask for a path (from {graph.label_of(check.start or 0)}), {remedy}"
    raise DataError(wanted, check.reason, remedy)
