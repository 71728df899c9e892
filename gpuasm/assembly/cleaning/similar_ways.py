"""Similar ways: of all ways between two unitigs that say nearly the same, the one that reads miss least.

A strain differs from its species' others here and there. Where k bases are the same before and after, the graph parts
and meets again: a bubble, or several that are nested or run into each other, where differences lie closer than k. All
unitigs between such an entrance and its exit, with no other way in or out, are a superbubble (Onodera et al. 2013,
doi:10.1007/978-3-642-40453-5_26). One way through it is kept: that with the fewest missing reads, against what leads
in or out. The others go, if the text of each unitig of theirs lies on the way that is kept, but for few differences.
Ways that are units of a tandem repeat all stay (`turns`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.assembly.cleaning.turns import lies_on_turn
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import compiled, inlined, run_chunks

LONGEST = 1000
"""The longest way between entrance and exit has at most so many k-mers between them."""
MOST_INNER = 256
"""And so many unitigs lie between them at most."""
_SLOTS, _SPREAD = 1024, 0x9E3779B1
"""Of the hash table of what was found: four times as many as it holds at most."""
_ONE, _TOP, _ALL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)
DIFFERENCES, OF_BASES = 1, 10
"""What goes may differ in one base of ten from what is kept."""


ONE_COPY, SURELY_ONE = 1.5, 1.25
"""Entrance and exit are one copy: less than so many times as deep. Copies of a repeat that
differ make superbubbles too, and at 15x one place of two copies in twelve is below the first bound: where most
superbubbles are not, copies are what differs here, and the second one holds."""


MINORITY, SPARSE = 1 / 3, 50_000
"""In an isolate's reads, what goes is at most this share as deep as the shallower of entrance and exit, if no more than
one superbubble in so many k-mers has deeper ones. A mixture has two variants about as often everywhere; here and there
it is two copies that a library covers by half, which are together as deep as one."""


def find_similar_ways(
    graph: UnitigGraph,
    nearby: np.ndarray | None = None,
    *,
    minority: float = np.inf,
    ends_below: float = np.inf,
) -> np.ndarray:
    """Mark all unitigs of superbubbles that are not on the way that is kept.

    Ways are compared by the sum of reads that their k-mers lack against the deeper of entrance and exit: of single
    differences the deeper side stays, of insertions and deletions too. Of equal ways the one that goes by the unitigs
    of lesser numbers stays. Superbubbles that share unitigs are for another round: the first is resolved, in the order
    of their entrances.

    Parameters
    ----------
    graph
        The graph.
    nearby : (n,) float64
        Depth of one copy around each unitig, infinite where nothing tells, and entrance and exit may be of any depth;
        None where that is so everywhere.
    minority
        How deep what goes may be, as a share of the shallower of entrance and exit, where few superbubbles have more.
    ends_below
        Depth that neither entrance nor exit reaches.

    Returns
    -------
    (n,) bool
    """
    text = graph.bases, graph.start, graph.k
    known = graph.arc_start, graph.arc_to, text, graph.count
    marked, is_end = np.zeros(graph.n, dtype=bool), np.zeros(graph.n, dtype=bool)
    may_end = graph.depth < ends_below
    exits, share = _exits(known, may_end)
    _mark(*known, may_end, exits, marked, is_end)
    if nearby is None or not marked.any():
        return marked
    copies = graph.depth / np.maximum(nearby, 1 / graph.unit)
    mostly_one = 2 * np.count_nonzero(is_end & (copies < ONE_COPY)) > np.count_nonzero(is_end)
    may_end = copies < (ONE_COPY if mostly_one else SURELY_ONE)
    halves = (share > minority) & np.repeat(may_end, 2) & may_end[exits >> 1]
    if np.count_nonzero(halves) * SPARSE <= graph.n_kmers.sum():
        exits[halves] = -1
    marked[:] = is_end[:] = False
    _mark(*known, may_end, exits, marked, is_end)
    return marked


def _exits(known: Any, may_end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the exit of each superbubble whose ways say nearly the same, and how deep these are, by its entrance.

    Parameters
    ----------
    known
        Arcs, text and counts of the graph.
    may_end : (n,) bool
        Unitigs that may be entrance and exit.

    Returns
    -------
    exits : (2n,) int32
        -1 where there is none, its ways differ, or it lies on a turn; each is told from one of its ends only.
    share : (2n,) float64
        Depth of the deepest unitig that would go, as a share of the shallower of entrance and exit; 0 without.
    """
    n = known[0].size - 1
    exits, share = np.full(n, -1, np.int32), np.zeros(n)
    run_chunks(_find_exits, n, *known, may_end, exits, share)
    return exits, share


