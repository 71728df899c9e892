"""The row of every entry of a compressed sparse row structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions

_ROWS_PER_BLOCK = 256


def row_of_edge(row_offsets: Array, dtype: Any = np.int32) -> Array:
    """Return the row that holds each entry.

    Parameters
    ----------
    row_offsets : (n + 1,) int64
        Start of each row; the first is 0.
    dtype
        int32 or int64.

    Returns
    -------
    (m,) of ``dtype``, ascending. On CUDA a block of threads shares 256 rows, so that all work on a long row.
    """
    xp, n = array_namespace(row_offsets), row_offsets.size - 1
    if xp is np:
        return np.repeat(np.arange(n, dtype=dtype), np.diff(row_offsets))
    rows = xp.empty(int(row_offsets[-1]), dtype)
    if rows.size:
        (fill,) = cuda_functions(_CUDA[dtype], "fill_rows")
        blocks = (n + _ROWS_PER_BLOCK - 1) // _ROWS_PER_BLOCK
        fill((blocks,), (_ROWS_PER_BLOCK,), (row_offsets, np.int64(n), rows))
    return rows


_SOURCE = """
typedef long long i64;
extern "C" __global__ void fill_rows(const i64* row_offsets, i64 n, ROW* rows) {
    __shared__ i64 offset[257];
    i64 first = blockIdx.x * 256ll;
    int own = (int)(n - first < 256 ? n - first : 256);
    for (int i = threadIdx.x; i <= own; i += 256) offset[i] = row_offsets[first + i];
    __syncthreads();
    for (i64 edge = offset[0] + threadIdx.x; edge < offset[own]; edge += 256) {
        int low = 0, high = own;  // offset[low] <= edge < offset[high]
        while (high - low > 1) {
            int middle = (low + high) >> 1;
            if (offset[middle] <= edge) low = middle; else high = middle;
        }
        rows[edge] = (ROW)(first + low);
    }
}
"""
_CUDA = {np.int32: _SOURCE.replace("ROW", "int"), np.int64: _SOURCE.replace("ROW", "i64")}
