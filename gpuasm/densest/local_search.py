"""Improve supports by exchanges of vertices that raise the weight of the edges within; on the host."""

from __future__ import annotations

import numpy as np

from gpuasm.graph.undirected_graph import UndirectedGraph
from gpuasm.parallel import compiled
from gpuasm.threads import run_chunks

_FEW = 24
"""Number of vertices inside and outside whose pairs are tried."""


def weights_within(graph: UndirectedGraph, supports: np.ndarray) -> np.ndarray:
    """Return the weight of the edges within each of (b, k) supports, (b,) float64."""
    weights = np.ones(1) if graph.weights is None else graph.weights
    found = np.empty(len(supports), np.float64)
    run_chunks(_weigh_all, len(supports), graph.row_offsets, graph.columns, weights, supports, found)
    return found


def improve(graph: UndirectedGraph, support: np.ndarray, *, patience: int = 0, max_swaps: int = 20_000) -> np.ndarray:
    """Return a support at least as heavy, (k,) int64, ascending, by repeated best exchanges of two vertices.

    Of the vertices inside with the least weight to the support and those outside with the most (the lowest numbers
    first among equals) the pair of greatest gain is exchanged. With ``patience`` the search continues for as many
    exchanges without a gain; a moved vertex is fixed for some of them (tabu), and the best support is returned.

    Parameters
    ----------
    graph
        On the host.
    support : (k,) integers
    patience
        Exchanges without a new best support after which to stop.
    max_swaps
        Greatest number of exchanges.
    """
    inside = np.zeros(graph.n_vertices, np.bool_)
    inside[support] = True
    weights = np.ones(1) if graph.weights is None else graph.weights
    _swap(graph.row_offsets, graph.columns, weights, inside, patience, max_swaps)
    return np.flatnonzero(inside)


@compiled()
def _weigh_all(first, last, offsets, columns, weights, supports, found):
    inside = np.zeros(offsets.size - 1, np.bool_)
    for i in range(first, last):
        for v in supports[i]:
            inside[v] = True
        total = 0.0
        for v in supports[i]:
            for slot in range(offsets[v], offsets[v + 1]):
                if inside[columns[slot]]:
                    total += weights[slot] if weights.size > 1 else 1.0
        found[i] = 0.5 * total
        for v in supports[i]:
            inside[v] = False


@compiled()
def _swap(offsets, columns, weights, inside, patience, max_swaps):
    n = inside.size
    joined, free_at = np.zeros(n, np.float64), np.zeros(n, np.int64)
    # Only vertices that are or were in the support, or next to it, can be useful.
    near, is_near, n_near = np.empty(n, np.int64), np.empty(n, np.bool_), 0
    _copy(inside, is_near)
    for v in range(n):
        if inside[v]:
            near[n_near] = v
            n_near += 1
    for i in range(n_near):
        n_near = _join(near[i], 1.0, offsets, columns, weights, joined, near, is_near, n_near)
    best, gained, best_gained, waited = np.empty(n, np.bool_), 0.0, 0.0, 0
    _copy(inside, best)
    leave, enter = np.empty(_FEW, np.int64), np.empty(_FEW, np.int64)
    for step in range(1, max_swaps + 1):
        n_leave = _few(joined, near[:n_near], inside, free_at, step, -1.0, leave)
        n_enter = _few(joined, near[:n_near], inside, free_at, step, 1.0, enter)
        u, v, gain = _best_pair(offsets, columns, weights, joined, leave[:n_leave], enter[:n_enter])
        if u < 0 or (gain <= 1e-12 * joined[v] and waited >= patience):
            break
        inside[u], inside[v] = False, True
        n_near = _join(u, -1.0, offsets, columns, weights, joined, near, is_near, n_near)
        n_near = _join(v, 1.0, offsets, columns, weights, joined, near, is_near, n_near)
        if patience > 0:
            free_at[u], free_at[v] = step + 3 + step % 3, step + 2 + step % 2
        gained += gain
        waited += 1
        if gained > best_gained + 1e-12 * abs(best_gained):
            _copy(inside, best)
            best_gained, waited = gained, 0
    _copy(best, inside)


@compiled()
def _copy(source, target):
    # A loop compiles faster than a slice.
    for v in range(source.size):
        target[v] = source[v]


@compiled()
def _join(v, sign, offsets, columns, weights, joined, near, is_near, n_near):
    for slot in range(offsets[v], offsets[v + 1]):
        u = columns[slot]
        joined[u] += sign * (weights[slot] if weights.size > 1 else 1.0)
        if not is_near[u]:
            is_near[u] = True
            near[n_near] = u
            n_near += 1
    return n_near


@compiled()
def _few(joined, near, inside, free_at, step, sign, found):
    # The vertices outside (sign 1) with most weight to the support, or inside (-1) with least, best first, then lowest.
    n_found = 0
    for v in near:
        if inside[v] == (sign > 0) or free_at[v] > step:
            continue
        score = sign * joined[v]
        if n_found == found.size:
            last = found[n_found - 1]
            if score < sign * joined[last] or (score == sign * joined[last] and v > last):
                continue
            n_found -= 1
        at = n_found
        while at > 0 and (
            sign * joined[found[at - 1]] < score or (sign * joined[found[at - 1]] == score and found[at - 1] > v)
        ):
            found[at] = found[at - 1]
            at -= 1
        found[at] = v
        n_found += 1
    return n_found


@compiled()
def _best_pair(offsets, columns, weights, joined, leave, enter):
    best_u, best_v, best = np.int64(-1), np.int64(-1), -np.inf
    for v in enter:
        for u in leave:
            if joined[v] - joined[u] <= best:
                break
            gain = joined[v] - joined[u] - _weight_between(u, v, offsets, columns, weights)
            if gain > best:
                best_u, best_v, best = u, v, gain
    return best_u, best_v, best


@compiled()
def _weight_between(u, v, offsets, columns, weights):
    low, high = offsets[u], offsets[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if columns[middle] < v:
            low = middle + 1
        else:
            high = middle
    if low < offsets[u + 1] and columns[low] == v:
        return weights[low] if weights.size > 1 else 1.0
    return 0.0
