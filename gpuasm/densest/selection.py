"""The k largest numbers of each row, by a threshold and without sorting.

On CUDA by radix selection, a byte at a time: eight passes find the k-th largest number; two more write the positions of
the larger numbers and of the first equal ones. Counts are integers, so the result does not depend on the scheduling.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions

_BLOCK = 256
_MOST_BLOCKS = 2048  # for all rows together
_DIGITS = 256


def top_k(scores: Array, k: int) -> Array:
    """Return the positions of the k largest scores of each row; of equal scores the first ones.

    Parameters
    ----------
    scores : (b, n) float64
    k
        From 1 to n.

    Returns
    -------
    (b, k) int64, ascending in each row.
    """
    if array_namespace(scores) is np:
        return np.array([_top_of_row(row, k) for row in scores], np.int64).reshape(len(scores), k)
    return _top_k_cuda(scores, k)


def _top_of_row(row: np.ndarray, k: int) -> np.ndarray:
    threshold = np.partition(row, row.size - k)[row.size - k]
    above = np.flatnonzero(row > threshold)
    equal = np.flatnonzero(row == threshold)[: k - above.size]
    return np.sort(np.concatenate([above, equal]))


def _top_k_cuda(scores: Array, k: int) -> Array:
    """Return the positions of the k largest scores of each row on a device; see `top_k`."""
    xp, (b, n) = array_namespace(scores), scores.shape
    scores = xp.ascontiguousarray(scores)
    blocks = max(1, min(-(-n // (4 * _BLOCK)), _MOST_BLOCKS // b))
    grid, numbers = (blocks, b), (np.int64(n), np.int64(-(-n // blocks)))
    count_digits, choose_digit, count_chosen, write_chosen = cuda_functions(
        _CUDA, "count_digits", "choose_digit", "count_chosen", "write_chosen"
    )
    counts, found = xp.zeros((b, _DIGITS), np.int64), xp.zeros((b, 2), np.uint64)
    for shift in range(56, -1, -8):
        count_digits(grid, (_BLOCK,), (scores, *numbers, np.int32(shift), found, counts))
        choose_digit((b,), (1,), (counts, np.int32(shift), np.int64(k), found))
    before, chosen = xp.zeros((b, blocks, 2), np.int64), xp.empty((b, k), np.int64)
    count_chosen(grid, (_BLOCK,), (scores, *numbers, found, before))
    write_chosen(grid, (_BLOCK,), (scores, *numbers, found, before, np.int64(k), chosen))
    return chosen


_CUDA = r"""
typedef long long i64;
typedef unsigned long long u64;
#define BLOCK 256

// Unsigned integers in the order of the scores; the two zeros are one number.
__device__ __forceinline__ u64 key_of(double score) {
    u64 bits = (u64)__double_as_longlong(score + 0.0);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// found: of each row the upper digits of the k-th largest key so far, and how many keys with more of them are chosen.
extern "C" __global__ void count_digits(const double* scores, i64 n, i64 segment, int shift, const u64* found,
                                        u64* counts) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    i64 row = blockIdx.y, first = blockIdx.x * segment, last = min(n, first + segment);
    u64 upper = shift == 56 ? 0 : found[2 * row] >> (shift + 8);
    for (i64 i = first + threadIdx.x; i < last; i += BLOCK) {
        u64 key = key_of(scores[row * n + i]);
        if (shift == 56 || key >> (shift + 8) == upper) atomicAdd(&own[key >> shift & 255], 1u);
    }
    __syncthreads();
    if (own[threadIdx.x]) atomicAdd(&counts[256 * row + threadIdx.x], (u64)own[threadIdx.x]);
}

extern "C" __global__ void choose_digit(u64* counts, int shift, i64 k, u64* found) {
    u64* own = counts + 256 * (i64)blockIdx.x;
    u64 above = found[2 * blockIdx.x + 1];
    int digit = 255;
    while (digit > 0 && above + own[digit] < (u64)k) above += own[digit--];
    found[2 * blockIdx.x] |= (u64)digit << shift;
    found[2 * blockIdx.x + 1] = above;
    for (int i = 0; i < 256; i++) own[i] = 0;
}

// before: of each segment how many keys are above the k-th largest, and how many equal.
extern "C" __global__ void count_chosen(const double* scores, i64 n, i64 segment, const u64* found, u64* before) {
    __shared__ u64 own[2];
    if (threadIdx.x < 2) own[threadIdx.x] = 0;
    __syncthreads();
    i64 row = blockIdx.y, first = blockIdx.x * segment, last = min(n, first + segment);
    u64 limit = found[2 * row], above = 0, equal = 0;
    for (i64 i = first + threadIdx.x; i < last; i += BLOCK) {
        u64 key = key_of(scores[row * n + i]);
        above += key > limit;
        equal += key == limit;
    }
    if (above) atomicAdd(&own[0], above);
    if (equal) atomicAdd(&own[1], equal);
    __syncthreads();
    if (threadIdx.x < 2) before[2 * (row * gridDim.x + blockIdx.x) + threadIdx.x] = own[threadIdx.x];
}

extern "C" __global__ void write_chosen(const double* scores, i64 n, i64 segment, const u64* found, const u64* before,
                                        i64 k, i64* chosen) {
    __shared__ u64 start[2];
    __shared__ unsigned sums[2][BLOCK];
    i64 row = blockIdx.y, first = blockIdx.x * segment, last = min(n, first + segment);
    const int thread = threadIdx.x;
    if (thread < 2) start[thread] = 0;
    __syncthreads();
    u64 earlier[2] = {0, 0};
    for (i64 i = thread; i < blockIdx.x; i += BLOCK)
        for (int s = 0; s < 2; s++) earlier[s] += before[2 * (row * gridDim.x + i) + s];
    for (int s = 0; s < 2; s++) if (earlier[s]) atomicAdd(&start[s], earlier[s]);
    __syncthreads();
    const u64* here = before + 2 * (row * gridDim.x + blockIdx.x);
    u64 limit = found[2 * row], n_equal = (u64)k - found[2 * row + 1], above = start[0], equal = start[1];
    if (here[0] == 0 && (here[1] == 0 || equal >= n_equal)) return;
    for (i64 begin = first; begin < last; begin += BLOCK) {
        i64 i = begin + thread;
        u64 key = i < last ? key_of(scores[row * n + i]) : 0;
        bool is_above = i < last && key > limit, is_equal = i < last && key == limit;
        sums[0][thread] = is_above;
        sums[1][thread] = is_equal;
        for (int apart = 1; apart < BLOCK; apart *= 2) {
            __syncthreads();
            unsigned more[2] = {0, 0};
            if (thread >= apart) for (int s = 0; s < 2; s++) more[s] = sums[s][thread - apart];
            __syncthreads();
            for (int s = 0; s < 2; s++) sums[s][thread] += more[s];
        }
        __syncthreads();
        u64 own_above = above + sums[0][thread] - is_above, own_equal = equal + sums[1][thread] - is_equal;
        if (is_above || (is_equal && own_equal < n_equal))
            chosen[row * k + (i64)(own_above + min(own_equal, n_equal))] = i;
        above += sums[0][BLOCK - 1];
        equal += sums[1][BLOCK - 1];
        __syncthreads();
    }
}
"""
