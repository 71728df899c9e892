"""Super-k-mers: runs of windows with the same minimizer, which determines their bucket.

All occurrences of a k-mer and of its reverse complement share their minimizer, so they are in one bucket. A bucket is
small enough to be counted in a processor's cache. Only the CPU counts by super-k-mers; a GPU sorts k-mers.
Li and Yan (2015), doi:10.1093/bioinformatics/btu713; Deorowicz et al. (2015), doi:10.1093/bioinformatics/btv022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpuasm.kmers.windows import FOLLOWED, PRECEDED
from gpuasm.parallel import compiled, signatures
from gpuasm.sequence.reads import Reads
from gpuasm.threads import ordered_map

MINIMIZER = 11
COUNT_BITS = 14
HAS_PREVIOUS = 1 << 14
HAS_NEXT = 1 << 15
START_SHIFT = 16
_WINDOWS_PER_BUCKET = 1 << 15
_MAX_BUCKETS = 1 << 14
_WINDOWS_PER_CHUNK = 1 << 21
"""So many that the memory of the arrays of a chunk is returned when they are freed."""
_MOST = (1 << COUNT_BITS) - 1


@dataclass(frozen=True)
class SuperKmers:
    """Super-k-mers sorted by bucket.

    Attributes
    ----------
    records : (n,) uint64
        Position of the first window (48 bits), whether a base of the read follows and precedes (2 bits), windows (14).
    bucket_start : (n_buckets + 1,) int64
        Start of the records of each bucket.
    n_windows : (n_buckets,) int64
        Windows in each bucket.
    """

    records: np.ndarray
    bucket_start: np.ndarray
    n_windows: np.ndarray


def cut_superkmers(
    reads: Reads,
    k: int,
    progress: Callable[[int], None] = lambda _windows: None,
    *,
    flanks: np.ndarray | None = None,
) -> SuperKmers:
    """Cut the reads' windows of k bases into super-k-mers and sort them by bucket, in two linear passes.

    ``flanks`` are those of segments that are parts of reads; see `gpuasm.kmers.windows.tile_windows`.
    """
    flanks = np.empty(0, np.uint8) if flanks is None else flanks
    total = int(np.maximum(reads.length.astype(np.int64) - k + 1, 0).sum())
    n_buckets = 1 << max(0, min((total // _WINDOWS_PER_BUCKET).bit_length(), _MAX_BUCKETS.bit_length() - 1))
    chunks = chunk_bounds(reads, k)

    def cut_chunk(c: int) -> tuple[np.ndarray, ...]:
        found = _cut_chunk(reads, k, flanks, n_buckets, chunks[c], chunks[c + 1])
        progress(int(found[3].sum()))
        return found

    cut = list(ordered_map(cut_chunk, range(len(chunks) - 1)))
    n_records = np.array([c[2] for c in cut], dtype=np.int64).reshape(-1, n_buckets)
    n_windows = sum((c[3] for c in cut), np.zeros(n_buckets, np.int64))
    bucket_start = np.concatenate([[0], np.cumsum(n_records.sum(axis=0))])
    place = bucket_start[:-1] + np.cumsum(n_records, axis=0) - n_records
    records = np.empty(bucket_start[-1], dtype=np.uint64)
    for c, _ in enumerate(ordered_map(lambda c: _deal(*cut[c][:2], place[c], records), range(len(cut)))):
        cut[c] = ()  # so that there are never two copies of all
    return SuperKmers(records, bucket_start, n_windows)


def chunk_bounds(reads: Reads, k: int) -> np.ndarray:
    """Return where chunks of segments with about as many windows of k bases begin and end: (n_chunks + 1,) int64."""
    windows = np.cumsum(np.maximum(reads.length.astype(np.int64) - k + 1, 0))
    if windows.size == 0 or windows[-1] == 0:
        return np.array([0, 0])
    n_chunks = int(windows[-1]) // _WINDOWS_PER_CHUNK + 1
    inner = np.searchsorted(windows, np.arange(1, n_chunks) * (int(windows[-1]) / n_chunks))
    return np.unique(np.concatenate([[0], inner, [windows.size]]))


def _cut_chunk(
    reads: Reads, k: int, flanks: np.ndarray, n_buckets: int, first: int, last: int
) -> tuple[np.ndarray, ...]:
    room = int(np.maximum(reads.length[first:last].astype(np.int64) - k + 1, 0).sum())
    record, bucket = np.empty(room, np.uint64), np.empty(room, np.uint16)
    n_records, n_windows = np.zeros(n_buckets, np.int64), np.zeros(n_buckets, np.int64)
    m = min(MINIMIZER, k)
    window = np.empty(k - m + 1, np.uint32)
    n = _cut(
        reads.packed,
        reads.start[first:last],
        reads.length[first:last],
        flanks[first:last],
        k,
        m,
        window,
        record,
        bucket,
        n_records,
        n_windows,
    )
    return record[:n].copy(), bucket[:n].copy(), n_records, n_windows


@signatures(
    "uint64[::1], int64[::1], int32[::1], uint8[::1], int64, int64, uint32[::1], uint64[::1], uint16[::1], int64[::1], "
    "int64[::1]"
)
@compiled()
def _cut(packed, start, length, flanks, k, m, window, record, bucket, n_records, n_windows):
    # Numba widens uint32 to uint64 in every operation, so all of this is uint64 with explicit masks.
    bucket_mask = np.uint64(n_records.size - 1)
    m_mask = np.uint64((1 << (2 * m)) - 1)
    top = np.uint64(2 * (m - 1))
    two, three, low = np.uint64(2), np.uint64(3), np.uint64(0xFFFFFFFF)
    w = window.size
    written = 0
    for segment in range(start.size):
        if length[segment] < k:
            continue
        forward = backward = np.uint64(0)
        least, least_at = low, -1
        slot = 0
        run_bucket, run_start, run_length = np.int64(0), np.int64(0), 0
        before, after = np.int64(0), np.int64(0)
        if flanks.size > 0:
            before = np.int64(HAS_PREVIOUS) if flanks[segment] & PRECEDED else before
            after = np.int64(HAS_NEXT) if flanks[segment] & FOLLOWED else after
        for i in range(length[segment]):
            position = start[segment] + i
            base = (packed[position >> 5] >> np.uint64(62 - 2 * (position & 31))) & three
            forward = ((forward << two) | base) & m_mask
            backward = (backward >> two) | ((three - base) << top)
            if i < m - 1:
                continue
            hashed = (min(forward, backward) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
            window[slot] = hashed
            if hashed <= least:
                least, least_at = hashed, slot
            elif least_at == slot:  # the least m-mer has just been overwritten: find the new one
                least, least_at = np.uint64(window[0]), 0
                for j in range(1, w):
                    if np.uint64(window[j]) <= least:
                        least, least_at = np.uint64(window[j]), j
            slot += 1
            if slot == w:
                slot = 0
            if i < k - 1:
                continue
            now = np.int64(((least * np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(40)) & bucket_mask)
            if run_length > 0 and (now != run_bucket or run_length == _MOST):
                flags = np.int64(HAS_NEXT) | (np.int64(HAS_PREVIOUS) if run_start > start[segment] else before)
                record[written] = np.uint64((run_start << START_SHIFT) | flags | run_length)
                bucket[written] = run_bucket
                n_records[run_bucket] += 1
                n_windows[run_bucket] += run_length
                written += 1
                run_length = 0
            if run_length == 0:
                run_bucket, run_start = now, position - k + 1
            run_length += 1
        flags = after | (np.int64(HAS_PREVIOUS) if run_start > start[segment] else before)
        record[written] = np.uint64((run_start << START_SHIFT) | flags | run_length)
        bucket[written] = run_bucket
        n_records[run_bucket] += 1
        n_windows[run_bucket] += run_length
        written += 1
    return written


@signatures("uint64[::1], uint16[::1], int64[::1], uint64[::1]")
@compiled()
def _deal(record, bucket, place, records):
    for i in range(record.size):
        b = bucket[i]
        records[place[b]] = record[i]
        place[b] += 1
