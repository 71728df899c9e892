"""An inverted index: the samples of each hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.graph.rows import rows_of_slots
from gpuasm.primitives.randomness import random_uint64, stream_key
from gpuasm.primitives.runs import begins_run

PART = 1 << 22
"""Approximate limit of the entries of an index; 100 bytes each while it is made."""


class HashIndex(NamedTuple):
    """The hashes of each sample and the samples of each hash, in the order of the kernels' arguments.

    Attributes
    ----------
    offsets : (n + 1,) int64
        Start of the entries of each sample, one for each hash, ascending.
    before : (n,) int64
        Number of hashes of each sample that are less than all indexed ones.
    ids : (e,) int32
        The number of each entry's hash among the distinct ones, ascending.
    start : (h + 1,) int64
        Start of the holders of each hash.
    place : (e,) int64
        Position of each entry among the holders.
    holder, rank : (e,) int32
        The samples that have a hash, ascending, and its rank among all hashes of each.
    weight : (h,) int32
        Number of hashes that each represents.
    """

    offsets: Array
    before: Array
    ids: Array
    start: Array
    place: Array
    holder: Array
    rank: Array
    weight: Array


def index_in_parts(hashes: Array, offsets: Array, *, most: int = PART) -> Iterator[HashIndex]:
    """Index the hashes of samples, as in `gpuasm.samples.sketches.Sketches`, a range of hashes at a time.

    Ranges ascend and have about ``most`` entries each, which limits the memory and speeds up the sort.
    """
    xp = array_namespace(hashes)
    n_parts = -(-int(hashes.size) // most)
    before = xp.zeros(offsets.size - 1, np.int64)
    step = int(hashes.max()) // n_parts + 1 if n_parts else 0
    for part in range(n_parts):
        chosen = hashes >= np.uint64(part * step)
        if part + 1 < n_parts:
            chosen &= hashes < np.uint64((part + 1) * step)
        ends = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(chosen, dtype=np.int64)])[offsets]
        inside = hashes[chosen]
        if inside.size:
            yield _index(inside, ends, before)
        before = before + xp.diff(ends)


def _index(hashes: Array, offsets: Array, before: Array) -> HashIndex:
    xp = array_namespace(hashes)
    order = xp.argsort(hashes, kind="stable")  # the samples of a hash stay in order
    is_first = begins_run(hashes[order])
    number = (xp.cumsum(is_first, dtype=np.int64) - 1).astype(np.int32)
    ids, place = xp.empty(hashes.size, np.int32), xp.empty(hashes.size, np.int64)
    ids[order] = number
    place[order] = xp.arange(hashes.size, dtype=np.int64)
    start = xp.append(xp.flatnonzero(is_first), xp.asarray([hashes.size])).astype(np.int64)
    holder = rows_of_slots(offsets, hashes.size).astype(np.int32, copy=False)[order]
    rank = (order - offsets[holder] + before[holder]).astype(np.int32)
    return HashIndex(offsets, before, ids, start, place, holder, rank, xp.ones(start.size - 1, np.int32))


def merge_alike(index: HashIndex) -> HashIndex:
    """Merge the hashes that the same samples have into one; ranks, which only bottom sketches need, are lost.

    Close relatives share most hashes, and a substitution changes k k-mers at once. Hashes of the same holders are found
    by a random sum over them and then compared: if two sums are equal by chance, nothing is merged.
    """
    xp = array_namespace(index.holder)
    n, n_hashes = int(index.offsets.size) - 1, int(index.weight.size)
    bits = to_namespace(xp, random_uint64(stream_key(0, "holders"), 0, n))
    sums = xp.concatenate([xp.zeros(1, np.uint64), xp.cumsum(bits[index.holder], dtype=np.uint64)])
    _, first, group, times = xp.unique(
        sums[index.start[1:]] - sums[index.start[:-1]], return_index=True, return_inverse=True, return_counts=True
    )
    like = first[group.reshape(-1)]  # the representative of each hash
    degree = index.start[1:] - index.start[:-1]
    hash_of = xp.empty(index.ids.size, np.int32)
    hash_of[index.place] = index.ids
    shift = (index.start[like] - index.start[:-1])[hash_of]
    if bool((degree[like] != degree).any()):
        return index
    if bool((index.holder[xp.arange(shift.size) + shift] != index.holder).any()):
        return index
    weight = xp.zeros(n_hashes, np.int32)
    weight[first] = times
    kept = weight > 0
    number = (xp.cumsum(kept, dtype=np.int64) - 1).astype(np.int32)
    here = kept[hash_of]
    holder, ids = index.holder[here], number[hash_of[here]]
    place = xp.argsort(holder, kind="stable")
    start = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(degree[kept])])
    offsets = xp.searchsorted(holder[place], xp.arange(n + 1, dtype=np.int32), side="left").astype(np.int64)
    return HashIndex(
        offsets, xp.zeros_like(index.before), ids[place], start, place.astype(np.int64), holder, xp.zeros_like(holder),
        weight[kept],
    )  # fmt: skip
