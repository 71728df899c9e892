"""Find joins over a repeat that contig ends contradict and no fragment spans.

If a repeat is longer than fragments, and a larger k lost some of its copies, the two sides of the repeat may be joined
only because nothing else is left to join. Then other contigs end in the repeat: one enters it and stops there, another
begins in it and leaves it. Any two of the four sides may belong together. A contig is broken where, on one stretch:

1. a free end of a contig enters: its last bases are those of the stretch, and the bases before them differ;
2. a free end of a contig leaves, likewise, and the two ends overlap; or, if they do not, the reads between them are of
   two copies everywhere, compared with the rest of the contig;
3. both contigs have at least `unspanned_min_depth_ratio` of the contig's depth, so that they are no read errors; and
4. fewer than two fragments span the stretch, though both sides of the contig are longer than any fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from gpuasm.assembly.alignment.contained_ends import ContainedEnd
from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.coverage.copy_number import log_odds_of_one
from gpuasm.assembly.parameters import ALIGNMENT, VERIFICATION

_LOG_ODDS = log(VERIFICATION.unspanned_min_odds)


def find_unspanned_repeats(
    contigs: Sequence[Contig], inside: Iterable[ContainedEnd], depth: np.ndarray, *, read_length: int, spread: float
) -> np.ndarray:
    """Find the stretches of contigs that a free end of another contig enters and one leaves.

    Parameters
    ----------
    contigs
        Contigs, gaps as code 4.
    inside
        Their contained ends, of `find_contained_ends`.
    depth : (n_places,) int32
        Reads over each base of all contigs, each read in one place.
    read_length
        Bases of a typical read.
    spread
        Variance of read counts in terms of Poisson's.

    Returns
    -------
    (n, 2) int64
        Begin and end of each stretch among the bases of all contigs, the shortest first.
    """
    bounds = bounds_of(contigs).tolist()
    entering: dict[int, set[tuple[int, int]]] = {}
    leaving: dict[int, set[tuple[int, int]]] = {}
    for own in inside:
        low, high, here, owner = bounds[own.contig], bounds[own.contig + 1], contigs[own.contig], contigs[own.owner]
        continues = own.begin > low if own.leaves_rightwards else own.end < high
        most = min(
            owner.length,
            high - own.begin if own.leaves_rightwards else own.end - low,
            ALIGNMENT.contained_end_max_bases,
        )
        if continues and own.length < most and owner.depth >= VERIFICATION.unspanned_min_depth_ratio * here.depth:
            sides = leaving if own.leaves_rightwards else entering
            sides.setdefault(own.contig, set()).add((own.begin, own.end))
    sums = np.concatenate([[0], np.cumsum(depth, dtype=np.int64)])

    def has_two(into: tuple[int, int], out: tuple[int, int], contig: int) -> bool:
        """Check whether the reads between two contained ends are of two copies."""
        low, high = into[1], out[0]
        n, rest = high - low, bounds[contig + 1] - bounds[contig] - (out[1] - into[0])
        if n < read_length or rest < out[1] - into[0]:
            return False
        others = int(sums[bounds[contig + 1]] - sums[bounds[contig]] - sums[out[1]] + sums[into[0]])
        one = others / rest * n / read_length
        if -float(log_odds_of_one(int(sums[high] - sums[low]) / read_length, one, one)) < _LOG_ODDS * spread:
            return False
        part = max(1, read_length // VERIFICATION.unspanned_windows_per_read)
        least = int((sums[low + part : high + 1] - sums[low : high - part + 1]).min())
        numerator, denominator = VERIFICATION.unspanned_window_ratio
        return denominator * least * rest >= numerator * others * part

    found = {
        (into[0], out[1])
        for contig in entering.keys() & leaving.keys()
        for into in entering[contig]
        for out in leaving[contig]
        if into[0] < out[0] and into[1] < out[1] and (out[0] < into[1] or has_two(into, out, contig))
    }
    return np.array(sorted(found, key=lambda row: (row[1] - row[0], row)), np.int64).reshape(-1, 2)
