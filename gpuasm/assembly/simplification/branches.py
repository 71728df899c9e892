"""Short branches that errors made, by a table of candidate branches and their competitors.

A competing branch of an end is another predecessor of one of its successors. The table has, for both ends of each
candidate, the highest depth of a competitor, and whether one is above it or continues. A rule is a predicate of these
columns, of the depth and length of the candidate, and of the local depth.

These rules and `sibling_branches.find_bubbles` take the graph, its local depth, (n,) float64, and the limits of the
round and the sample. They return what they mark: (n,) bool.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.coverage.graph_depth import typical_depth
from gpuasm.assembly.coverage.sample_mode import OTHER_BASES, least_reads_of_one_error, reads_of_one_error
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE, PATHS, SIMPLIFICATION
from gpuasm.parallel import compiled, signatures
from gpuasm.threads import run_chunks

_NONE = -1.0
_LONG_KMERS = COVERAGE.long_unitig_kmers
_TWO_READS, _FEW_READS = COVERAGE.two_reads, COVERAGE.few_reads
_ALIKE, _SHARED = SIMPLIFICATION.supported_alike_ratio, PATHS.dominant_min_ratio


@dataclass(frozen=True)
class Branches:
    """Candidate branches; end 0 is the one that a unitig read forwards leads to.

    Attributes
    ----------
    unitig, n_kmers : (m,) int64
    depth : (m,) float64
    competitor : (m, 2) float64
        Highest depth of a competing branch at each end, 0 where there is none.
    is_below : (m, 2) bool
        Whether a competitor is above the candidate (`is_above`).
    continuing : (m, 2) float64
        Highest depth of a competitor that continues, or of its edge; -1 where there is none.
    """

    unitig: np.ndarray
    n_kmers: np.ndarray
    depth: np.ndarray
    competitor: np.ndarray
    is_below: np.ndarray
    continuing: np.ndarray

    @classmethod
    def of(cls, graph: UnitigGraph, is_candidate: np.ndarray, reach: np.ndarray | int = 0) -> Branches:
        """Compare the candidates, (n,) bool, with their competitors.

        A competitor of more than ``reach`` k-mers, (n,) int64 or one number, continues even if it has a dead end.
        """
        rows = np.flatnonzero(is_candidate)
        columns = tuple(np.empty((rows.size, 2), dtype) for dtype in (np.float64, np.bool_, np.float64))
        unitigs, far = (graph.depth, graph.n_kmers, graph.arc_count / graph.unit), np.broadcast_to(reach, graph.n)[rows]
        run_chunks(_compare, rows.size, rows, graph.arc_start, graph.arc_to, unitigs, far, *columns)
        return cls(rows, graph.n_kmers[rows], graph.depth[rows], *columns)

    def marked(self, is_error: np.ndarray, n: int) -> np.ndarray:
        """Mark the candidates that a rule chose among all n unitigs."""
        marked = np.zeros(n, dtype=bool)
        marked[self.unitig] = is_error
        return marked


@signatures(
    "int64, int64, int64[::1], int64[::1], int32[::1], Tuple((float64[::1], int64[::1], float64[::1], )), "
    "int64[::1], float64[:, ::1], boolean[:, ::1], float64[:, ::1]"
)
@compiled()
def _compare(first, last, rows, arc_start, arc_to, unitigs, reach, competitor, is_below, continuing):
    depth, n_kmers, arc_depth = unitigs
    for row in range(first, last):
        u = rows[row]
        for side in range(2):
            highest, is_less, onward = 0.0, False, _NONE
            for arc in range(arc_start[2 * u + side], arc_start[2 * u + side + 1]):
                # The other incoming arcs of the same unitig are the outgoing arcs of its twin.
                entrance = arc_to[arc] ^ 1
                for other_arc in range(arc_start[entrance], arc_start[entrance + 1]):
                    oriented = arc_to[other_arc]
                    other = oriented >> 1
                    if other == u:
                        continue
                    highest = max(highest, depth[other])
                    is_less = is_less or is_above(other, u, depth, n_kmers)
                    if n_kmers[other] > reach[row] or arc_start[oriented + 1] > arc_start[oriented]:
                        onward = max(onward, depth[other], arc_depth[other_arc])
            competitor[row, side], is_below[row, side], continuing[row, side] = highest, is_less, onward


@compiled()
def is_above(a, b, depth, n_kmers):
    """Return whether unitig a has more depth than b, or equal depth and more k-mers, or else the lower number."""
    return (depth[a], n_kmers[a], -a) > (depth[b], n_kmers[b], -b)


@dataclass(frozen=True)
class RuleLimits:
    """What a round, the values of k and the mode change of the rules.

    Attributes
    ----------
    strictness : float
        Share of the full thresholds to use.
    few : float
        Depth of a few reads, which one error may explain.
    with_few : bool
        Whether branches of few reads are suspect in full rounds, by their surroundings.
    keeps_variants, keeps_minor : bool
        Whether a branch rare for its surroundings may be a strain's, or a related genome's of low coverage.
    error_rate : float
        Substitutions a base of the reads: it determines how many of them share an error by chance.
    windows_are_dense : bool
        Whether k is so small that well covered sequence does not end by chance: then the rule for few reads applies to
        short tips of any depth next to a branch of twice their depth, as duplicates of one miscopied fragment make.
    reach : int, or None
        k-mers that one error spoils: the first k, as k-mers of larger k consist of those kept at the first. None takes
        the graph's own k.
    """

    strictness: float = 1.0
    few: float = COVERAGE.few_reads
    with_few: bool = True
    keeps_variants: bool = False
    keeps_minor: bool = False
    error_rate: float = 0.0
    windows_are_dense: bool = False
    reach: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether this is a round of full thresholds."""
        return self.strictness == 1.0

    @property
    def judges_few(self) -> bool:
        """Whether branches of few reads are judged in this round."""
        return self.is_full and self.with_few

    def rare_depth(self, nearby: np.ndarray, *, keeps_variants: bool) -> np.ndarray:
        """Return the depth below which a branch next to one of higher depth is rare: (n,) float64.

        Of one organism it is a share of the local depth, ``nearby``, (n,) float64. If a rare branch may be true
        (``keeps_variants``), it is the depth of errors only: the higher the depth, the more reads share an error.
        """
        rare = nearby * (SIMPLIFICATION.rare_share * self.strictness)
        if not keeps_variants:
            return rare
        alike = reads_of_one_error(nearby, self.error_rate) * (self.few / COVERAGE.few_reads)
        return np.minimum(rare, np.maximum(nearby * COVERAGE.error_depth_share, alike))


