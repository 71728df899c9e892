"""The densest subgraph of any size: peeling, and then maximum flow in the core where a denser one would be.

Peeling finds a subgraph of density d, weight by vertex. Each vertex of a denser one has d or more of weight within: so
it lies in the core that is left when vertices of less are removed, as long as there are any. For the density p / q of
the best so far, `gpuasm.densest.flow` computes with capacities q w and the limit p whether a denser subgraph exists. If
so it returns one that contains the densest, and the search continues within it (Dinkelbach 1967); each step raises the
density. Else it returns the union of all densest subgraphs, which is itself one. So the result depends on the graph
alone.

Weights that are no integers are multiplied by a power of two and rounded up: the bound then is above the density of the
result by the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gpuasm.checks import instance
from gpuasm.densest.flow import Division
from gpuasm.densest.peeling import Peeling, peel
from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import compiled
from gpuasm.stages import NoStages, Stages

_FEW_SLOTS, _SMALL_SHARE = 1 << 20, 4
"""A core of at most so many slots, or at most one of so many parts of the graph, has flows computed quickly."""
_VISITS, _LEAST_VISITS = 64, 1 << 26
"""Reads of each slot of a core after which flows are given up, and reads after which none are."""
_NO_LIMIT = 2**62
_MOST_UNITS = 2.0**60
"""Sum of all capacities."""
_ROUNDING = 1e-9
"""Of sums of weights, as a share."""


@dataclass(frozen=True)
class DensestSubgraph:
    """A densest subgraph, or the densest found.

    Attributes
    ----------
    vertices : (s,) int64
        Ascending.
    weight
        Weight of the edges within; their number, if they have no weights.
    density_bound
        Upper bound of the weight by vertex of any subgraph.
    is_proven
        Whether no subgraph is denser, but for the rounding of weights.
    """

    vertices: np.ndarray
    weight: float
    density_bound: float
    is_proven: bool = field(default=False)

    @property
    def density(self) -> float:
        """Edge weight per vertex, half the average degree."""
        return self.weight / max(1, self.vertices.size)


def densest_of_any_size(
    graph: UndirectedGraph,
    *,
    rounds: int = 8,
    is_limited: bool = True,
    stages: Stages | NoStages | None = None,
) -> DensestSubgraph:
    """Find the densest subgraph of any size; of those of equal density the largest, which contains the others.

    Where flows would take long, because the core is most of a large graph, the result is that of peeling.

    Parameters
    ----------
    graph
        On the host.
    rounds
        Rounds of peeling before the flow: more make it shorter, and come closer where no flow is computed.
    is_limited
        Whether flows that would take long are left out or given up.
    stages
        Record of the stages.

    Raises
    ------
    UsageError
        If the number of rounds is below 1.
    DataError
        If a weight is negative, not finite or out of range.
    """
    instance(graph, UndirectedGraph, "the graph")
    stages = stages or NoStages()
    with stages.stage("peel") as stage:
        first = peel(graph, rounds=min(rounds, 1))
        members = _core(graph, first.density)
        core = graph if members.size == graph.n_vertices else graph.induced(members)
        again = peel(core, rounds=max(1, rounds - 1))
        stage.note(core=core.n_vertices)
    best = _best(first, again, members)
    if best.weight == 0 or (is_limited and not _is_quick(core, graph)):
        return best
    search = _Search(core, again.tails)
    del first, again  # their arrays are not used again
    with stages.stage("flow") as stage:
        most_visits = max(_LEAST_VISITS, _VISITS * core.columns.size) if is_limited else _NO_LIMIT
        found = search.run(np.searchsorted(members, best.vertices), most_visits=most_visits)
        stage.note(flows=search.flows)
    bound = min(best.density_bound, search.bound)
    weight = 0.0 if found is None else 0.5 * _twice_within(core, found, 1.0)
    if found is None or weight * best.vertices.size < best.weight * found.size:
        return replace(best, density_bound=max(bound, best.density), is_proven=search.is_proven)
    density = weight / found.size
    return DensestSubgraph(members[found], weight, max(bound, density), is_proven=search.is_proven)


def _best(first: Peeling, again: Peeling, members: np.ndarray) -> DensestSubgraph:
    """Return the denser result of peeling the graph and its core."""
    vertices, weight = first.vertices, first.weight
    if again.density > first.density:
        vertices, weight = members[again.vertices], again.weight
    bound = min(first.density_bound, again.density_bound)
    return DensestSubgraph(vertices, weight, max(bound, weight / max(1, vertices.size)))


def _is_quick(core: UndirectedGraph, graph: UndirectedGraph) -> bool:
    return core.columns.size <= max(_FEW_SLOTS, graph.columns.size // _SMALL_SHARE)


class _Search:
    """The search in a core; see the head of the module.

    Attributes
    ----------
    bound
        Upper bound of the weight by vertex of any subgraph.
    flows
        Flows computed so far.
    is_proven
        Whether the last of them found nothing denser.
    """

    def __init__(self, core: UndirectedGraph, orders: list[np.ndarray]) -> None:
        self._core, self._scale = _with_whole_weights(core)
        self._places = np.empty((core.n_vertices, len(orders)), np.int32)
        for i, order in enumerate(orders):
            self._places[order, i] = np.arange(order.size)
        self.bound, self.flows, self.is_proven = np.inf, 0, False

    def run(self, members: np.ndarray, *, most_visits: int) -> np.ndarray | None:
        """Return the densest vertices, or the last that a flow found if one is given up; None if that is the first.

        Parameters
        ----------
        members
            The densest so far.
        most_visits
            Slots that the flows may read.
        """
        graph, places, numbers, found = self._core, self._places, np.arange(self._core.n_vertices), None
        total, size = _units_within(graph, members), members.size
        while True:
            ones = np.ones(1, np.int64) if graph.weights is None else graph.weights
            division = Division(graph, size * ones, places)
            closed = division.level(total, most_visits=most_visits)
            most_visits -= division.visits
            self.flows += 1
            self.bound = min(self.bound, int(division.load.max()) / size / self._scale)
            if closed is None:
                return found
            found = numbers[closed]
            if not (division.load[closed] > total).any():
                self.is_proven = True
                return found
            graph, places, numbers = graph.induced(closed), places[closed], found
            total, size = _units_within(graph, np.arange(closed.size)), closed.size


def _with_whole_weights(graph: UndirectedGraph) -> tuple[UndirectedGraph, float]:
    """Return a graph with its weights times a power of two, rounded up, and this power."""
    if graph.weights is None:
        return graph, 1.0
    scale = 2.0 ** np.floor(np.log2(_MOST_UNITS / graph.n_vertices / float(graph.weights.sum())))
    weights = np.ceil(graph.weights * scale).astype(np.int64)
    return UndirectedGraph(graph.row_offsets, graph.columns, weights=weights), float(scale)


def _units_within(graph: UndirectedGraph, members: np.ndarray) -> int:
    """Return the sum of the whole weights of the edges within some vertices."""
    return int(_twice_within(graph, members, 1)) // 2


def _twice_within(graph: UndirectedGraph, members: np.ndarray, one: float) -> float:
    """Return twice the weight of the edges within some vertices; ``one`` is that of an edge without weight."""
    is_member = np.zeros(graph.n_vertices, np.bool_)
    is_member[members] = True
    weights = np.full(1, one) if graph.weights is None else graph.weights
    twice: float = _add_within(graph.row_offsets, graph.columns, weights, is_member)
    return twice


@compiled()
def _add_within(offsets, columns, weights, is_member):
    total = weights[0] - weights[0]  # a zero of their type
    for v in range(is_member.size):
        if is_member[v]:
            for slot in range(offsets[v], offsets[v + 1]):
                if is_member[columns[slot]]:
                    total += weights[slot] if weights.size > 1 else weights[0]
    return total


def _core(graph: UndirectedGraph, least: float) -> np.ndarray:
    """Return the vertices left when those of less weight are removed, as long as there are any; (c,) int64."""
    is_left = np.ones(graph.n_vertices, np.bool_)
    weights = np.ones(1) if graph.weights is None else graph.weights
    _remove(graph.row_offsets, graph.columns, weights, least * (1 - _ROUNDING), graph.strength.copy(), is_left)
    return np.flatnonzero(is_left)


@compiled()
def _remove(offsets, columns, weights, least, strength, is_left):
    waiting, n_waiting = np.empty(strength.size, np.int64), 0
    for v in range(strength.size):
        if strength[v] < least:
            is_left[v] = False
            waiting[n_waiting] = v
            n_waiting += 1
    while n_waiting > 0:
        n_waiting -= 1
        v = waiting[n_waiting]
        for slot in range(offsets[v], offsets[v + 1]):
            u = columns[slot]
            strength[u] -= weights[slot] if weights.size > 1 else 1.0
            if is_left[u] and strength[u] < least:
                is_left[u] = False
                waiting[n_waiting] = u
                n_waiting += 1
