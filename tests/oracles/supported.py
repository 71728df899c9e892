"""Branches that read support distinguishes from errors, arc by arc."""

from __future__ import annotations

from gpuasm.assembly.graph.unitig_graph import UnitigGraph


def supported(graph: UnitigGraph, least: list[float], frequent: list[float]) -> list[bool]:
    """Return which unitigs are supported, from the least depths of branches of two errors, and of one error."""
    depth = (graph.count / (graph.n_kmers * graph.unit)).tolist()
    follows = {o: graph.arc_to[graph.arc_start[o] : graph.arc_start[o + 1]].tolist() for o in range(2 * graph.n)}
    is_read = [d >= own for d, own in zip(depth, least, strict=True)]
    is_true = [is_read[u] and graph.n_kmers[u] > graph.k for u in range(graph.n)]

    is_frequent = [d >= own for d, own in zip(depth, frequent, strict=True)]

    def is_company(u: int, shared: int, other: int) -> bool:
        apart = max(depth[u], depth[other]) > 3 * min(depth[u], depth[other])
        is_common = graph.n_kmers[shared] <= 200 and depth[shared] >= 2 * max(depth[u], depth[other])
        return other != u and not apart and is_common

    def company(side: int) -> set[int]:
        pairs = [(s >> 1, o >> 1) for s in follows[side] for o in follows[s]]
        return {other for shared, other in pairs if is_company(side >> 1, shared, other)}

    def has_company(u: int) -> bool:
        sides = company(2 * u), company(2 * u + 1)
        passes = is_frequent[u] and all(any(is_frequent[o] for o in side) for side in sides)
        return passes or any(is_true[o] for side in sides for o in side)

    while found := [u for u in range(graph.n) if is_read[u] and not is_true[u] and has_company(u)]:
        is_true[found[0]] = True
    return is_true
