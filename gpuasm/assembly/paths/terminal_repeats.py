"""Terminal repeats: duplicate a dead-end unitig for each unitig that leads into it.

The ends of poxviruses and of many linear plasmids are inverted copies of one sequence: in the graph, one unitig of two
copies with a dead end. Elsewhere a repeat ends contigs because its continuation is ambiguous; here all copies end.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph, sorted_arcs


def find_terminal_repeats(graph: UnitigGraph) -> np.ndarray:
    """Find the unitigs that end each unitig that leads into them.

    All of them must be longer than k k-mers, for a reliable depth; the incoming unitigs have no other outgoing edge;
    and the sum of their depths is that of the repeat, to within half a copy.

    Returns
    -------
    (n,) int64, oriented: each from its junction towards its dead end; by unitig.
    """
    n_out, is_long = np.diff(graph.arc_start), graph.n_kmers > graph.k
    found = []
    n_right, n_left = n_out[0::2], n_out[1::2]
    for into in np.flatnonzero(is_long & (np.minimum(n_right, n_left) == 0) & (n_right + n_left >= 2)).tolist():
        oriented = 2 * into + int(n_out[2 * into] != 0)
        entrances = _entrances(graph, oriented)
        many, units = entrances.size, entrances >> 1
        if into in units or not is_long[units].all():
            continue
        depth, whole = graph.depth[into], graph.depth[units].sum()
        if (n_out[entrances] == 1).all() and 2 * many * abs(depth - whole) <= whole:
            found.append(oriented)
    return np.array(found, np.int64)


def duplicate_terminal_repeats(graph: UnitigGraph) -> tuple[UnitigGraph, SourceUnitigs, int]:
    """Give each unitig that leads into a terminal repeat a copy of its own.

    Returns
    -------
    The compacted graph; its source unitigs: unitigs of ``graph``, and numbers from ``graph.n`` on for copies; and the
    number of repeats.
    """
    repeats = find_terminal_repeats(graph)
    if repeats.size == 0:
        return graph, SourceUnitigs.identity(graph.n), 0
    source, target, count = graph.arc_from.astype(np.int64), graph.arc_to.astype(np.int64), graph.arc_count
    bases, counts = [graph.bases], [graph.count.copy()]
    size, n = [graph.length], graph.n
    for oriented in repeats.tolist():
        u, entrances = oriented >> 1, _entrances(graph, oriented)
        for entrance in entrances.tolist()[1:]:
            bases.append(graph.bases[graph.start[u] : graph.start[u + 1]])
            counts.append(graph.count[u : u + 1] // entrances.size)
            size.append(graph.length[u : u + 1])
            own = 2 * n + (oriented & 1)
            target[_arcs(graph, entrance, oriented)] = own
            source[_arcs(graph, oriented ^ 1, entrance ^ 1)] = own ^ 1
            n += 1
        counts[0][u] //= entrances.size
    start = np.concatenate([[0], np.cumsum(np.concatenate(size))]).astype(np.int64)
    is_circular = np.concatenate([graph.is_circular, np.zeros(n - graph.n, dtype=bool)])
    rows = sorted_arcs(source, target, count, n_rows=2 * n)
    wide = UnitigGraph(
        graph.k, np.concatenate(bases), start, np.concatenate(counts), is_circular, *rows, unit=graph.unit
    )
    return *compact(wide, SourceUnitigs.identity(n)), int(repeats.size)


def _arcs(graph: UnitigGraph, source: int, target: int) -> np.ndarray:
    """Return the numbers of the arcs from one oriented unitig to another."""
    first, last = int(graph.arc_start[source]), int(graph.arc_start[source + 1])
    return first + np.flatnonzero(graph.arc_to[first:last] == target)


def _entrances(graph: UnitigGraph, oriented: int) -> np.ndarray:
    """Return the oriented unitigs that lead into this one."""
    twin = oriented ^ 1
    return graph.arc_to[graph.arc_start[twin] : graph.arc_start[twin + 1]].astype(np.int64) ^ 1
