"""Repeats that no fragment spans: resolve direct, tandem and terminal ones where depth leaves one resolution.

**Direct repeats.** Let a repeat R of two copies follow A and B, and precede B and C, where B has no other edge. The
genome is A R B R C, or A R C with a circular replicon of B and R, such as a plasmid that shares an insertion sequence
with the chromosome. Then the replicon would have the chromosome's depth, and plasmids do so only if they are large:
below 1.84 % of the chromosome's length their copy number rises as their length falls (12,006 plasmids of 4,644 genomes,
doi:10.1038/s41467-025-61205-2). So a shorter B of the depth of A and C lies between them.

**Tandem repeats** are cycles with one entry and one exit: A R B R ... B R C, where all units share R, and B closes the
cycle. n copies of R have n times the depth of A and C, to within the sampling error of the reads and the unevenness of
the sample, measured by the width of its k-mer spectrum. A R C with a circular replicon of R and B, of any copy number,
looks the same: so a unit must be shorter than any replicon. A repeat that also occurs elsewhere is left unresolved,
since reads of the other place add to its depth.

**Terminal repeats**: the ends of poxviruses and of many linear plasmids are inverted copies of one sequence: in the
graph, one unitig of two copies with a dead end. Each unitig that leads into it gets a copy.

Pairs decide where they span R. The first two rules do not apply to samples of several organisms, where any depth may be
a chromosome's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, oriented_codes, sorted_arcs
from gpuasm.assembly.parameters import PATHS
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.spectrum import Spectrum
from gpuasm.kmers.text_kmers import kmers_of, places_of


@dataclass(frozen=True)
class Cycle:
    """Oriented unitigs A, R, B and C on one strand: A leads into R; R leads through B back to R, or on to C.

    A walk contains B ``n_units`` times.
    """

    before: int
    repeat: int
    between: int
    after: int
    n_units: int = 1

    @property
    def walks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The walks through the cycle: up to the last B, and from there on."""
        units = (self.repeat, self.between) * self.n_units
        return (self.before, *units), (self.between, self.repeat, self.after)

    def period(self, graph: UnitigGraph) -> int:
        """Return the bases from one copy of R to the next."""
        return int(graph.n_kmers[self.repeat >> 1] + graph.n_kmers[self.between >> 1])


def find_cycles(graph: UnitigGraph) -> Iterator[Cycle]:
    """Yield the cycles with one entry and one exit, by R, each on the strand of R's unitig.

    All four are different unitigs; A leads only to R, C follows only R, and B does both.
    """
    n_out = graph.n_arcs
    for u in np.flatnonzero((n_out[0::2] == 2) & (n_out[1::2] == 2) & ~graph.is_circular).tolist():
        into, out = graph.following(2 * u + 1) ^ 1, graph.following(2 * u)
        shared = np.intersect1d(into, out)
        if shared.size != 1:
            continue
        (before,), (after,), (between,) = into[into != shared[0]], out[out != shared[0]], shared
        ends = np.array([before, between, between ^ 1, after ^ 1])
        if (n_out[ends] == 1).all() and len({end >> 1 for end in (*ends.tolist(), 2 * u)}) == 4:
            yield Cycle(int(before), 2 * u, int(between), int(after))


def find_direct_repeats(graph: UnitigGraph, may_join: np.ndarray) -> list[Cycle]:
    """Find the repeats of two copies that have one linear resolution only.

    ``may_join`` marks the ends of oriented unitigs that may be joined, (2n,) bool: those of single copies, long enough
    for a reliable depth.
    """
    longest = int(graph.n_kmers.sum()) * PATHS.replicon_min_share // 10_000

    def is_one(cycle: Cycle) -> bool:
        """Return whether A, B and C have one depth, and R twice that, to within half a copy."""
        ends = [cycle.before, cycle.between, cycle.between ^ 1, cycle.after ^ 1]
        if not may_join[ends].all() or cycle.period(graph) > longest:
            return False
        a, b, c, r = (float(graph.depth[o >> 1]) for o in (*ends[:2], cycle.after, cycle.repeat))
        return max(a, b, c) <= PATHS.repeat_flank_depth_ratio * min(a, b, c) and 2 * abs(r - 2 * b) <= b

    return [cycle for cycle in find_cycles(graph) if is_one(cycle)]


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


def find_tandem_repeats(graph: UnitigGraph, may_join: np.ndarray, *, read_length: float, uneven: float) -> list[Cycle]:
    """Find the cycles with one possible number of units.

    Depth is correlated over ``read_length`` bases; see `unevenness` for ``uneven``, `find_direct_repeats` for
    ``may_join``.
    """
    found = []
    for cycle in find_cycles(graph):
        is_short = cycle.period(graph) < PATHS.replicon_min_bases
        if not (is_short and may_join[cycle.before] and may_join[cycle.after ^ 1]):
            continue
        n_units = _count_units(graph, cycle, read_length=read_length, uneven=uneven)
        if n_units > 0 and not _occurs_elsewhere(graph, cycle):
            found.append(replace(cycle, n_units=n_units))
    return found


