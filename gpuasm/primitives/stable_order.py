"""Order of integers: a counting sort of small ones, and a sort of distinct large ones by all threads."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import compiled, signatures
from gpuasm.threads import ordered_map, run_chunks, thread_count

_RANGES_PER_THREAD = 8
_FEW = 1 << 16
"""Keys: to sort fewer takes less time than to deal them to ranges."""


def stable_order(keys: Array, n_keys: int) -> Array:
    """Return the indices that sort ``keys``, equal keys in the order of their indices.

    Parameters
    ----------
    keys : (m,) int32 or int64, from 0 to n_keys - 1
    n_keys
        Number of possible keys.

    Returns
    -------
    (m,) int32 or int64: int64 on CUDA and where m needs it.
    """
    xp = array_namespace(keys)
    if xp is not np:
        return xp.argsort(keys, kind="stable")
    next_place = np.zeros(n_keys + 1, np.int64)
    order = np.empty(keys.size, np.int32 if keys.size < 1 << 31 else np.int64)
    _deal(keys, next_place, order)
    return order


@compiled()
def _deal(keys, next_place, order):
    for i in range(keys.size):
        next_place[keys[i] + 1] += 1
    for key in range(1, next_place.size):
        next_place[key] += next_place[key - 1]
    for i in range(keys.size):
        order[next_place[keys[i]]] = i
        next_place[keys[i]] += 1


def order_of_distinct(keys: Array) -> Array:
    """Return the indices that sort distinct keys, by all threads on the CPU.

    Keys are dealt to ranges of equal width, each of which is sorted alone: it takes least time if they are spread
    evenly, as places in a text are.

    Parameters
    ----------
    keys : (m,) int64, from 0 on

    Returns
    -------
    (m,) int64
    """
    xp = array_namespace(keys)
    if xp is not np or keys.size < _FEW or thread_count() == 1:
        return xp.argsort(keys)
    n_ranges = thread_count() * _RANGES_PER_THREAD
    width = int(keys.max()) // n_ranges + 1
    bounds = np.linspace(0, keys.size, n_ranges + 1).astype(np.int64)
    size = np.zeros((n_ranges, n_ranges), np.int64)
    for _ in ordered_map(lambda c: _count_ranges(keys[bounds[c] : bounds[c + 1]], width, size[c]), range(n_ranges)):
        pass
    end = np.cumsum(size.T.ravel())  # range by range, and within each part by part
    start, order = (end - size.T.ravel()).reshape(n_ranges, n_ranges), np.empty(keys.size, np.int64)

    def deal(part: int) -> None:
        _deal_to_ranges(keys, bounds[part], bounds[part + 1], width, start[:, part].copy(), order)

    def sort(number: int) -> None:
        own = order[start[number, 0] : end[(number + 1) * n_ranges - 1]]
        own[:] = own[np.argsort(keys[own])]

    for step in (deal, sort):
        for _ in ordered_map(step, range(n_ranges)):
            pass
    return order


def taken(column: Array, order: Array) -> Array:
    """Return the rows of a column in an order, copied by all threads on the CPU."""
    if array_namespace(column) is not np or order.size < _FEW:
        return column[order]
    found = np.empty((order.size, *column.shape[1:]), column.dtype)

    def take(first: int, last: int) -> None:
        found[first:last] = column[order[first:last]]

    run_chunks(take, order.size)
    return found


@signatures("int64[::1], int64, int64[::1]")
@compiled()
def _count_ranges(keys, width, size):
    for key in keys:
        size[key // width] += 1


@signatures("int64[::1], int64, int64, int64, int64[::1], int64[::1]")
@compiled()
def _deal_to_ranges(keys, first, last, width, next_place, order):
    for i in range(first, last):
        own = keys[i] // width
        order[next_place[own]] = i
        next_place[own] += 1
