"""Bases that reads outvote: what reads say where they differ from the contig that they lie on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.stretches import differing
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_LEAST_VOTES = 2
"""Reads that must agree on another base: two seldom share an error,"""
_WRONG = 100
"""where at most one in so many of their bases is one; of worse reads it takes one more."""
_SHARE = (4, 5)
"""And their share of the reads with a place of their own there: four of five,"""
_FEW_OTHERS = 2
"""or all of these but so many, and fewer than they are: in thin coverage the one read that bridged a gap of the graph
brings its errors along."""

_DEEPEST = 2.0
"""Where reads lie deeper than so many times what their contig has on average, they are from other places as well."""

_ONE, _THREE = np.uint64(1), np.uint64(3)


@dataclass(frozen=True)
class Fixes:
    """Bases to change.

    Attributes
    ----------
    place : (n,) int64, on the host
        Places among the bases of all contigs, ascending.
    code : (n,) uint8, on the host
        What shall stand there.
    """

    place: np.ndarray
    code: np.ndarray


def count_votes(reads: Reads, laid: Laid, targets: Targets) -> Array:
    """Return, for each base of a read that differs from the contig under it, ``4 * place + base``; (n,) int64.

    Reads that might lie elsewhere as well have no vote.
    """
    xp = array_namespace(laid.at)
    rows = xp.flatnonzero(laid.is_unique & (laid.mismatches > 0))
    end = xp.cumsum(laid.mismatches[rows].astype(np.int64))
    found = xp.empty(int(end[-1]) if rows.size else 0, np.int64)
    where = (laid.piece, laid.at, laid.turned, laid.begin, laid.end, laid.target)
    names = ("start", "size", "is_circular", "offset")
    own = tuple(to_namespace(xp, getattr(targets, name)) for name in names)
    out = (end - laid.mismatches[rows], found)
    _collect(rows.size, rows, *where, reads.start, reads.length, reads.words, *own, targets.words, *out)
    return found


@for_each
def _collect(
    v,
    rows,
    piece,
    at,
    turned,
    begin,
    end,
    target,
    read_start,
    length,
    reads_words,
    start,
    size,
    closed,
    offset,
    text_words,
    out_first,
    found,
):
    p = rows[v]
    r = piece[p]
    t = target[p]
    n = np.int64(length[r])
    out = out_first[v]
    j = begin[p] - at[p]
    last = end[p] - at[p]
    while j < last:
        differs = differing(reads_words, read_start[r], n, turned[p], j, text_words, at[p])
        stop = min(last, j + 32)
        if differs != np.uint64(0):
            for i in range(j, stop):
                if (differs >> np.uint64(62 - 2 * (i - j))) & _ONE:
                    base = base_at(reads_words, read_start[r] + i)
                    if turned[p]:
                        base = _THREE - base_at(reads_words, read_start[r] + n - 1 - i)
                    within = at[p] + i - start[t]
                    if closed[t]:
                        within %= size[t]
                    found[out] = 4 * (offset[t] + within) + np.int64(base)
                    out += 1
        j = stop


def least_votes(mismatches: int, bases: int) -> int:
    """Return how many reads must agree on another base, where so many of all bases differ from what they lie on."""
    return _LEAST_VOTES + int(_WRONG * mismatches > bases)


def decide(votes: Array, voters: Array, bounds: np.ndarray, *, least: int) -> Fixes:
    """Decide which bases to change.

    Parameters
    ----------
    votes : (n,) int64
        Of all reads, in any order, as `count_votes` gives them.
    voters : (n_places,) int32
        Reads with a place of their own over each base, or one beside their mates'.
    bounds : (n + 1,) int64, on the host
        The places where each contig begins, and the end.
    least
        Reads that must agree, as `least_votes` says.

    Returns
    -------
    Fixes: a base changes where so many reads, and at least four of five of the voters or all of these but two and
    fewer than they are, have the same other base there, and where the voters are at most twice as many as over the
    covered bases of the contig on average: where a contig ends in a repeat, the reads of all other copies lie on it too
    and would outvote the one that is its own.
    """
    xp = array_namespace(votes)
    votes = xp.sort(votes)
    starts = xp.flatnonzero(xp.concatenate([xp.ones(min(1, votes.size), bool), votes[1:] != votes[:-1]]))
    n_votes = xp.diff(xp.concatenate([starts, xp.full(1, votes.size, starts.dtype)]))
    votes = votes[starts]
    few, many = _SHARE
    of = voters[votes >> 2]
    chosen = (n_votes >= least) & (
        (many * n_votes >= few * of) | (n_votes + xp.minimum(_FEW_OTHERS, n_votes - 1) >= of)
    )
    kept = to_host(votes[chosen])
    place = kept >> 2
    contig = np.searchsorted(bounds, place, side="right") - 1
    depth = [float(voters[place[i]]) for i in range(place.size)]
    typical = [_mean_of_covered(voters[bounds[c] : bounds[c + 1]]) for c in contig.tolist()]
    sound = np.array(depth) <= _DEEPEST * np.array(typical)
    return Fixes(place[sound], (kept[sound] & 3).astype(np.uint8))


def _mean_of_covered(depth: Array) -> float:
    return float(depth.sum(dtype=np.int64)) / max(1, int((depth > 0).sum()))
