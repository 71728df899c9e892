"""Super-k-mers as texts of their own, packed one after the other, as files of buckets have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.kmers.buckets import Bucket
from gpuasm.kmers.windows import FOLLOWED, PRECEDED
from gpuasm.parallel import for_each
from gpuasm.primitives.searching import run_of
from gpuasm.sequence.encoding import BASES_PER_WORD, base_at
from gpuasm.sequence.reads import Reads


@dataclass(frozen=True)
class BucketText:
    """Super-k-mers with the bases before and after them, on the host.

    Attributes
    ----------
    length : (n,) uint8
        Bases of each super-k-mer, the one before and the one after it not included.
    flanks : (n,) uint8
        Whether these are there; see `gpuasm.kmers.windows.tile_windows`.
    packed : (n_packed,) uint64
        All bases, as in `gpuasm.sequence.reads.Reads`.
    """

    length: np.ndarray
    flanks: np.ndarray
    packed: np.ndarray

    @property
    def n_bases(self) -> int:
        """All bases, those before and after super-k-mers included."""
        return int(_sizes(self.length, self.flanks).sum())


def _sizes(length: np.ndarray, flanks: np.ndarray) -> np.ndarray:
    return length.astype(np.int64) + (flanks & PRECEDED) + ((flanks & FOLLOWED) >> 1)


def packed_size(n_bases: int) -> int:
    """Return how many uint64 a text has; one at least is free of bases."""
    return n_bases // BASES_PER_WORD + 2


def texts_of_buckets(bucket: Bucket, number: np.ndarray, n_buckets: int) -> list[BucketText]:
    """Write the text of each bucket.

    Parameters
    ----------
    bucket
        Super-k-mers of several buckets, as `gpuasm.kmers.buckets.cut_buckets` returns them.
    number : (n,) uint16
        The bucket of each.
    n_buckets
        The number of texts; those from it on are passed over.
    """
    number, packed = to_host(number), to_host(bucket.reads.packed)
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(n_buckets + 1))
    start, length, flanks = (to_host(a)[order] for a in (bucket.reads.start, bucket.reads.length, bucket.flanks))
    start -= flanks & PRECEDED
    texts = []
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        sizes = _sizes(length[first:last], flanks[first:last])
        end = np.concatenate([[0], np.cumsum(sizes)])
        own = np.zeros(packed_size(int(end[-1])), np.uint64)
        if last > first:
            _copy_bases(own.size, end, last - first, start[first:last], packed, own)
        texts.append(BucketText(length[first:last].astype(np.uint8), flanks[first:last], own))
    return texts


def bucket_of_texts(texts: list[BucketText], k: int) -> Bucket:
    """Return the bucket of several texts, on the host. The list is emptied."""
    lengths, flanks, starts, packed, at = [], [], [], [], 0
    texts.reverse()
    while texts:
        text = texts.pop()
        sizes = _sizes(text.length, text.flanks)
        lengths.append(text.length.astype(np.int32))
        flanks.append(text.flanks)
        starts.append(np.cumsum(sizes) - sizes + (text.flanks & PRECEDED) + at)
        packed.append(text.packed)
        at += BASES_PER_WORD * text.packed.size
    start = np.concatenate(starts)
    reads = Reads(np.concatenate(packed), start, np.concatenate(lengths), np.full(start.size, -1, np.int64), n_reads=0)
    return Bucket(k, reads, np.concatenate(flanks))


@for_each
def _copy_bases(w, end, n, start, packed, own):
    first, last = BASES_PER_WORD * w, min(BASES_PER_WORD * (w + 1), end[n])
    if first < last:
        segment = run_of(np.int64(first), end, n)
        for p in range(first, last):
            while p >= end[segment + 1]:
                segment += 1
            base = base_at(packed, start[segment] + p - end[segment])
            own[w] |= base << np.uint64(62 - 2 * (p & 31))
