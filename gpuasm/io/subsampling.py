"""Choose a share of the reads by their bases, so that the choice is the same in any order of the reads."""

from __future__ import annotations

import numpy as np

from gpuasm.io.duplicates import size_and_hash
from gpuasm.io.read_through import first_segment_of_reads
from gpuasm.parallel import compiled
from gpuasm.primitives.randomness import random_bits, unit_interval
from gpuasm.sequence.reads import Reads
from gpuasm.threads import run_chunks


def choose_reads(reads: Reads, n_pairs: int, share: float) -> np.ndarray:
    """Choose a share of the pairs and single reads, mates together.

    A hash of its bases decides on a pair. Of pairs with the same bases the first, the second and so on have different
    hashes, so that as large a share of them is chosen.

    Parameters
    ----------
    reads : Reads
        On the host.
    n_pairs
        Reads 0 to 2 * n_pairs - 1 are mates.
    share
        Between 0 and 1.

    Returns
    -------
    (n_reads,) bool
    """
    hashes = np.zeros(reads.n_reads - n_pairs, np.uint64)
    arrays = first_segment_of_reads(reads), reads.packed, reads.start, reads.length
    run_chunks(_hash, hashes.size, n_pairs, *arrays, hashes)
    order = np.argsort(hashes, kind="stable")
    is_chosen = np.zeros(hashes.size, np.bool_)
    _choose(hashes, order, float(share), is_chosen)
    return np.concatenate([np.repeat(is_chosen[:n_pairs], 2), is_chosen[n_pairs:]])


@compiled()
def _hash(begin, end, n_pairs, first_segment, packed, start, length, hashes):
    for unit in range(begin, end):
        read = 2 * unit if unit < n_pairs else unit + n_pairs
        for mate in range(2 if unit < n_pairs else 1):
            hashes[unit] += size_and_hash(read + mate, first_segment, packed, start, length)[1]


@compiled()
def _choose(hashes, order, share, is_chosen):
    copy = np.uint64(0)
    for i in range(order.size):
        own = hashes[order[i]]
        copy = copy + np.uint64(1) if i and hashes[order[i - 1]] == own else np.uint64(0)
        is_chosen[order[i]] = unit_interval(random_bits(own, copy)) < share