def find_tips(graph: UnitigGraph, nearby: np.ndarray, limits: RuleLimits) -> np.ndarray:
    """Mark the unitigs that are tips (Zerbino and Birney 2008, doi:10.1101/gr.074492.107).

    A tip has one dead end, at most as many k-mers as one error spoils, and a competing branch at its other end. It is
    removed if

    - it has at most half a copy's depth, and the competing branch at least twice its own depth;
    - it is rare for its surroundings, and the competing branch has more depth, or is longer, or has the lower number;
    - its depth is negligible compared with the competing branch;
    - it has a few reads, and the competing branch continues: reads of one error end there.

    Tips of two errors near the end of a read are up to twice as long. They are removed if they are as rare as that, and
    the competing branch has four times their depth. Tips of few reads may contain bases that mercy k-mers restored,
    where one error spoils k k-mers at any k.
    """
    strictness, few = limits.strictness, limits.few
    reach = int((limits.reach or graph.k) * strictness)
    longest = np.where(graph.depth < few * strictness, int(graph.k * strictness), reach)
    is_dead = graph.is_dead_end.reshape(-1, 2)
    is_candidate = (is_dead[:, 0] != is_dead[:, 1]) & (graph.n_kmers <= 2 * longest)
    tips = Branches.of(graph, is_candidate, 2 * longest)
    own, other, onward = tips.depth, np.maximum(*tips.competitor.T), np.maximum(*tips.continuing.T)
    shares = np.array([SIMPLIFICATION.rare_share, 0.5, COVERAGE.error_depth_share])
    rare, half, two_errors = nearby[tips.unitig] * (shares * strictness)[:, np.newaxis]
    competitor = SIMPLIFICATION.competitor_ratio / strictness
    negligible = SIMPLIFICATION.negligible_ratio * strictness * other
    bound = np.maximum(np.maximum(two_errors, negligible), np.minimum(few * strictness, rare))
    is_error_of_two = (own < bound) & (other >= 2 * competitor * own)
    is_error = (own < rare) & np.logical_or(*tips.is_below.T)
    is_error |= (own <= half) & (other >= competitor * own) | (own < negligible)
    if limits.judges_few:
        is_error |= (own < few) & (onward > _NONE)
    if limits.is_full and limits.windows_are_dense:
        is_error |= (onward > _NONE) & (onward >= competitor * own)
    return tips.marked(np.where(tips.n_kmers > longest[tips.unitig], is_error_of_two, is_error), graph.n)


