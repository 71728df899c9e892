"""An index of who has which hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.graph.rows import rows_of_slots
from gpuasm.sequence.randomness import random_words, stream_key

PART = 1 << 22
"""Entries of an index at most, about; 100 bytes each while it is made."""


class Holders(NamedTuple):
    """Which samples have which hash, from both sides; in the order that the kernels take it.

    Attributes
    ----------
    offsets : (n + 1,) int64
        Where the entries of each sample begin, a hash each, ascending.
    before : (n,) int64
        Hashes of each sample that are less than all that are indexed.
    ids : (e,) int32
        The number of each entry's hash among the different ones, ascending.
    start : (h + 1,) int64
        Where the holders of each hash begin.
    place : (e,) int64
        Where each entry stands among the holders.
    holder, rank : (e,) int32
        The samples that have a hash, ascending, and the how-manieth of all theirs it is.
    weight : (h,) int32
        How many hashes each stands for.
    """

    offsets: Array
    before: Array
    ids: Array
    start: Array
    place: Array
    holder: Array
    rank: Array
    weight: Array


def index_in_parts(hashes: Array, offsets: Array, *, most: int = PART) -> Iterator[Holders]:
    """Index the hashes of samples, as `gpuasm.samples.sketches.Sketches` holds them, a range of hashes at a time.

    Ranges ascend, and hold about ``most`` entries each: so an index takes no more memory than that, however many hashes
    there are, and its sort stays nearer to the caches.
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


def _index(hashes: Array, offsets: Array, before: Array) -> Holders:
    xp = array_namespace(hashes)
    order = xp.argsort(hashes, kind="stable")  # samples with one hash stay in order
    ordered = hashes[order]
    is_first = xp.ones(hashes.size, dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    del ordered
    number = (xp.cumsum(is_first, dtype=np.int64) - 1).astype(np.int32)
    ids, place = xp.empty(hashes.size, np.int32), xp.empty(hashes.size, np.int64)
    ids[order] = number
    place[order] = xp.arange(hashes.size, dtype=np.int64)
    start = xp.append(xp.flatnonzero(is_first), xp.asarray([hashes.size])).astype(np.int64)
    holder = rows_of_slots(offsets, hashes.size).astype(np.int32, copy=False)[order]
    rank = (order - offsets[holder] + before[holder]).astype(np.int32)
    return Holders(offsets, before, ids, start, place, holder, rank, xp.ones(start.size - 1, np.int32))


def merge_alike(index: Holders) -> Holders:
    """Let one hash stand for all that the same samples have; ranks, which only bottom sketches need, are lost.

    Of close relatives almost all have most hashes, and a substitution changes all k of its k-mers at once. Hashes of
    the same holders are found by a random sum over them, and then compared: if a sum misleads, nothing is merged.
    """
    xp = array_namespace(index.holder)
    n, n_hashes = int(index.offsets.size) - 1, int(index.weight.size)
    words = to_namespace(xp, random_words(stream_key(0, "holders"), 0, n))
    sums = xp.concatenate([xp.zeros(1, np.uint64), xp.cumsum(words[index.holder], dtype=np.uint64)])
    _, first, group, times = xp.unique(
        sums[index.start[1:]] - sums[index.start[:-1]], return_index=True, return_inverse=True, return_counts=True
    )
    like = first[group.reshape(-1)]  # the hash that stands for each
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
    return Holders(
        offsets, xp.zeros_like(index.before), ids[place], start, place.astype(np.int64), holder, xp.zeros_like(holder),
        weight[kept],
    )  # fmt: skip
