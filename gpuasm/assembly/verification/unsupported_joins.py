"""Break contigs at joins that reads and fragments do not support or contradict: one table of tests, in their order.

Each test skips stretches with a break that an earlier one found. In a community only reads that are clipped are used.

**Collapsed repeats** are places that all spanning fragments cross with too short an insert. Where a unit of a tandem
repeat, or the sequence between two repeat copies, is missing, reads and pairs still align on either side. But the
spanning fragments seem shorter by the missing bases: the compression-expansion statistic (Zimin et al. 2008,
doi:10.1093/bioinformatics/btm542). A contig is broken at a place where all of these hold:

1. the mean of the spanning fragments is `collapsed_min_errors` standard errors below the expected mean, and by
   `collapsed_min_deviations` standard deviations of fragments, as insert sizes vary a little with the bases;
2. it is `collapsed_min_bases` below, as fragments of another repeat copy may align there, and copies differ a little;
3. at least half of the expected fragments span it, as a sample without mates in repeats is biased;
   near a contig end, where most biased samples are, `collapsed_min_share_near_ends`; and
4. either side of the contig is at least as long as the median fragment.

Of adjacent places, the one with the greatest total of missing bases counts. The lengths of its fragments give the most
likely number of missing bases, where some fragments may be complete; scaffolds have a gap of that size. Expanded
repeats are not reported: fragments that span a repeat are longer on average, as mates of shorter ones align to all
copies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.coverage.copy_number import overdispersion
from gpuasm.assembly.pairs.insert_sizes import placements_of_lengths
from gpuasm.assembly.parameters import FRAGMENTS, VERIFICATION
from gpuasm.assembly.verification.read_evidence import BreakEvidence, ClippingBreakpoints, spaced_apart
from gpuasm.assembly.verification.unspanned_joins import find_discordant_joins

UNSUPPORTED_JOIN_RULES = ("discordant-pairs", "collapsed-repeats")
"""The rules that need fragments."""
_ERRORS, _DEVIATIONS = VERIFICATION.collapsed_min_errors, VERIFICATION.collapsed_min_deviations
_NO_ZERO = 1e-12
"""Keeps a logarithm finite."""
_FLANK, _LEAST = VERIFICATION.cover_beyond, FRAGMENTS.sample_min_fragments
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


@dataclass(frozen=True)
class ContigEvidence:
    """Contigs, and what the aligned reads show of them.

    Attributes
    ----------
    contigs, bounds
        The contigs, and the places where each begins.
    depth : (n_places,) int32
        Reads over each base.
    targets : Targets
        What the reads are aligned to.
    mean_read : float
        Mean bases of a read.
    breakpoints, spans
        Where reads are clipped; reads and fragments, where a rule needs them.
    """

    contigs: Sequence[Contig]
    bounds: np.ndarray
    depth: np.ndarray
    targets: Targets
    mean_read: float
    breakpoints: ClippingBreakpoints
    spans: BreakEvidence

    @cached_property
    def spread(self) -> float:
        """Variance of read counts in terms of Poisson's."""
        return overdispersion(self.depth, self.bounds, read_length=int(self.mean_read))


@dataclass(frozen=True)
class Breaks:
    """Places at which contigs are broken.

    Attributes
    ----------
    place : (n,) int64, ascending
        Among the bases of all contigs.
    missing : dict of int to MissingBases
        The bases missing at some of them.
    counts : dict of str to int
        Number of places that each rule of fragments found.
    """

    place: np.ndarray
    missing: dict[int, MissingBases]
    counts: dict[str, int]


def find_breaks(known: ContigEvidence, *, rules: Collection[str]) -> Breaks:
    """Find the places at which contigs are broken."""
    missing: dict[int, MissingBases] = {}

    def collapsed_repeats(place: np.ndarray) -> np.ndarray:
        missing.update(find_collapsed_repeats(*known.spans.fragments, known.targets, place))
        return np.array([*missing], np.int64)

    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "clipping-breaks": lambda _: spaced_apart(
            known.breakpoints.unsupported(known.targets), read_length=round(known.mean_read)
        ),
        "discordant-pairs": lambda place: find_discordant_joins(known.spans, known.targets, place),
        "collapsed-repeats": collapsed_repeats,
    }
    place, found = np.empty(0, np.int64), dict.fromkeys(tests, 0)
    for rule, test in tests.items():
        if rule in rules:
            own = test(place)
            place, found[rule] = np.union1d(place, own), int(own.size)
    return Breaks(place, missing, {rule.replace("-", "_"): found[rule] for rule in UNSUPPORTED_JOIN_RULES})