def find_low_coverage_edges(graph: UnitigGraph, nearby: np.ndarray, limits: RuleLimits) -> np.ndarray:
    """Mark short unitigs between unitigs of far higher depth: errors and false joins.

    Two kinds: at most 2k k-mers, as an error inside a read makes them, with a competing branch of far higher depth at
    *both* ends; and at most k k-mers, the reach of a single false join, with such a branch at *one* end. Chimeric reads
    and reads that continue into an adapter make the second kind.

    Next to a repeat of many copies a true single copy is negligible too, so a negligible edge is removed only if it has
    at most half a copy's depth.
    """
    edges = Branches.of(graph, graph.n_kmers <= 2 * graph.k)
    strictness, keeps = limits.strictness, limits.keeps_variants
    own, weaker, stronger = edges.depth, np.minimum(*edges.competitor.T), np.maximum(*edges.competitor.T)
    near, share = nearby[edges.unitig], SIMPLIFICATION.rare_share * strictness
    as_variant = own < limits.rare_depth(near, keeps_variants=keeps)
    as_relative = own < limits.rare_depth(near, keeps_variants=keeps or limits.keeps_minor)
    ratio = np.full(own.size, 2 * SIMPLIFICATION.competitor_ratio / strictness)
    if limits.judges_few:
        ratio[own < limits.few] = SIMPLIFICATION.edge_competitor_ratio_few
    is_between = (weaker >= ratio * own) & (weaker > 0)
    is_rare = as_relative | as_variant & _lie_between_long(graph, edges.unitig, is_candidate=as_variant & ~as_relative)
    is_rare |= (own < COVERAGE.error_depth_share * strictness * weaker) & (own <= near * (0.5 * strictness))
    is_rare |= own < SIMPLIFICATION.negligible_ratio * strictness * weaker
    is_false_join = (stronger >= ratio * own) & (edges.n_kmers <= graph.k) & (own < near * share)
    return edges.marked(np.where(is_between, is_rare, is_false_join), graph.n)


def _lie_between_long(graph: UnitigGraph, unitigs: np.ndarray, *, is_candidate: np.ndarray) -> np.ndarray:
    """Return whether all neighbours of each unitig are long, for the candidates: (m,) bool."""
    lies_between = np.zeros(graph.n, dtype=bool)
    if is_candidate.any():
        is_short = graph.n_kmers <= _LONG_KMERS
        lies_between[unitigs[is_candidate]] = True
        lies_between[graph.arc_from[is_short[graph.arc_to >> 1]] >> 1] = False
    return lies_between[unitigs]


def find_isolated(graph: UnitigGraph) -> np.ndarray:
    """Mark isolated unitigs of at most k k-mers whose depth is below half the typical one: (n,) bool.

    Only for a graph of one depth: otherwise a rare unitig may be of a minor genome.
    """
    is_alone = graph.is_dead_end.reshape(-1, 2).all(axis=1)
    return is_alone & (graph.n_kmers <= graph.k) & (graph.depth < typical_depth(graph) / 2)


