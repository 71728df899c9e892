"""Online training on CUDA: a launch for each row moves each unit by the row before, then measures it to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, to_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.rows import column_ranges

if TYPE_CHECKING:
    from gpuasm.clustering.training.schedule import Stage

_BLOCK = 128


def online_epoch_cuda(rows: Array, weights: Array, grid: MapGrid, stages: list[Stage], *, form: int) -> Array:
    """Return the weights after an epoch; see `gpuasm.clustering.training.online.OnlineTraining.epoch`."""
    xp, d = array_namespace(rows), rows.shape[1]
    (step,) = cuda_functions(_CUDA, "step")
    columns = xp.ascontiguousarray(weights.T)
    order = to_namespace(xp, np.concatenate([stage.order for stage in stages]))
    data = rows, columns, *column_ranges(rows), order
    best = xp.full(order.size, np.iinfo(np.uint64).max, np.uint64)
    blocks = (-(-grid.n_units // _BLOCK),)
    shape = np.int32(grid.rows), np.int32(grid.columns), np.int32(d), np.int32(form), np.int32(grid.is_hexagonal)
    last, n_done = None, 0
    for stage in stages:
        across, down = (to_namespace(xp, part) for part in stage.factors)
        pull = across, down, np.int32(0 if stage.is_table else down.shape[0]), np.float64(stage.rate)
        for i in range(n_done, n_done + stage.order.size):
            # The row before is applied with the neighbourhood and rate of its own stage.
            step(blocks, (_BLOCK,), (*data, np.int64(i), np.int64(i), *shape, *(last or pull), best),
                 shared_mem=_BLOCK * 8)  # fmt: skip
            last = pull
        n_done += stage.order.size
    if last is not None:
        step(blocks, (_BLOCK,), (*data, np.int64(n_done), np.int64(-1), *shape, *last, best),
             shared_mem=_BLOCK * 8)  # fmt: skip
    return xp.ascontiguousarray(columns.T)


_CUDA = """
typedef long long i64;
typedef unsigned long long u64;

// Move each unit to row i - 1, then measure it to row i, or to none if next is negative.
extern "C" __global__ void step(const float* rows, float* columns, const float* low, const float* high,
    const i64* order, i64 i, i64 next, int n_rows, int n_columns, int d, int form, int hexagonal,
    const double* across, const double* down, int n_terms, double rate, u64* best) {
    extern __shared__ float4 shared[];
    u64* least = (u64*)shared;
    const int n_units = n_rows * n_columns, u = blockIdx.x * blockDim.x + threadIdx.x;
    float pull = 0.0f;
    if (i > 0 && u < n_units) {
        const int centre = (int)(best[i - 1] & 0xffffffffull);
        const int r = u / n_columns, c = u % n_columns, to_row = centre / n_columns;
        const int at = c - centre % n_columns + n_columns - 1, wide = 2 * n_columns - 1, high = 2 * n_rows - 1;
        double weight = 0.0;
        if (n_terms == 0) weight = across[((i64)(r % 2) * high + r - to_row + n_rows - 1) * wide + at];
        else {
            const int shift = hexagonal && ((r ^ to_row) & 1) ? (r & 1 ? 1 : 2) : 0;
            for (int t = 0; t < n_terms; t++)
                weight = __dadd_rn(weight, __dmul_rn(across[(t * 3 + shift) * wide + at],
                                                     down[t * high + r - to_row + n_rows - 1]));
        }
        pull = (float)__dmul_rn(rate, weight);
    }
    const float* before = i > 0 ? rows + order[i - 1] * d : rows;
    const float* now = next >= 0 ? rows + order[next] * d : rows;
    float total = 0.0f, length = 0.0f;
    if (u < n_units)
        for (int k = 0; k < d; k++) {
            float w = columns[(i64)k * n_units + u];
            if (i > 0 && before[k] == before[k]) {
                w = __fmaf_rn(pull, __fsub_rn(before[k], w), w);
                if (pull < 0.0f) w = fminf(fmaxf(w, low[k]), high[k]);
                columns[(i64)k * n_units + u] = w;
            }
            const float x = now[k];
            if (!(x == x)) continue;
            const float t = __fsub_rn(x, w);
            if (form == 0) total = __fmaf_rn(t, t, total);
            else if (form == 1) total = __fadd_rn(total, fabsf(t));
            else if (form == 2) total = fmaxf(total, fabsf(t));
            else { total = __fmaf_rn(x, w, total); length = __fmaf_rn(w, w, length); }
        }
    if (next < 0) return;
    if (form == 3) {
        const float root = __fsqrt_rn(length);
        total = fmaxf(0.0f, __fsub_rn(1.0f, root > 0.0f ? __fdiv_rn(total, root) : 0.0f));
    }
    // Values are not negative, so their bits have the same order; of ties the lowest unit is best.
    least[threadIdx.x] = u < n_units ? ((u64)(unsigned)__float_as_int(total) << 32) | (unsigned)u : ~0ull;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half && least[threadIdx.x + half] < least[threadIdx.x])
            least[threadIdx.x] = least[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicMin(best + next, least[0]);
}
"""
