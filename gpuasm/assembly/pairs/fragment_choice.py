"""Choosing a walk over a gap by fragments: how likely each walk makes those that end in it.

No read tells how many units a tandem repeat has that is longer than a read, and the pairs that link both ends may be
wrong about it, as of many units the longest fragments only reach from one side to the other. But each read that stands
beside the gap and runs towards it has a mate, and where that lies on a walk tells how long the fragment is. The right
walk makes these fragments as likely as those of all the sample are; a unit too few makes them too short, a unit too
many too long. A mate that may lie in several units is as likely as in all of them together.

Whether a read beside the gap stands beside it at all, or in a unit, is not asked of its place on the contig, which
holds some of the units only, but of the walks. (After Clark et al. 2013, doi:10.1093/bioinformatics/bts723, who so tell
how good a whole assembly is.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

LEAST_BITS = 8
"""By so many powers of 2 must fragments be likelier by the chosen walk than by each other one."""
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

    def inserts(self, read: bytes, before: int) -> Iterator[int]:
        """Yield the length of the read's fragment at each place where the read may lie."""
        at = self.text.find(read)
        while at >= 0:
            yield at + len(read) - self.source_end + before if before > 0 else self.target_start - before - at
            at = self.text.find(read, at + 1)


def choose_walk(
    candidates: Sequence[Candidate], reads: Sequence[tuple[bytes, int]], *, density: np.ndarray, length: int
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
    """
    mated = sorted((read, before) for read, before in reads if before)
    known = {before for _, before in mated if _stands_once(candidates, before, length)}
    likely = np.exp2(density / 256)
    rows = [[_likelihood(each, *read, likely) for each in candidates] for read in mated if read[1] in known]
    rows = [row for row in rows if any(row)]
    if len(rows) < LEAST_FRAGMENTS:
        return None
    least = float(likely.min())
    bits = [sum(math.log2(max(least, value)) for value in column) for column in zip(*rows, strict=True)]
    best = max(range(len(bits)), key=lambda i: (bits[i], candidates[i].text))
    expected = float((likely * density).sum() / likely.sum()) / 256
    is_told = all(bits[best] - bits[i] >= LEAST_BITS for i in range(len(bits)) if i != best)
    return best if is_told and bits[best] >= len(rows) * (expected - MOST_BITS_LOST) else None


def _stands_once(candidates: Sequence[Candidate], before: int, length: int) -> bool:
    """Tell whether a mate's bases stand in one place of every candidate: others may come from another unit."""
    for each in candidates:
        own = each.mate(before, length)
        if 2 * len(own) < length or each.text.find(own, each.text.find(own) + 1) >= 0:
            return False
    return True


def _likelihood(candidate: Candidate, read: bytes, before: int, likely: np.ndarray) -> float:
    """Return how likely a fragment is, in all places of its read, beside the likeliest length."""
    inserts = [insert for insert in candidate.inserts(read, before) if 0 < insert < likely.size]
    return float(sum(float(likely[insert]) for insert in inserts))
