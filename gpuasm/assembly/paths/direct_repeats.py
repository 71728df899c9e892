"""Direct repeats that no fragment spans: resolve them if the alternative is biologically implausible.

Let a repeat R of two copies follow A and B, and precede B and C, where B has no other edge. The genome is A R B R C, or
A R C with a circular replicon of B and R, such as a plasmid that shares an insertion sequence with the chromosome.
Pairs decide if they span R. If R is longer than any fragment, no read decides. But then the replicon would have the
chromosome's depth, and plasmids do so only if they are large: below 1.84 % of the chromosome's length their copy number
rises as their length falls (12,006 plasmids of 4,644 genomes, doi:10.1038/s41467-025-61205-2). So a shorter B of the
depth of A and C lies between them.

The rule does not apply to samples of several organisms, where any depth may be a chromosome's.

Also finds cycles with one incoming and one outgoing edge: the graph of a sequence that repeats on one strand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import PATHS

Cycle = tuple[int, int, int, int]
"""Oriented unitigs A, R, B and C on one strand: A leads into R; R leads through B back to R, or on to C."""


def find_cycles(graph: UnitigGraph) -> Iterator[Cycle]:
    """Yield the cycles with one entry and one exit, by R, each on the strand of R's unitig.

    All four are different unitigs; A leads only to R, C follows only R, and B does both.
    """
    n_out = np.diff(graph.arc_start)
    for u in np.flatnonzero((n_out[0::2] == 2) & (n_out[1::2] == 2) & ~graph.is_circular).tolist():
        into, out = _row(graph, 2 * u + 1) ^ 1, _row(graph, 2 * u)
        shared = np.intersect1d(into, out)
        if shared.size != 1:
            continue
        (before,), (after,), (between,) = into[into != shared[0]], out[out != shared[0]], shared
        ends = np.array([before, between, between ^ 1, after ^ 1])
        if (n_out[ends] == 1).all() and len({end >> 1 for end in (*ends.tolist(), 2 * u)}) == 4:
            yield int(before), 2 * u, int(between), int(after)


def _row(graph: UnitigGraph, oriented: int) -> np.ndarray:
    return graph.arc_to[graph.arc_start[oriented] : graph.arc_start[oriented + 1]].astype(np.int64)


@dataclass(frozen=True)
class DirectRepeat:
    """Two copies of a repeat, and the unitigs before, between and after them, oriented along one strand."""

    before: int
    repeat: int
    between: int
    after: int

    @property
    def walks(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The walks over the two copies."""
        return (self.before, self.repeat, self.between), (self.between, self.repeat, self.after)

    @property
    def competing_links(self) -> set[tuple[int, int]]:
        """Links that pairs would support if B and R were circular, as source and target on either strand."""
        a, b, c = self.before, self.between, self.after
        return {(a, c), (c ^ 1, a ^ 1), (b, b), (b ^ 1, b ^ 1)}


def find_direct_repeats(graph: UnitigGraph, may_join: np.ndarray) -> list[DirectRepeat]:
    """Find the repeats that have one linear resolution only.

    Parameters
    ----------
    graph
        A compacted graph of one organism.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined: single copies, long enough for a reliable depth.

    Returns
    -------
    list of DirectRepeat, by repeat, each on the strand of its unitig.
    """
    longest = int(graph.n_kmers.sum()) * PATHS.replicon_min_share // 10_000
    found = []
    for cycle in find_cycles(graph):
        one = DirectRepeat(*cycle)
        ends = [one.before, one.between, one.between ^ 1, one.after ^ 1]
        circle = int(graph.n_kmers[one.between >> 1] + graph.n_kmers[one.repeat >> 1])
        if may_join[ends].all() and circle <= longest and _has_expected_depths(graph, one):
            found.append(one)
    return found


def _has_expected_depths(graph: UnitigGraph, one: DirectRepeat) -> bool:
    """Return whether the three have one depth, and the repeat twice that, to within half a copy."""
    depth = [float(graph.depth[o >> 1]) for o in (one.before, one.between, one.after)]
    repeat = float(graph.depth[one.repeat >> 1])
    return max(depth) <= PATHS.repeat_flank_depth_ratio * min(depth) and 2 * abs(repeat - 2 * depth[1]) <= depth[1]
