"""Smooth sums over a map on CUDA: the same additions in the same order as `smoothing` on the CPU.

A thread computes the sums of eight neighbouring units for one channel: each sum that it reads is used eight times, with
factors that shift through registers.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, to_namespace
from gpuasm.clustering.grid import MapGrid
from gpuasm.clustering.training.neighbourhood import Neighbourhood, Term

_GROUP = 8
_BLOCK = 128


def smooth_terms_cuda(sums: Array, grid: MapGrid, terms: tuple[Term, ...]) -> Array:
    """Return the sum over the terms of smoothing along columns, then along rows; see `smoothing.smooth_terms`."""
    xp = array_namespace(sums)
    along_columns, along_rows = cuda_functions(_CUDA, "along_columns", "along_rows")
    channels = sums.shape[1]
    parities = 2 if grid.is_hexagonal else 1
    across, out = xp.empty((parities, *sums.shape), np.float64), xp.zeros_like(sums)
    shape = np.int32(grid.rows), np.int32(grid.columns), np.int32(channels)
    for term in terms:
        factors = _padded(xp, term.along_columns)
        along_columns(
            _blocks(parities * grid.rows * _groups(grid.columns) * channels), (_BLOCK,),
            (sums, factors, np.int32(factors.shape[-1]), *shape, np.int32(parities), np.int32(term.column_reach),
             np.int32(grid.is_toroidal), across),
        )  # fmt: skip
        along_rows(
            _blocks(_groups(grid.rows) * grid.columns * channels), (_BLOCK,),
            (across, _padded(xp, term.along_rows), *shape, np.int32(grid.is_hexagonal), np.int32(term.row_reach),
             np.int32(grid.is_toroidal), out),
        )  # fmt: skip
    return out


def smooth_table_cuda(sums: Array, grid: MapGrid, weights: Neighbourhood) -> Array:
    """Return, for each unit, the weighted sum over all units by a table; see `smoothing.smooth`."""
    xp = array_namespace(sums)
    (by_table,) = cuda_functions(_CUDA, "by_table")
    channels, factors, out = sums.shape[1], _padded(xp, weights.table), xp.empty_like(sums)
    by_table(
        _blocks(grid.rows * _groups(grid.columns) * channels), (_BLOCK,),
        (sums, factors, np.int32(factors.shape[-1]), np.int32(grid.rows), np.int32(grid.columns), np.int32(channels),
         np.int32(weights.row_reach), np.int32(weights.column_reach), np.int32(grid.is_toroidal), out),
    )  # fmt: skip
    return out


def _padded(xp: object, factors: np.ndarray | None) -> Array:
    """Append zeros after the last offset: the last group of units may extend beyond the map."""
    assert factors is not None
    wide = np.zeros((*factors.shape[:-1], factors.shape[-1] + _GROUP))
    wide[..., : factors.shape[-1]] = factors
    return to_namespace(xp, wide)


def _groups(length: int) -> int:
    return -(-length // _GROUP)


def _blocks(threads: int) -> tuple[int]:
    return (-(-threads // _BLOCK),)


_CUDA = """
typedef long long i64;
#define GROUP 8

// Add factor(offset) * value for all sources within reach, in ascending order, to the sums of eight units from at on. A
// hexagonal lattice has other values for units in rows of another parity than the source's.
template <bool HEXAGONAL>
__device__ __forceinline__ void add_interval(double* total, const double* same, const double* other, i64 stride,
    const double* factors, int at, int length, int first, int last) {
    if (first >= last) return;
    double factor[GROUP];
    #pragma unroll
    for (int o = 1; o < GROUP; o++) factor[o - 1] = factors[at + o - first + length - 1];
    for (int source = first; source < last; source++) {
        #pragma unroll
        for (int o = GROUP - 1; o > 0; o--) factor[o] = factor[o - 1];
        factor[0] = factors[at - source + length - 1];
        const double even = HEXAGONAL && (source & 1) ? other[source * stride] : same[source * stride];
        const double odd = !HEXAGONAL ? even : source & 1 ? same[source * stride] : other[source * stride];
        #pragma unroll
        for (int o = 0; o < GROUP; o++) total[o] = __dadd_rn(total[o], __dmul_rn(factor[o], o & 1 ? odd : even));
    }
}

