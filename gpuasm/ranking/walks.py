"""PageRank by random walks: every vertex has coupons that walk until they stop, and ranks are shares of the visits.

A coupon at a vertex stops with the reset probability, else follows a random outgoing edge [1]_, or jumps if there
is none. The start counts as a visit. Random numbers are a hash of the seed, the start vertex of a coupon, its number
there and the round [2]_: visits are the same integers on every device, and more coupons extend the walks of fewer.

A coupon that starts at s has G(s, v) expected visits of v. If it reaches v at all, the number of its visits there is
geometric with mean g = G(v, v). So the visits of v by all coupons have the variance (2 g - 1) E - k g^2 - (sum over
other starts of G^2), where E is their expectation and k coupons start at v; g is estimated from their returns.

References
----------
.. [1] Das Sarma, Molla, Pandurangan and Upfal (2015), Theor. Comput. Sci. 561, 113-121.
   doi:10.1016/j.tcs.2014.04.003
.. [2] Salmon, Moraes, Dror and Shaw (2011), SC '11. doi:10.1145/2063384.2063405
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.checks import whole
from gpuasm.errors import UsageError
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.ranking.teleport import DEFAULT_RESET, make_surfer
from gpuasm.ranking.walk_plan import WalkPlan, plan_walks
from gpuasm.ranking.walks_cpu import walk_cpu
from gpuasm.ranking.walks_cuda import walk_cuda
from gpuasm.stages import Stages

DEFAULT_COUPONS = 10


@dataclass(frozen=True)
class WalkRanks:
    """Result of random walks.

    Attributes
    ----------
    visits : (n,) uint32 or uint64
        Visits of all coupons, including starts.
    returns : (n,) uint32 or uint64
        Returns of coupons to their start vertex.
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
        """Return the estimated variance of each vertex's visits, (n,) float64, biased upwards.

        For a vertex without starts, the mean number of returns of all starts is used.
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

        The expected absolute error is at most the standard error. As few visits give poor estimates for one vertex, the
        variances of vertices with in-degrees of equal bit length are pooled: the sum of their roots is at most the root
        of their sum times their number.

        Parameters
        ----------
        in_degree : (n,) integers
        """
        classes = np.ceil(np.log2(to_host(in_degree) + 1.0)).astype(np.int64)
        sums = np.bincount(classes, weights=to_host(self.variances()), minlength=1)  # sums in a fixed order
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
        Walks that start at each vertex; with a teleport vector, the mean: they are distributed by its shares.
    seed
        Seed of the random numbers.
    weights : (m,), optional
        Weights of the edges, not negative; edges are chosen in proportion.
    teleport : (n,), optional
        Distribution of starts, and of jumps from vertices without outgoing edges; None: uniform.
    reset
        Probability to stop at each visit.

    Raises
    ------
    DataError, UsageError
        As `make_surfer`; UsageError also without coupons, or if 2^62 or more visits are expected.
    """
    surfer = make_surfer(graph, weights=weights, teleport=teleport, reset=reset)
    n = graph.n_vertices
    whole(coupons, "coupons")
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


def _starts(plan: WalkPlan) -> Array:
    if plan.start_offsets.size:
        return plan.start_offsets[1:] - plan.start_offsets[:-1]
    return plan.surfer.xp.full(plan.surfer.graph.n_vertices, plan.coupons, np.int64)
