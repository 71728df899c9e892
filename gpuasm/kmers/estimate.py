"""Estimate a spectrum before counting from a hash sample of k-mers."""

from __future__ import annotations

import numpy as np

from gpuasm.kmers.keys import MAX_PLAIN_K, reverse_complement_plain
from gpuasm.kmers.rolling import rolled
from gpuasm.parallel import compiled, inlined, signatures
from gpuasm.primitives.hashing import mix
from gpuasm.primitives.runs import occurrences, run_bounds
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads
from gpuasm.threads import ordered_map

SAMPLE = 256
"""One distinct k-mer in so many is sampled, with all of its occurrences."""
_FREQUENT = 0.2
_TWO = np.uint64(2)
_SEGMENTS_PER_CHUNK = 1 << 14


def estimate_spectrum(reads: Reads, k: int) -> np.ndarray:
    """Estimate the number of distinct k-mers of each multiplicity, in one pass and little memory.

    The sample is taken of distinct k-mers, so that each one's multiplicity is exact and the estimate is unbiased
    (Broder 1997, doi:10.1109/SEQUEN.1997.666900): those the hash of whose inner bases, all but the first and the last,
    is 0 modulo 256. So the k-mers before and behind a branch of the graph are sampled together.

    Parameters
    ----------
    reads
        Packed reads on the host.
    k
        At most 31.

    Returns
    -------
    (m,) int64: estimated distinct k-mers of multiplicity 0 (none), 1, 2, ...
    """
    return spectrum_of_sample(occurrences(sampled_kmers(reads, k))[1])


def sampled_kmers(reads: Reads, k: int) -> np.ndarray:
    """Return the sampled k-mers of reads with all their occurrences: (n,) uint64; see `estimate_spectrum`."""
    k = min(k, MAX_PLAIN_K)

    def sample(first: int) -> np.ndarray:
        chunk = slice(first, first + _SEGMENTS_PER_CHUNK)
        return _sample(reads.packed, reads.start[chunk], reads.length[chunk], k)

    parts = ordered_map(sample, range(0, reads.n_segments, _SEGMENTS_PER_CHUNK))
    return np.concatenate([np.empty(0, np.uint64), *parts])


def spectrum_of_sample(count: np.ndarray) -> np.ndarray:
    """Return the spectrum by the occurrences of each sampled k-mer, (n,) int64; see `estimate_spectrum`."""
    return np.bincount(count, minlength=3) * SAMPLE


def branching_share(kmers: np.ndarray, count: np.ndarray, k: int, *, threshold: int) -> float:
    """Return the share of windows at branches of the graph, from the distinct sampled k-mers, (n,) uint64, and counts.

    These are occurrences of solid k-mers among those that have the same inner bases as others, of which the second most
    frequent has at least `_FREQUENT` of the occurrences of the first: errors are rarer.
    """
    k = min(k, MAX_PLAIN_K)
    forward, count = kmers[count >= threshold], count[count >= threshold]
    inner = np.empty_like(forward)
    _write_inner(forward, k, inner)
    order = np.lexsort((-count, inner))
    count, bounds = count[order], run_bounds(inner[order])
    first, n = bounds[:-1], np.diff(bounds)
    branches = (n > 1) & (count[np.minimum(first + 1, count.size - 1)] >= _FREQUENT * count[first])
    return float(count[np.repeat(branches, n)].sum() / max(1, count.sum()))


@signatures("uint64[::1], int64, uint64[::1]")
@compiled()
def _write_inner(kmers, k, inner):
    """Write the inner bases of k-mers, on the strand on which they are less."""
    for i in range(kmers.size):
        inner[i] = min(_inner(kmers[i], k), _inner(reverse_complement_plain(kmers[i], k), k))


@inlined()
def _inner(kmer, k):
    """Return all bases of a k-mer but the first and the last."""
    return (kmer >> _TWO) & ((np.uint64(1) << np.uint64(2 * k - 4)) - np.uint64(1))


@signatures("uint64[::1], int64[::1], int32[::1], int64")
@compiled()
def _sample(packed, start, length, k):
    windows = 0
    for r in range(start.size):
        windows += max(0, length[r] - k + 1)
    kept = np.empty(windows, np.uint64)
    n = 0
    for r in range(start.size):
        forward = backward = np.uint64(0)
        for i in range(length[r]):
            forward, backward = rolled(forward, backward, base_at(packed, start[r] + i), k)
            if i >= k - 1:
                key = min(forward, backward)
                if mix(min(_inner(forward, k), _inner(backward, k))) & np.uint64(SAMPLE - 1) == np.uint64(0):
                    kept[n] = key
                    n += 1
    return kept[:n].copy()
