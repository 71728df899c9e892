"""Graph edits: make joins by copying the unitigs of each join's path, so that compaction merges them.

A join removes all other arcs from the two ends that it joins, and adds a copy of each unitig of its path. The original
repeat keeps the arcs of its other copies; once one path through it is left, compaction merges that one too. An
original that has lost all its arcs, or its depth and the paths through it, is removed: its copies contain it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, oriented_codes, sorted_arcs


@dataclass(frozen=True)
class Fill:
    """A join whose bases are known.

    Attributes
    ----------
    walk : tuple of int
        Oriented unitigs, from the join's source to its target.
    overlap : int
        Bases that source and target share where the graph has no path between them; 0 otherwise.
    between : bytes, or None
        Codes of the bases between the two, where the graph has no path and they share nothing.
    """

    walk: tuple[int, ...]
    overlap: int = 0
    between: bytes | None = None


def split(
    graph: UnitigGraph, fills: list[Fill], one_copy: np.ndarray, *, longest: int
) -> tuple[UnitigGraph, SourceUnitigs]:
    """Make joins in a compacted graph; each end of a unitig occurs in one of them at most.

    Parameters
    ----------
    one_copy : (n,) float64
        Depth of one copy around each unitig.
    longest
        Longest fragment in bases: no unitig between two joined ends has more bases of its own.

    Returns
    -------
    The new graph, compacted and canonical except for circular unitigs, and its source unitigs: those of ``graph``, and
    numbers from ``graph.n`` for copies.
    """
    draft = _Draft(graph, one_copy)
    for fill in fills:
        draft.make(fill)
    wide, is_removed = draft.finish(longest)
    return compact(wide, SourceUnitigs.identity(wide.n), is_removed=is_removed)


class _Draft:
    """A graph being changed: copies appended, arcs replaced."""

    def __init__(self, graph: UnitigGraph, one_copy: np.ndarray) -> None:
        self.graph, self.one_copy = graph, one_copy
        self.unit_depth = graph.count // graph.n_kmers
        """(n,) int64: the depth of each unitig in units, the count of each k-mer of a copy next to it."""
        self.codes: list[np.ndarray] = []
        self.counts: list[int] = []
        self.taken = np.zeros(graph.n, np.int64)
        self.joined_ends: list[int] = []
        self.arcs: list[tuple[int, int, int]] = []

    def make(self, fill: Fill) -> None:
        """Append copies of the unitigs of a join's path, and the arcs along it."""
        source, target = fill.walk[0], fill.walk[-1]
        depth = int(min(self.unit_depth[source >> 1], self.unit_depth[target >> 1]))
        if fill.overlap or fill.between is not None:
            inner = [self._bridge(fill, depth)]
        else:
            inner = [self._copy(oriented, depth) for oriented in fill.walk[1:-1]]
        self.joined_ends += [source, target ^ 1]
        self.arcs += [(here, there, depth) for here, there in itertools.pairwise([source, *inner, target])]

    def _append(self, codes: np.ndarray, depth: int) -> int:
        self.codes.append(codes)
        self.counts.append(depth * (codes.size - self.graph.k + 1))
        return self.graph.n + len(self.codes) - 1

    def _copy(self, oriented: int, depth: int) -> int:
        u = oriented >> 1
        self.taken[u] += depth * int(self.graph.n_kmers[u])
        return 2 * self._append(oriented_codes(self.graph, 2 * u), depth) + (oriented & 1)

    def _bridge(self, fill: Fill, depth: int) -> int:
        """Append the last k - 1 bases of the source, and those from there to base k - 1 of the target."""
        shared = self.graph.k - 1
        own, other = (oriented_codes(self.graph, oriented) for oriented in (fill.walk[0], fill.walk[-1]))
        between = np.frombuffer(fill.between or b"", np.uint8)
        return 2 * self._append(np.concatenate([own[-shared:], between, other[fill.overlap : shared]]), depth)

    def finish(self, longest: int) -> tuple[UnitigGraph, np.ndarray]:
        """Return the graph with all copies and arcs, and which unitigs to remove."""
        graph, n = self.graph, self.graph.n + len(self.codes)
        is_joined = np.zeros(2 * n, dtype=bool)
        is_joined[self.joined_ends] = True
        kept = ~(is_joined[graph.arc_from] | is_joined[graph.arc_to ^ 1])
        new = np.array(sorted({*self.arcs, *((b ^ 1, a ^ 1, c) for a, b, c in self.arcs)}), np.int64).reshape(-1, 3)
        old = np.stack([graph.arc_from, graph.arc_to, graph.arc_count])[:, kept]
        rows = sorted_arcs(*np.concatenate([old, new.T], axis=1), n_rows=2 * n)
        bases = np.concatenate([graph.bases, *self.codes])
        start = np.concatenate([graph.start, graph.start[-1] + np.cumsum([c.size for c in self.codes], dtype=np.int64)])
        remaining = np.maximum(graph.count - self.taken, 0)
        count = np.concatenate([remaining, np.array(self.counts, np.int64)])
        is_circular = np.concatenate([graph.is_circular, np.zeros(len(self.codes), dtype=bool)])
        wide = UnitigGraph(graph.k, bases, start, count, is_circular, *rows, graph.unit)
        return wide, self._dropped(wide, longest)

    def _dropped(self, wide: UnitigGraph, longest: int) -> np.ndarray:
        """Mark the unitigs that the joins have made redundant.

        A copied unitig is removed if it has no arcs, or little depth and no path through it to a unitig of more. A
        unitig between joined ends only that was not copied is a path that the pairs exclude.
        """
        graph = self.graph
        before, after = graph.n_arcs.reshape(-1, 2), wide.n_arcs.reshape(-1, 2)[: graph.n]
        is_end = np.zeros(graph.n, dtype=bool)
        is_end[np.array(self.joined_ends, np.int64) >> 1] = True
        is_copied = (self.taken > 0) & ~is_end
        is_excluded = ~is_end & (before > after).all(axis=1) & (graph.length - 2 * (graph.k - 1) <= longest)
        dropped = np.zeros(wide.n, dtype=bool)
        dropped[: graph.n] = (is_copied | is_excluded) & (after == 0).all(axis=1)
        few = wide.depth[: graph.n] < self.one_copy / 2
        dropped[_without_path(wide, np.flatnonzero(is_copied & few).tolist())] = True
        return dropped


def _without_path(graph: UnitigGraph, few: list[int]) -> list[int]:
    """Return those of the given unitigs that no path between two unitigs of the rest passes through."""
    leads_out = {end: False for u in few for end in (2 * u, 2 * u + 1)}
    changed = True
    while changed:
        changed = False
        for end in [end for end, out in leads_out.items() if not out]:
            if any(leads_out.get(oriented, True) for oriented in graph.following(end).tolist()):
                leads_out[end] = changed = True
    return [u for u in few if not (leads_out[2 * u] and leads_out[2 * u + 1])]