def find_supported(
    graph: UnitigGraph, nearby: np.ndarray, *, window: float = 1.0, error_rate: float = 0.0
) -> np.ndarray:
    """Mark the unitigs that reads support as those of a minor genome.

    Where two genomes share k-mers, the minor one's own sequence branches off like an error, and may have as small a
    share of the depth as errors of one kind. But one error spoils k k-mers, and reads hardly ever share two errors near
    each other: a longer branch is true if it has more reads than errors that coincide. A shorter one is most likely
    true if it joins shared sequence whose other end a true branch of similar depth joins: the minor genome passes
    through there. So it is if both its ends have such a neighbour, though all are short, and it has more reads than
    chance gives one error.

    ``window`` is the depth that one read gives each of its k-mers, ``error_rate`` that of `RuleLimits`.
    """
    arcs, share = (graph.arc_start, graph.arc_to), error_rate / OTHER_BASES
    is_supported, is_open, is_frequent = (np.empty(graph.n, np.bool_) for _ in range(3))
    own = graph.depth, graph.n_kmers, nearby
    run_chunks(_judge_reads, graph.n, *arcs, own, graph.k, window, share, is_supported, is_open, is_frequent)
    rows, unitigs, found = np.flatnonzero(is_open), (graph.depth, graph.n_kmers, is_frequent), is_supported.copy()
    run_chunks(_find_partners, rows.size, rows, *arcs, unitigs, is_supported, found)
    _spread_support(rows[found[rows]], *arcs, unitigs, is_open, found)
    return found


@signatures(
    "int64, int64, int64[::1], int32[::1], Tuple((float64[::1], int64[::1], float64[::1], )), int64, float64, float64, "
    "boolean[::1], boolean[::1], boolean[::1]"
)
@compiled()
def _judge_reads(first, last, arc_start, arc_to, unitigs, k, window, error_share, is_supported, is_open, is_frequent):
    """Mark the unitigs that have more reads than share two errors, long ones and others, and than share one error."""
    depth, n_kmers, nearby = unitigs
    for u in range(first, last):
        most = nearby[u]  # errors of the reads of the neighbour of highest depth made the branch, if any did
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            most = max(most, depth[arc_to[arc] >> 1])
        n_reads, of_one_error = depth[u] / window, least_reads_of_one_error(most * error_share)
        # One read has both errors, so one read less shares each of them by chance.
        is_read = n_reads >= _TWO_READS * max(1.0, (of_one_error - 1) / _FEW_READS)
        is_supported[u], is_open[u] = is_read and n_kmers[u] > k, is_read and n_kmers[u] <= k
        is_frequent[u] = n_reads >= of_one_error


@signatures(
    "int64, int64, int64[::1], int64[::1], int32[::1], "
    "Tuple((float64[::1], int64[::1], boolean[::1], )), boolean[::1], boolean[::1]"
)
@compiled()
def _find_partners(first, last, rows, arc_start, arc_to, unitigs, is_supported, found):
    depth, n_kmers, is_frequent = unitigs
    for u in rows[first:last]:
        n_frequent = 0
        for oriented in (2 * u, 2 * u + 1):
            frequent = False
            for arc in range(arc_start[oriented], arc_start[oriented + 1]):
                shared = arc_to[arc]
                for beyond in range(arc_start[shared], arc_start[shared + 1]):
                    other = arc_to[beyond] >> 1
                    if (is_frequent[other] or is_supported[other]) and _are_partners(u, shared, other, depth, n_kmers):
                        frequent |= is_frequent[other]
                        found[u] |= is_supported[other]
            n_frequent += frequent
        found[u] |= is_frequent[u] and n_frequent == 2


@compiled()
def _are_partners(one, shared, other, depth, n_kmers):
    """Return whether two unitigs of similar depth lie on both sides of shared sequence."""
    is_shared = n_kmers[shared >> 1] <= _LONG_KMERS and depth[shared >> 1] >= _SHARED * max(depth[one], depth[other])
    return is_shared and one != other and max(depth[one], depth[other]) <= _ALIKE * min(depth[one], depth[other])


@signatures(
    "int64[::1], int64[::1], int32[::1], Tuple((float64[::1], int64[::1], boolean[::1], )), boolean[::1], boolean[::1]"
)
@compiled()
def _spread_support(rows, arc_start, arc_to, unitigs, is_open, found):
    """Mark what is a partner of the given unitigs, or of those that are marked; order changes nothing."""
    depth, n_kmers = unitigs[0], unitigs[1]
    waiting = list(rows)
    while len(waiting) > 0:
        u = waiting.pop()
        for arc in range(arc_start[2 * u], arc_start[2 * u + 2]):
            shared = arc_to[arc]
            for beyond in range(arc_start[shared], arc_start[shared + 1]):
                other = np.int64(arc_to[beyond] >> 1)
                if is_open[other] and not found[other] and _are_partners(u, shared, other, depth, n_kmers):
                    found[other] = True
                    waiting.append(other)
