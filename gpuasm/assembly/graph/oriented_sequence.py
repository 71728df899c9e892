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


@inlined()
def unitig_base(oriented, i, bases, start):
    """Return base i (int64) of an oriented unitig."""
    u = oriented >> 1
    if oriented & 1:
        return 3 - np.int64(bases[start[u + 1] - 1 - i])
    return np.int64(bases[start[u] + i])
