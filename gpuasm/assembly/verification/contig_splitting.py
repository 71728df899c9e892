"""Where written contigs begin and end: split at breaks, without excluded bases; circular ones at their first base.

The first and the last part of a contig keep the ends of its unitig, which pairs may join, less the bases excluded
there. A part has no graph end at a break.

A circular contig starts at its least k-mer by default. But some replicons have two forms: a plasmid that lacks a part
in some molecules, or a phage that is also in the chromosome. Reads of the other form are clipped at one place. The two
sides of that place are adjacent in some molecules only, so the linear sequence begins there, and the sequence common to
all molecules stays contiguous. Reads are aligned to the circular contigs alone, so that sequence shared with other
contigs shows as well. A fragment counts once at a place. Chimeric molecules are clipped at random places, which a
Poisson distribution models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpuasm.arrays import array_namespace, to_host
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads, batches
from gpuasm.assembly.alignment.seed_index import Targets, targets_of
from gpuasm.assembly.contig import Contig, bounds_of, changed, in_order
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.primitives.runs import values_of_ranges
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class Cuts:
    """Places at which contigs are cut, among the bases of all contigs.

    Attributes
    ----------
    place : (n,) int64, ascending
        Breaks, and where excluded stretches begin and end.
    is_break : (n,) bool
        Whether the two sides of each do not belong together.
    """

    place: np.ndarray
    is_break: np.ndarray

    @classmethod
    def of(cls, breaks: np.ndarray, excluded: np.ndarray) -> Cuts:
        """Return cuts at breaks and at both ends of excluded stretches."""
        place = np.union1d(breaks, excluded)
        return cls(place, np.isin(place, breaks))

    def has_break(self, low: int, high: int) -> bool:
        """Return whether there is a break from ``low`` on and before ``high``."""
        return bool(self.is_break[slice(*np.searchsorted(self.place, [low, high]))].any())


@dataclass(frozen=True)
class Parts:
    """Parts of contigs, longest first.

    Attributes
    ----------
    contigs : list of Contig
    stretches : list of slice
        Their bases among those of all contigs, one part after the other; a circular contig may have two stretches.
    """

    contigs: list[Contig]
    stretches: list[slice]

    def take(self, values: np.ndarray) -> np.ndarray:
        """Return the values of the parts' bases, of an array over all bases."""
        begin, end = np.array([(own.start, own.stop) for own in self.stretches], np.int64).reshape(-1, 2).T
        return values_of_ranges(values, begin, end)


def split_contigs(
    contigs: Sequence[Contig],
    codes: np.ndarray,
    cuts: Cuts,
    *,
    is_excluded: np.ndarray,
    first_base: Mapping[int, int],
    min_length: int,
) -> Parts:
    """Return the contigs with their new bases, cut at places, circular ones from their new first base on.

    Parameters
    ----------
    codes, is_excluded : (n_places,) uint8 and bool
        All bases of the contigs, corrected, and which are excluded; there is a cut where that changes.
    first_base
        New first base of circular contigs, by number of the contig.
    min_length
        Shorter parts are dropped.
    """
    bounds = bounds_of(contigs)
    begin, n_cuts = bounds.tolist(), np.diff(np.searchsorted(cuts.place, bounds)).tolist()
    parts: list[tuple[Contig, list[slice]]] = []
    for number, contig in enumerate(contigs):
        low, high = begin[number], begin[number + 1]
        if not n_cuts[number]:
            if high - low >= min_length:
                first = low + first_base.get(number, 0)
                rotated = [slice(first, high), slice(low, first)] if first > low else [slice(low, high)]
                own = codes[low:high] if first == low else np.concatenate([codes[part] for part in rotated])
                parts.append((changed(contig, codes=own), rotated))
            continue
        rows = slice(*np.searchsorted(cuts.place, [low, high]).tolist())
        stretches = pairwise([low, *cuts.place[rows].tolist(), high])
        kept = [own for own in stretches if own[1] - own[0] >= max(1, min_length) and not is_excluded[own[0]]]
        parts += _with_ends(contig, kept, cuts, within=(low, high), codes=codes)
    order = in_order([contig for contig, _ in parts])
    return Parts([parts[i][0] for i in order], [own for i in order for own in parts[i][1]])


