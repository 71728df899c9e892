"""Count the k-mers of reads exactly, on the CPU or on CUDA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.checks import instance, whole
from gpuasm.errors import UsageError
from gpuasm.kmers.keys import MAX_PLAIN_K, check_k
from gpuasm.kmers.tally import Tally
from gpuasm.primitives.stable_order import order_of_distinct, taken
from gpuasm.sequence.reads import Reads


def tally_kmers(
    reads: Reads,
    k: int,
    names: Array | None = None,
    *,
    k0: int = 0,
    min_count: int = 1,
    with_followers: bool = True,
    min_follow: int = 0,
    in_text_order: bool = False,
    flanks: Array | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Count the k-mers of reads exactly, in linear time on the CPU and by one sort on CUDA.

    Parameters
    ----------
    reads
        Packed reads, on the host or on a device.
    k
        Odd; a k above 31 needs the names of the k0-mers.
    names : (32 * n_packed,) int32
        For k > 31: the oriented name of the k0-mer at each position of the text, -1 if it has none. Windows whose
        first or last k0-mer has no name are skipped.
    k0
        Length of the named k-mers, k0 < k <= 2 k0.
    min_count
        Rarer k-mers are omitted (the histogram includes them).
    with_followers
        Whether to count the following bases.
    min_follow
        For plain k, if not 0: the tally has edges, of bases that follow at least so often, in place of followers. On
        devices, where memory is scarcest, it has no places: k-mers of plain k spell themselves.
    in_text_order
        Whether to sort by position in the text, so that consecutive k-mers are adjacent in memory; `sorted_by_place`
        does so later.
    flanks : (n_segments,) uint8
        Of segments that are parts of reads, whether a base precedes and follows them in the text, which then counts as
        a follower; see `gpuasm.kmers.windows.tile_windows`.
    progress
        Called with numbers of windows; each window is reported twice, once in each pass.

    Returns
    -------
    Tally, in the memory of the reads' arrays.

    Raises
    ------
    UsageError
        If k is even or out of range, or the names are missing.
    """
    instance(reads, Reads, "reads")
    check_k(whole(k, "k"))
    whole(min_count, "min_count", least=1)
    if k > MAX_PLAIN_K and (names is None or not k0 < k <= 2 * k0):
        expected = f"a k of at most {MAX_PLAIN_K}, as a longer one needs the names of k0-mers with k0 < k <= 2 k0"
        raise UsageError(expected, f"k = {k} and k0 = {k0}", "name the k0-mers first")
    xp = array_namespace(reads.packed)
    if names is None:
        names = xp.empty(0, np.int32)
    if xp is np:
        from gpuasm.kmers.tally_cpu import tally_cpu as tally  # noqa: PLC0415 - only one of the two is needed
    else:
        from gpuasm.kmers.tally_cuda import tally_cuda as tally  # noqa: PLC0415
    found = tally(
        reads,
        k,
        names,
        k0=k0,
        min_count=min_count,
        with_followers=with_followers,
        min_follow=min_follow,
        flanks=flanks,
        progress=progress or (lambda _windows: None),
    )
    if not in_text_order:
        return found
    held = [found]
    del found
    return sorted_by_place(held)


def sorted_by_place(held: list[Tally], *, min_count: int = 1, keep_places: bool = True) -> Tally:
    """Return the k-mers that occur often enough, sorted by position in the text if the tally has places.

    Parameters
    ----------
    held
        One tally. It is taken out of its list, so that each of its arrays is freed before the next is sorted.
    min_count
        Rarer k-mers are omitted; the histogram stays complete.
    keep_places
        Whether the result has places.
    """
    tally = held.pop()
    k, histogram, has_edges, n = tally.k, tally.histogram, tally.edges is not None, tally.n
    columns = [tally.keys, tally.count, tally.followers if tally.edges is None else tally.edges, tally.place]
    del tally
    xp = array_namespace(columns[0])
    order = xp.flatnonzero(columns[1] >= min_count) if min_count > 1 else None
    if order is not None and order.size == n:
        order = None
    if columns[3].size:
        order = order_of_distinct(columns[3]) if order is None else order[order_of_distinct(columns[3][order])]
    if not keep_places:
        columns[3] = columns[3][:0].copy()
    if order is not None and (order.size < n or columns[3].size or xp is np):
        for i, column in enumerate(columns):
            if column.size:
                columns[i] = taken(column if column.size == n else column.reshape(n, -1), order).ravel()
            del column
    keys, count, edges, place = columns
    if has_edges:
        return Tally(k, keys, count, place, xp.empty(0, np.uint32), histogram, edges)
    return Tally(k, keys, count, place, edges, histogram)


def count_followers(reads: Reads, k: int, keys: Array, *, flanks: Array | None = None) -> Array:
    """Count how often each base follows a few k-mers of plain k in reads.

    Parameters
    ----------
    reads
        Packed reads.
    k
        Odd, at most 31.
    keys : (n,) uint64
        All different, in any order, in the memory of the reads' arrays.
    flanks
        As for `tally_kmers`.

    Returns
    -------
    (8n,) uint32: at 8i + 4s + b, how often base b follows k-mer i on strand s.
    """
    if array_namespace(reads.packed) is np:
        from gpuasm.kmers.tally_cpu import count_followers_cpu as count  # noqa: PLC0415 - only one of the two is needed
    else:
        from gpuasm.kmers.tally_cuda import count_followers_cuda as count  # noqa: PLC0415
    return count(reads, k, keys, flanks=flanks)
