"""Correct contig bases by the votes of aligned reads, and count those at which reads of two variants lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.coverage.sample_mode import reads_of_one_error
from gpuasm.assembly.parameters import ALIGNMENT, COVERAGE, VERIFICATION
from gpuasm.primitives.counting import count_true, sum_between


def least_votes(mismatches: int, bases: int) -> int:
    """Return the number of reads that must agree on another base, by the mismatches among all aligned bases."""
    return ALIGNMENT.min_votes + int(VERIFICATION.polishing_bases_per_error * mismatches > bases)


class Voters(NamedTuple):
    """The reads that may vote on each base.

    Attributes
    ----------
    depth : (n_places,) int32
        Uniquely aligned or rescued reads over each base.
    bounds : (n + 1,) int64, on the host
        The places where each contig begins, and the end.
    usual : (n,) float64, on the host
        Their mean number over the covered bases of each contig.
    """

    depth: Array
    bounds: np.ndarray
    usual: np.ndarray

    @classmethod
    def of(cls, depth: Array, bounds: np.ndarray) -> Voters:
        on_host = to_host(depth)
        total, n = (sum_between(own, bounds) for own in (on_host, on_host > 0))
        return cls(depth, bounds, total / np.maximum(1, n))


def decide(counted: tuple[Array, Array], voters: Voters, *, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Decide which bases to correct, by the counts that `gpuasm.primitives.runs.occurrences` returns.

    A base is corrected if at least ``least`` reads have the same other base, and these are `vote_agreement` of the
    voters, or all but `polishing_max_dissenters` and more than the others. Places with more than twice the
    voters of the contig's covered bases are left: where a contig ends in a repeat, the reads of the other copies would
    outvote its own.

    Returns
    -------
    The places to correct, ascending, (m,) int64, and their right codes, (m,) uint8; on the host.
    """
    xp, (votes, n_votes) = array_namespace(voters.depth), counted
    numerator, denominator = ALIGNMENT.vote_agreement
    n_voters = voters.depth[votes >> 2]
    chosen = (n_votes >= least) & (
        (denominator * n_votes >= numerator * n_voters)
        | (n_votes + xp.minimum(VERIFICATION.polishing_max_dissenters, n_votes - 1) >= n_voters)
    )
    kept, depth = to_host(votes[chosen]), to_host(n_voters[chosen])
    kept = kept[_is_usual_depth(kept >> 2, depth, voters)]
    return kept >> 2, (kept & 3).astype(np.uint8)


def count_mixed(counted: tuple[Array, Array], voters: Voters, *, error_rate: float) -> dict[str, int]:
    """Count the places at which reads of two variants lie, as those of two strains do.

    "bases_compared" are places with enough voters for two variants. "bases_mixed" are those of them where more reads
    than share an error (at ``error_rate``) have one base, and as many another. Places of more than the usual depth are
    not counted: reads of copies of a repeat differ there.
    """
    few, share, (vote, n_votes) = int(COVERAGE.few_reads), COVERAGE.error_depth_share, counted
    rows = array_namespace(voters.depth).flatnonzero(n_votes >= few)
    place = vote[rows] >> 2
    place, n, depth = (to_host(column) for column in (place, n_votes[rows], voters.depth[place]))
    lesser = np.minimum(n, depth - n)
    is_mixed = (lesser >= reads_of_one_error(depth.astype(np.float64), error_rate)) & (lesser > share * depth)
    place, depth = place[is_mixed], depth[is_mixed]
    mixed = np.unique(place[_is_usual_depth(place, depth, voters)])
    return {"bases_compared": count_true(voters.depth >= 2 * few), "bases_mixed": int(mixed.size)}


def _is_usual_depth(place: np.ndarray, depth: np.ndarray, voters: Voters) -> np.ndarray:
    """Mark the places whose depth is not far above that of their contig's covered bases: (n,) bool."""
    contig = np.searchsorted(voters.bounds, place, side="right") - 1
    return np.asarray(depth <= 2 * voters.usual[contig])
