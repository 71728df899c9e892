"""Accept links between single copies of the last graph as joins if their pairs exclude all alternatives.

Mates are anchored by k-mers that occur once in the graph and once in the genome: repeat-derived k-mers
(`copy_number`) anchor none. A unitig that consists of these may be a plasmid of several copies, and keeps them. Its
links count only if both its ends are repeats or the depths agree. By chance some repeat k-mers have the depth of one
copy: a link is also rejected if, with the pairs on repeat k-mers, it has far more pairs than one copy explains.

A link x -> y is a join if

1. x and y are single copies: of the depth of one copy of the unitigs near by, and with enough 31-mers of their own;
2. it has at least three pairs, and at least 15 % of those expected from the depth at that distance;
3. hardly any of the link's pairs has another distance;
4. its pairs begin at all positions of x where they can, and end at all of y. If one copy of a repeat is missing from
   the graph, the other copy's k-mers seem unique; so what precedes the missing copy is linked to the other copy, but no
   pair ends behind it, as at the two similar ends of a long transposon;
5. x has no better link at this end, nor y at that one, and none with more than 35 % of the pairs. A link to a unitig
   beyond the nearer of two does not compete with it. A link of x to itself has a lower limit: even a few pairs may come
   from a tandem repeat, of which a unit would be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import AnchorIndex
from gpuasm.assembly.alignment.read_threading import GraphArrays
from gpuasm.assembly.coverage.copy_number import nearby_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.insert_sizes import SIXTEENTHS, InsertSizes
from gpuasm.assembly.pairs.link_evidence import Evidence, Reaches, weigh_links
from gpuasm.assembly.pairs.links import Links, SpanningPairs, is_within, link_pairs
from gpuasm.assembly.parameters import COVERAGE, FRAGMENTS, PATHS
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.counting import count_between
from gpuasm.primitives.searching import places_among

_COMPETITOR_PERCENT, _SELF_LINK_PERCENT = PATHS.join_third_percent, PATHS.join_few_percent


@dataclass(frozen=True)
class AcceptedLinks:
    """Links between single copies, and which of them are joins.

    Attributes
    ----------
    links, evidence
        The links, and the evidence of their pairs.
    joins : (n_joins,) int64
        The links that are joins, ascending.
    is_single : (n_unitigs,) bool
        Which unitigs are single copies, on the host.
    all_reaches : Reaches
        Positions of all k-mers that occur once in the graph, repeat k-mers included.
    n_repeat_kmers : int
        How many of them are repeat k-mers.
    """

    links: Links
    evidence: Evidence
    joins: np.ndarray
    is_single: np.ndarray
    all_reaches: Reaches
    n_repeat_kmers: int


def accepted_links(
    graph: UnitigGraph, arrays: GraphArrays, pairs: SpanningPairs, *, repeat_kmers: Array | None, checks_anchors: bool
) -> AcceptedLinks:
    """Link the unitigs of the last graph by pairs, and accept the links that exclude all others.

    ``repeat_kmers`` are the k-mers that the reads' last graph contains twice, (n,) uint64; None where that is not
    known.
    """
    xp, inserts = array_namespace(pairs.reads.packed), pairs.inserts
    every_index, is_repeat = AnchorIndex.of(graph, xp), np.zeros(graph.n, bool)
    index = every_index
    all_reaches = reaches = Reaches.of(every_index)
    if repeat_kmers is not None:
        index, is_repeat = without_repeat_kmers(every_index, repeat_kmers)
        reaches = Reaches.of(index)
    n_repeat_kmers = int(all_reaches.count.sum() - reaches.count.sum())
    is_single = single_copies(graph, to_host(reaches.count)) & ~graph.is_circular

    def weighed(index: AnchorIndex, reaches: Reaches) -> tuple[Links, Evidence]:
        links = link_pairs(pairs.reads, index, arrays, checks_anchors=checks_anchors)
        links = _between(links, arrays, to_namespace(xp, is_single), inserts)
        return links, weigh_links(links, arrays, reaches, inserts)

    links, evidence = weighed(index, reaches)
    is_false = leads_from_repeat(links, graph, is_repeat)
    if n_repeat_kmers:
        is_false |= has_several_copies(links, *weighed(every_index, all_reaches))
    ends = to_host(links.source), to_host(links.target)
    joins = accept(ends, evidence, is_false, graph.length, k=graph.k, sd=inserts.sd)
    return AcceptedLinks(links, evidence, joins, is_single, all_reaches, n_repeat_kmers)


def without_repeat_kmers(index: AnchorIndex, repeat_kmers: Array) -> tuple[AnchorIndex, np.ndarray]:
    """Remove repeat-derived k-mers, (n,) uint64, from an index, except those of unitigs that consist of them.

    Returns the index, and the unitigs all of whose unique k-mers are repeat-derived: (n_unitigs,) bool, on the host.
    """
    xp, is_unique = array_namespace(repeat_kmers), index.kmers.is_unique
    names = index.kmers.find_windows(repeat_kmers)
    found = names[names >= 0] >> 1
    found = found[is_unique[found]]
    is_found = xp.zeros(is_unique.size, bool)
    is_found[found] = True
    is_repeat = count_between(is_found, index.start) == count_between(is_unique, index.start)
    unitig = xp.searchsorted(index.start, found, side="right") - 1
    is_found[found[is_repeat[unitig]]] = False
    return replace(index, kmers=replace(index.kmers, is_unique=is_unique & ~is_found)), to_host(is_repeat)


def leads_from_repeat(links: Links, graph: UnitigGraph, is_repeat: np.ndarray) -> np.ndarray:
    """Mark the links between a repeat unitig and a unitig of lower depth that is none: (n_links,) bool, on the host.

    ``is_repeat`` marks the repeat unitigs of the last graph, as `without_repeat_kmers` returns them.
    """
    source, target = to_host(links.source) >> 1, to_host(links.target) >> 1
    from_repeat = is_repeat[source]
    repeat, once = np.where(from_repeat, source, target), np.where(from_repeat, target, source)
    has_more_depth = graph.depth[repeat] >= COVERAGE.single_copy_ratio * graph.depth[once]
    return (from_repeat != is_repeat[target]) & has_more_depth


def has_several_copies(links: Links, every: Links, evidence: Evidence) -> np.ndarray:
    """Mark the links that have, with the pairs on repeat k-mers, far more pairs than one copy explains.

    They have pairs on repeat k-mers, twice the expected pairs in all, and so many that two copies are 2^10 times as
    likely as one, by Poisson's distribution. ``every`` are the links of all k-mers, with their evidence. Returns
    (n_links,) bool, on the host.
    """
    if links.n == 0 or every.n == 0:
        return np.zeros(links.n, bool)
    # Links ascend by source, then target.
    own, known = (to_host(each.source).astype(np.int64) << 32 | to_host(each.target) for each in (links, every))
    row, is_known = places_among(own, known)
    n, expected = evidence.n_pairs[row], evidence.expected[row] / SIXTEENTHS
    has_more = n > to_host(links.first[1:] - links.first[:-1])
    is_likely = n - expected / np.log(2) >= PATHS.walk_lead_bits
    return is_known & has_more & (n >= 2 * expected) & is_likely


def _between(links: Links, graph: GraphArrays, is_single: Array, inserts: InsertSizes) -> Links:
    """Return the links between single copies, without the pairs within one unitig."""
    link = links.of_pairs
    possible = links.left.astype(np.int64) + links.right <= inserts.longest + graph.k - 1
    joins_single = is_single[links.source >> 1] & is_single[links.target >> 1]
    return links.with_pairs(~is_within(links, graph, inserts) & possible & joins_single[link])


def single_copies(graph: UnitigGraph, n_anchors: np.ndarray) -> np.ndarray:
    """Return which unitigs are single copies with enough 31-mers of their own: (n,) bool."""
    copies = graph.depth / np.maximum(nearby_depth(graph), 1e-9)
    least, most = 0.5, COVERAGE.single_copy_ratio
    return (copies >= least) & (copies <= most) & (n_anchors >= PATHS.single_min_anchors)


def accept(
    ends: tuple[np.ndarray, np.ndarray],
    evidence: Evidence,
    is_false: np.ndarray,
    length: np.ndarray,
    *,
    k: int,
    sd: float,
) -> np.ndarray:
    """Return the links that are joins: (n_joins,) int64, ascending.

    Parameters
    ----------
    ends, evidence
        Source and target of links between single copies, as in `Links`, and the evidence of their pairs.
    is_false : (n_links,) bool
        The links that are no joins, whatever their pairs.
    length : (n_unitigs,) int64
        Bases of each unitig; consecutive ones share k - 1 bases.
    sd
        Standard deviation of insert sizes, from which the tolerance of a distance follows.
    """
    (source, target), e, n = ends, evidence, 2 * length.size
    is_sound = (e.n_pairs >= PATHS.join_min_pairs) & (100 * e.n_pairs >= FRAGMENTS.link_agreement * e.n_possible)
    is_sound &= 100 * SIXTEENTHS * e.n_pairs >= PATHS.join_few_percent * e.expected
    is_sound &= ~is_false & (e.beyond < SIXTEENTHS * PATHS.max_missing_pairs)
    # Each link in both directions, by source, then target.
    link = np.concatenate([np.arange(source.size), np.flatnonzero(source != (target ^ 1))])
    own, other = (np.concatenate([a, (b ^ 1)[link[a.size :]]]) for a, b in ((source, target), (target, source)))
    order = np.lexsort((other, own))
    link, own, other = link[order], own[order], other[order]
    rows = np.searchsorted(own, np.arange(n + 1)), other, e.gap[link], e.n_pairs[link], is_sound[link]
    best, partner = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    _best_of_each(*rows, length, k, np.int64(round(FRAGMENTS.gap_deviations * sd)), best)
    chosen = np.flatnonzero(best >= 0)
    partner[chosen] = other[best[chosen]]
    mutual = chosen[partner[partner[chosen] ^ 1] == (chosen ^ 1)]
    # A hairpin leads back to its own unitig: no walk can contain the bases between on both strands.
    mutual = mutual[partner[mutual] != (mutual ^ 1)]
    return np.unique(link[best[mutual]])


@signatures("int64[::1], int32[::1], int64[::1], int64[::1], boolean[::1], int64[::1], int64, int64, int64[::1]")
@compiled()
def _best_of_each(start, target, gap, n_pairs, is_sound, length, k, spread, best):
    for o in range(best.size):
        top = -1
        for i in range(start[o], start[o + 1]):
            if is_sound[i] and (top < 0 or n_pairs[i] > n_pairs[top]):
                top = i
        if top < 0:
            continue
        # Choose the nearest target such that the most frequent one is beyond it.
        for _ in range(start[o + 1] - start[o]):
            nearer = top
            for i in range(start[o], start[o + 1]):
                if is_sound[i] and gap[i] < gap[nearer] and _is_beyond(start, target, gap, length, k, spread, top, i):
                    nearer = i
            if nearer == top:
                break
            top = nearer
        is_clear = True
        for i in range(start[o], start[o + 1]):
            if i != top and not _is_beyond(start, target, gap, length, k, spread, i, top):
                percent = _SELF_LINK_PERCENT if target[i] == o else _COMPETITOR_PERCENT
                if 100 * n_pairs[i] > percent * n_pairs[top]:
                    is_clear = False
        best[o] = top if is_clear else -1


@compiled()
def _is_beyond(start, target, gap, length, k, spread, far, near):
    """Return whether one link's target lies beyond the nearer one's, by distance or by a link between the two."""
    middle = target[near]
    after = gap[near] + length[middle >> 1]
    if gap[far] >= after - (k - 1) - spread and length[middle >> 1] - (k - 1) > 2 * spread:
        return True
    for i in range(start[middle], start[middle + 1]):
        if target[i] == target[far] and abs(after + gap[i] - gap[far]) <= spread:
            return True
    return False
