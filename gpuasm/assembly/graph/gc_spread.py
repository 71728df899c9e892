"""How far the GC contents of a graph's unitigs lie apart: little in one genome, more in several of even depth."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.graph.local_depth import LONG
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.sequence.encoding import encode

_LEAST_BASES = 1_000_000
"""Bases of long unitigs that tell: a phage of 48 kb, of two halves, spreads as far as a community."""


def gc_spread(graph: UnitigGraph) -> float:
    """Return the standard deviation of the GC content of long unitigs, weighted by length.

    What chance adds is taken away: n bases that are G or C with probability p vary by p (1 - p) / n.

    Parameters
    ----------
    graph
        The graph; of it unitigs of more than 200 k-mers count.

    Returns
    -------
    A share, such as 0.05; 0 where long unitigs have less than a million bases in all.
    """
    long = np.flatnonzero(graph.n_kmers > LONG)
    length = graph.length[long]
    if length.sum() < _LEAST_BASES:
        return 0.0
    c, g = encode("CG")
    is_gc = (graph.bases == c) | (graph.bases == g)
    share = np.add.reduceat(is_gc, graph.start[:-1], dtype=np.int64)[long] / length
    mean = np.average(share, weights=length)
    by_chance = share * (1 - share) / length
    variance = np.average((share - mean) ** 2 - by_chance, weights=length)
    return float(np.sqrt(max(0.0, variance)))
