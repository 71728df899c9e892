"""Estimate a spectrum before counting from a hash sample of k-mers."""

from __future__ import annotations

import numpy as np

from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.rolling import rolled
from gpuasm.parallel import compiled, signatures
from gpuasm.primitives.hashing import mix
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads
from gpuasm.threads import ordered_map

SAMPLE = 256
"""One distinct k-mer in so many is sampled, with all of its occurrences."""
_SEGMENTS_PER_CHUNK = 1 << 14


def estimate_spectrum(reads: Reads, k: int) -> np.ndarray:
    """Estimate the number of distinct k-mers of each multiplicity, in one pass and little memory.

    The sample is taken of distinct k-mers (those whose hash is 0 modulo 256), so that each one's multiplicity is
    exact and the estimate is unbiased (Broder 1997, doi:10.1109/SEQUEN.1997.666900).

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
    return spectrum_of_sample(sampled_kmers(reads, k))


def sampled_kmers(reads: Reads, k: int) -> np.ndarray:
    """Return the sampled k-mers of reads with all their occurrences: (n,) uint64; see `estimate_spectrum`."""
    k = min(k, MAX_PLAIN_K)

    def sample(first: int) -> np.ndarray:
        chunk = slice(first, first + _SEGMENTS_PER_CHUNK)
        return _sample(reads.packed, reads.start[chunk], reads.length[chunk], k)

    parts = ordered_map(sample, range(0, reads.n_segments, _SEGMENTS_PER_CHUNK))
    return np.concatenate([np.empty(0, np.uint64), *parts])


def spectrum_of_sample(keys: np.ndarray) -> np.ndarray:
    """Return the spectrum that sampled k-mers, (n,) uint64, show; see `estimate_spectrum`."""
    _, count = np.unique(keys, return_counts=True)
    return np.bincount(count, minlength=3) * SAMPLE


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
                if mix(key) & np.uint64(SAMPLE - 1) == np.uint64(0):
                    kept[n] = key
                    n += 1
    return kept[:n].copy()
