"""The two strategies of the first GPU attempts, as they were: a thread for each map unit, and a thread for each node.

Over map units, every node is a launch of its own, each block finds its nearest unit, and the host ends the search. Over
nodes, one launch serves all, and each thread walks the whole map.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, cuda_functions, to_host

_BLOCK = 256


def over_map_units(rows, weights, *, n: int) -> np.ndarray:
    """Return the nearest units of the first ``n`` rows."""
    xp = array_namespace(rows)
    (kernel,) = cuda_functions(_CUDA, "nearest_of_block")
    n_blocks = -(-weights.shape[0] // _BLOCK)
    value, unit = xp.empty(n_blocks, np.float32), xp.empty(n_blocks, np.int32)
    found = np.empty(n, np.int32)
    size = np.int32(weights.shape[0]), np.int32(rows.shape[1])
    for i in range(n):
        kernel((n_blocks,), (_BLOCK,), (rows[i], weights, *size, value, unit))
        best = to_host(value)
        found[i] = int(to_host(unit)[best.argmin()])
    return found


def over_nodes(rows, weights) -> np.ndarray:
    """Return the nearest units of all rows."""
    xp = array_namespace(rows)
    (kernel,) = cuda_functions(_CUDA, "walk_the_map")
    unit = xp.empty(rows.shape[0], np.int32)
    size = np.int32(rows.shape[0]), np.int32(weights.shape[0]), np.int32(rows.shape[1])
    kernel((-(-rows.shape[0] // _BLOCK),), (_BLOCK,), (rows, weights, *size, unit))
    return to_host(unit)


_CUDA = """
extern "C" __global__ void nearest_of_block(const float* row, const float* weights, int n_units, int d, float* value,
    int* unit) {
    __shared__ float least[256];
    __shared__ int where[256];
    int u = blockIdx.x * 256 + threadIdx.x;
    float total = 0.0f;
    if (u < n_units) for (int k = 0; k < d; k++) { float t = row[k] - weights[u * d + k]; total = fmaf(t, t, total); }
    least[threadIdx.x] = u < n_units ? total : __int_as_float(0x7f800000);
    where[threadIdx.x] = u;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && least[threadIdx.x + half] < least[threadIdx.x]) {
            least[threadIdx.x] = least[threadIdx.x + half];
            where[threadIdx.x] = where[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) { value[blockIdx.x] = least[0]; unit[blockIdx.x] = where[0]; }
}

extern "C" __global__ void walk_the_map(const float* rows, const float* weights, int n, int n_units, int d, int* unit) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float least = __int_as_float(0x7f800000);
    int where = 0;
    for (int u = 0; u < n_units; u++) {
        float total = 0.0f;
        for (int k = 0; k < d; k++) { float t = rows[i * d + k] - weights[u * d + k]; total = fmaf(t, t, total); }
        if (total < least) { least = total; where = u; }
    }
    unit[i] = where;
}
"""
