"""Break an isolate's contigs at joins that fragments do not support or contradict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.assembly.alignment.contained_ends import ContainedEnd
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.contig import Contig
from gpuasm.assembly.coverage.copy_number import overdispersion
from gpuasm.assembly.pairs.spanning_fragments import BreakEvidence
from gpuasm.assembly.verification.collapsed_repeats import MissingBases, find_collapsed_repeats
from gpuasm.assembly.verification.discordant_pairs import find_discordant_joins
from gpuasm.assembly.verification.unspanned_repeats import find_unspanned_repeats

UNSUPPORTED_JOIN_RULES = ("discordant-pairs", "unspanned-repeats", "collapsed-repeats")
"""The rules, in the order in which they are applied."""


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
    contained_ends : sequence of ContainedEnd
        Free ends that contigs contain.
    targets : Targets
        What the reads are aligned to.
    read_length : int
        Bases of a typical read.
    """

    contigs: Sequence[Contig]
    bounds: np.ndarray
    depth: np.ndarray
    contained_ends: Sequence[ContainedEnd]
    targets: Targets
    read_length: int

    @cached_property
    def spread(self) -> float:
        """Variance of read counts in terms of Poisson's."""
        return overdispersion(self.depth, self.bounds, read_length=self.read_length)


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
        Number of places that each rule found.
    """

    place: np.ndarray
    missing: dict[int, MissingBases]
    counts: dict[str, int]


def find_unsupported_joins(
    breaks: np.ndarray, known: ContigEvidence, spans: BreakEvidence | None, *, rules: Collection[str]
) -> Breaks:
    """Add the unsupported joins to the places at which contigs are broken.

    Parameters
    ----------
    breaks : (n,) int64, ascending
        Places at which contigs are broken anyway.
    known
        The contigs, and what the aligned reads show of them.
    spans
        Reads and fragments, or None where no rule is used.
    rules
        The rules to use.
    """
    counts = {rule.replace("-", "_"): 0 for rule in UNSUPPORTED_JOIN_RULES}
    missing: dict[int, MissingBases] = {}
    if spans is None:
        return Breaks(breaks, missing, counts)

    def collapsed_repeats() -> np.ndarray:
        missing.update(find_collapsed_repeats(*spans.fragments, known.targets, breaks))
        return np.array([*missing], np.int64)

    def contained_repeats() -> np.ndarray:
        ends = known.contigs, known.contained_ends, known.depth
        return find_unspanned_repeats(*ends, read_length=known.read_length, spread=known.spread)

    tests: dict[str, Callable[[], np.ndarray]] = {
        "discordant-pairs": lambda: find_discordant_joins(spans, known.targets, breaks),
        "unspanned-repeats": lambda: spans.unspanned(known.targets, contained_repeats(), breaks),
        "collapsed-repeats": collapsed_repeats,
    }
    for rule in UNSUPPORTED_JOIN_RULES:
        if rule in rules:
            found = tests[rule]()
            counts[rule.replace("-", "_")] = int(found.size)
            breaks = np.union1d(breaks, found)
    return Breaks(breaks, missing, counts)
