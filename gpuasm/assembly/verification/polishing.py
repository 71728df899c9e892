"""Correct contig bases by the votes of aligned reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.parallel import compiled, run_chunks, signatures


@dataclass(frozen=True)
class Fixes:
    """Bases to correct.

    Attributes
    ----------
    place : (n,) int64, on the host
        Places among the bases of all contigs, ascending.
    code : (n,) uint8, on the host
        The corrected bases.
    """

    place: np.ndarray
    code: np.ndarray


def least_votes(mismatches: int, bases: int) -> int:
    """Return the number of reads that must agree on another base, by the mismatches among all aligned bases."""
    return VERIFICATION.polishing_min_votes + int(VERIFICATION.polishing_bases_per_error * mismatches > bases)


def decide(votes: Array, voters: Array, bounds: np.ndarray, *, least: int) -> Fixes:
    """Decide which bases to correct.

    Parameters
    ----------
    votes : (n,) int64
        Votes of all reads, in any order, as `count_votes` returns them.
    voters : (n_places,) int32
        Uniquely aligned or rescued reads over each base.
    bounds : (n + 1,) int64, on the host
        The places where each contig begins, and the end.
    least
        Reads that must agree, as `least_votes` returns it.

    Returns
    -------
    Fixes
        A base is corrected if at least ``least`` reads have the same other base, and these are `polishing_min_share`
        of the voters, or all but `polishing_max_dissenters` and more than the others. Places with more than
        `polishing_max_depth_ratio` times the voters of the contig's covered bases are left: where a contig ends in a
        repeat, the reads of the other copies would outvote its own.
    """
    xp = array_namespace(votes)
    votes = xp.sort(votes)
    starts = xp.flatnonzero(xp.concatenate([xp.ones(min(1, votes.size), bool), votes[1:] != votes[:-1]]))
    n_votes = xp.diff(xp.concatenate([starts, xp.full(1, votes.size, starts.dtype)]))
    votes = votes[starts]
    numerator, denominator = VERIFICATION.polishing_min_share
    n_voters = voters[votes >> 2]
    chosen = (n_votes >= least) & (
        (denominator * n_votes >= numerator * n_voters)
        | (n_votes + xp.minimum(VERIFICATION.polishing_max_dissenters, n_votes - 1) >= n_voters)
    )
    kept, depth = to_host(votes[chosen]), to_host(n_voters[chosen])
    place = kept >> 2
    contig, row = np.unique(np.searchsorted(bounds, place, side="right") - 1, return_inverse=True)
    typical = np.empty(contig.size, np.float64)
    run_chunks(_means_of_covered, contig.size, contig, bounds, to_host(voters), typical)
    is_usual_depth = depth <= VERIFICATION.polishing_max_depth_ratio * typical[row]
    return Fixes(place[is_usual_depth], (kept[is_usual_depth] & 3).astype(np.uint8))


@signatures("int64, int64, int64[::1], int64[::1], int32[::1], float64[::1]")
@compiled()
def _means_of_covered(first, last, contigs, bounds, depth, mean):
    """Return the mean depth of the covered bases of some contigs."""
    for i in range(first, last):
        total, n = 0, 0
        for place in range(bounds[contigs[i]], bounds[contigs[i] + 1]):
            total += depth[place]
            n += depth[place] > 0
        mean[i] = total / max(1, n)