@compiled()
def _find_exits(first, last, arc_start, arc_to, text, count, may_end, exits, share):
    _, start, k = text
    room = _empty_superbubble()
    for s in range(first, last):
        if arc_start[s + 1] - arc_start[s] < 2 or not may_end[s >> 1]:
            continue
        size = _superbubble(s, arc_start, arc_to, room)
        inner = room[0][:size]
        # The same one is found from the other end.
        if size < 3 or s > inner[size - 1] ^ 1 or not may_end[inner[size - 1] >> 1]:
            continue
        on_way, kept = _least_missing(inner, arc_start, arc_to, start, count, k)
        if kept.size and _all_similar(inner, on_way, kept, text):
            t = inner[size - 1]
            deepest = _deepest(inner[1 : size - 1], on_way[1 : size - 1], start, count, k)
            if deepest < 0:
                exits[s] = t
                continue
            ends = min(_depth(s >> 1, start, count, k), _depth(t >> 1, start, count, k))
            if not lies_on_turn(s, t, deepest, (arc_start, arc_to, start, count, k)):
                exits[s], share[s] = t, _depth(deepest, start, count, k) / ends


@compiled()
def _mark(arc_start, arc_to, text, count, may_end, exits, marked, is_end):
    _, start, k = text
    is_touched = np.zeros(start.size - 1, np.bool_)
    room = _empty_superbubble()
    for s in range(exits.size):
        t = exits[s]
        if t < 0 or not (may_end[s >> 1] and may_end[t >> 1]):
            continue
        size = _superbubble(s, arc_start, arc_to, room)
        inner = room[0][:size]
        is_new = True
        for v in inner[1 : size - 1]:
            is_new = is_new and not is_touched[v >> 1]
        if is_new:
            on_way, _ = _least_missing(inner, arc_start, arc_to, start, count, k)
            is_end[s >> 1] = is_end[t >> 1] = True
            for i in range(1, size - 1):
                is_touched[inner[i] >> 1] = True
                marked[inner[i] >> 1] = not on_way[i]


@compiled()
def _empty_superbubble():
    """Return room for what a superbubble has: its unitigs, arcs into each that were seen, and where each stands.

    Places are kept in a hash table, as a number for each unitig of the graph would be for each thread.
    """
    size = MOST_INNER + 2
    return np.empty(size, np.int32), np.empty(size, np.int32), np.full(_SLOTS, -1, np.int32), np.empty(_SLOTS, np.int32)


@inlined()
def _slot_of(v, key):
    """Return where an oriented unitig stands in a hash table, or would stand."""
    slot = (v * _SPREAD) & (_SLOTS - 1)
    while key[slot] >= 0 and key[slot] != v:
        slot = (slot + 1) & (_SLOTS - 1)
    return slot


@compiled()
def _superbubble(s, arc_start, arc_to, room):
    """Fill a room with entrance, inner unitigs and exit in topological order; return how many, 0 if there is none.

    A unitig is visited when all arcs into it have been; the exit is the one that is left to visit alone.
    """
    inner, n_seen, key, place = room
    found = 1
    inner[0] = s
    slot = _slot_of(s, key)
    key[slot], place[slot] = s, 0
    size, n_open, is_good = 0, 0, True
    # inner[:size] is visited; of what is found behind it, n_open wait for more arcs.
    ready = 1
    while is_good and size < ready:
        v = inner[size]
        size += 1
        if size > 1 and ready == size and n_open == 0:
            break
        if arc_start[v] == arc_start[v + 1]:
            is_good = False
        for arc in range(arc_start[v], arc_start[v + 1]):
            w = arc_to[arc]
            if key[_slot_of(w ^ 1, key)] >= 0 or w == s:
                is_good = False
                break
            slot = _slot_of(w, key)
            if key[slot] < 0:
                if found >= inner.size:
                    is_good = False
                    break
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
    is_good = is_good and ready == size and n_open == 0 and found == size
    key[:] = -1
    return size if is_good else 0


