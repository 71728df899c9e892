"""Check from the degrees of a graph whether it has Euler circuits or an Euler path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.errors import DataError

if TYPE_CHECKING:
    from gpuasm.graph.csr_graph import CsrGraph

_NAMED = 5


@dataclass(frozen=True)
class EulerCheck:
    """Whether the degrees allow Euler circuits or an Euler path.

    Attributes
    ----------
    n_unbalanced
        Vertices whose numbers of incoming and outgoing edges differ.
    start, end
        First and last vertex of an Euler path; None without a path, or if circuits suffice.
    reason
        Why there are no circuits: the number of unbalanced vertices and the names of the first five; else "".
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


def check_balance(graph: CsrGraph) -> EulerCheck:
    """Compare the numbers of incoming and outgoing edges of every vertex.

    Components need no check: the two ends of a path lie in one component, as the surplus sums to 0 in each.
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


def require_eulerian(graph: CsrGraph, *, path: bool = False) -> EulerCheck:
    """Refuse a graph without Euler circuits; with ``path`` one component may have a path instead.

    Raises
    ------
    DataError
        With the number of unbalanced vertices and the names of the first five.
    """
    check = check_balance(graph)
    if check.has_circuits or (path and check.has_path):
        return check
    expected = "an Euler path or circuits" if path else "as many edges in as out at every vertex"
    remedy = "add or remove edges, or take components that are balanced"
    if check.has_path:
        remedy = f"ask for a path (from {graph.label_of(check.start or 0)}), {remedy}"
    raise DataError(expected, check.reason, remedy)
