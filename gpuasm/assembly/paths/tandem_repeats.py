"""Tandem repeats longer than k and than fragments: determine their copy number by depth.

A tandem repeat that the last k does not span is a cycle with one entry and one exit: A R B R ... B R C, where all units
share R, and B closes the cycle. Any number of units is a walk. Pairs that reach across decide; if the repeat is longer
than fragments, only depth does. n copies of R have n times the depth of A and C, to within the sampling error of the
reads and the unevenness of the sample, measured by the width of its k-mer spectrum. If depth is too uneven, nothing is
decided.

A R C with a circular replicon of R and B, of any copy number, looks the same: so a unit must be shorter than any
replicon. A repeat that also occurs elsewhere is left unresolved, since reads of the other place add to its depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.oriented_sequence import oriented_codes
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.paths.direct_repeats import find_cycles
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.kmers.text_kmers import kmers_of


@dataclass(frozen=True)
class TandemRepeat:
    """A cycle, the unitigs before and after it, and the number of units B: oriented unitigs along one strand."""

    before: int
    repeat: int
    between: int
    after: int
    n_units: int

    @property
    def walks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The walks through the tandem: up to the last B, and from there on."""
        units = (self.repeat, self.between) * self.n_units
        return (self.before, *units), (self.between, self.repeat, self.after)

    @property
    def competing_links(self) -> set[tuple[int, int]]:
        """Links of pairs that reach across, as source and target on either strand: if there are any, pairs decide."""
        return {(self.before, self.after), (self.after ^ 1, self.before ^ 1)}


def unevenness(spectrum: Spectrum) -> float:
    """Return the variation of a sample's depth beyond chance: the square of its coefficient of variation.

    Measured below the spectrum's peak, because repeats lie above; infinite where there is no peak.
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
    """Find the cycles with one possible number of units.

    Parameters
    ----------
    graph
        A compacted graph of one organism.
    may_join : (2n,) bool
        Whether the end of each oriented unitig may be joined: single copies, long enough for a reliable depth.
    read_length
        Mean bases of a read: depth is correlated over so many bases.
    uneven
        See `unevenness`.

    Returns
    -------
    list of TandemRepeat, by repeat, each on the strand of its unitig.
    """
    found = []
    for cycle in find_cycles(graph):
        one = TandemRepeat(*cycle, n_units=0)
        if not may_join[one.before] or not may_join[one.after ^ 1] or not _is_short(graph, one):
            continue
        n_units = _count_units(graph, one, read_length=read_length, uneven=uneven)
        if n_units > 0 and not _occurs_elsewhere(graph, one):
            found.append(TandemRepeat(*cycle, n_units))
    return found


def copies_by_depth(
    depth: float, one_copy: float, *, length: int, period: int, read_length: float, uneven: float
) -> int:
    """Return the copy number of a sequence by its depth, 0 where no number is likely enough.

    Depth is modelled as normal: n copies have n times the depth of one, and a variance from the sampling of reads over
    all bases of the copies and from the unevenness of the sample.

    Parameters
    ----------
    depth, one_copy
        Of the sequence, and of the single copies next to it.
    length, period
        Bases of the sequence, and from one copy's beginning to the next one's.
    read_length, uneven
        See `find_tandem_repeats`.
    """
    if not math.isfinite(uneven) or one_copy <= 0:
        return 0
    likelihoods = []
    for n in range(1, PATHS.tandem_max_copies + 2):
        bases = length + (n - 1) * min(length, period)
        sd = n * one_copy * math.sqrt(read_length / (one_copy * bases) + uneven)
        likelihoods.append(-(((depth - n * one_copy) / sd) ** 2) / 2 - math.log(sd))
    second, best = sorted(likelihoods)[-2:]
    n = likelihoods.index(best) + 1
    return n if best - second >= math.log(PATHS.tandem_min_odds) and n <= PATHS.tandem_max_copies else 0


def _period(graph: UnitigGraph, one: TandemRepeat) -> int:
    return int(graph.n_kmers[one.repeat >> 1] + graph.n_kmers[one.between >> 1])


def _is_short(graph: UnitigGraph, one: TandemRepeat) -> bool:
    """Return whether a unit is shorter than any replicon."""
    return _period(graph, one) < PATHS.replicon_min_bases


def _count_units(graph: UnitigGraph, one: TandemRepeat, *, read_length: float, uneven: float) -> int:
    """Return the number of units, 0 where depth does not determine it or there is none."""
    flanks = np.array([one.before >> 1, one.after >> 1])
    depth = graph.depth[flanks]
    if depth.max() > PATHS.repeat_flank_depth_ratio * depth.min():
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
    return (
        copies - 1
        if copies > 1 and copies - 1 - PATHS.tandem_copy_tolerance <= between <= copies + PATHS.tandem_copy_tolerance
        else 0
    )


def _occurs_elsewhere(graph: UnitigGraph, one: TandemRepeat) -> bool:
    """Return whether a k-mer of the repeat occurs in other unitigs: reads of another locus add to its depth."""
    codes = [oriented_codes(graph, o) for o in (one.repeat, one.between)]
    own = np.unique(np.concatenate([np.minimum(*kmers_of(text)) for text in codes]))
    kmers = np.minimum(*kmers_of(graph.bases))
    position = np.flatnonzero(own[np.minimum(np.searchsorted(own, kmers), own.size - 1)] == kmers)
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    unitig = unitig[position + MAX_PLAIN_K <= graph.start[unitig + 1]]
    return bool(np.setdiff1d(unitig, [o >> 1 for o in (one.before, one.repeat, one.between, one.after)]).size)
