"""Spans: reads with places of their own, and what fragments span, for the rules that break an isolate's contigs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.consensus.fragments import Fragments, Strays
from gpuasm.assembly.consensus.laying import Laid
from gpuasm.assembly.consensus.spanning import count_places, unspanned_middles
from gpuasm.assembly.consensus.targets import Targets
from gpuasm.primitives.stable_order import stable_order


@dataclass
class Spans:
    """Reads with places of their own, and fragments, batch by batch, on the host: sums of integers.

    Attributes
    ----------
    rightwards, leftwards : (n_text + 1,) int32
        How many reads begin at each text position and are read to the right; and how many end before it and are read
        to the left.
    begin, end : list of (n,) int64
        Where fragments begin and end, in text positions.
    strays : list of (3, n) int64
        Begin, end and direction of strays, as in `Strays`.
    read_length : int
        Bases of a typical read.
    """

    rightwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    leftwards: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int32))
    begin: list[np.ndarray] = field(default_factory=list)
    end: list[np.ndarray] = field(default_factory=list)
    strays: list[np.ndarray] = field(default_factory=list)
    read_length: int = 0

    @cached_property
    def fragments(self) -> tuple[np.ndarray, np.ndarray]:
        """Where all fragments begin, ascending, and end: (m,) int64 each; asked for when nothing is added any more."""
        none = np.empty(0, np.int64)
        begin, end = np.concatenate([none, *self.begin]), np.concatenate([none, *self.end])
        order = stable_order(begin, int(begin.max(initial=0)) + 1)
        return begin[order], end[order]

    def add(self, first: Laid, pairs: Fragments, strays: Strays, targets: Targets) -> None:
        """Count the first places of reads, pairs that face each other and those that do not."""
        own, size = first.is_unique, int(targets.start[-1]) + 1
        rightwards, leftwards = first.begin[own & (first.turned == 0)], first.end[own & (first.turned == 1)]
        self.rightwards = count_places(to_host(rightwards), 1, _room(self.rightwards, size))
        self.leftwards = count_places(to_host(leftwards), 1, _room(self.leftwards, size))
        self.begin.append(to_host(pairs.begin))
        self.end.append(to_host(pairs.end))
        own = strays.begin, strays.end, strays.turned
        self.strays.append(np.stack([to_host(values).astype(np.int64) for values in own]))

    def unspanned(self, targets: Targets, stretches: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the middles of stretches that no fragments go across, ascending: (b,) int64.

        Parameters
        ----------
        targets
            What was laid on.
        stretches : (n, 2) int64
            Places among the bases of all contigs, where each begins and ends.
        known : (n,) int64, ascending
            Places at which contigs are broken anyway: stretches with one of them are not told again.
        """
        if not self.begin or stretches.size == 0:
            return np.empty(0, np.int64)
        is_whole = np.searchsorted(known, stretches[:, 0]) == np.searchsorted(known, stretches[:, 1], side="right")
        return unspanned_middles(stretches[is_whole], *self.fragments, targets)


def _room(counts: np.ndarray, size: int) -> np.ndarray:
    return counts if counts.size == size else np.zeros(size, np.int32)
