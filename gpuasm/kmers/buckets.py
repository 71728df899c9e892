"""Buckets of k-mers: a hash of the minimizer determines the bucket of a k-mer, so that each is counted alone.

A bucket has the super-k-mers of reads whose minimizers hash to it, each with the bases before and after it in its read.
All occurrences of a k-mer, on both strands, and all bases that follow it are in its bucket. Each cut reads all windows;
so few buckets are in memory at once. Li and Yan (2015), doi:10.1093/bioinformatics/btu713.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, free_device_memory, is_on_device, is_on_other_device, to_namespace
from gpuasm.device_group import ONE_DEVICE, DeviceGroup
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.superkmers import MINIMIZER
from gpuasm.kmers.tally import Tally
from gpuasm.kmers.windows import FOLLOWED, PRECEDED, tile_windows
from gpuasm.parallel import for_each, inlined
from gpuasm.primitives.hashing import mix
from gpuasm.resources import process_limit, resident_bytes
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

MOST_BUCKETS = 1 << 16
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Bucket:
    """The super-k-mers of some buckets.

    Attributes
    ----------
    k : int
        Odd, at most 31.
    reads : Reads
        A segment for each super-k-mer, in the text of the reads or in one of its own. The numbers of their reads are
        not known.
    flanks : (n,) uint8
        Whether a base of the read precedes and follows each; see `gpuasm.kmers.windows.tile_windows`.
    """

    k: int
    reads: Reads
    flanks: Array

    def moved_to(self, xp: Any) -> Bucket:
        """Return the bucket with its arrays in the memory of namespace ``xp``."""
        return Bucket(self.k, self.reads.moved_to(xp), to_namespace(xp, self.flanks))

    def tally(self, *, min_count: int, min_follow: int, progress: Callable[[int], None] | None = None) -> Tally:
        """Count the k-mers, with edges; see `gpuasm.kmers.counting.tally_kmers`."""
        return tally_kmers(
            self.reads, self.k, min_count=min_count, min_follow=min_follow, flanks=self.flanks, progress=progress
        )

    def followers(self, keys: Array) -> Array:
        """Count the followers of a few k-mers; see `gpuasm.kmers.counting.count_followers`."""
        return count_followers(self.reads, self.k, keys, flanks=self.flanks)


def cut_buckets(reads: Reads, k: int, chosen: range, *, n_buckets: int) -> tuple[Bucket, Array]:
    """Cut the windows of reads into super-k-mers, and take those of some buckets.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device.
    k
        Odd, at most 31.
    chosen
        Consecutive buckets.
    n_buckets
        The number of all buckets.

    Returns
    -------
    bucket : Bucket
        In the text and memory of the reads, in no particular order.
    number : (n,) uint16
        The bucket of each super-k-mer.
    """
    xp, tiles = array_namespace(reads.packed), tile_windows(reads, k)
    end, number = xp.zeros(tiles.n, np.int64), xp.empty(0, np.uint16)
    start, length, flanks = xp.empty(0, np.int64), xp.empty(0, np.int32), xp.empty(0, np.uint8)
    bounds = (np.uint64(chosen.start), np.uint64(chosen.stop), np.uint64(n_buckets))
    for writes in (False, True):
        if writes and tiles.n:
            end = xp.cumsum(end)
            n = int(end[-1])
            start, length, flanks, number = (xp.empty(n, dtype) for dtype in (np.int64, np.int32, np.uint8, np.uint16))
        where = (tiles.position, tiles.count, tiles.is_first, tiles.is_last, reads.packed)
        _cut_tile(tiles.n, *where, k, min(MINIMIZER, k), *bounds, writes, end, start, length, flanks, number)
    segments = Reads(reads.packed, start, length, xp.full(start.size, -1, np.int64), n_reads=0)
    return Bucket(k, segments, flanks), number


def free_memory(reads: Reads) -> int:
    """Return the bytes that arrays can take now where the reads are, or next to a copy of them on the current device.

    Of reads in host memory these are bytes of the host.
    """
    if not is_on_device(reads.packed):
        return process_limit() - resident_bytes()
    return free_device_memory() - (reads.n_bytes if is_on_other_device(reads.packed) else 0)


def buckets_for(n_windows: int, free: int, n_devices: int = 1) -> int:
    """Return in how many buckets so many windows are to be counted, so that one takes half of the free memory.

    They are a multiple of the devices, so that each has as many buckets as the others; ``free`` is that of one.
    """
    room = max(1, free // 2)
    n = 1
    if n_windows * _BYTES_PER_WINDOW >= room:
        n = int(min(_MOST_AT_ONCE, 1 + n_windows * _BYTES_PER_CUT_WINDOW // room))
    return -(-n // n_devices) * n_devices


_MOST_AT_ONCE = 1 << 10
"""Most buckets of one run, each of which reads all windows."""


_BYTES_PER_WINDOW = 4
"""Memory of a window while all are counted and compacted, where each k-mer occurs in eight windows."""
_BYTES_PER_CUT_WINDOW = 12
"""The same in one of several buckets, whose super-k-mers have nine windows, and a tile each."""


def tally_buckets(
    reads: Reads,
    k: int,
    n_buckets: int,
    *,
    min_count: int,
    min_follow: int,
    progress: Callable[[int], None],
    devices: DeviceGroup = ONE_DEVICE,
) -> list[Tally]:
    """Count the k-mers of each bucket of reads, with edges, on the devices of a group.

    Returns
    -------
    One table for each bucket, in host memory; where each device has one bucket only, the table stays there. Places are
    kept in a single table only, if at all: they are of use where k-mers are near each other in the text.
    """
    if n_buckets == 1:
        return [tally_kmers(reads, k, min_count=min_count, min_follow=min_follow, progress=progress)]

    def begin() -> Callable[[int], Tally]:
        return partial(tally_bucket, reads.copied_to_current_device())

    def tally_bucket(own: Reads, number: int) -> Tally:
        bucket = cut_buckets(own, k, range(number, number + 1), n_buckets=n_buckets)[0]
        tally = bucket.tally(min_count=min_count, min_follow=min_follow, progress=progress)
        if n_buckets > devices.n:
            tally = tally.aside("keys", "count", "edges")
        return replace(tally, place=array_namespace(tally.keys).empty(0, np.int64))

    return devices.map(begin, range(n_buckets))


@inlined()
def _hash_of(forward, backward):
    """Return the hash by which m-mers are compared, of both strands of one: (uint64)."""
    return mix(min(forward, backward)) >> _HALF


@inlined()
def _bucket_of(least, n_buckets):
    """Return the bucket of the k-mers whose least hash of an m-mer is given."""
    return ((mix(least) & _LOW) * n_buckets) >> _HALF


@for_each
def _cut_tile(
    t, position, count, is_first, is_last, packed, k, m, first_bucket, end_bucket, n_buckets, writes, end, start,
    length, flanks, number,
):  # fmt: skip
    begin, stop = position[t], position[t] + count[t]
    n, run, run_bucket = np.int64(0), begin, end_bucket
    forward, backward = all_but_last(packed, begin, m)
    least, least_at = _LOW, np.int64(-1)
    at = begin  # the m-mer that is hashed
    for p in range(begin, stop + 1):
        bucket = end_bucket
        if p < stop:
            if least_at >= 0 and least_at < p:  # the least m-mer has left the window: find the new one
                at, least, least_at = p, _LOW, np.int64(-1)
                forward, backward = all_but_last(packed, p, m)
            while at <= p + k - m:
                forward, backward = rolled(forward, backward, base_at(packed, at + m - 1), m)
                hashed = _hash_of(forward, backward)
                if hashed <= least:
                    least, least_at = hashed, at
                at += 1
            bucket = _bucket_of(least, n_buckets)
        if p > begin and (p == stop or bucket != run_bucket):
            if first_bucket <= run_bucket < end_bucket:
                n += 1
                if writes:
                    row = end[t] - n
                    start[row], length[row], number[row] = run, p - run + k - 1, run_bucket
                    precedes = run > begin or not is_first[t]
                    follows = p < stop or not is_last[t]
                    flanks[row] = (PRECEDED if precedes else 0) | (FOLLOWED if follows else 0)
            run = p
        run_bucket = bucket
    if not writes:
        end[t] = n
