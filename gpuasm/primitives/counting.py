"""Count true values, each value, and the set bits of a number; sum the values between bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, to_host, to_namespace
from gpuasm.parallel import for_each, inlined, signatures

_BLOCK = 256
_MOST_BLOCKS = 1 << 12
_N_SMALL = 1 << 10
_AT_A_TIME = 1 << 24
_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONE_IN_EACH_BYTE = np.uint64(0x0101010101010101)


@inlined()
def count_ones(x):
    """Return the number of set bits (int64) of a uint64, for compiled loops and bodies of `for_each`."""
    x -= (x >> np.uint64(1)) & _ODD
    x = (x & _PAIRS) + ((x >> np.uint64(2)) & _PAIRS)
    x = (x + (x >> np.uint64(4))) & _NIBBLES
    return np.int64((x * _ONE_IN_EACH_BYTE) >> np.uint64(56))


def count_true(mask: Array) -> int:
    """Return the number of true values of (n,) bool.

    On a device by a small kernel: that of cupy's sums of truth values takes long to compile.
    """
    xp = array_namespace(mask)
    if xp is np:
        return int(np.count_nonzero(mask))
    return _count_cuda(xp.ascontiguousarray(mask))


def count_values(values: Array, n: int) -> Array:
    """Return how often each number from 0 to n - 1 occurs: (n,) int64, where the values are.

    On a device by a small kernel: cupy's own may take memory of many times the result.

    Parameters
    ----------
    values : (m,) int32 or int64
        From 0 to n - 1.
    """
    xp = array_namespace(values)
    if xp is np:
        return np.bincount(values, minlength=n).astype(np.int64, copy=False)
    return _count_values_cuda(xp.ascontiguousarray(values), n)


def _count_values_cuda(values: Array, n: int) -> Array:
    (count,) = cuda_functions(_CUDA, f"count_{values.dtype.name}")
    counts = array_namespace(values).zeros(n, np.int64)
    if values.size:
        blocks = min(-(-values.size // _BLOCK), _MOST_BLOCKS)
        count((blocks,), (_BLOCK,), (values, np.int64(values.size), counts))
    return counts


def count_between(marks: Array, bounds: Array) -> Array:
    """Count the true values between bounds; running sums of few values at a time are in memory.

    Parameters
    ----------
    marks : (n,) bool
    bounds : (m + 1,) int64
        Ascending, from 0 to n.

    Returns
    -------
    (m,) int64, where ``marks`` are.
    """
    return to_namespace(array_namespace(marks), sum_in_batches(lambda rows: marks[rows], bounds))


def sum_in_batches(values_of: Callable[[slice], Array], bounds: Array) -> np.ndarray:
    """Sum values between bounds, made and summed up few at a time.

    Parameters
    ----------
    values_of
        Returns the values of a range of rows, bool or integers, on the host or on a device.
    bounds : (m + 1,) int64
        Ascending, from 0 to the number of values.

    Returns
    -------
    (m,) int64, on the host.
    """
    ends, before = to_host(bounds), 0
    sums = np.zeros(ends.size, np.int64)
    for first in range(0, int(ends[-1]), _AT_A_TIME):
        last = min(int(ends[-1]), first + _AT_A_TIME)
        values = values_of(slice(first, last))
        xp = array_namespace(values)
        running = xp.cumsum(values, dtype=np.int64)
        rows = slice(*np.searchsorted(ends, [first, last], side="right").tolist())
        sums[rows] = before + to_host(running[to_namespace(xp, ends[rows] - first - 1)])
        before += int(running[-1])
    return np.diff(sums)


def _count_cuda(mask: Array) -> int:
    (count,) = cuda_functions(_CUDA, "count_true")
    total = array_namespace(mask).zeros(1, np.uint64)
    if mask.size:
        blocks = min(-(-mask.size // _BLOCK), _MOST_BLOCKS)
        count((blocks,), (_BLOCK,), (mask, np.int64(mask.size), total))
    return int(total[0])


_CUDA = """
typedef long long i64;
extern "C" __global__ void count_true(const bool* mask, i64 n, unsigned long long* total) {
    unsigned long long own = 0;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) own += mask[i];
    if (own) atomicAdd(total, own);
}
// Small values, which are the most frequent ones of depths and lengths, are counted in each block's own memory first.
template <typename T> __device__ void count_values(const T* values, i64 n, unsigned long long* counts) {
    __shared__ unsigned own[N_SMALL];
    for (int v = threadIdx.x; v < N_SMALL; v += blockDim.x) own[v] = 0;
    __syncthreads();
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x)
        if (values[i] < N_SMALL) atomicAdd(own + values[i], 1u);
        else atomicAdd(counts + values[i], 1ull);
    __syncthreads();
    for (int v = threadIdx.x; v < N_SMALL; v += blockDim.x)
        if (own[v]) atomicAdd(counts + v, (unsigned long long)own[v]);
}
extern "C" __global__ void count_int32(const int* values, i64 n, unsigned long long* counts) {
    count_values(values, n, counts);
}
extern "C" __global__ void count_int64(const i64* values, i64 n, unsigned long long* counts) {
    count_values(values, n, counts);
}
""".replace("N_SMALL", str(_N_SMALL))


def sum_between(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Sum values between bounds, without a wider copy of them.

    Parameters
    ----------
    values : (m,) int32 or bool
    bounds : (n + 1,) int64
        Ascending, from 0 to m.

    Returns
    -------
    (n,) int64
    """
    sums = np.empty(bounds.size - 1, np.int64)
    _sum_between(sums.size, np.ascontiguousarray(values), bounds, sums)
    return sums


@signatures("int32[::1], int64[::1], int64[::1]", "boolean[::1], int64[::1], int64[::1]", on="host")
@for_each
def _sum_between(row, values, bounds, sums):
    total = np.int64(0)
    for at in range(bounds[row], bounds[row + 1]):
        total += values[at]
    sums[row] = total
