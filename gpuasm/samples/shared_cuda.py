"""Shared hashes of all pairs on CUDA: a block for each row of samples, a thread for each holder of a hash."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, cuda_functions
from gpuasm.samples.holders import Holders

_THREADS = 256
_MOST_BLOCKS = 1 << 16


def count_shared_cuda(index: Holders, size: int, shared: Array) -> None:
    """Fill the upper triangle; see `gpuasm.samples.comparison.shared_hashes`."""
    n = shared.shape[0]
    (count,) = cuda_functions(_CUDA, "count_shared")
    count((min(n, _MOST_BLOCKS),), (_THREADS,), (np.int64(n), *index, np.int32(min(size, (1 << 31) - 1)), shared))


_CUDA = """
typedef long long i64;
extern "C" __global__ void count_shared(i64 n, const i64* offsets, const i64* before, const int* ids, const i64* start,
                                        const i64* place, const int* holder, const int* rank, const int* weight,
                                        int size, int* shared) {
    for (i64 a = blockIdx.x; a < n; a += gridDim.x) {
        int* row = shared + a * n;
        for (i64 e = offsets[a]; e < offsets[a + 1]; e++) {
            i64 first = place[e] + 1, last = start[ids[e] + 1];
            if (first == last) continue;  // the same for all threads of the block
            int mine = (int)(e - offsets[a] + before[a]), times = weight[ids[e]];
            for (i64 p = first + threadIdx.x; p < last; p += blockDim.x) {
                int b = holder[p], already = row[b];
                if (mine + rank[p] - already < size) row[b] = already + times;
            }
            __syncthreads();  // of the next hash, another thread may look at the same pair
        }
    }
}
"""
