"""Find Euler circuits and paths by a requested method or the faster one."""

from __future__ import annotations

import functools
from typing import Literal, get_args

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.checks import instance, whole
from gpuasm.errors import UsageError
from gpuasm.graph.balance import require_eulerian
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.euler import find_euler_circuits
from gpuasm.graph.euler_path import find_euler_path
from gpuasm.graph.hierholzer import hierholzer
from gpuasm.graph.pairing import PAIRINGS, PairingName
from gpuasm.graph.tours import EulerTour
from gpuasm.stages import Stages

MethodName = Literal["auto", "parallel", "hierholzer"]
METHODS = get_args(MethodName)

LEAST_EDGES_FOR_DEVICE = 3 << 16
"""With at least so many edges a device is faster than one CPU thread; see 'gpuasm bench euler --curve'."""


def choose_method(n_edges: int, *, on_device: bool) -> MethodName:
    """Return the faster method: parallel for many edges on a device, Hierholzer's otherwise."""
    return "parallel" if on_device and n_edges >= LEAST_EDGES_FOR_DEVICE else "hierholzer"


def find_euler_tour(
    graph: DirectedGraph,
    *,
    method: MethodName = "auto",
    path: bool = False,
    pairing: PairingName = "mixed",
    seed: int = 0,
    stages: Stages | None = None,
) -> EulerTour:
    """Find an Euler circuit of each component with edges.

    Parameters
    ----------
    graph
        Every vertex has as many incoming as outgoing edges.
    method
        "parallel", with the same circuit on every device; "hierholzer", on the host; or "auto", the faster one.
    path
        One component may have a path instead.
    pairing, seed, stages
        As for `find_euler_circuits`.

    Returns
    -------
    EulerTour, on the device of the graph.

    Raises
    ------
    DataError
        If a component has no circuit; with the number of unbalanced vertices and the names of the first five.
    """
    instance(graph, DirectedGraph, "the graph")
    whole(seed, "seed")
    if pairing not in PAIRINGS:
        raise UsageError(f"a pairing named {', '.join(PAIRINGS)}", repr(pairing), "use one of those names")
    xp, stages = array_namespace(graph.columns), stages or Stages()
    if method not in METHODS:
        raise UsageError(f"a method named {', '.join(METHODS)}", repr(method), "use one of those names")
    if method == "auto":
        method = choose_method(graph.n_edges, on_device=xp is not np)
    if method == "hierholzer":
        with stages.stage("hierholzer") as stage:
            tour = hierholzer(graph.moved_to(np), path=path)
            stage.note(circuits=tour.n)
        return tour.moved_to(xp)
    finder = functools.partial(find_euler_circuits, pairing=pairing, seed=seed, stages=stages)
    if path:
        return find_euler_path(graph, finder)
    require_eulerian(graph)
    return finder(graph)
