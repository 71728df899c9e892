"""Rival ends: joins over a repeat that other ends lead into and out of, and that no fragment spans.

What comes before a repeat is joined with what is behind it where nothing else is left to join. But the other way in, or
out, may only have been lost: where fragments are shorter than a repeat, a larger k has the windows of some of its
copies and not of others. Then contigs end in the repeat: one runs into it and stops there, another begins in it and
runs out, and of the four sides any two could belong together. So a contig is broken where, on one stretch of it,

1. a free end of a contig comes in: its last bases are those of the stretch, and what is before them differs;
2. a free end of a contig goes out, likewise, and the two overlap: the repeat is all that they share; or where they do
   not, reads on what is between are of two copies, everywhere, by what the rest of the contig has;
3. both are at least half as deep as the contig: no few reads with errors; and
4. not even two fragments go across, from before the one place to behind the other, though both sides of the contig are
   longer than any fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from gpuasm.assembly.consensus.copy_odds import log_odds_of_one
from gpuasm.assembly.consensus.ends_inside import LONGEST, Inside
from gpuasm.assembly.contigs import Contig, bounds_of

_DEPTH = 0.5
"""Depth of an end for that of the contig, at least."""
_ODDS = log(100)
"""Between rivals that do not overlap two copies must be as many times as likely as one, as a logarithm."""
_LEAST_DEEP = 4, 3
"""And each stretch there must be so much deeper than the rest: two copies are, but for chance."""
_PARTS = 4
"""Such stretches in the length of a read: a motif of many copies may stand between bases of one."""


def find_rivals(
    contigs: Sequence[Contig], inside: Iterable[Inside], depth: np.ndarray, *, read_length: int, spread: float
) -> np.ndarray:
    """Return the stretches of contigs that free ends lead into and out of.

    Parameters
    ----------
    contigs
        Contigs, gaps as code 4.
    inside
        Where their free ends stand within them, of `ends_inside`.
    depth : (n_places,) int32
        Reads over each base of all contigs, each read in one place.
    read_length
        Bases of a typical read.
    spread
        How many times as large as Poisson's the variance of reads is.

    Returns
    -------
    (n, 2) int64
        Where each begins and ends among the bases of all contigs, one contig after the other, the shortest first.
    """
    bounds = bounds_of(contigs).tolist()
    leading_in: dict[int, set[tuple[int, int]]] = {}
    leading_out: dict[int, set[tuple[int, int]]] = {}
    for own in inside:
        low, high, here, owner = bounds[own.contig], bounds[own.contig + 1], contigs[own.contig], contigs[own.owner]
        goes_on = own.begin > low if own.goes_out else own.end < high
        most = min(owner.length, high - own.begin if own.goes_out else own.end - low, LONGEST)
        if goes_on and own.length < most and owner.depth >= _DEPTH * here.depth:
            sides = leading_out if own.goes_out else leading_in
            sides.setdefault(own.contig, set()).add((own.begin, own.end))
    sums = np.concatenate([[0], np.cumsum(depth, dtype=np.int64)])

    def has_two(into: tuple[int, int], out: tuple[int, int], contig: int) -> bool:
        """Tell whether the reads between two rivals are of two copies."""
        low, high = into[1], out[0]
        n, rest = high - low, bounds[contig + 1] - bounds[contig] - (out[1] - into[0])
        if n < read_length or rest < out[1] - into[0]:
            return False
        others = int(sums[bounds[contig + 1]] - sums[bounds[contig]] - sums[out[1]] + sums[into[0]])
        one = others / rest * n / read_length
        if -float(log_odds_of_one(int(sums[high] - sums[low]) / read_length, one, one)) < _ODDS * spread:
            return False
        part = max(1, read_length // _PARTS)
        least = int((sums[low + part : high + 1] - sums[low : high - part + 1]).min())
        return _LEAST_DEEP[1] * least * rest >= _LEAST_DEEP[0] * others * part

    found = {
        (into[0], out[1])
        for contig in leading_in.keys() & leading_out.keys()
        for into in leading_in[contig]
        for out in leading_out[contig]
        if into[0] < out[0] and into[1] < out[1] and (out[0] < into[1] or has_two(into, out, contig))
    }
    return np.array(sorted(found, key=lambda row: (row[1] - row[0], row)), np.int64).reshape(-1, 2)
