"""Gaps: joins that pairs tell the length of, but not the bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.assembly.graph.compaction import Pieces
from gpuasm.assembly.graph.unitig_graph import UnitigGraph


@dataclass(frozen=True)
class Gap:
    """A join whose bases are not known.

    Attributes
    ----------
    source, target : int
        Oriented unitigs.
    size : int
        Bases between them by their pairs; before 0 where they overlap.
    sd : float
        Standard error of the size.
    n_pairs : int
    """

    source: int
    target: int
    size: int
    sd: float
    n_pairs: int

    @property
    def spread(self) -> int:
        """How far off the size may be, in bases."""
        return int(3 * self.sd) + 5


def moved(gaps: Sequence[Gap], graph: UnitigGraph, pieces: Pieces) -> list[Gap]:
    """Return gaps between the ends of unitigs that have become parts of longer ones; some have been joined on."""
    ending = {}
    for u in np.flatnonzero(~graph.is_circular).tolist():
        ending[int(pieces.piece[pieces.start[u + 1] - 1])] = 2 * u
        ending[int(pieces.piece[pieces.start[u]]) ^ 1] = 2 * u + 1
    return [
        replace(gap, source=ending[gap.source], target=ending[gap.target ^ 1] ^ 1)
        for gap in gaps
        if gap.source in ending and gap.target ^ 1 in ending
    ]
