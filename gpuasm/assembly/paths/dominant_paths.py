"""Dominant paths: in a community, join branches of high depth, and duplicate what minor genomes share with them.

Related genomes branch in the graph, and pairs separate them only if their shared sequences are short. But their depths
differ. If one outgoing branch has at least twice the depth of each other one, and the same holds in the other
direction, more than half of the reads continue along it. So the dominant genome's contig passes through all shared
sequence, and those of minor genomes begin and end there.

A dominant path through shared sequence uses one incoming and one outgoing edge. Of two strains one of each remains, and
the minor genome's path continues through a duplicate. Of more strains, the next dominant one takes its path in turn.

Two other situations look the same. A third genome may end there: so the minor incoming branches must have the depth of
the outgoing ones, and enough depth to have no holes. And repeats of one genome have branches of different depths: so
the minor branches must be similar in sequence to the dominant ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gpuasm.assembly.coverage.copy_number import nearby_depth
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.graph_edits import Fill, split
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, oriented_codes, sorted_arcs
from gpuasm.assembly.pairs.link_evidence import Gap, move_gaps
from gpuasm.assembly.parameters import ALIGNMENT, PATHS
from gpuasm.sequence.edits import edits_to_prefix

_NOTHING_DROPPED = -(1 << 62)
"""Longest unitig to be dropped between joined ends: none, since such a unitig belongs to a minor genome."""


def copy_shared_stretches(graph: UnitigGraph, gaps: Sequence[Gap]) -> tuple[UnitigGraph, list[Gap], int]:
    """Give each dominant path a copy of the sequence that others share with it, until none is left.

    Returns the graph with these copies, its gaps, and how many shared sequences were duplicated.
    """
    n, gaps = 0, list(gaps)
    while walks := list(shared_stretches(graph)):
        n += len(walks)
        fills = [Fill(walk) for walk in walks]
        graph, sources = split(graph, fills, nearby_depth(graph), longest=_NOTHING_DROPPED)
        gaps = move_gaps(gaps, graph, sources)
    return graph, gaps, n


def shared_stretches(graph: UnitigGraph) -> Iterator[tuple[int, ...]]:
    """Yield the shared parts of dominant paths: oriented unitigs, with one before and one after the shared ones.

    Each is yielded once, on the strand whose first unitig has the lesser number.
    """
    follower = find_dominant_paths(graph)
    is_shared = np.zeros(2 * graph.n, dtype=bool)
    for here in np.flatnonzero((follower >= 0) & (follower[np.arange(2 * graph.n) ^ 1] >= 0)).tolist():
        before, after = int(follower[here ^ 1]) ^ 1, int(follower[here])
        is_shared[here] = _is_shared(graph, (here ^ 1, before ^ 1), (here, after))
    for first in np.flatnonzero((follower >= 0) & ~is_shared).tolist():
        walk = [first, int(follower[first])]
        while is_shared[walk[-1]]:
            walk.append(int(follower[walk[-1]]))
        if len(walk) > 2 and first < walk[-1] ^ 1:
            yield tuple(walk)


def _is_shared(graph: UnitigGraph, backward: tuple[int, int], forward: tuple[int, int]) -> bool:
    """Return whether minor branches enter and leave next to a path, of similar depth and sequence."""
    depths = []
    for here, successor in (backward, forward):
        others = [other for other in graph.following(here).tolist() if other != successor]
        if not others or not all(_are_similar(graph, other, successor) for other in others):
            return False
        depths.append(float(graph.depth[[other >> 1 for other in others]].sum()))
    return min(depths) >= PATHS.minor_min_depth and max(depths) <= PATHS.dominant_min_ratio * min(depths)


def _are_similar(graph: UnitigGraph, other: int, successor: int) -> bool:
    """Return whether two unitigs with a common neighbour begin with similar sequences."""
    own, dominant = (oriented_codes(graph, oriented)[graph.k - 1 :] for oriented in (other, successor))
    n, per_difference = min(own.size, dominant.size, PATHS.minor_compared_bases), ALIGNMENT.similar_bases_per_difference
    if n < per_difference:
        return False
    return bool(per_difference * edits_to_prefix(own[:n], dominant[: n + n // per_difference + 1]) <= n)


def follow_dominant_paths(graph: UnitigGraph) -> tuple[UnitigGraph, SourceUnitigs, np.ndarray]:
    """Join unitigs along the dominant paths, and remove the edges that leave them.

    Returns the compacted graph; its source unitigs; and (2n,) bool, which of its oriented unitigs have abandoned ends:
    an edge to a dominant path was removed, so they are no free ends.
    """
    follower = find_dominant_paths(graph)
    source, target = graph.arc_from, graph.arc_to
    has_successor, is_followed = follower >= 0, follower[source] == target
    leads_off = (has_successor[source] | has_successor[target ^ 1]) & ~is_followed
    if not leads_off.any():
        return graph, SourceUnitigs.identity(graph.n), np.zeros(2 * graph.n, dtype=bool)
    rows = sorted_arcs(source[~leads_off], target[~leads_off], graph.arc_count[~leads_off], n_rows=2 * graph.n)
    less = replace(graph, arc_start=rows[0], arc_to=rows[1], arc_count=rows[2])
    joined, sources = compact(less, SourceUnitigs.identity(graph.n))
    is_abandoned = np.zeros(2 * graph.n, dtype=bool)
    is_abandoned[source[leads_off]] = True
    return joined, sources, is_abandoned[sources.ends] & (joined.n_arcs == 0)


def find_dominant_paths(graph: UnitigGraph) -> np.ndarray:
    """Return the oriented unitig that follows each along a dominant path: (2n,) int32; -1 for none or no others."""
    n_arcs, ratio, depth = graph.n_arcs, PATHS.dominant_min_ratio, np.repeat(graph.depth, 2)
    # In each row the arcs to unitigs of the highest depth are first; of equal ones none dominates.
    arcs = np.lexsort((-depth[graph.arc_to], graph.arc_from))
    first, second = (graph.arc_to[arcs[graph.arc_start[:-1][n_arcs > rank] + rank]] for rank in (0, 1))
    dominant, competitor = np.full(2 * graph.n, -1, np.int32), np.zeros(2 * graph.n)
    dominant[n_arcs > 0], competitor[n_arcs > 1] = first, depth[second]
    dominant[ratio * competitor > depth[dominant]] = -1
    here = np.flatnonzero(dominant >= 0)
    there = dominant[here]
    is_followed = (dominant[there ^ 1] == here ^ 1) & (there >> 1 != here >> 1)
    is_followed &= (n_arcs[here] > 1) | (n_arcs[there ^ 1] > 1)
    is_followed &= (depth[here] <= ratio * depth[there]) & (depth[there] <= ratio * depth[here])
    follower = np.full_like(dominant, -1)
    follower[here[is_followed]] = there[is_followed]
    return follower
