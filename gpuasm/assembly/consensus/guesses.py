"""Guesses: the rules by which an isolate's contigs are broken because fragments do not show, or deny, a join."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuasm.assembly.consensus.compressed import Lack, find_compressed
from gpuasm.assembly.consensus.copy_odds import overdispersion
from gpuasm.assembly.consensus.ends_inside import Inside
from gpuasm.assembly.consensus.rival_ends import find_rivals
from gpuasm.assembly.consensus.spans import Spans
from gpuasm.assembly.consensus.stray_mates import find_contradicted
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.assembly.contigs import Contig

GUESSES = ("stray-mates", "rival-ends", "compressed")
"""The rules, in the order in which they are asked."""


@dataclass(frozen=True)
class OnContigs:
    """What is known of contigs.

    Attributes
    ----------
    contigs : sequence of Contig
    bounds : (n + 1,) int64
        The places where each begins, and the end.
    depth : (n_places,) int32
        Reads over each base.
    inside : sequence of Inside
        Where free ends stand within contigs.
    targets : Targets
        What reads were laid on.
    read_length : int
        Bases of a typical read.
    """

    contigs: Sequence[Contig]
    bounds: np.ndarray
    depth: np.ndarray
    inside: Sequence[Inside]
    targets: Targets
    read_length: int

    @cached_property
    def spread(self) -> float:
        """How many times as large as Poisson's the variance of reads is."""
        return overdispersion(self.depth, self.bounds, read_length=self.read_length)


@dataclass(frozen=True)
class Breaks:
    """Where contigs are broken.

    Attributes
    ----------
    place : (n,) int64, ascending
        Among the bases of all contigs.
    lacking : dict of int to Lack
        What is missing at some of them.
    counts : dict of str to int
        How many each rule found.
    """

    place: np.ndarray
    lacking: dict[int, Lack]
    counts: dict[str, int]


def find_guesses(breaks: np.ndarray, known: OnContigs, spans: Spans | None, *, without: Collection[str]) -> Breaks:
    """Return where contigs are broken, with the places that are guesses.

    Parameters
    ----------
    breaks : (n,) int64, ascending
        Places at which contigs are broken anyway.
    known
        What is known of the contigs.
    spans
        What fragments say, or None where all rules are left out.
    without
        Rules to leave out.
    """
    counts = {rule.replace("-", "_"): 0 for rule in GUESSES}
    lacking: dict[int, Lack] = {}
    if spans is None:
        return Breaks(breaks, lacking, counts)

    def compressed() -> np.ndarray:
        lacking.update(find_compressed(*spans.fragments, known.targets, breaks))
        return np.array([*lacking], np.int64)

    def rivals() -> np.ndarray:
        ends = known.contigs, known.inside, known.depth
        return find_rivals(*ends, read_length=known.read_length, spread=known.spread)

    rules: dict[str, Callable[[], np.ndarray]] = {
        "stray-mates": lambda: find_contradicted(spans, known.targets, breaks),
        "rival-ends": lambda: spans.unspanned(known.targets, rivals(), breaks),
        "compressed": compressed,
    }
    for rule in GUESSES:
        if rule not in without:
            found = rules[rule]()
            counts[rule.replace("-", "_")] = int(found.size)
            breaks = np.union1d(breaks, found)
    return Breaks(breaks, lacking, counts)
