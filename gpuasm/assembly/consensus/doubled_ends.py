"""Doubled ends: what the end of a contig tells, though another contig tells it already and the genome has it once.

Pairs that are joined along a wrong way make a text that begins in one place of a genome and ends in another. Of the
second place there is a contig with its true sides, and no read contradicts the false one: each lies on both. But the
reads of two copies would be twice as many. So bases at a free end are left out that one other contig has within it, a
read's length and more on either side, if the reads on both together are a hundred times as likely for the one copy as
for two, by Poisson's distribution. A short contig that all of is told elsewhere goes as a whole.

Which end of a contig is cut is told by what lies further inside it, and what depth a copy has by both contigs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import log

import numpy as np

from gpuasm.assembly.consensus.copy_odds import log_odds_of_one
from gpuasm.assembly.consensus.ends_inside import RIGHT, Inside
from gpuasm.assembly.contigs import Contig

_ODDS = log(100)
"""One copy must be as many times as likely as two, as a logarithm."""
_OTHER_PLACES = 0.5
"""A place that has half of the bases that the best has is another copy: the genome may have all of them."""


def find_doubled(
    contigs: Sequence[Contig], inside: Iterable[Inside], depth: np.ndarray, *, read_length: int
) -> np.ndarray:
    """Return the bases of free ends that the genome has once, within another contig: (n, 2) int64.

    Parameters
    ----------
    contigs
        All contigs.
    inside
        Where their free ends stand within them, of `ends_inside`.
    depth : (n_places,) int32
        Reads over each base of all contigs, each read in one place.
    read_length
        Bases of a typical read: what is shorter is left.

    Returns
    -------
    (n, 2) int64
        From where to where they are among the bases of all contigs.
    """
    bounds = np.concatenate([[0], np.cumsum([contig.length for contig in contigs])]).tolist()
    sums = np.concatenate([[0], np.cumsum(depth, dtype=np.int64)])
    by_end = groupby(sorted(inside, key=_of_end), key=_of_end)
    found: list[tuple[int, int]] = []
    for (owner, side), own in by_end:
        places = list(own)
        best = max(places, key=lambda place: place.length)
        low, high, n = bounds[owner], bounds[owner + 1], best.length
        one, other = (high - n, high) if side == RIGHT else (low, low + n)
        first, last = bounds[best.contig], bounds[best.contig + 1]
        is_within = min(best.begin - first, last - best.end) >= read_length <= n and best.contig != owner
        is_only = sum(place.length >= _OTHER_PLACES * n for place in places) == 1
        if not is_within or not is_only:
            continue
        reads = int(sums[other] - sums[one] + sums[best.end] - sums[best.begin])
        there = float(sums[last] - sums[first]) / (last - first)
        rest = high - low - n
        here = float(sums[high] - sums[low] - sums[other] + sums[one]) / rest if rest >= read_length else there
        if log_odds_of_one(reads / read_length, there * n / read_length, here * n / read_length) >= _ODDS:
            found.append((one, other))
    return np.array(sorted(set(found)), np.int64).reshape(-1, 2)


def _of_end(place: Inside) -> tuple[int, int]:
    return place.owner, place.side
