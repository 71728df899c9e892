"""Euler circuits in parallel: pair edges, find the circuits, join those that share a vertex, and order the edges.

After Awerbuch, Israeli and Shiloach (1984), doi:10.1145/800057.808688. Neighbouring outgoing edges i and i + 1 of one
vertex that lie on different circuits are a *link*: exchanging the two edges that lead into them makes one circuit of
two. The links of a minimum spanning forest join all circuits of a component, in any order of the exchanges. The
exchanges of adjacent links are one rotation, so all are done at once. Graph, pairing and seed determine the result:
every device finds the same circuit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, synchronize
from gpuasm.graph import splicing
from gpuasm.graph.pairing import PairingName, exchange, pair_edges
from gpuasm.graph.tours import EulerTour
from gpuasm.parallel import for_each
from gpuasm.primitives.cycle_ranking import rank_cycles
from gpuasm.primitives.cycles import Cycles
from gpuasm.primitives.spanning_forest import spanning_forest
from gpuasm.stages import NoStages, Stages

if TYPE_CHECKING:
    from gpuasm.graph.directed_graph import DirectedGraph


def find_euler_circuits(
    graph: DirectedGraph, *, pairing: PairingName = "mixed", seed: int = 0, stages: Stages | NoStages | None = None
) -> EulerTour:
    """Find an Euler circuit of each weakly connected component with edges.

    Parameters
    ----------
    graph
        Every vertex has as many incoming as outgoing edges; see `DirectedGraph.is_eulerian`.
    pairing
        Initial pairing of the edges: "mixed" leaves few circuits to join, "fifo" is the textbook's.
    seed
        Seed of the mixed pairing.
    stages
        Record of the stages: predecessors, partition, circuit graph, swaps, ranking.

    Returns
    -------
    EulerTour: components by their least edge, each circuit from its least edge on.
    """
    xp = array_namespace(graph.columns)
    if stages is None:
        stages, wait = NoStages(), _no_wait
    else:
        wait = synchronize
    with stages.stage("predecessors"):
        paired = pair_edges(graph, pairing=pairing, seed=seed)
        wait(xp)
    with stages.stage("partition") as stage:
        circuits = rank_cycles(paired.successor)
        stage.note(circuits=circuits.n)
    if circuits.n > 1:
        with stages.stage("circuit graph") as stage:
            links = _choose_links(graph, circuits)
            stage.note(links=int(links.size))
        few = max(circuits.n, int(links.size)) <= splicing.MOST
        with stages.stage("swaps"):
            if not few:
                exchange(graph, paired, links)
            wait(xp)
        with stages.stage("ranking") as stage:
            if links.size:
                circuits = splicing.splice(circuits, links) if few else rank_cycles(paired.successor)
            wait(xp)
            stage.note(circuits=circuits.n)
    with stages.stage("order"):
        edges = circuits.order()
        start = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(circuits.size)])
        wait(xp)
    return EulerTour(edges, start)


def _choose_links(graph: DirectedGraph, circuits: Cycles) -> Array:
    """Return the slots i whose exchange with i + 1 joins circuits, ascending: those of the minimum spanning forest."""
    xp, label = array_namespace(circuits.label), circuits.label
    differs = xp.empty(label.size, dtype=bool)
    differs[-1] = False
    xp.not_equal(label[1:], label[:-1], out=differs[:-1])
    _end_rows(graph.n_vertices, graph.row_offsets, differs)
    slots = xp.flatnonzero(differs)
    return slots[spanning_forest(label[slots], label[slots + 1], label.size)]


@for_each
def _end_rows(vertex, row_offsets, differs):
    if row_offsets[vertex + 1] > row_offsets[vertex]:
        differs[row_offsets[vertex + 1] - 1] = False


def _no_wait(xp: Any) -> None:
    """Do not synchronise: stages are not timed."""
