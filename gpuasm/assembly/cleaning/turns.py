"""Turns: whether what comes out of a superbubble leads back into it, as it does in a tandem repeat.

Units of a tandem repeat that differ here and there share what is the same in them, so that the graph parts and meets
again as it does between variants. But there both ways are in every molecule, one after the other: merged, they are one
unit. Such a superbubble lies on a turn: from its exit the graph leads back to its entrance, and other ways lead into
the turn and out of it, all of them deep enough to carry what would go.
"""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, inlined

LONGEST_TURN = 800
"""From the exit to the entrance, both included, there are at most so many k-mers. The smallest plasmids have some 850
bases: what is shorter is no circle of its own beside another molecule, which has variants as any other has."""
MOST_FOUND = 64
"""Unitigs that are looked at: where there are more, the graph is a tangle, and nothing is told."""
HALF = 2
"""What leads on is at least half as deep as the deepest unitig that would go."""


@compiled()
def lies_on_turn(s, t, deepest, graph):
    """Tell whether a superbubble lies on a turn of a tandem repeat.

    Parameters
    ----------
    s, t
        Its entrance and its exit, oriented.
    deepest
        The deepest unitig that would go.
    graph
        ``arc_start``, ``arc_to``, ``start``, ``count`` of unitigs, and k.

    Notes
    -----
    A unitig is on a turn where the k-mers from the exit to it and from it to the entrance are at most `LONGEST_TURN`.
    """
    ahead, far = np.empty(MOST_FOUND, np.int64), np.empty(MOST_FOUND, np.int64)
    n_ahead = _search(t, s, deepest, graph, ahead, far)
    behind, back = np.empty(MOST_FOUND, np.int64), np.empty(MOST_FOUND, np.int64)
    n_behind = _search(s ^ 1, t ^ 1, deepest, graph, behind, back) if n_ahead else 0
    turn, n = np.empty(MOST_FOUND, np.int64), 0
    for i in range(n_ahead):
        for j in range(n_behind):
            if ahead[i] == behind[j] ^ 1 and far[i] + back[j] - _n_kmers(ahead[i], graph) <= LONGEST_TURN:
                turn[n] = ahead[i]
                n += 1
    is_left, is_entered = False, False
    for v in turn[:n]:
        is_left = is_left or (v != s and _leads_elsewhere(v, turn[:n], 0, deepest, graph))
        is_entered = is_entered or (v != t and _leads_elsewhere(v ^ 1, turn[:n], 1, deepest, graph))
    return is_left and is_entered


@compiled()
def _search(begin, end, deepest, graph, found, far):
    """Find what lies at most `LONGEST_TURN` k-mers beyond ``begin``, not beyond ``end``; return how many, 0 without it.

    ``found`` is filled with oriented unitigs, both ends among them, ``far`` with the fewest k-mers up to and with each.
    """
    arc_start, arc_to, _, _, _ = graph
    found[0], far[0] = begin, _n_kmers(begin, graph)
    n, has_end, is_changed = 1, False, True
    while is_changed:
        is_changed = False
        i = 0
        while i < n:
            for arc in range(arc_start[found[i]], arc_start[found[i] + 1] if found[i] != end else np.int64(0)):
                w = np.int64(arc_to[arc])
                reach = far[i] + _n_kmers(w, graph)
                if reach > LONGEST_TURN or not _is_deep(w, deepest, graph):
                    continue
                at = 0
                while at < n and found[at] != w:
                    at += 1
                if at == found.size:
                    return 0
                if at == n or far[at] > reach:
                    found[at], far[at] = w, reach
                    n, has_end, is_changed = max(n, at + 1), has_end or w == end, True
            i += 1
    return n if has_end else 0


@compiled()
def _leads_elsewhere(oriented, turn, turned, deepest, graph):
    """Tell whether something deep follows that is not on the turn, read on the strand that ``turned`` says."""
    arc_start, arc_to, _, _, _ = graph
    for arc in range(arc_start[oriented], arc_start[oriented + 1]):
        is_on_turn = not _is_deep(arc_to[arc], deepest, graph)
        for v in turn:
            is_on_turn = is_on_turn or v == arc_to[arc] ^ turned
        if not is_on_turn:
            return True
    return False


@inlined()
def _n_kmers(oriented, graph):
    _, _, start, _, k = graph
    return start[(oriented >> 1) + 1] - start[oriented >> 1] - k + 1


@inlined()
def _is_deep(oriented, deepest, graph):
    count = graph[3]
    return HALF * count[oriented >> 1] * _n_kmers(2 * deepest, graph) >= count[deepest] * _n_kmers(oriented, graph)
