"""Direct repeats that no fragment spans: told by what else the graph could be.

Let a repeat R of two copies follow A and B, and lead to B and C, where B has no other way at either end. That is
A R B R C, or else A R C beside a circle of B and R: say, a plasmid that shares an insertion sequence with the
chromosome. Pairs that reach across R tell the two apart; where it is longer than any fragment, nothing in the reads
does. But then the circle would be a replicon as deep as the chromosome, and plasmids are that only when they are
large: below 1.84 % of the chromosome's length their number of copies rises nearly as the length falls (12,006 plasmids
of 4,644 genomes, doi:10.1038/s41467-025-61205-2), as a small one of few copies is lost when cells divide. So a B that
is as deep as A and C, and shorter than that, lies between them. In the references of 15 genomes, eight plasmids among
them, all thirty such repeats (at k of 351 and 541) were of the first kind.

It says nothing of a sample of several organisms, where any depth may be a chromosome's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.cycles import find_cycles

_LARGE_PLASMID = 184
"""Ten-thousandths of the chromosome: from there on a plasmid's copies hardly depend on its length."""
_MOST_TIMES = 1.2
"""How much deeper one of A, B and C may be than another. By the same law a plasmid of the length above has 1.6 times
the copies of a replicon as long as the chromosome: this is nearer to one than to that, as its own depth strays too."""


@dataclass(frozen=True)
class DirectRepeat:
    """Two copies of a repeat, and what lies before, between and after them: oriented unitigs along one strand."""

    before: int
    repeat: int
    between: int
    after: int

    @property
    def walks(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The ways over the two copies."""
        return (self.before, self.repeat, self.between), (self.between, self.repeat, self.after)

    @property
    def rivals(self) -> set[tuple[int, int]]:
        """What pairs would link if there were a circle instead, as source and target on either strand."""
        a, b, c = self.before, self.between, self.after
        return {(a, c), (c ^ 1, a ^ 1), (b, b), (b ^ 1, b ^ 1)}


def find_direct_repeats(graph: UnitigGraph, may_join: np.ndarray) -> list[DirectRepeat]:
    """Find the repeats of which one linear reading is left.

    Parameters
    ----------
    graph
        A compacted graph of one organism.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined: of single copies, long enough for depth to tell.

    Returns
    -------
    list of DirectRepeat, by repeat, each on the strand of its unitig.
    """
    longest = int(graph.n_kmers.sum()) * _LARGE_PLASMID // 10_000
    found = []
    for cycle in find_cycles(graph):
        one = DirectRepeat(*cycle)
        ends = [one.before, one.between, one.between ^ 1, one.after ^ 1]
        circle = int(graph.n_kmers[one.between >> 1] + graph.n_kmers[one.repeat >> 1])
        if may_join[ends].all() and circle <= longest and _is_as_deep(graph, one):
            found.append(one)
    return found


def _is_as_deep(graph: UnitigGraph, one: DirectRepeat) -> bool:
    """Tell whether all three are of one depth, and the repeat of twice that, give or take half a copy."""
    depth = [float(graph.depth[o >> 1]) for o in (one.before, one.between, one.after)]
    repeat = float(graph.depth[one.repeat >> 1])
    return max(depth) <= _MOST_TIMES * min(depth) and 2 * abs(repeat - 2 * depth[1]) <= depth[1]
