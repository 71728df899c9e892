"""Last variants: what still parts relatives in the last graph of a community, and nothing tells apart, is merged.

While k rises, variants stay: reads and fragments of larger k tell which of them stand together, and what was merged
at a smaller k has no way on for the rarer member. (Of *S. aureus* USA300, 19x beside RF122 at 71x, half of the genome
is left so, and 95 % without.) Only where both together are thin they are merged at each k: see `cleaning.THIN`. In the
last graph, before pairs and deep ways decide, those variants are merged that stand further apart than k: similar ways
become one, and an end goes that says what another way says, unless that is twice as deep. Then it is left to deep ways,
which tell both.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gpuasm.assembly.cleaning.cleaning import Removed
from gpuasm.assembly.cleaning.similar_ends import find_similar_ends
from gpuasm.assembly.cleaning.similar_ways import find_similar_ways
from gpuasm.assembly.graph.compaction import Pieces, compact
from gpuasm.assembly.graph.deep_ways import DEEPER
from gpuasm.assembly.graph.one_copy import one_copy_depth
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.modes import Mode


def merge_last_variants(
    graph: UnitigGraph, mode: Mode, *, without: Collection[str] = ()
) -> tuple[UnitigGraph, Removed]:
    """Remove variants from the last graph of a community until no more are found.

    Parameters
    ----------
    graph
        The cleaned graph of the last k.
    mode
        Of the sample.
    without
        Rules to leave out: "similar-ways" and "similar-ends" are those that are used here.

    Returns
    -------
    The graph without them, and how many unitigs went by either rule, and in how many rounds.
    """
    removed = Removed()
    while True:
        before = removed.total
        if "similar-ways" not in without:
            marked = find_similar_ways(graph, one_copy_depth(graph, mode))
            removed.similar_ways += int(marked.sum())
            graph = _without(graph, marked)
        if "similar-ends" not in without:
            # One difference spoils k k-mers: longer ends say more than what another way says.
            marked = find_similar_ends(graph, longest=graph.k, deeper=DEEPER)
            removed.similar_ends += int(marked.sum())
            graph = _without(graph, marked)
        removed.rounds += 1
        if removed.total == before:
            return graph, removed


def _without(graph: UnitigGraph, marked: np.ndarray) -> UnitigGraph:
    return compact(graph, Pieces.identity(graph.n), is_removed=marked)[0] if marked.any() else graph