template <bool HEXAGONAL>
__device__ __forceinline__ void add_line(double* total, const double* same, const double* other, i64 stride,
    const double* factors, int at, int reach, int length, int wraps) {
    const int low = at - reach, high = at + GROUP + reach;  // from low up to, but not including, high
    if (!wraps)
        add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, max(0, low), min(length, high));
    else if (high - low >= length) add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, 0, length);
    else if (low < 0) {
        add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, 0, high);
        add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, length + low, length);
    } else if (high > length) {
        add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, 0, high - length);
        add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, low, length);
    } else add_interval<HEXAGONAL>(total, same, other, stride, factors, at, length, low, high);
}

extern "C" __global__ void along_columns(const double* sums, const double* factors, int width, int rows, int columns,
    int channels, int parities, int reach, int wraps, double* across) {
    const int groups = (columns + GROUP - 1) / GROUP;
    const i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (i >= (i64)parities * rows * groups * channels) return;
    const int channel = i % channels, at = (i / channels) % groups * GROUP;
    const int row = (i / channels / groups) % rows, other = i / channels / groups / rows;
    double total[GROUP] = {0, 0, 0, 0, 0, 0, 0, 0};
    const double* line = sums + (i64)row * columns * channels + channel;
    add_line<false>(total, line, line, channels, factors + other * (1 + row % 2) * width, at, reach, columns, wraps);
    double* out = across + ((i64)(other * rows + row) * columns) * channels + channel;
    #pragma unroll
    for (int o = 0; o < GROUP; o++) if (at + o < columns) out[(i64)(at + o) * channels] = total[o];
}

extern "C" __global__ void along_rows(const double* across, const double* factors, int rows, int columns, int channels,
    int hexagonal, int reach, int wraps, double* out) {
    const int groups = (rows + GROUP - 1) / GROUP;
    const i64 stride = (i64)columns * channels, i = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (i >= groups * stride) return;
    const int at = i / stride * GROUP;
    const double* line = across + i % stride;
    double* place = out + i % stride;
    double total[GROUP];
    #pragma unroll
    for (int o = 0; o < GROUP; o++) total[o] = at + o < rows ? place[(at + o) * stride] : 0.0;
    if (hexagonal) add_line<true>(total, line, line + rows * stride, stride, factors, at, reach, rows, wraps);
    else add_line<false>(total, line, line, stride, factors, at, reach, rows, wraps);
    #pragma unroll
    for (int o = 0; o < GROUP; o++) if (at + o < rows) place[(at + o) * stride] = total[o];
}

extern "C" __global__ void by_table(const double* sums, const double* table, int width, int rows, int columns,
    int channels, int row_reach, int reach, int wraps, double* out) {
    const int groups = (columns + GROUP - 1) / GROUP;
    const i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (i >= (i64)rows * groups * channels) return;
    const int channel = i % channels, at = (i / channels) % groups * GROUP, row = i / channels / groups;
    double total[GROUP] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int source = 0; source < rows; source++) {
        int apart = abs(row - source);
        if (wraps) apart = min(apart, rows - apart);
        if (apart > row_reach) continue;
        const double* line = sums + (i64)source * columns * channels + channel;
        const double* factors = table + ((i64)(row % 2) * (2 * rows - 1) + row - source + rows - 1) * width;
        add_line<false>(total, line, line, channels, factors, at, reach, columns, wraps);
    }
    double* place = out + (i64)row * columns * channels + channel;
    #pragma unroll
    for (int o = 0; o < GROUP; o++) if (at + o < columns) place[(i64)(at + o) * channels] = total[o];
}
"""
