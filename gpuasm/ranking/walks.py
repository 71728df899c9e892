"""PageRank by random walks: every vertex has coupons that walk until they stop, and ranks are shares of the visits.

A coupon at a vertex stops with the reset probability, else follows a random edge out [1]_, or jumps where there is
none. The start counts as a visit. Random numbers are a hash of the seed, the vertex a coupon starts from, its number
there and the round [2]_: visits are the same integers on every device, and more coupons go on where fewer ended.

A coupon that starts at s visits v with G(s, v) in expectation, and if it comes to v at all, its visits there are
geometric with mean g = G(v, v). So the visits of v by all coupons have the variance (2 g - 1) E - k g^2 - (sum over
other starts of G^2), where E is their expectation and k coupons start at v; g is estimated by how often these return.

References
----------
.. [1] Das Sarma, Molla, Pandurangan and Upfal (2015), Theor. Comput. Sci. 561, 113-121.
   doi:10.1016/j.tcs.2014.04.003
.. [2] Salmon, Moraes, Dror and Shaw (2011), SC '11. doi:10.1145/2063384.2063405
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.errors import UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.ranking.chances import edge_thresholds, teleport_thresholds
from gpuasm.ranking.teleport import DEFAULT_RESET, Surfer, make_surfer, starts_of
from gpuasm.ranking.walks_cpu import walk_cpu
from gpuasm.ranking.walks_cuda import walk_cuda
from gpuasm.sequence.randomness import stream_key
from gpuasm.stages import Stages

DEFAULT_COUPONS = 10


@dataclass(frozen=True)
class WalkPlan:
    """Which walks there are, for whoever walks them.

    Attributes
    ----------
    surfer
        Graph and probabilities.
    coupons
        How many start at each vertex, where the teleport vector is uniform.
    start_offsets : (n + 1,) int64
        The number of the first coupon of each vertex; empty where the teleport vector is uniform.
    edge_thresholds, teleport_thresholds : uint64
        As in `chances`; empty where all edges, or vertices, have the same chance.
    n_walks
        All coupons.
    key
        Of the random numbers.
    stop
        A coupon stops in a round whose random word is below this, uint64.
    dtype
        Of the visits: uint32, or uint64 where there may be too many.
    """

    surfer: Surfer
    coupons: int
    start_offsets: Array
    edge_thresholds: Array
    teleport_thresholds: Array
    n_walks: int
    key: np.uint64
    stop: np.uint64
    dtype: Any


@dataclass(frozen=True)
class WalkRanks:
    """What random walks found.

    Attributes
    ----------
    visits : (n,) uint32 or uint64
        Of all coupons, the start included.
    returns : (n,) uint32 or uint64
        How often coupons came back to the vertex they started from, by vertex.
    starts : (n,) int64
        Coupons that start at each vertex.
    n_visits
        The sum of the visits.
    """

    visits: Array
    returns: Array
    starts: Array
    n_visits: int

    @property
    def ranks(self) -> Array:
        """Each vertex's share of the visits, (n,) float64: they sum to 1."""
        return self.visits / max(float(self.n_visits), 1.0)

    def variances(self) -> Array:
        """Return the estimated variance of each vertex's visits, (n,) float64, rather too large than too small.

        Where no coupon starts, the mean of all starts is taken for how often a visitor comes back.
        """
        xp = array_namespace(self.visits)
        starts = self.starts.astype(np.float64)
        mean = float(self.returns.sum(dtype=np.float64)) / max(float(starts.sum()), 1.0)
        comes_back = xp.where(starts > 0, self.returns / xp.maximum(starts, 1.0), mean)
        g = 1.0 + comes_back
        return xp.maximum((2.0 * g - 1.0) * self.visits - starts * g * g, 0.0)

    def standard_errors(self) -> Array:
        """Return the estimated standard error of each rank, (n,) float64."""
        return self.variances() ** 0.5 / max(float(self.n_visits), 1.0)

    def expected_l1_error(self, in_degree: Array) -> float:
        """Return a bound on the expected sum of the absolute errors of all ranks, estimated from the visits.

        An absolute error is at most the standard error in expectation. As few visits tell little of one vertex, the
        variances of vertices with in-degrees alike, those of equal bit length, are put together: the sum of their
        roots is at most the root of their sum times their number.

        Parameters
        ----------
        in_degree : (n,) integers
        """
        classes = np.ceil(np.log2(to_host(in_degree) + 1.0)).astype(np.int64)
        sums = np.bincount(classes, weights=to_host(self.variances()), minlength=1)  # here sums have a fixed order
        sizes = np.bincount(classes, minlength=1)
        return float(((sums * sizes) ** 0.5).sum()) / max(float(self.n_visits), 1.0)


