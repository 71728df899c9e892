"""The bases of a unitig on either strand."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.parallel import inlined


def oriented_codes(graph: UnitigGraph, oriented: int) -> np.ndarray:
    """Return the bases of an oriented unitig."""
    u = oriented >> 1
    codes = graph.bases[graph.start[u] : graph.start[u + 1]]
    return 3 - codes[::-1] if oriented & 1 else codes


def last_codes(graph: UnitigGraph, oriented: int, n: int) -> np.ndarray:
    """Return the last n bases of an oriented unitig, or all if it has fewer."""
    u, is_reversed = oriented >> 1, oriented & 1
    begin, end = int(graph.start[u]), int(graph.start[u + 1])
    if is_reversed:
        return 3 - graph.bases[begin : min(end, begin + n)][::-1]
    return graph.bases[max(begin, end - n) : end]


@inlined()
def unitig_base(oriented, i, bases, start):
    """Return base i (int64) of an oriented unitig."""
    u = oriented >> 1
    if oriented & 1:
        return 3 - np.int64(bases[start[u + 1] - 1 - i])
    return np.int64(bases[start[u] + i])
