"""Tandem repeat units: whether the exit of a superbubble leads back to its entrance, as in a tandem repeat.

Units of a tandem repeat that differ here and there form superbubbles as variants do. But every molecule contains both
paths, one after the other, and merging them would lose a unit. Such a superbubble lies on a short cycle: the graph
leads from its exit back to its entrance, and other edges enter and leave the cycle, all of sufficient depth.
"""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.parameters import PATHS, SIMPLIFICATION
from gpuasm.parallel import compiled, inlined

_MAX_CYCLE = PATHS.replicon_min_bases
"""k-mers of a cycle: a longer one may be a replicon, whose variants are merged."""
_MAX_UNITIGS = SIMPLIFICATION.tandem_max_unitigs
_DEPTH_RATIO = SIMPLIFICATION.tandem_depth_ratio


@compiled()
def lies_in_tandem_repeat(s, t, highest, graph):
    """Return whether a superbubble from oriented unitig ``s`` to ``t`` lies on a cycle of a tandem repeat.

    ``highest`` is the unitig of the highest depth that would be removed, and ``graph`` has ``arc_start``, ``arc_to``,
    ``start``, ``count`` of unitigs, and k.

    A unitig is on the cycle if the path from exit to entrance through it has at most `_MAX_CYCLE` k-mers.
    """
    ahead, far = _find_ahead(t, s, highest, graph)
    if ahead.size == 0:
        return False
    behind, back = _find_ahead(s ^ 1, t ^ 1, highest, graph)
    is_on_cycle = np.zeros(ahead.size, np.bool_)
    for i in range(ahead.size):
        for j in range(behind.size):
            if ahead[i] == behind[j] ^ 1 and far[i] + back[j] - n_kmers(ahead[i], graph) <= _MAX_CYCLE:
                is_on_cycle[i] = True
    cycle, has_exit, has_entry = ahead[is_on_cycle], False, False
    for v in cycle:
        has_exit = has_exit or (v != s and _leaves_cycle(v, cycle, 0, highest, graph))
        has_entry = has_entry or (v != t and _leaves_cycle(v ^ 1, cycle, 1, highest, graph))
    return has_exit and has_entry


@compiled()
def _find_ahead(begin, end, highest, graph):
    """Find the unitigs at most `_MAX_CYCLE` k-mers after ``begin``, up to ``end``; none without ``end``.

    Return these oriented unitigs, both ends included, and the fewest k-mers up to and with each: (n,) int64 each.
    """
    arc_start, arc_to, _, _, _ = graph
    found, far = np.empty((2, _MAX_UNITIGS), np.int64)
    found[0], far[0] = begin, n_kmers(begin, graph)
    n, has_end, is_changed = 1, False, True
    while is_changed:
        is_changed = False
        i = 0
        while i < n:
            for arc in range(arc_start[found[i]], arc_start[found[i] + 1] if found[i] != end else np.int64(0)):
                w = np.int64(arc_to[arc])
                reach = far[i] + n_kmers(w, graph)
                if reach > _MAX_CYCLE or not _has_depth(w, highest, graph):
                    continue
                at = 0
                while at < n and found[at] != w:
                    at += 1
                if at == found.size:
                    return found[:0], far[:0]
                if at == n or far[at] > reach:
                    found[at], far[at] = w, reach
                    n, has_end, is_changed = max(n, at + 1), has_end or w == end, True
            i += 1
    n = n if has_end else 0
    return found[:n], far[:n]


@compiled()
def _leaves_cycle(oriented, cycle, strand, highest, graph):
    """Return whether a successor of sufficient depth is not on the cycle, read on ``strand``."""
    arc_start, arc_to = graph[0], graph[1]
    for to in arc_to[arc_start[oriented] : arc_start[oriented + 1]]:
        if _has_depth(to, highest, graph) and not (cycle == to ^ strand).any():
            return True
    return False


@inlined()
def n_kmers(oriented, graph):
    """Return the k-mers of an oriented unitig."""
    _, _, start, _, k = graph
    return start[(oriented >> 1) + 1] - start[oriented >> 1] - k + 1


@inlined()
def _has_depth(oriented, highest, graph):
    count = graph[3]
    own, other = count[oriented >> 1] * n_kmers(2 * highest, graph), count[highest] * n_kmers(oriented, graph)
    return _DEPTH_RATIO * own >= other