@compiled()
def _least_missing(inner, arc_start, arc_to, start, count, k):
    """Return which of the unitigs are on the way with the fewest missing reads, and that way's; none if one is long."""
    size = inner.size
    s, t = inner[0] >> 1, inner[size - 1] >> 1
    full = max(count[s] // (start[s + 1] - start[s] - k + 1), count[t] // (start[t + 1] - start[t] - k + 1))
    missing, reach = np.zeros(size, np.int64), np.zeros(size, np.int64)
    before = np.zeros(size, np.int64)
    on_way = np.zeros(size, np.bool_)
    for i in range(1, size):
        best = -1
        for j in range(i):
            leads_here = False
            for arc in range(arc_start[inner[j]], arc_start[inner[j] + 1]):
                leads_here = leads_here or arc_to[arc] == inner[i]
            if not leads_here:
                continue
            reach[i] = max(reach[i], reach[j])
            if best < 0 or (missing[j], inner[j]) < (missing[best], inner[best]):
                best = j
        u = inner[i] >> 1
        n_kmers = start[u + 1] - start[u] - k + 1
        before[i] = best
        missing[i] = missing[best]
        if i < size - 1:
            reach[i] += n_kmers
            missing[i] += max(np.int64(0), full * n_kmers - count[u])
    if reach[size - 1] > LONGEST:
        return on_way, np.empty(0, np.int64)
    n_kept, i = 0, size - 1
    kept = np.empty(size, np.int64)
    while True:
        on_way[i] = True
        kept[n_kept] = i
        n_kept += 1
        if i == 0:
            return on_way, kept[:n_kept][::-1]
        i = before[i]


@inlined()
def _depth(u, start, count, k):
    return count[u] / (start[u + 1] - start[u] - k + 1)


@compiled()
def _deepest(inner, on_way, start, count, k):
    """Return the deepest unitig that is not on the way that is kept, -1 if there is none."""
    best = np.int64(-1)
    for i in range(inner.size):
        if not on_way[i]:
            u = np.int64(inner[i] >> 1)
            n = start[u + 1] - start[u] - k + 1
            if best < 0 or count[u] * (start[best + 1] - start[best] - k + 1) > count[best] * n:
                best = u
    return best


@compiled()
def _all_similar(inner, on_way, kept, text):
    """Tell whether the text of each unitig that is not kept lies, nearly, on that of the way that is."""
    bases, start, k = text
    way = np.empty(2 * (k - 1), np.uint8)
    n = 0
    for i in kept:
        u = inner[i]
        own = start[(u >> 1) + 1] - start[u >> 1]
        first, last = k - 1, own  # what the unitig before does not say
        if i == 0:
            first = max(np.int64(0), own - (k - 1))
        elif i == inner.size - 1:
            last = min(own, 2 * (k - 1))
        grown = np.empty(n + last - first, np.uint8)
        grown[:n] = way[:n]
        way = grown
        for j in range(first, last):
            way[n] = _base(u, j, bases, start)
            n += 1
    for i in range(inner.size):
        if not on_way[i]:
            u = inner[i]
            length = start[(u >> 1) + 1] - start[u >> 1]
            if OF_BASES * _differences(u, bases, start, way[:n]) > DIFFERENCES * length:
                return False
    return True


@compiled()
def _base(oriented, j, bases, start):
    u = oriented >> 1
    return 3 - bases[start[u + 1] - 1 - j] if oriented & 1 else bases[start[u] + j]


@compiled()
def _differences(oriented, bases, start, way):
    """Return the edits between an oriented unitig and the part of a text that is most like it.

    64 rows of the matrix of Sellers (1980) at a time, as bits that say where it rises and falls: Myers (1999,
    doi:10.1145/316542.316550), in the blocks of Hyyrö (2003).
    """
    length = start[(oriented >> 1) + 1] - start[oriented >> 1]
    n_words = (length + 63) >> 6
    same, rises = np.zeros((4, n_words), np.uint64), np.full(n_words, _ALL, np.uint64)
    falls = np.zeros(n_words, np.uint64)
    for j in range(length):
        same[_base(oriented, j, bases, start), j >> 6] |= _ONE << np.uint64(j & 63)
    last = np.uint64((length - 1) & 63)
    edits = least = length
    for base in way:
        step = 0  # of the row above these 64 to the right
        for w in range(n_words):
            top = last if w == n_words - 1 else _TOP
            rises[w], falls[w], step = _next_column(same[base, w], rises[w], falls[w], step, top)
        edits += step
        least = min(least, edits)
    return least


@inlined()
def _next_column(same, rises, falls, step, top):
    """Return where the next column of 64 rows rises and falls from row to row, and its step to the right at ``top``."""
    either = same | falls
    if step < 0:
        same |= _ONE
    level = (((same & rises) + rises) ^ rises) | same
    up, down = falls | ~(level | rises), rises & level
    out = np.int64((up >> top) & _ONE) - np.int64((down >> top) & _ONE)
    up, down = up << _ONE, down << _ONE
    if step < 0:
        down |= _ONE
    elif step > 0:
        up |= _ONE
    return down | ~(either | up), up & either, out
