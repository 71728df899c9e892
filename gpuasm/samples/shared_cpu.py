"""Shared hashes of all pairs on the CPU: a row of samples at a time, through an index of who has which hash."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled, run_chunks
from gpuasm.samples.holders import Holders


def count_shared_cpu(index: Holders, size: int, shared: np.ndarray) -> None:
    """Fill the upper triangle; see `gpuasm.samples.comparison.shared_hashes`."""
    run_chunks(_count_rows, shared.shape[0], *index, np.int64(size), shared)


@compiled()
def _count_rows(first, last, offsets, before, ids, start, place, holder, rank, weight, size, shared):
    for a in range(first, last):
        row = shared[a]
        for e in range(offsets[a], offsets[a + 1]):
            mine = e - offsets[a] + before[a]
            times = weight[ids[e]]
            for p in range(place[e] + 1, start[ids[e] + 1]):
                b = holder[p]
                if mine + rank[p] - row[b] < size:
                    row[b] += times
