"""Branches that read support distinguishes from errors, arc by arc."""

from __future__ import annotations

from gpuasm.assembly.graph.unitig_graph import UnitigGraph


def supported(graph: UnitigGraph, few: float = 3.0) -> list[bool]:
    depth = (graph.count / (graph.n_kmers * graph.unit)).tolist()
    follows = {o: graph.arc_to[graph.arc_start[o] : graph.arc_start[o + 1]].tolist() for o in range(2 * graph.n)}
    seen_twice = [d >= 1.75 * few / 3 for d in depth]
    is_long = [seen_twice[u] and graph.n_kmers[u] > graph.k for u in range(graph.n)]

    def is_company(u: int, shared: int, other: int) -> bool:
        apart = max(depth[u], depth[other]) > 3 * min(depth[u], depth[other])
        is_common = graph.n_kmers[shared] <= 200 and depth[shared] >= 2 * max(depth[u], depth[other])
        return other != u and is_long[other] and not apart and is_common

    def has_company(u: int) -> bool:
        pairs = [(s, o) for side in (2 * u, 2 * u + 1) for s in follows[side] for o in follows[s]]
        return any(is_company(u, s >> 1, o >> 1) for s, o in pairs)

    return [is_long[u] or (seen_twice[u] and has_company(u)) for u in range(graph.n)]
