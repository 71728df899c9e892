"""Compressed sparse rows: edges grouped by a vertex, and the row each edge lies in."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import compiled, for_each
from gpuasm.primitives.counting import count_true, count_values
from gpuasm.primitives.row_of_edge import row_of_edge
from gpuasm.primitives.searching import run_of
from gpuasm.primitives.stable_order import stable_order
from gpuasm.threads import ordered_map, run_chunks, thread_count

_INT32_MAX = 2**31 - 1


def index_type(n: int) -> Any:
    """Return the type that holds vertices 0 to n - 1: int32, or int64 where there are more than 2^31 - 1."""
    return np.int32 if n <= _INT32_MAX else np.int64


def rows_of_slots(row_offsets: Array, n_slots: int) -> Array:
    """Return the row that holds each slot.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
    n_slots
        row_offsets[n], the number of edges.

    Returns
    -------
    (n_slots,) int32 or int64
    """
    n = row_offsets.size - 1
    if array_namespace(row_offsets) is not np:
        return row_of_edge(row_offsets, index_type(n))
    rows = np.empty(n_slots, index_type(n))
    run_chunks(_write_rows, n_slots, row_offsets, rows)
    return rows


def offsets_of(keys: Array, n: int) -> Array:
    """Return the (n + 1,) int64 bounds of the groups that keys from 0 to n - 1 form when sorted."""
    xp = array_namespace(keys)
    offsets = xp.zeros(n + 1, np.int64)
    if xp is np:
        _count(keys, offsets)
    elif keys.size:
        xp.cumsum(count_values(keys, n), out=offsets[1:])
    return offsets


def group_by(keys: Array, values: Array, n: int) -> tuple[Array, Array]:
    """Return the bounds of the groups of equal keys, (n + 1,) int64, and the values by group, in the order they had.

    Parameters
    ----------
    keys : (m,) int32 or int64, from 0 to n - 1
    values : (m,)
    n
        Number of groups, empty ones included.
    """
    offsets = offsets_of(keys, n)
    if not count_true(keys[1:] < keys[:-1]):
        return offsets, values
    if array_namespace(keys, values) is not np:
        return offsets, values[stable_order(keys, n)]
    grouped, next_place = np.empty_like(values), offsets[:-1].copy()
    bounds = np.linspace(0, n, thread_count() + 1).astype(np.int64)
    # Each thread reads all keys, which is fast, and writes only its own groups.
    for _ in ordered_map(
        lambda i: _deal(bounds[i], bounds[i + 1], keys, values, next_place, grouped), range(len(bounds) - 1)
    ):
        pass
    return offsets, grouped


def sums_of_rows(row_offsets: Array, values: Array) -> Array:
    """Return the sum of the values of each row, (n,) float64, added in the order they have.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
    values : (m,) float64
        A value for each slot.
    """
    sums = array_namespace(values).empty(row_offsets.size - 1, np.float64)
    _sum_runs(sums.size, row_offsets, values, sums)
    return sums


@for_each
def _sum_runs(i, bounds, values, sums):
    total = 0.0
    for at in range(bounds[i], bounds[i + 1]):
        total += values[at]
    sums[i] = total


@compiled()
def _count(keys, offsets):
    for i in range(keys.size):
        offsets[keys[i] + 1] += 1
    for key in range(1, offsets.size):
        offsets[key] += offsets[key - 1]


@compiled()
def _deal(first, last, keys, values, next_place, grouped):
    for i in range(keys.size):
        key = keys[i]
        if first <= key < last:
            grouped[next_place[key]] = values[i]
            next_place[key] += 1


@compiled()
def _write_rows(slot, last, row_offsets, rows):
    row = run_of(slot, row_offsets, row_offsets.size - 1)
    while slot < last:
        if slot >= row_offsets[row + 1]:
            row += 1
        else:
            rows[slot] = row
            slot += 1
