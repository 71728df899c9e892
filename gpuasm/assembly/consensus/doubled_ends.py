"""Doubled ends: what the end of a contig tells, though others tell it already, and the genome has it once less.

Pairs that are joined along a wrong way make a text that begins in one place of a genome and ends in another, or one in
which the bases of two copies of a repeat take turns. The true texts have contigs of their own, and no read contradicts
the false one: each lies elsewhere as well as there. But if the genome had all these texts, they would have more reads.

So an end is looked at as far as no read has a place of its own there. Other contigs say nearly the same
(`near_places`): m of them at a base, each with as many reads as its contig has elsewhere, if the genome has it. Reads
on all of them together are of m copies or of m + 1 (`copy_odds`). Of the bases at the end, those are left out on
which reads are the likeliest of m, if they are a hundred times as likely, and what is left beside them of less than a
read's length. The ends for which that is the likeliest go first, since one that is gone no longer stands for a copy of
the others. Where depth varies more than by chance, the odds are the less for it, and must be four to one still. A
contig that has no read of its own may go as a whole, and an end that leads on in the graph may go as well as another.
Where molecules end, as those of a virus do in two copies of a repeat, fewer reads say nothing, and nothing goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from gpuasm.assembly.consensus.copy_odds import log_odds_of_one
from gpuasm.assembly.consensus.near_places import Near, near_places
from gpuasm.assembly.contigs import Contig, bounds_of, single_copy_depth

_ODDS, _ODDS_AS_IT_VARIES = log(100), log(4)
"""One copy less must be as many times as likely by Poisson's distribution, and as depth varies, as logarithms."""
_READS = 10
"""Lengths of a read from which on the middle depth of a contig is that of its copies: of less it is the genome's."""
_OUTER, _LEAST = 10, 5
"""Last bases of a contig, which have a fifth of the reads on all that would go at least, but where molecules end."""
_NONE = -1e3
"""Odds of a base that nothing else tells."""


def find_doubled(
    contigs: Sequence[Contig], depth: np.ndarray, own_depth: np.ndarray, *, read_length: int, spread: float
) -> np.ndarray:
    """Return the bases at ends that other contigs tell, and the genome has once less: (n, 2) int64.

    Parameters
    ----------
    contigs
        All contigs.
    depth : (n_places,) int32
        Reads over each base of all contigs, each read in one place.
    own_depth : (n_places,) int32
        Those of them that lie nowhere else as well.
    read_length
        Bases of a typical read: what is shorter is left.
    spread
        How many times as large as Poisson's the variance of reads is.

    Returns
    -------
    (n, 2) int64
        From where to where they are among the bases of all contigs.
    """
    bounds = bounds_of(contigs)
    ends = _unread(contigs, own_depth, bounds, read_length)
    if not ends or read_length == 0:
        return np.empty((0, 2), np.int64)
    codes = np.concatenate([contig.codes for contig in contigs])
    copy_depth = _copy_depths(depth, bounds, read_length)
    told = _Told(depth, np.ones(depth.size, bool), bounds, copy_depth, read_length * spread)
    near = near_places(codes, bounds, ends)
    beside = [_contigs_of(own, stretch, bounds) for own, stretch in zip(near, ends, strict=True)]
    odds = [told.least_likely(stretch, own) for stretch, own in zip(ends, near, strict=True)]
    found: list[tuple[int, int]] = []
    while True:
        best, low, high = max(odds)
        if best < max(_ODDS / spread, _ODDS_AS_IT_VARIES):
            return np.array(sorted(found), np.int64).reshape(-1, 2)
        row = odds.index((best, low, high))
        if high - low < read_length:
            odds[row] = (0.0, 0, 0)
            continue
        begin, end = ends[row]
        low, high = begin if low - begin < read_length else low, end if end - high < read_length else high
        found.append((low, high))
        told.stands[low:high] = False
        contig = int(np.searchsorted(bounds, low, side="right")) - 1
        for i in (i for i, others in enumerate(beside) if contig in others):
            odds[i] = told.least_likely(ends[i], near[i])


def _unread(
    contigs: Sequence[Contig], own_depth: np.ndarray, bounds: np.ndarray, read_length: int
) -> list[tuple[int, int]]:
    """Return the stretches from ends on, of a read's length and more, where no read has a place of its own."""
    found: set[tuple[int, int]] = set()
    for contig, (low, high) in zip(contigs, pairwise(bounds.tolist()), strict=True):
        if contig.is_circular or contig.length < read_length:
            continue
        own = np.flatnonzero(own_depth[low:high])
        first, last = (int(own[0]), int(own[-1]) + 1) if own.size else (contig.length, 0)
        found |= {(low, low + first)} if first >= read_length else set()
        found |= {(low + last, high)} if contig.length - last >= read_length else set()
    return sorted(found)


def _contigs_of(near: Sequence[Near], stretch: tuple[int, int], bounds: np.ndarray) -> set[int]:
    places = [stretch[0], *(own.begin for own in near)]
    return set((np.searchsorted(bounds, places, side="right") - 1).tolist())


def _copy_depths(depth: np.ndarray, bounds: np.ndarray, read_length: int) -> np.ndarray:
    """Return how deep what each contig tells is where it is long enough to say so, elsewhere one copy: (n,) float64."""
    length = np.diff(bounds)
    middle = np.array([np.median(depth[low:high]) for low, high in pairwise(bounds.tolist())])
    return np.where(length >= _READS * read_length, middle, single_copy_depth(length, middle))


@dataclass(frozen=True)
class _Told:
    """Reads on contigs, and which of their bases still stand for a copy."""

    depth: np.ndarray
    stands: np.ndarray
    bounds: np.ndarray
    copy_depth: np.ndarray
    per_read: float
    """Bases of depth that count as one read of Poisson's: those of a read, and more where depth varies more."""

    def least_likely(self, stretch: tuple[int, int], near: Sequence[Near]) -> tuple[float, int, int]:
        """Return the bases of a stretch that are the least likely to stand for a copy, after the odds against that."""
        low, high = stretch
        reads = self.depth[low:high].astype(np.int64)
        others = np.zeros(high - low)
        for own in near:
            step = -1 if own.turned else 1
            reads[own.low : own.high] += self.depth[own.begin : own.end][::step]
            others[own.low : own.high] += self.stands[own.begin : own.end][::step] * self._copy_depth(own.begin)
        odds = log_odds_of_one(reads, others, self._copy_depth(low))
        odds = np.where((others > 0) & self.stands[low:high], odds, _NONE)
        sums = np.concatenate([[0.0], np.cumsum(odds / self.per_read)])
        least = np.minimum.accumulate(sums)
        end = int(np.argmax(sums - least))
        begin = int(np.argmax(sums == least[end]))
        outer = {low + begin: reads[:_OUTER], low + end: reads[-_OUTER:]}
        mean = float(reads[begin:end].mean()) if end > begin else 0.0
        if any(_LEAST * own.mean() < mean for at, own in outer.items() if at in self.bounds):
            return 0.0, low, low
        return float(sums[end] - sums[begin]), low + begin, low + end

    def _copy_depth(self, place: int) -> float:
        return float(self.copy_depth[int(np.searchsorted(self.bounds, place, side="right")) - 1])
