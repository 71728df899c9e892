"""Count k-mers on the CPU: a hash table for each bucket of super-k-mers, small enough for the cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuasm.kmers.keys import MAX_PLAIN_K, pair_key
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.superkmers import HAS_NEXT, HAS_PREVIOUS, START_SHIFT, SuperKmers, chunk_bounds, cut_superkmers
from gpuasm.kmers.tally import MAX_MULTIPLICITY, Tally, joined, observed_edges
from gpuasm.kmers.windows import FOLLOWED, PRECEDED
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.primitives.hashing import build_index, find, mix
from gpuasm.resources import return_small_arrays
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads
from gpuasm.threads import ordered_map

_FREE = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_WINDOWS_PER_GROUP = 1 << 22
_FIRST_TABLE = 1 << 13


def tally_cpu(
    reads: Reads,
    k: int,
    names: np.ndarray,
    *,
    k0: int,
    min_count: int,
    with_followers: bool,
    min_follow: int,
    flanks: np.ndarray | None,
    progress: Callable[[int], None],
) -> Tally:
    """Count the k-mers of host reads; see `gpuasm.kmers.counting.tally_kmers`."""
    source = (reads.packed, names, k, k - k0)
    settings = (min_count, with_followers, min_follow, progress)
    parts, histogram = _tally_groups(cut_superkmers(reads, k, progress, flanks=flanks), source, settings)
    return_small_arrays()
    if not parts[0]:
        return Tally.empty(np, k)
    followers = joined(parts.pop())  # the largest first
    place, count, keys = (joined(parts.pop()) for _ in range(3))
    if min_follow:
        return Tally(k, keys, count, place, np.empty(0, np.uint32), histogram, followers)
    return Tally(k, keys, count, place, followers.ravel(), histogram)


def _tally_groups(
    cut: SuperKmers,
    source: tuple[np.ndarray, np.ndarray, int, int],
    settings: tuple[int, bool, int, Callable[[int], None]],
) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """Count the k-mers of each group of buckets.

    Returns
    -------
    Keys, counts, places, and followers or edges, of each group, and the histogram of all.
    """
    return_small_arrays()
    (min_count, with_followers, min_follow, progress), bounds = settings, _group_bounds(cut)

    def run(group: int) -> tuple[np.ndarray, ...]:
        first, last = bounds[group], bounds[group + 1]
        room = int(cut.n_windows[first:last].sum()) // min_count
        out = (
            np.empty(room, np.uint64),
            np.empty(room, np.uint32),
            np.empty(room, np.int64),
            np.empty((room if with_followers else 0, 8), np.uint32),
            np.zeros(MAX_MULTIPLICITY + 1, np.int64),
        )
        n = _tally_group(cut.records, cut.bucket_start[first : last + 1], source, min_count, with_followers, out)
        progress(int(cut.n_windows[first:last].sum()))
        columns: list[np.ndarray] = [part[:n].copy() for part in out[:4]]
        if min_follow:
            columns[3] = observed_edges(columns[3].ravel(), min_follow)
        return (*columns, out[4])

    parts: list[list[np.ndarray]] = [[], [], [], []]
    histogram = np.zeros(MAX_MULTIPLICITY + 1, np.int64)
    for *columns, counted in ordered_map(run, range(len(bounds) - 1)):
        histogram += counted
        for column in parts[::-1]:
            column.append(columns.pop())
    return parts, histogram


def _group_bounds(cut: SuperKmers) -> np.ndarray:
    windows = np.cumsum(cut.n_windows)
    inner = np.searchsorted(windows, np.arange(_WINDOWS_PER_GROUP, int(windows[-1]) + 1, _WINDOWS_PER_GROUP))
    return np.unique(np.concatenate([[0], inner, [windows.size]]))


@signatures(
    "uint64[::1], int64[::1], Tuple((uint64[::1], int32[::1], int64, int64, )), int64, boolean, "
    "Tuple((uint64[::1], uint32[::1], int64[::1], uint32[:, ::1], int64[::1], ))"
)
@compiled()
def _tally_group(records, bucket_start, source, min_count, with_followers, out):
    packed, names, k, shift = source
    out_key, out_count, out_place, out_followers, histogram = out
    size = _FIRST_TABLE
    key_of = np.empty(size, np.uint64)
    count_of = np.empty(size, np.uint32)
    place_of = np.empty(size, np.int64)
    followers_of = np.empty((size, 8), np.uint32)
    written = 0
    bucket = 0
    while bucket < bucket_start.size - 1:
        key_of[:] = _FREE
        table = (key_of, count_of, place_of, followers_of)
        chosen = records[bucket_start[bucket] : bucket_start[bucket + 1]]
        if k <= MAX_PLAIN_K:
            fits = _tally_plain(chosen, packed, k, table, with_followers)
        else:
            fits = _tally_pairs(chosen, (packed, names), k, shift, table, with_followers)
        if not fits:
            size *= 2
            key_of = np.empty(size, np.uint64)
            count_of = np.empty(size, np.uint32)
            place_of = np.empty(size, np.int64)
            followers_of = np.empty((size, 8), np.uint32)
            continue
        bucket += 1
        for slot in range(size):
            if key_of[slot] == _FREE:
                continue
            n = count_of[slot]
            histogram[min(n, np.uint32(histogram.size - 1))] += 1
            if n >= min_count:
                out_key[written] = key_of[slot]
                out_count[written] = n
                out_place[written] = place_of[slot]
                if with_followers:
                    for j in range(8):
                        out_followers[written, j] = followers_of[slot, j]
                written += 1
    return written


@compiled()
def _tally_plain(records, packed, k, table, with_followers):
    room = (table[0].size * 5) // 8
    for record in records:
        position = np.int64(record >> np.uint64(START_SHIFT))
        n = np.int64(record & np.uint64(0x3FFF))
        forward, backward = all_but_last(packed, position, k)
        for j in range(n):
            forward, backward = rolled(forward, backward, base_at(packed, position + j + k - 1), k)
            strand = 1 if backward < forward else 0
            key = backward if strand else forward
            slot = _count_one(key, ((position + j) << 1) | strand, table)
            if slot < 0:
                room -= 1
                if room == 0:
                    return False
                slot = -1 - slot
            if with_followers:
                _count_followers(table[3][slot], strand, record, j, packed, k)
    return True


@compiled()
def _tally_pairs(records, text, k, shift, table, with_followers):
    packed, names = text
    room = (table[0].size * 5) // 8
    for record in records:
        position = np.int64(record >> np.uint64(START_SHIFT))
        n = np.int64(record & np.uint64(0x3FFF))
        for j in range(n):
            first = names[position + j]
            last = names[position + j + shift]
            if first < 0 or last < 0:
                continue
            keyed = pair_key(first, last)
            strand = np.int64(keyed & _ONE)
            slot = _count_one(keyed >> _ONE, ((position + j) << 1) | strand, table)
            if slot < 0:
                room -= 1
                if room == 0:
                    return False
                slot = -1 - slot
            if with_followers:
                _count_followers(table[3][slot], strand, record, j, packed, k)
    return True


@inlined()
def _count_followers(row, strand, record, j, packed, k):
    """Count the bases after and before window j of a super-k-mer, on the strand of its key."""
    position = np.int64(record >> np.uint64(START_SHIFT)) + j
    if j < np.int64(record & np.uint64(0x3FFF)) - 1 or record & np.uint64(HAS_NEXT):
        row[4 * strand + np.int64(base_at(packed, position + k))] += np.uint32(1)
    if j > 0 or record & np.uint64(HAS_PREVIOUS):
        row[4 * (1 - strand) + 3 - np.int64(base_at(packed, position - 1))] += np.uint32(1)


@inlined()
def _count_one(key, place, table):
    """Count a key; return its slot, or -1 - slot where the key is new."""
    key_of, count_of, place_of, followers_of = table
    mask = key_of.size - 1
    slot = np.int64(mix(key)) & mask
    while key_of[slot] != key and key_of[slot] != _FREE:
        slot = (slot + 1) & mask
    if key_of[slot] == key:
        count_of[slot] += np.uint32(1)
        return slot
    key_of[slot] = key
    count_of[slot] = 1
    place_of[slot] = place
    for j in range(8):
        followers_of[slot, j] = 0
    return -1 - slot


def count_followers_cpu(reads: Reads, k: int, keys: np.ndarray, *, flanks: np.ndarray | None) -> np.ndarray:
    """Count the followers of a few k-mers; see `gpuasm.kmers.counting.count_followers`."""
    followers, index = np.zeros(8 * keys.size, np.uint32), build_index(keys)
    if keys.size == 0:
        return followers
    bounds, flanks = chunk_bounds(reads, k), np.empty(0, np.uint8) if flanks is None else flanks
    may_be_key = np.zeros(1 << _FILTER_BITS, bool)
    may_be_key[(keys * _MIX) >> _FILTER_SHIFT] = True

    def find_chunk(chunk: int) -> np.ndarray:
        first, last = bounds[chunk], bounds[chunk + 1]
        room = 2 * int(np.maximum(reads.length[first:last].astype(np.int64) - k + 1, 0).sum())
        found = np.empty(room, np.int64)
        text = (reads.packed, reads.start[first:last], reads.length[first:last], flanks[first:last])
        n = _find_followers(*text, k, may_be_key, keys, *index, found)
        return found[:n].copy()

    for found in ordered_map(find_chunk, range(bounds.size - 1)):
        _count_each(found, followers)
    return followers


_FILTER_BITS = 18
"""Bits of a table that fits the cache; few of the other k-mers pass it."""
_FILTER_SHIFT, _MIX = np.uint64(64 - _FILTER_BITS), np.uint64(0x9E3779B97F4A7C15)


@signatures(
    "uint64[::1], int64[::1], int32[::1], uint8[::1], int64, boolean[::1], uint64[::1], int32[::1], uint64, int64[::1]"
)
@compiled()
def _find_followers(packed, start, length, flanks, k, may_be_key, keys, slots, n_slots, found):
    """Write the place among the followers of each base that follows one of the k-mers; return how many."""
    n = 0
    for segment in range(start.size):
        if length[segment] < k:
            continue
        is_preceded = flanks.size > 0 and flanks[segment] & PRECEDED != 0
        is_followed = flanks.size > 0 and flanks[segment] & FOLLOWED != 0
        forward, backward = all_but_last(packed, start[segment], k)
        for j in range(length[segment] - k + 1):
            position = start[segment] + j
            forward, backward = rolled(forward, backward, base_at(packed, position + k - 1), k)
            strand = 1 if backward < forward else 0
            key = backward if strand else forward
            if not may_be_key[(key * _MIX) >> _FILTER_SHIFT]:
                continue
            number = find(key, keys, slots, n_slots)
            if number >= 0:
                if j < length[segment] - k or is_followed:
                    found[n] = 8 * number + 4 * strand + np.int64(base_at(packed, position + k))
                    n += 1
                if j > 0 or is_preceded:
                    found[n] = 8 * number + 4 * (1 - strand) + 3 - np.int64(base_at(packed, position - 1))
                    n += 1
    return n


@signatures("int64[::1], uint32[::1]")
@compiled()
def _count_each(found, followers):
    for place in found:
        followers[place] += np.uint32(1)
