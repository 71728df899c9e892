"""PageRank by power iteration over the reversed graph, to a tolerance.

Vertices without outgoing edges all distribute their rank alike, so the iteration treats them as one vertex [1]_. Its
rank is that which the others lack; the ranks of its members follow from those of the others in the end.

References
----------
.. [1] Ipsen and Selee (2007), SIAM J. Matrix Anal. Appl. 29, 1281-1296. doi:10.1137/060664331
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, to_host
from gpuasm.checks import array_of, real, whole
from gpuasm.errors import ConvergenceError, UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.ranking.pull_cpu import PullCpu
from gpuasm.ranking.pull_cuda import PullCuda
from gpuasm.ranking.teleport import DEFAULT_RESET, Surfer, make_surfer
from gpuasm.stages import Stages

DEFAULT_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PowerRanks:
    """PageRank by power iteration.

    Attributes
    ----------
    ranks : (n,) float64
        They sum to 1.
    n_iterations
        Number of iterations.
    change
        Sum of the absolute changes of the last iteration, with the vertices without outgoing edges as one.
    error_bound
        Upper bound of the sum of absolute differences from the true ranks, except for rounding.
    """

    ranks: Array
    n_iterations: int
    change: float
    error_bound: float


def power_iteration(
    graph: DirectedGraph,
    *,
    weights: Array | None = None,
    teleport: Array | None = None,
    reset: float = DEFAULT_RESET,
    tolerance: float = DEFAULT_TOLERANCE,
    max_iterations: int = 1000,
    stages: Stages | None = None,
) -> PowerRanks:
    """Return the PageRank of each vertex.

    The rank of v is (1 - reset) times the sum, over the edges into v, of the rank of their source times the edge's
    share of the weight that leaves the source, plus the teleport share of v times reset and times (1 - reset) of the
    rank of the vertices without outgoing edges.

    Parameters
    ----------
    graph
        On the host or a device, which does the work. Its reversed graph is cached (`DirectedGraph.reverse`).
    weights : (m,), optional
        Weights of the edges, not negative. Parallel edges are counted separately.
    teleport : (n,), optional
        Teleport vector, not negative, of any sum; None: uniform.
    reset
        Probability to stop at a vertex: 1 minus the damping factor.
    tolerance
        Iteration ends when the ranks change by no more than this in sum. (networkx divides its ``tol`` by the number
        of vertices: its tol is ``tolerance / n``.)
    max_iterations
        Greatest number of iterations.

    Raises
    ------
    ConvergenceError
        If the tolerance is not reached.
    DataError, UsageError
        As `make_surfer`.
    """
    real(tolerance, "tolerance")
    whole(max_iterations, "max_iterations")
    if not tolerance > 0 or max_iterations < 1:
        raise UsageError(
            "a tolerance above 0 and at least one iteration", f"{tolerance} and {max_iterations}", "change them"
        )
    surfer = make_surfer(graph, weights=weights, teleport=teleport, reset=reset)
    if graph.n_vertices == 0:
        return PowerRanks(surfer.xp.zeros(0), 0, 0.0, 0.0)
    with (stages or Stages()).stage("power iteration", unit="iterations", reset=reset, tolerance=tolerance) as stage:
        pull = (PullCpu if surfer.xp is np else PullCuda)(surfer)
        change, n_done = np.inf, 0
        while change > tolerance:
            if n_done == max_iterations:
                raise _not_converged(surfer, change, tolerance, max_iterations)
            change = pull.step()
            n_done += 1
            stage.advance()
        stage.note(iterations=n_done, change=change)
        return PowerRanks(pull.finish(), n_done, change, change * (1 - reset) / reset)


def l1_distance(first: Array, second: Array) -> float:
    """Return the sum of the absolute differences of two vectors of ranks."""
    array_of(first, "ranks", "iuf", (None,))
    array_of(second, "ranks", "iuf", first.shape)
    return float(np.abs(to_host(first) - to_host(second)).sum())


def _not_converged(surfer: Surfer, change: float, tolerance: float, max_iterations: int) -> ConvergenceError:
    needed = int(np.ceil(np.log(max(tolerance, 1e-300) / max(change, 1e-300)) / np.log1p(-min(surfer.reset, 0.999999))))
    if tolerance < 1e-14:
        remedy = "take a larger tolerance: this one is below the rounding error"
    else:
        remedy = f"allow more iterations, {max_iterations + max(needed, 1)} are enough, or take a larger tolerance"
    return ConvergenceError(
        f"changes of at most {tolerance:g} after {max_iterations} iterations", f"{change:.3g}", remedy
    )
