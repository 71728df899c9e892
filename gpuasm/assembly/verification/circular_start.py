"""Choose the first base of circular contigs: where reads are clipped, if more are than chance explains.

A circular contig starts at its least k-mer by default. But some replicons have two forms: a plasmid that lacks a part
in some molecules, or a phage that is also in the chromosome. Reads of the other form are clipped at one place. The two
sides of that place are adjacent in some molecules only, so the linear sequence begins there, and the sequence common to
all molecules stays contiguous.

Reads are aligned to the circular contigs alone, so that sequence shared with other contigs shows as well. A fragment
counts once at a place. Chimeric molecules are clipped at random places, which a Poisson distribution models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments, align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.parameters import VERIFICATION
from gpuasm.sequence.encoding import NOT_A_BASE
from gpuasm.sequence.reads import Reads

_WINDOW = VERIFICATION.circular_start_window


def find_circular_starts(
    contigs: Sequence[Contig], batches: Iterable[Reads], *, typical: int, reach: int, xp: Any
) -> dict[int, int]:
    """Return the new first base of each circular contig that gets one, by the contig's number.

    Parameters
    ----------
    batches
        The reads, mates together; their mean length is ``typical``, that of the longest ``reach``.
    xp
        Namespace of the reads.
    """
    circular = [
        i
        for i, contig in enumerate(contigs)
        if contig.is_circular and contig.length >= VERIFICATION.circular_start_min_bases
    ]
    circular = [i for i in circular if (contigs[i].codes < NOT_A_BASE).all()]
    if not circular:
        return {}
    targets = Targets.of([contigs[i].codes for i in circular], [True] * len(circular), reach=reach, xp=xp)
    index, found = index_seeds(targets, typical), dict[int, int]()
    seen = [_clipped_places(reads, align_reads(reads, targets, index), targets) for reads in batches]
    place = np.unique(np.concatenate([np.empty((0, 2), np.int64), *seen]), axis=0)[:, 0]
    begin = np.cumsum([0, *(contigs[i].length for i in circular)])
    for i, first, end in zip(circular, begin[:-1], begin[1:], strict=True):
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
    xp, found = array_namespace(reads.packed), []
    start, size, offset = (to_namespace(xp, a) for a in (targets.start, targets.size, targets.offset))
    for own in aligned:
        is_clipped = (
            own.at + reads.length[own.segment] - own.end >= VERIFICATION.clipping_min_bases,
            own.begin - own.at >= VERIFICATION.clipping_min_bases,
        )
        for text, own_is_clipped in zip((own.end, own.begin), is_clipped, strict=True):
            rows = xp.flatnonzero(own.is_unique & own_is_clipped)
            fragment = reads.read[own.segment[rows]] // (2 if reads.paired else 1)
            target = own.target[rows]
            place = offset[target] + (text[rows] - start[target]) % size[target]
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