def find_collapsed_repeats(
    begin: np.ndarray, end: np.ndarray, targets: Targets, known: np.ndarray
) -> dict[int, MissingBases]:
    """Find the places of contigs that only too short fragments span, ascending, and the bases missing there.

    ``begin``, ascending, and ``end`` are the text positions of fragments. Contigs are broken anyway at the places
    ``known``; within half the median fragment of them nothing is reported.
    """
    length = end - begin
    if length.size == 0:
        return {}
    typical = int(np.median(length))
    sizes = FragmentLengths(np.bincount(np.maximum(length, 0)).astype(np.int64), int(targets.size.sum()), typical)
    found: dict[int, MissingBases] = {}
    long_targets = np.flatnonzero((targets.size > 2 * typical) & ~targets.is_circular)
    for target in long_targets.tolist():
        first, size, offset = int(targets.start[target]), int(targets.size[target]), int(targets.offset[target])
        rows = slice(*np.searchsorted(begin, [first, first + size]).tolist())
        own = _missing_in_target(begin[rows] - first, end[rows] - first, size, sizes=sizes)
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
        weight = self.histogram * placements_of_lengths(length, _FLANK, (before, behind))
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
        positions = placements_of_lengths(length, _FLANK, (length.size, length.size))
        n_of_length = np.concatenate([self.histogram + 1, np.zeros(self.histogram.size, np.int64)])
        whole = (n_of_length[: length.size] * positions / int((n_of_length[: length.size] * positions).sum()))[apparent]
        best, found = -np.inf, (0, 1.0)
        for missing in range(1, length.size):
            shorter = n_of_length[missing : missing + length.size] * positions
            if not shorter.any():
                break
            incomplete = (shorter / int(shorter.sum()))[apparent]
            likely = np.log(_SHARES[:, None] * incomplete + (1 - _SHARES[:, None]) * whole + _NO_ZERO).sum(axis=1)
            row = int(np.argmax(likely))
            if likely[row] > best:
                best, found = float(likely[row]), (missing, float(_SHARES[row]))
        return found


def _places_of_shortest(begin: np.ndarray, end: np.ndarray, size: int, sizes: FragmentLengths) -> np.ndarray:
    """Return the place with most missing bases of each run of places that only too short fragments span.

    ``begin`` and ``end`` bound the places of a target that each fragment spans. The places are ascending: (n,) int64.
    """
    longest, n, total = sizes.histogram.size, np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    length = end - begin + 2 * _FLANK
    for at, sign in ((begin, 1), (end, -1)):
        np.add.at(n, at, sign)
        np.add.at(total, at, sign * length)
    np.cumsum(n, out=n)
    np.cumsum(total, out=total)
    _, mean, deviation = sizes.across(longest, longest)
    short = np.maximum(0.0, mean * n - total)  # missing bases of all of them together
    is_low = (n >= _LEAST) & (short >= _DEVIATIONS * deviation * n) & (short >= _ERRORS * deviation * np.sqrt(n))
    runs = np.flatnonzero(np.diff(is_low, prepend=False, append=False)).reshape(-1, 2).tolist()
    return np.array([first + int(np.argmax(short[first:last])) for first, last in runs], np.int64)


def _missing_in_target(
    begin: np.ndarray, end: np.ndarray, size: int, *, sizes: FragmentLengths
) -> dict[int, MissingBases]:
    """Return the bases missing at those places of a target where they are enough, one place in each fragment length."""
    longest = sizes.histogram.size
    fits = (end <= size) & (end - begin >= 2 * _FLANK)
    begin, end = begin[fits] + _FLANK, end[fits] - _FLANK
    found: dict[int, MissingBases] = {}
    places = _places_of_shortest(begin, end, size, sizes)
    for place in places[(places >= sizes.typical) & (places <= size - sizes.typical)].tolist():
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
    share = 0.5 if is_inner else VERIFICATION.collapsed_min_share_near_ends
    expected, usual, deviation = sizes.across(before, behind)
    by = usual - int(across.sum()) / n
    if (
        by < max(VERIFICATION.collapsed_min_bases, _DEVIATIONS * deviation, _ERRORS * deviation / n**0.5)
        or n < share * expected
    ):
        return None
    missing, share_incomplete = sizes.most_likely_missing(across)
    return MissingBases(missing, deviation / (share_incomplete * n) ** 0.5, n)