def _with_ends(
    contig: Contig, kept: Sequence[tuple[int, int]], cuts: Cuts, *, within: tuple[int, int], codes: np.ndarray
) -> list[tuple[Contig, list[slice]]]:
    """Return parts of a contig with the graph ends that they keep, and their stretches."""
    low, high = within
    found = []
    for i, (first, end) in enumerate(kept):
        has_right = i + 1 == len(kept) and not cuts.has_break(end, high)
        has_left = i == 0 and not cuts.has_break(low + 1, first + 1)
        ends = contig.ends[0] if has_right else -1, contig.ends[1] if has_left else -1
        right, left = contig.extended
        extended = right - (high - end) if has_right else 0, left - (first - low) if has_left else 0
        unitig = contig.unitig if has_right and has_left and not contig.is_circular else -1
        part = changed(contig, codes=codes[first:end], is_circular=False, unitig=unitig, ends=ends, extended=extended)
        found.append((part, [slice(first, end)]))
    return found


_WINDOW = VERIFICATION.circular_start_window


def find_circular_starts(contigs: Sequence[Contig], reads: Reads) -> dict[int, int]:
    """Return the new first base of each circular contig that gets one, by the contig's number."""
    least = VERIFICATION.circular_start_min_bases
    circular = [i for i, contig in enumerate(contigs) if contig.is_circular and contig.length >= least]
    circular = [i for i in circular if (contigs[i].codes < NOT_A_BASE).all()]
    if not circular:
        return {}
    chosen, found = [contigs[i] for i in circular], dict[int, int]()
    targets, index = targets_of(chosen, reads)
    seen = [_clipped_places(batch, align_reads(batch, targets, index), targets) for batch in batches(reads)]
    place = np.unique(np.concatenate([np.empty((0, 2), np.int64), *seen]), axis=0)[:, 0]
    for i, (first, end) in zip(circular, pairwise(bounds_of(chosen)), strict=True):
        low, high = np.searchsorted(place, (first, end))
        at = best_start(place[low:high] - first, int(end - first))
        if at is not None:
            found[i] = at
    return found


def _clipped_places(reads: Reads, aligned: tuple[Alignments, Alignments], targets: Targets) -> np.ndarray:
    """Return the places where reads are clipped, and the fragments of the reads: (n, 2) int64, on the host.

    A place is the first base behind an alignment, or the first base of one. A read that lacks a base is clipped there
    too, as molecules without it are another form.
    """
    xp, found, of_targets = array_namespace(reads.packed), [], targets.arrays
    for own in aligned:
        behind = own.at + reads.length[own.segment] - own.end
        for text, n_clipped in ((own.end, behind), (own.begin, own.begin - own.at)):
            rows = xp.flatnonzero(own.is_unique & (n_clipped >= VERIFICATION.clipping_min_bases))
            fragment = reads.read[own.segment[rows]] // (2 if reads.paired else 1)
            target = own.target[rows]
            place = of_targets.offset[target] + (text[rows] - of_targets.start[target]) % of_targets.size[target]
            found.append(to_host(xp.stack([place, fragment], axis=1)))
    return np.concatenate(found)


def best_start(place: np.ndarray, n: int) -> int | None:
    """Return the base of a circular contig at which most fragments are clipped, or None if chance explains as many.

    ``place`` are the places where fragments are clipped, ascending. Of n bases, many more than `circular_start_window`,
    the first window with the most places is taken, and in it the first base with the most. The places elsewhere give
    the mean of a Poisson distribution, whose tail beyond twice the mean is at most twice its first term.
    """
    if place.size == 0:
        return None
    twice_around = np.concatenate([place, place + n])
    many = np.searchsorted(twice_around, place + _WINDOW) - np.arange(place.size)
    best = int(np.argmax(many))
    m = int(many[best])
    mean = max(1, place.size - m) * _WINDOW / (n - _WINDOW)
    log_chance = math.log(2 * n) + m * math.log(mean) - mean - math.lgamma(m + 1)
    if m <= 2 * mean or log_chance >= math.log(VERIFICATION.circular_start_max_chance):
        return None
    at, times = np.unique(twice_around[best : best + m], return_counts=True)
    return int(at[np.argmax(times)]) % n
