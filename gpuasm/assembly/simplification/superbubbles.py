"""Superbubble variants: of nearly identical paths between two unitigs, keep the path that lacks the fewest reads.

Strains differ here and there. Where k bases before and after a difference agree, the graph branches and rejoins: as a
bubble, or as several that are nested or overlap if differences are closer than k. All unitigs between such an entrance
and exit, without other incoming or outgoing edges, are a superbubble (Onodera et al. 2013,
doi:10.1007/978-3-642-40453-5_26). The path with the fewest missing reads relative to entrance and exit is kept. The
other unitigs are removed if the sequence of each aligns to the kept path with few differences. The units of a tandem
repeat are all kept (`tandem_units`).
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph, copy_oriented
from gpuasm.assembly.parameters import ALIGNMENT, COVERAGE, SIMPLIFICATION
from gpuasm.assembly.simplification.tandem_units import lies_in_tandem_repeat, n_kmers
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.sequence.edits import edits_to_substring
from gpuasm.threads import run_chunks

_MAX_KMERS, _MAX_UNITIGS = SIMPLIFICATION.variant_max_kmers, SIMPLIFICATION.superbubble_max_unitigs
_PER_BASES = ALIGNMENT.copy_bases_per_difference
_SLOTS, _HASH_FACTOR = 1024, 0x9E3779B1
"""Of the hash table of the unitigs found: four times as many slots as unitigs."""


def find_superbubble_variants(
    graph: UnitigGraph,
    nearby: np.ndarray | float = np.inf,
    *,
    minor_share: float = np.inf,
    ends_below: float = np.inf,
) -> np.ndarray:
    """Mark the unitigs of superbubbles that are not on the kept path: (n,) bool.

    Paths are compared by the reads that their k-mers lack relative to the higher depth of entrance and exit. Of equal
    paths the one of the lower unitig numbers is kept. Of superbubbles that share unitigs only the first is resolved,
    in the order of their entrances.

    Parameters
    ----------
    nearby : (n,) float64
        Depth of one copy around each unitig. Where it is infinite, entrance and exit may have any depth.
    minor_share
        Greatest depth of a removed unitig, as a share of the lower depth of entrance and exit, if few superbubbles
        exceed it.
    ends_below
        Depth that entrance and exit must not reach.

    Notes
    -----
    Copies of a repeat that differ form superbubbles too, so entrance and exit must be single-copy. If most superbubbles
    are of repeats, the stricter bound holds. Of an isolate, two branches of similar depth may be two copies that the
    library covers by half: they are kept if they are rare, as a mixture has them everywhere.
    """
    known = graph.arc_start, graph.arc_to, graph.start, graph.count, graph.k
    marked, is_end = np.zeros(graph.n, dtype=bool), np.zeros(graph.n, dtype=bool)
    may_end = graph.depth < ends_below
    exits, share = np.full(2 * graph.n, -1, np.int32), np.zeros(2 * graph.n)
    run_chunks(_find_exits, 2 * graph.n, known, graph.bases, may_end, exits, share)
    _mark_off_path(known, may_end, exits, marked, is_end)
    if not marked.any():
        return marked
    copies = graph.depth / np.maximum(nearby, 1 / graph.unit)
    is_single = copies < COVERAGE.single_copy_ratio
    mostly_single = 2 * np.count_nonzero(is_end & is_single) > np.count_nonzero(is_end)
    may_end = is_single if mostly_single else copies < COVERAGE.strict_single_copy_ratio
    halves = (share > minor_share) & np.repeat(may_end, 2) & may_end[exits >> 1]
    if np.count_nonzero(halves) * SIMPLIFICATION.superbubble_spacing <= graph.n_kmers.sum():
        exits[halves] = -1
    marked[:] = is_end[:] = False
    _mark_off_path(known, may_end, exits, marked, is_end)
    return marked


_GRAPH = "Tuple((int64[::1], int32[::1], int64[::1], int64[::1], int64, )), "
"""Types of ``arc_start``, ``arc_to``, ``start``, ``count`` of unitigs, and k."""


@signatures("int64, int64, " + _GRAPH + "uint8[::1], boolean[::1], int32[::1], float64[::1]")
@compiled()
def _find_exits(first, last, graph, bases, may_end, exits, share):
    """Write the exit of each superbubble of nearly identical paths, and the share of depth to remove, by its entrance.

    The exit stays -1 if there is none, the paths differ, or they lie in a tandem repeat; each superbubble is listed at
    one of its ends only. The share is that of the unitig of the highest depth to remove in the lower depth of entrance
    and exit, 0 if there is none.
    """
    arc_start, buffers = graph[0], _superbubble_buffers()
    for s in range(first, last):
        if arc_start[s + 1] - arc_start[s] < 2 or not may_end[s >> 1]:
            continue
        inner = _find_superbubble(s, graph, buffers)
        # Each superbubble is found from both ends.
        if inner.size < 3 or s > inner[-1] ^ 1 or not may_end[inner[-1] >> 1]:
            continue
        on_path = _choose_path(inner, graph)
        if on_path[0] and _all_similar(inner, on_path, bases, graph):
            t, highest = inner[-1], _highest_removed(inner, on_path, graph)
            if highest < 0:
                exits[s] = t
            elif not lies_in_tandem_repeat(s, t, highest, graph):
                exits[s], share[s] = t, _depth(2 * highest, graph) / min(_depth(s, graph), _depth(t, graph))


@signatures(_GRAPH + "boolean[::1], int32[::1], boolean[::1], boolean[::1]")
@compiled()
def _mark_off_path(graph, may_end, exits, marked, is_end):
    """Mark the removed unitigs of superbubbles that share none with an earlier one, and their entrances and exits."""
    is_touched, buffers = np.zeros(marked.size, np.bool_), _superbubble_buffers()
    for s in range(exits.size):
        t = exits[s]
        if t < 0 or not (may_end[s >> 1] and may_end[t >> 1]):
            continue
        inner = _find_superbubble(s, graph, buffers)
        if not is_touched[inner[1:-1] >> 1].any():
            on_path = _choose_path(inner, graph)
            is_end[s >> 1] = is_end[t >> 1] = True
            is_touched[inner[1:-1] >> 1] = True
            marked[inner[1:-1] >> 1] = ~on_path[1:-1]


@compiled()
def _superbubble_buffers():
    """Return buffers for a superbubble: its unitigs, the visited arcs into each, and a hash table of their places.

    A hash table takes less memory a thread than a number for each unitig of the graph.
    """
    size = _MAX_UNITIGS + 2
    return np.empty(size, np.int32), np.empty(size, np.int32), np.empty(_SLOTS, np.int32), np.empty(_SLOTS, np.int32)


@inlined()
def _slot_of(v, key):
    """Return the slot of an oriented unitig in a hash table, or the one where it would be inserted."""
    slot = (v * _HASH_FACTOR) & (_SLOTS - 1)
    while key[slot] >= 0 and key[slot] != v:
        slot = (slot + 1) & (_SLOTS - 1)
    return slot


@compiled()
def _find_superbubble(s, graph, buffers):
    """Return entrance, inner unitigs and exit in topological order, in the buffer; none if there is no superbubble.

    A unitig is visited once all arcs into it have been. The exit is the only unitig that remains to be visited.
    """
    arc_start, arc_to = graph[0], graph[1]
    inner, n_seen, key, place = buffers
    key[:] = -1
    inner[0] = s
    slot = _slot_of(s, key)
    key[slot], place[slot] = s, 0
    found, size, n_open = 1, 0, 0
    # inner[:size] is visited; of the unitigs found after it, n_open wait for more arcs.
    ready = 1
    while size < ready:
        v = inner[size]
        size += 1
        if size > 1 and ready == size and n_open == 0:
            break
        if arc_start[v] == arc_start[v + 1]:
            return inner[:0]
        for arc in range(arc_start[v], arc_start[v + 1]):
            w = arc_to[arc]
            if key[_slot_of(w ^ 1, key)] >= 0 or w == s:
                return inner[:0]
            slot = _slot_of(w, key)
            if key[slot] < 0:
                if found >= inner.size:
                    return inner[:0]
                key[slot], place[slot] = w, found
                inner[found] = w
                n_seen[found] = 0
                found += 1
                n_open += 1
            at = place[slot]
            n_seen[at] += 1
            if n_seen[at] == arc_start[(w ^ 1) + 1] - arc_start[w ^ 1]:
                other = inner[ready]
                inner[ready], inner[at] = w, other
                n_seen[at] = n_seen[ready]
                place[_slot_of(other, key)] = at
                place[slot] = ready
                ready += 1
                n_open -= 1
    return inner[: size if ready == size == found and n_open == 0 else 0]


@compiled()
def _choose_path(inner, graph):
    """Return which unitigs are on the path of the fewest missing reads; none are if a path is too long."""
    arc_start, arc_to, _, count, _ = graph
    size, s, t = inner.size, inner[0], inner[-1]
    full = max(count[s >> 1] // n_kmers(s, graph), count[t >> 1] // n_kmers(t, graph))
    missing, reach, before = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    on_path = np.zeros(size, np.bool_)
    for i in range(1, size):
        best = -1
        for j in range(i):
            if inner[i] not in arc_to[arc_start[inner[j]] : arc_start[inner[j] + 1]]:
                continue
            reach[i] = max(reach[i], reach[j])
            if best < 0 or (missing[j], inner[j]) < (missing[best], inner[best]):
                best = j
        before[i], missing[i] = best, missing[best]
        if i < size - 1:
            reach[i] += n_kmers(inner[i], graph)
            missing[i] += max(np.int64(0), full * n_kmers(inner[i], graph) - count[inner[i] >> 1])
    if reach[size - 1] <= _MAX_KMERS:
        i = size - 1
        while i > 0:
            on_path[i] = True
            i = before[i]
        on_path[0] = True
    return on_path


@inlined()
def _depth(oriented, graph):
    return graph[3][oriented >> 1] / n_kmers(oriented, graph)


@compiled()
def _highest_removed(inner, on_path, graph):
    """Return the unitig of the highest depth that is not on the kept path, -1 if there is none."""
    count, best = graph[3], np.int64(-1)
    for v in inner[~on_path]:
        u = np.int64(v >> 1)
        if best < 0 or count[u] * n_kmers(2 * best, graph) > count[best] * n_kmers(v, graph):
            best = u
    return best


@compiled()
def _all_similar(inner, on_path, bases, graph):
    """Return whether each unitig that is not kept aligns to the kept path with few differences."""
    _, _, start, _, k = graph
    path, n = np.empty(_MAX_KMERS + 2 * (k - 1), np.uint8), np.int64(0)
    for i in np.flatnonzero(on_path):  # in topological order
        begin, end, strand = start[inner[i] >> 1], start[(inner[i] >> 1) + 1], inner[i] & 1
        first, last = k - 1, end - begin  # without the overlap with the unitig before
        if i == 0:
            first = max(np.int64(0), last - (k - 1))
        elif i == inner.size - 1:
            last = min(last, 2 * (k - 1))
        copy_oriented(bases, end - last if strand else begin + first, last - first, strand, path, n)
        n += last - first
    for v in inner[~on_path]:
        length = n_kmers(v, graph) + k - 1
        codes = np.empty(length, np.uint8)
        copy_oriented(bases, start[v >> 1], length, v & 1, codes, np.int64(0))
        if _PER_BASES * edits_to_substring(codes, path[:n]) > length:
            return False
    return True