def copies_by_depth(
    depth: float, one_copy: float, *, length: int, period: int, read_length: float, uneven: float
) -> int:
    """Return the copy number of a sequence by its depth and that of one copy, 0 where no number is likely enough.

    Depth is modelled as normal: n copies have n times the depth of one, and a variance from the sampling of reads over
    all bases of the copies and from the unevenness of the sample. The sequence has ``length`` bases, and ``period``
    from one copy's beginning to the next one's; see `find_tandem_repeats` for the others.
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


def _count_units(graph: UnitigGraph, cycle: Cycle, *, read_length: float, uneven: float) -> int:
    """Return the number of units, 0 where depth does not determine it or there is none."""
    flanks = np.array([cycle.before >> 1, cycle.after >> 1])
    depth = graph.depth[flanks]
    if depth.max() > PATHS.repeat_flank_depth_ratio * depth.min():
        return 0
    one_copy = float(graph.count[flanks].sum()) / float(graph.n_kmers[flanks].sum()) / graph.unit
    copies = copies_by_depth(
        float(graph.depth[cycle.repeat >> 1]), one_copy, length=int(graph.length[cycle.repeat >> 1]),
        period=cycle.period(graph), read_length=read_length, uneven=uneven,
    )  # fmt: skip
    between = float(graph.depth[cycle.between >> 1]) / one_copy
    fits = copies - 1 - 0.5 <= between <= copies + 0.5
    return copies - 1 if copies > 1 and fits else 0


def _occurs_elsewhere(graph: UnitigGraph, cycle: Cycle) -> bool:
    """Return whether a k-mer of the repeat occurs in other unitigs: reads of another locus add to its depth."""
    codes = [oriented_codes(graph, o) for o in (cycle.repeat, cycle.between)]
    position, _, _ = places_of(graph.bases, np.concatenate([np.minimum(*kmers_of(text)) for text in codes]))
    unitig = np.searchsorted(graph.start, position, side="right") - 1
    unitig = unitig[position + MAX_PLAIN_K <= graph.start[unitig + 1]]
    return bool(np.setdiff1d(unitig, [o >> 1 for o in (cycle.before, cycle.repeat, cycle.between, cycle.after)]).size)


def find_terminal_repeats(graph: UnitigGraph) -> np.ndarray:
    """Find the unitigs that end each unitig that leads into them: (n,) int64, oriented towards their dead ends.

    All of them must be longer than k k-mers, for a reliable depth; the incoming unitigs have no other outgoing edge;
    and the sum of their depths is that of the repeat, to within half a copy.
    """
    n_out, is_long = graph.n_arcs, graph.n_kmers > graph.k
    found = []
    for oriented in np.flatnonzero((n_out == 0) & (n_out.reshape(-1, 2)[:, ::-1].ravel() >= 2)).tolist():
        entrances = graph.following(oriented ^ 1) ^ 1
        units, into = entrances >> 1, oriented >> 1
        depth, whole = graph.depth[into], graph.depth[units].sum()
        are_long = is_long[into] and is_long[units].all() and into not in units
        if are_long and (n_out[entrances] == 1).all() and 2 * units.size * abs(depth - whole) <= whole:
            found.append(oriented)
    return np.array(found, np.int64)


def duplicate_terminal_repeats(graph: UnitigGraph) -> tuple[UnitigGraph, SourceUnitigs, int]:
    """Give each unitig that leads into a terminal repeat a copy of its own.

    Returns the compacted graph; its source unitigs, with numbers from ``graph.n`` on for copies; and the number of
    repeats.
    """
    repeats = find_terminal_repeats(graph)
    if repeats.size == 0:
        return graph, SourceUnitigs.identity(graph.n), 0
    source, target, n = graph.arc_from.astype(np.int64), graph.arc_to.astype(np.int64), graph.n
    counts, copied = graph.count.copy(), list[int]()
    for oriented in repeats.tolist():
        u, entrances = oriented >> 1, graph.following(oriented ^ 1) ^ 1
        counts[u] //= entrances.size
        for entrance in entrances.tolist()[1:]:
            own = 2 * (n + len(copied)) + (oriented & 1)
            copied.append(u)
            target[_arcs(graph, entrance, oriented)] = own
            source[_arcs(graph, oriented ^ 1, entrance ^ 1)] = own ^ 1
    bases = np.concatenate([graph.bases, *(graph.bases[graph.start[u] : graph.start[u + 1]] for u in copied)])
    every = np.concatenate([np.arange(n), copied]).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(graph.length[every])])
    rows = sorted_arcs(source, target, graph.arc_count, n_rows=2 * every.size)
    wide = UnitigGraph(graph.k, bases, start, counts[every], graph.is_circular[every], *rows, unit=graph.unit)
    return *compact(wide, SourceUnitigs.identity(wide.n)), int(repeats.size)


def _arcs(graph: UnitigGraph, source: int, target: int) -> np.ndarray:
    """Return the numbers of the arcs from one oriented unitig to another."""
    return graph.arc_start[source] + np.flatnonzero(graph.following(source) == target)
