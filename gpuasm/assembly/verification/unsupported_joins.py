"""Break contigs at joins that reads and fragments do not support or contradict: one table of tests, in their order.

Each test skips stretches with a break that an earlier one found. In a community only reads that are clipped are used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.assembly.alignment.contained_ends import find_contained_ends
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.coverage.copy_number import overdispersion
from gpuasm.assembly.pairs.spanning_fragments import BreakEvidence
from gpuasm.assembly.verification.clipping_breaks import ClippingBreakpoints, spaced_apart
from gpuasm.assembly.verification.collapsed_repeats import MissingBases, find_collapsed_repeats
from gpuasm.assembly.verification.discordant_pairs import find_discordant_joins
from gpuasm.assembly.verification.unspanned_repeats import find_unspanned_repeats

UNSUPPORTED_JOIN_RULES = ("discordant-pairs", "unspanned-repeats", "collapsed-repeats")
"""The rules that need fragments."""


@dataclass(frozen=True)
class ContigEvidence:
    """Contigs, and what the aligned reads show of them.

    Attributes
    ----------
    contigs : sequence of Contig
        The contigs.
    bounds : (n + 1,) int64
        The places where each begins, and the end.
    depth : (n_places,) int32
        Reads over each base.
    targets : Targets
        What the reads are aligned to.
    mean_read : float
        Mean bases of a read.
    breakpoints : ClippingBreakpoints
        Where reads are clipped.
    spans : BreakEvidence
        Reads and fragments, where a rule needs them.
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
    """Find the places at which contigs are broken.

    Parameters
    ----------
    known
        The contigs, and what the aligned reads show of them.
    rules
        The rules to use.
    """
    missing: dict[int, MissingBases] = {}

    def unspanned_repeats(place: np.ndarray) -> np.ndarray:
        ends, length = find_contained_ends(known.contigs), int(known.mean_read)
        stretches = find_unspanned_repeats(known.contigs, ends, known.depth, read_length=length, spread=known.spread)
        return known.spans.unspanned(known.targets, stretches, place)

    def collapsed_repeats(place: np.ndarray) -> np.ndarray:
        missing.update(find_collapsed_repeats(*known.spans.fragments, known.targets, place))
        return np.array([*missing], np.int64)

    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "clipping-breaks": lambda _: spaced_apart(
            known.breakpoints.unsupported(known.targets), read_length=round(known.mean_read)
        ),
        "discordant-pairs": lambda place: find_discordant_joins(known.spans, known.targets, place),
        "unspanned-repeats": unspanned_repeats,
        "collapsed-repeats": collapsed_repeats,
    }
    place, found = np.empty(0, np.int64), dict.fromkeys(tests, 0)
    for rule, test in tests.items():
        if rule in rules:
            own = test(place)
            place, found[rule] = np.union1d(place, own), int(own.size)
    return Breaks(place, missing, {rule.replace("-", "_"): found[rule] for rule in UNSUPPORTED_JOIN_RULES})
