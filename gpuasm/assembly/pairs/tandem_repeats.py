"""Tandem repeats longer than k and than fragments: how often the graph goes round one cycle, told by depth.

A tandem repeat that the last k does not go across is a cycle with one way in and one way out: A R B R ... B R C, where
R is what every turn shares and B what closes the turn. Every number of turns is a walk, and pairs that reach across
would say which; where the repeat is longer than fragments, all that is left is how much was read of it. n copies of R
make it n times as deep as A and C. That is known to what chance leaves of so many reads, and to how evenly the sample
was read, which the width of its k-mer spectrum tells: in a sample of uneven depth nothing is decided.

A R C beside a circle of R and B, of any number of copies, would look the same: so a turn must be shorter than any
replicon. What stands elsewhere as well is left alone: its reads would count here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.cycles import find_cycles
from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.kmers.words import words_of

_MOST_TIMES = 1.2
"""How much deeper one of A and C may be than the other, as between copies of a direct repeat."""
_SHORTEST_REPLICON = 800
"""Bases of a turn at most: the smallest plasmids known have some 850."""
_MOST_COPIES = 10
"""Copies of R at most; among more, one more changes the depth by too little."""
_LEAD = math.log(1000)
"""How much likelier the number of copies must be than any other."""
_TURN_OFF = 0.5
"""Copies by which B may be less deep than its number of turns, or deeper than R's number: errors, or a chimera, close a
cycle by a B that is hardly there. What k-mers of B share with R makes it deeper the larger k."""


@dataclass(frozen=True)
class TandemRepeat:
    """A cycle, the unitigs before and after it, and the number of turns: oriented unitigs along one strand."""

    before: int
    repeat: int
    between: int
    after: int
    n_turns: int

    @property
    def walks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ways through the tandem: up to the last B, and from there on."""
        turns = (self.repeat, self.between) * self.n_turns
        return (self.before, *turns), (self.between, self.repeat, self.after)

    @property
    def rivals(self) -> set[tuple[int, int]]:
        """What a pair would link that reaches across, as source and target on either strand: then pairs decide."""
        return {(self.before, self.after), (self.after ^ 1, self.before ^ 1)}


def unevenness(spectrum: Spectrum) -> float:
    """Return how much the depth of a sample varies beyond chance: the square of its coefficient of variation.

    Measured below the spectrum's peak, as repeats lie above; infinite where there is no peak.
    """
    if spectrum.peak is None or spectrum.valley is None:
        return math.inf
    off = np.arange(spectrum.valley, spectrum.peak + 1) - spectrum.peak
    n_kmers = spectrum.histogram[spectrum.valley : spectrum.peak + 1]
    variance = float((n_kmers * off * off).sum()) / max(1, int(n_kmers.sum()))
    return max(0.0, variance - spectrum.peak) / spectrum.peak**2


def find_tandem_repeats(
    graph: UnitigGraph, may_join: np.ndarray, *, read_length: float, uneven: float
) -> list[TandemRepeat]:
    """Find the cycles of which one number of turns is left.

    Parameters
    ----------
    graph
        A compacted graph of one organism.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined: of single copies, long enough for depth to tell.
    read_length
        Mean bases of a read: so many bases of depth vary together.
    uneven
        See `unevenness`.

    Returns
    -------
    list of TandemRepeat, by repeat, each on the strand of its unitig.
    """
    found = []
    for cycle in find_cycles(graph):
        one = TandemRepeat(*cycle, n_turns=0)
        if not may_join[one.before] or not may_join[one.after ^ 1] or not _is_short(graph, one):
            continue
        n_turns = _n_turns(graph, one, read_length=read_length, uneven=uneven)
        if n_turns > 0 and not _stands_elsewhere(graph, one):
            found.append(TandemRepeat(*cycle, n_turns))
    return found


def copies_by_depth(
    depth: float, one_copy: float, *, length: int, period: int, read_length: float, uneven: float
) -> int:
    """Return how many copies of a sequence its depth tells, 0 where no number is a thousand times as likely.

    Depth is taken as normal: of n copies, with n times the depth of one, and a variance of what chance leaves of the
    reads of all the bases that the copies take, and of how unevenly the sample was read.

    Parameters
    ----------
    depth, one_copy
        Of the sequence, and of what stands beside it once.
    length, period
        Bases of the sequence, and from one copy's beginning to the next one's.
    read_length, uneven
        See `find_tandem_repeats`.
    """
    if not math.isfinite(uneven) or one_copy <= 0:
        return 0
    likelihoods = []
    for n in range(1, _MOST_COPIES + 2):
        bases = length + (n - 1) * min(length, period)
        sd = n * one_copy * math.sqrt(read_length / (one_copy * bases) + uneven)
        likelihoods.append(-(((depth - n * one_copy) / sd) ** 2) / 2 - math.log(sd))
    second, best = sorted(likelihoods)[-2:]
    n = likelihoods.index(best) + 1
    return n if best - second >= _LEAD and n <= _MOST_COPIES else 0


def _period(graph: UnitigGraph, one: TandemRepeat) -> int:
    return int(graph.n_kmers[one.repeat >> 1] + graph.n_kmers[one.between >> 1])


def _is_short(graph: UnitigGraph, one: TandemRepeat) -> bool:
    """Tell whether no replicon is as short as a turn."""
    return _period(graph, one) < _SHORTEST_REPLICON


def _n_turns(graph: UnitigGraph, one: TandemRepeat, *, read_length: float, uneven: float) -> int:
    """Return the number of turns, 0 where depth does not tell it or there is none."""
    flanks = np.array([one.before >> 1, one.after >> 1])
    depth = graph.depth[flanks]
    if depth.max() > _MOST_TIMES * depth.min():
        return 0
    one_copy = float(graph.count[flanks].sum()) / float(graph.n_kmers[flanks].sum()) / graph.unit
    copies = copies_by_depth(
        float(graph.depth[one.repeat >> 1]),
        one_copy,
        length=int(graph.length[one.repeat >> 1]),
        period=_period(graph, one),
        read_length=read_length,
        uneven=uneven,
    )
    between = float(graph.depth[one.between >> 1]) / one_copy
    return copies - 1 if copies > 1 and copies - 1 - _TURN_OFF <= between <= copies + _TURN_OFF else 0


def _stands_elsewhere(graph: UnitigGraph, one: TandemRepeat) -> bool:
    """Tell whether a word of the repeat stands in other unitigs too, as where two loci share it and arcs were lost."""
    codes = [oriented_codes(graph, o) for o in (one.repeat, one.between)]
    own = np.unique(np.concatenate([np.minimum(*words_of(text)) for text in codes]))
    words = np.minimum(*words_of(graph.bases))
    position = np.flatnonzero(own[np.minimum(np.searchsorted(own, words), own.size - 1)] == words)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    unitig = unitig[position + MAX_PLAIN_K <= graph.start[unitig + 1]]
    return bool(np.setdiff1d(unitig, [o >> 1 for o in (one.before, one.repeat, one.between, one.after)]).size)