def random_walks(
    graph: DirectedGraph,
    *,
    coupons: int = DEFAULT_COUPONS,
    seed: int = 0,
    weights: Array | None = None,
    teleport: Array | None = None,
    reset: float = DEFAULT_RESET,
    stages: Stages | None = None,
) -> WalkRanks:
    """Estimate the PageRank of each vertex from the visits of random walks.

    Parameters
    ----------
    graph
        On the host or a device, which does the work. The CPU needs memory for the visits once for each thread.
    coupons
        Walks that start at each vertex; with a teleport vector, on average: they are dealt by its shares.
    seed
        Of the random numbers.
    weights : (m,), optional
        Of the edges, not negative; edges are taken in proportion.
    teleport : (n,), optional
        Where walks start, and jump to from vertices without edges out. Uniform, if None.
    reset
        Probability to stop at each visit.

    Raises
    ------
    DataError, UsageError
        As `make_surfer`; UsageError also if there is no coupon, or there are 2^62 or more visits to come.
    """
    surfer = make_surfer(graph, weights=weights, teleport=teleport, reset=reset)
    n = graph.n_vertices
    if coupons < 1 or n * coupons / reset >= 2.0**62:
        raise UsageError("at least one coupon, and fewer than 2^62 visits", str(coupons), "change their number")
    with (stages or Stages()).stage("random walks", coupons=coupons, reset=reset, seed=seed) as stage:
        plan = plan_walks(surfer, coupons, seed)
        walk = walk_cpu if surfer.xp is np else walk_cuda
        visits, returns = walk(plan)
        starts = _starts(plan)
        visits += starts.astype(plan.dtype)
        n_visits = int(visits.sum(dtype=np.uint64)) if n else 0
        stage.note(walks=plan.n_walks, visits=n_visits)
    return WalkRanks(visits, returns, starts, n_visits)


def plan_walks(surfer: Surfer, coupons: int, seed: int) -> WalkPlan:
    """Decide where coupons start, and with which whole numbers they choose."""
    n_walks, xp = coupons * surfer.graph.n_vertices, surfer.xp
    offsets = np.empty(0, np.int64)
    if surfer.teleport is not None:
        offsets = np.concatenate([[0], np.cumsum(starts_of(surfer, n_walks))])
    mean, deviation = n_walks / surfer.reset, math.sqrt(n_walks * (1 - surfer.reset)) / surfer.reset
    return WalkPlan(
        surfer=surfer,
        coupons=coupons,
        start_offsets=to_namespace(xp, offsets),
        edge_thresholds=edge_thresholds(surfer),
        teleport_thresholds=to_namespace(xp, teleport_thresholds(surfer.teleport)),
        n_walks=n_walks,
        key=stream_key(seed, "pagerank"),
        stop=np.uint64(min(int(surfer.reset * 2.0**64), 2**64 - 1)),
        # Twenty standard deviations above the mean, and only if all visits were to one vertex.
        dtype=np.uint32 if mean + 20 * deviation < 2.0**32 else np.uint64,
    )


def _starts(plan: WalkPlan) -> Array:
    if plan.start_offsets.size:
        return plan.start_offsets[1:] - plan.start_offsets[:-1]
    return plan.surfer.xp.full(plan.surfer.graph.n_vertices, plan.coupons, np.int64)
