"""Break contigs at collapsed repeats: places that all spanning fragments cross with too short an insert.

Where a unit of a tandem repeat, or the sequence between two repeat copies, is missing, reads and pairs still align on
either side. But the spanning fragments seem shorter by the missing bases: the compression-expansion statistic (Zimin et
al. 2008, doi:10.1093/bioinformatics/btm542). A contig is broken at a place where all of these hold:

1. the mean of the spanning fragments is `collapsed_min_errors` standard errors below the expected mean, and by
   `collapsed_min_deviations` standard deviations of fragments, as insert sizes vary a little with the bases;
2. it is `collapsed_min_bases` below, as fragments of another repeat copy may align there, and copies differ a little;
3. at least `collapsed_min_share` of the expected fragments span it, as a sample without mates in repeats is biased;
   near a contig end, where most biased samples are, `collapsed_min_share_near_ends`; and
4. either side of the contig is at least as long as the median fragment.

Of adjacent places, the one with the greatest total of missing bases counts. The lengths of its fragments give the most
likely number of missing bases, where some fragments may be complete; scaffolds have a gap of that size. Expanded
repeats are not reported: fragments that span a repeat are longer on average, as mates of shorter ones align to all
copies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.parameters import VERIFICATION

_ERRORS, _DEVIATIONS = VERIFICATION.collapsed_min_errors, VERIFICATION.collapsed_min_deviations
_FLANK = VERIFICATION.collapsed_flank
_SHARES = np.arange(1, VERIFICATION.collapsed_share_steps + 1) / VERIFICATION.collapsed_share_steps
"""Shares of the spanning fragments that may lack bases; the others end in the unit that is left."""


@dataclass(frozen=True)
class MissingBases:
    """The bases that a contig lacks at a place.

    Attributes
    ----------
    n_bases : int
        Most likely number.
    error : float
        Its standard error.
    n_pairs : int
        Fragments that span the place.
    """

    n_bases: int
    error: float
    n_pairs: int


def find_collapsed_repeats(
    begin: np.ndarray, end: np.ndarray, targets: Targets, known: np.ndarray
) -> dict[int, MissingBases]:
    """Find the places of contigs that only too short fragments span, ascending, and the bases missing there.

    Parameters
    ----------
    begin, end : (m,) int64
        Begin of each fragment, ascending, and end, in text positions.
    targets
        What the reads are aligned to.
    known : (n,) int64, ascending
        Places at which contigs are broken anyway; within half the median fragment of them nothing is reported.
    """
    length = end - begin
    if length.size == 0:
        return {}
    typical = int(np.median(length))
    sizes = FragmentLengths(np.bincount(np.maximum(length, 0)).astype(np.int64), int(targets.size.sum()), typical)
    found: dict[int, MissingBases] = {}
    for target in np.flatnonzero((targets.size > 2 * typical) & ~targets.is_circular).tolist():
        first, size, offset = int(targets.start[target]), int(targets.size[target]), int(targets.offset[target])
        rows = slice(*np.searchsorted(begin, [first, first + size]).tolist())
        own = _find_in_target((begin[rows] - first, end[rows] - first), size, sizes)
        found |= {offset + place: gap for place, gap in own.items()}
    half = typical // 2
    low, high = (np.searchsorted(known, np.array([*found], np.int64) + by) for by in (-half, half + 1))
    return {place: gap for (place, gap), is_clear in zip(found.items(), low == high, strict=True) if is_clear}


@dataclass(frozen=True)
class FragmentLengths:
    """Number of fragments of each length, bases of all targets, and the median length."""

    histogram: np.ndarray
    n_bases: int
    typical: int

    def across(self, before: int, behind: int) -> tuple[float, float, float]:
        """Return expected number, mean and standard deviation of the fragments that span a place, by its sides."""
        length = np.arange(self.histogram.size)
        positions = np.minimum(before - _FLANK, before + behind - length) - np.maximum(0, before + _FLANK - length) + 1
        weight = self.histogram * np.maximum(positions, 0)
        n = int(weight.sum())
        if n == 0:
            return 0.0, 0.0, 0.0
        mean = int((weight * length).sum()) / n
        return n / self.n_bases, mean, (int((weight * length * length).sum()) / n - mean * mean) ** 0.5

    def most_likely_missing(self, apparent: np.ndarray) -> tuple[int, float]:
        """Return the most likely number of missing bases, from apparent lengths (n,), and the share of fragments.

        A fragment of n bases can span a place at n - 2 * `_FLANK` + 1 positions, whether it lacks bases or not.
        """
        length = np.arange(self.histogram.size)
        positions = np.maximum(length - 2 * _FLANK + 1, 0)
        n_of_length = np.concatenate([self.histogram + 1, np.zeros(self.histogram.size, np.int64)])
        whole = (n_of_length[: length.size] * positions / int((n_of_length[: length.size] * positions).sum()))[apparent]
        best, found = -np.inf, (0, 1.0)
        for missing in range(1, length.size):
            shorter = n_of_length[missing : missing + length.size] * positions
            if not shorter.any():
                break
            incomplete = (shorter / int(shorter.sum()))[apparent]
            likely = np.log(
                _SHARES[:, None] * incomplete + (1 - _SHARES[:, None]) * whole + VERIFICATION.collapsed_min_likelihood
            ).sum(axis=1)
            row = int(np.argmax(likely))
            if likely[row] > best:
                best, found = float(likely[row]), (missing, float(_SHARES[row]))
        return found


def _find_in_target(
    fragments: tuple[np.ndarray, np.ndarray], size: int, sizes: FragmentLengths
) -> dict[int, MissingBases]:
    """Find the collapsed places of one target, one in each run of places."""
    (begin, end), longest = fragments, sizes.histogram.size
    fits = (end <= size) & (end - begin >= 2 * _FLANK)
    begin, end = begin[fits] + _FLANK, end[fits] - _FLANK
    n = np.cumsum(_counts_by_place(begin, size) - _counts_by_place(end, size))
    sums = (
        np.cumsum(_counts_by_place(begin, size, end - begin) - _counts_by_place(end, size, end - begin))
        + 2 * _FLANK * n
    )
    _, mean, deviation = sizes.across(longest, longest)
    short = np.maximum(0, mean * n - sums)  # missing bases of all of them together
    is_low = (
        (n >= VERIFICATION.collapsed_min_fragments)
        & (short >= _DEVIATIONS * deviation * n)
        & (short >= _ERRORS * deviation * np.sqrt(n))
    )
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_low, [False]]).astype(np.int8))).reshape(-1, 2)
    found: dict[int, MissingBases] = {}
    for low, high in edges.tolist():
        place = low + int(np.argmax(short[low:high]))
        if not sizes.typical <= place <= size - sizes.typical:
            continue
        is_across = (begin <= place) & (end > place)
        gap = _missing_bases_at((place, size - place), (end - begin)[is_across] + 2 * _FLANK, sizes)
        if gap and (not found or place - max(found) >= longest // 2):
            found[place] = gap
    return found


def _missing_bases_at(sides: tuple[int, int], across: np.ndarray, sizes: FragmentLengths) -> MissingBases | None:
    """Return the bases missing at a place, by its distances to both ends and the lengths of spanning fragments."""
    longest, n = sizes.histogram.size, int(across.size)
    before, behind = min(sides[0], longest), min(sides[1], longest)
    is_inner = before == behind == longest
    share = VERIFICATION.collapsed_min_share if is_inner else VERIFICATION.collapsed_min_share_near_ends
    expected, usual, deviation = sizes.across(before, behind)
    by = usual - int(across.sum()) / n
    if (
        by < max(VERIFICATION.collapsed_min_bases, _DEVIATIONS * deviation, _ERRORS * deviation / n**0.5)
        or n < share * expected
    ):
        return None
    missing, share_incomplete = sizes.most_likely_missing(across)
    return MissingBases(missing, deviation / (share_incomplete * n) ** 0.5, n)


def _counts_by_place(places: np.ndarray, size: int, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(places, weights, minlength=size + 1).astype(np.int64)
