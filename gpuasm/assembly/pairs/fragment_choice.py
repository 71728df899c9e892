"""Choosing a walk over a gap by fragments: how likely each walk makes those that end in it.

No read tells how many units a tandem repeat has that is longer than a read, and the pairs that link both ends may be
wrong about it, as of many units the longest fragments only reach from one side to the other. But each read that stands
beside the gap and runs towards it has a mate, and where that lies on a walk tells how long the fragment is. The right
walk makes these fragments as likely as those of all the sample are; a unit too few makes them too short, a unit too
many too long. A mate that may lie in several units is as likely as in all of them together.

Whether a read beside the gap stands beside it at all, or in a unit, is not asked of its place on the contig, which
holds some of the units only, but of the walks. A fragment that goes from one side to the other is asked once, from the
source. The others that end beside the target begin in the gap, and are so likely among those only that would do so: the
shorter ones. (After Clark et al. 2013, doi:10.1093/bioinformatics/bts723, who so tell how good a whole assembly is.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.pairs.walk_places import places_on

LEAST_BITS = 6
"""By so many powers of 2 must fragments be likelier by the chosen walk than by each other one: as each is asked once, a
wrong walk is chosen once in 64 times at most. In 14 libraries no wrong one was likelier by more than 1.5."""
LEAST_FRAGMENTS = 10
"""Fragments that lie on walks, for them to be like those of all the sample."""
MOST_BITS_LOST = 0.5
"""Powers of 2 by which a fragment on the chosen walk may be less likely, on the mean, than one of all the sample: where
the right walk is not among them, or the ends are no neighbours, they are less likely by more."""


@dataclass(frozen=True)
class Candidate:
    """A walk, with what lies beside it.

    Attributes
    ----------
    text : bytes
        Codes, those of both ends before and behind the gap included.
    source_end, target_start : int
        Where in it the source ends, and where the target begins.
    """

    text: bytes
    source_end: int
    target_start: int

    def mate(self, before: int, length: int) -> bytes:
        """Return the bases where a read's mate stands; see `choose_walk` for ``before``."""
        if before > 0:
            return self.text[max(0, self.source_end - before) :][:length]
        return self.text[: max(0, self.target_start - before)][-length:]


def choose_walk(
    candidates: Sequence[Candidate],
    reads: Sequence[tuple[bytes, int]],
    *,
    density: np.ndarray,
    length: int,
    beside: int,
) -> int | None:
    """Return which candidate fragments tell from each other one, or None.

    Parameters
    ----------
    candidates
        All walks that there may be.
    reads
        Codes of reads, each with how many bases before the source's end its mate begins, which faces the read; less
        than 0 where that stands behind the target's start, 0 where it is not known. Their order does not matter.
    density : (longest + 1,) int32
        How likely each length of a fragment is, as
        `gpuasm.assembly.carrying.insert_sizes.InsertSizes.log2_density` gives it.
    length
        Bases of a typical read.
    beside
        Bases behind the target's start, or before the source's end, beyond which no read is among these.
    """
    if not candidates:
        return None
    near, far = (_once_from(candidates, length, (side * density.size, side)) for side in (1, -1))
    mated = sorted((read, before) for read, before in reads if before >= near or -before >= far)
    places = places_on([each.text for each in candidates], [read for read, _ in mated])
    fragments = _Fragments.of(candidates, density, (near, beside))
    rows = [fragments.likely(*read, *at) for read, at in zip(mated, places, strict=True)]
    rows = [row for row in rows if row.any()]
    if len(rows) < LEAST_FRAGMENTS:
        return None
    bits = np.log2(np.maximum(fragments.density.min(), rows)).sum(axis=0).tolist()
    best = max(range(len(bits)), key=lambda i: (bits[i], candidates[i].text))
    is_told = all(bits[best] - bits[i] >= LEAST_BITS for i in range(len(bits)) if i != best)
    expected = float((fragments.density * density).sum() / fragments.density.sum()) / 256
    return best if is_told and bits[best] >= len(rows) * (expected - MOST_BITS_LOST) else None


def _once_from(candidates: Sequence[Candidate], length: int, farthest: tuple[int, int]) -> int:
    """Return the bases between a mate and its end from which on mates stand in one place of every candidate.

    Others may come from another unit. ``farthest`` is where to begin, and 1 or -1 for the source's or the target's.
    """
    before, side = farthest
    while before and _stands_once(candidates, before, length):
        before -= side
    return abs(before) + 1


def _stands_once(candidates: Sequence[Candidate], before: int, length: int) -> bool:
    """Tell whether a mate's bases stand in one place of every candidate."""
    for each in candidates:
        own = each.mate(before, length)
        if 2 * len(own) < length or each.text.find(own, each.text.find(own) + 1) >= 0:
            return False
    return True


@dataclass(frozen=True)
class _Fragments:
    """How likely fragments are on candidates.

    Attributes
    ----------
    source_end, gap : (n_candidates,) int64
        Where the source ends, and bases between it and the target.
    density, up_to : (longest + 1,) float64
        How likely a fragment of each length is, beside the likeliest, and the share of fragments not longer than it.
    near, beside : int
        Fragments that begin so far before the source's end are told by their mates there; see also `choose_walk`.
    """

    source_end: np.ndarray
    gap: np.ndarray
    density: np.ndarray
    up_to: np.ndarray
    near: int
    beside: int

    @classmethod
    def of(cls, candidates: Sequence[Candidate], log2_density: np.ndarray, reach: tuple[int, int]) -> _Fragments:
        source_end, target_start = (
            np.array([getattr(each, name) for each in candidates], np.int64) for name in ("source_end", "target_start")
        )
        density = np.exp2(log2_density / 256)
        return cls(source_end, target_start - source_end, density, np.cumsum(density) / density.sum(), *reach)

    def likely(self, read: bytes, before: int, candidate: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return how likely the fragment of a read at some places is on each candidate, among those asked for."""
        from_end = at - self.source_end[candidate]
        if before > 0:
            insert, most = from_end + len(read) + before, self.gap + before + self.beside
        else:
            insert, most = self.gap[candidate] - before - from_end, self.gap - before + self.near - 1
        asked = (insert > 0) & (insert < np.minimum(self.density.size, most[candidate] + 1))
        summed = np.bincount(candidate[asked], self.density[insert[asked]], minlength=self.gap.size)
        share = self.up_to[np.clip(most, 0, self.density.size - 1)]
        return np.where(summed > 0, summed / np.maximum(share, self.up_to[1]), 0.0)
