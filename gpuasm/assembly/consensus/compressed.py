"""Compressed stretches: places that fragments span, but as far too short ones.

Where a unit of a tandem repeat is lost, or what is between two copies of a repeat that both stand there, reads still
fit on either side, and their mates face them. But the fragments across seem shorter by what is missing: the
compression-expansion statistic (Zimin et al. 2008, doi:10.1093/bioinformatics/btm542). A contig is broken where

1. the mean of the fragments across is 5.5 standard errors below what it should be, and so by a whole standard deviation
   of fragments: in real libraries their size shifts a little with the bases, and many show that clearly;
2. it is 40 bases below: fragments of another copy of a repeat may lie there as well, and copies differ by some bases;
3. half of what should lie across does, and ten: where mates of the longer ones have no place of their own, as between
   two repeats, those that are left are short, and fewer. Nine tenths do, where a contig ends within a fragment's reach:
   there most such places are. And
4. half of the fragments are at most as long as either side of the contig. What the mean should be where it ends nearer
   than the longest is told by those that fit.

Of places beside each other, the one counts where all fragments together are the most too short: there most of them lie
across what lost its bases. How many these are the lengths of the same fragments tell, some of which may be whole: those
that end in the unit that is left. Scaffolds have a gap of that size there. That too many bases stand somewhere is not
told: fragments across a repeat are longer than others, if mates of the shorter ones lie in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.consensus.targets import Targets

_ERRORS = 5.5
"""Standard errors that a mean must be below what is expected: chance has that once in fifty million places."""
_DEVIATIONS = 1.0
"""And standard deviations of single fragments."""
_BASES = 40
"""And bases."""
_SHARE, _SHARE_NEAR_ENDS, _LEAST = 0.5, 0.9, 10
"""Fragments across, as a share of those that are elsewhere, and at least."""
_BESIDE = 10
"""Bases of a fragment on either side of a place that it lies across."""
_SHARES = np.arange(1, 11) / 10
"""Shares of the fragments across that may lack bases: others end in the unit that is left, and are whole."""
_NEVER = 1e-12
"""Keeps a logarithm finite where a length is that of no fragment."""


@dataclass(frozen=True)
class Lack:
    """What a contig lacks at a place.

    Attributes
    ----------
    n_bases : int
    error : float
        Standard error of that.
    n_pairs : int
        Fragments across, which tell it.
    """

    n_bases: int
    error: float
    n_pairs: int


def find_compressed(begin: np.ndarray, end: np.ndarray, targets: Targets, known: np.ndarray) -> dict[int, Lack]:
    """Return the places of the contigs, ascending, that only far too short fragments span, and what is missing there.

    Parameters
    ----------
    begin, end : (m,) int64
        Where all fragments begin, ascending, and end, in text positions.
    targets
        What these lie on.
    known : (n,) int64, ascending
        Places at which contigs are broken anyway: within half of the fragments' length of one nothing is told.
    """
    length = end - begin
    if length.size == 0:
        return {}
    typical = int(np.median(length))
    sizes = _Sizes(np.bincount(np.maximum(length, 0)).astype(np.int64), int(targets.size.sum()), typical)
    found: dict[int, Lack] = {}
    for target in np.flatnonzero((targets.size > 2 * typical) & ~targets.is_circular).tolist():
        first, size, offset = int(targets.start[target]), int(targets.size[target]), int(targets.offset[target])
        rows = slice(*np.searchsorted(begin, [first, first + size]).tolist())
        own = _shortest((begin[rows] - first, end[rows] - first), size, sizes)
        found |= {offset + place: lack for place, lack in own.items()}
    half = typical // 2
    low, high = (np.searchsorted(known, np.array([*found], np.int64) + by) for by in (-half, half + 1))
    return {place: lack for (place, lack), is_clear in zip(found.items(), low == high, strict=True) if is_clear}


@dataclass(frozen=True)
class _Sizes:
    """How many fragments there are of each length, in all targets, the bases of these, and the middle length."""

    histogram: np.ndarray
    n_bases: int
    typical: int

    def across(self, before: int, behind: int) -> tuple[float, float, float]:
        """Return how many should lie across a place so far from both ends, their mean, and its standard deviation."""
        length = np.arange(self.histogram.size)
        ways = np.minimum(before - _BESIDE, before + behind - length) - np.maximum(0, before + _BESIDE - length) + 1
        weight = self.histogram * np.maximum(ways, 0)
        n = int(weight.sum())
        if n == 0:
            return 0.0, 0.0, 0.0
        mean = int((weight * length).sum()) / n
        return n / self.n_bases, mean, (int((weight * length * length).sum()) / n - mean * mean) ** 0.5

    def lacking(self, seeming: np.ndarray) -> tuple[int, float]:
        """Return how many bases fragments lack that are not whole, by their lengths (n,), and the share of these.

        The likeliest two numbers are taken. A fragment of n bases lies across in n - 2 * `_BESIDE` + 1 ways, whether it
        lacks bases or not.
        """
        length = np.arange(self.histogram.size)
        ways = np.maximum(length - 2 * _BESIDE + 1, 0)
        often = np.concatenate([self.histogram + 1, np.zeros(self.histogram.size, np.int64)])
        whole = (often[: length.size] * ways / int((often[: length.size] * ways).sum()))[seeming]
        best, found = -np.inf, (0, 1.0)
        for missing in range(1, length.size):
            shorter = often[missing : missing + length.size] * ways
            if not shorter.any():
                break
            lacking = (shorter / int(shorter.sum()))[seeming]
            likely = np.log(_SHARES[:, None] * lacking + (1 - _SHARES[:, None]) * whole + _NEVER).sum(axis=1)
            row = int(np.argmax(likely))
            if likely[row] > best:
                best, found = float(likely[row]), (missing, float(_SHARES[row]))
        return found


def _shortest(fragments: tuple[np.ndarray, np.ndarray], size: int, sizes: _Sizes) -> dict[int, Lack]:
    """Return the places of one target that fragments show to be too short, one of each run of them."""
    (begin, end), longest = fragments, sizes.histogram.size
    fits = (end <= size) & (end - begin >= 2 * _BESIDE)
    begin, end = begin[fits] + _BESIDE, end[fits] - _BESIDE
    n = np.cumsum(_counted(begin, size) - _counted(end, size))
    sums = np.cumsum(_counted(begin, size, end - begin) - _counted(end, size, end - begin)) + 2 * _BESIDE * n
    _, mean, deviation = sizes.across(longest, longest)
    short = np.maximum(0, mean * n - sums)  # by how many bases all of them together are too short
    is_low = (n >= _LEAST) & (short >= _DEVIATIONS * deviation * n) & (short >= _ERRORS * deviation * np.sqrt(n))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_low, [False]]).astype(np.int8))).reshape(-1, 2)
    found: dict[int, Lack] = {}
    for low, high in edges.tolist():
        place = low + int(np.argmax(short[low:high]))
        if not sizes.typical <= place <= size - sizes.typical:
            continue
        is_across = (begin <= place) & (end > place)
        lack = _lack_at((place, size - place), (end - begin)[is_across] + 2 * _BESIDE, sizes)
        if lack and (not found or place - max(found) >= longest // 2):
            found[place] = lack
    return found


def _lack_at(sides: tuple[int, int], across: np.ndarray, sizes: _Sizes) -> Lack | None:
    """Return what is missing at a place so far from both ends, if fragments across of these lengths show it."""
    longest, n = sizes.histogram.size, int(across.size)
    before, behind = min(sides[0], longest), min(sides[1], longest)
    share = _SHARE if before == behind == longest else _SHARE_NEAR_ENDS
    expected, usual, deviation = sizes.across(before, behind)
    by = usual - int(across.sum()) / n
    if by < max(_BASES, _DEVIATIONS * deviation, _ERRORS * deviation / n**0.5) or n < share * expected:
        return None
    missing, lacking = sizes.lacking(across)
    return Lack(missing, deviation / (lacking * n) ** 0.5, n)


def _counted(places: np.ndarray, size: int, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(places, weights, minlength=size + 1).astype(np.int64)
