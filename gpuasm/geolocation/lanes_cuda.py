"""CUDA C++ of sums over groups of lanes: a thread, part of a warp, a warp or a block of eight warps."""

from __future__ import annotations

LANES_CUDA = """
#define FULL 0xffffffffu

// Add up, over the lanes of a group, neighbours pairwise; every lane gets the sums.
template <int LANES, int N> __device__ __forceinline__ void add_lanes(Real (&sums)[N], double* across) {
    #pragma unroll
    for (int apart = 1; apart < (LANES < 32 ? LANES : 32); apart *= 2)
        #pragma unroll
        for (int k = 0; k < N; k++) sums[k] = sums[k] + Real(__shfl_xor_sync(FULL, sums[k].v, apart));
    if (LANES <= 32) return;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < N; k++) across[threadIdx.x / 32 * N + k] = sums[k].v;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < N; k++) {
        Real parts[LANES / 32 + 1];
        #pragma unroll
        for (int w = 0; w < LANES / 32; w++) parts[w] = across[w * N + k];
        #pragma unroll
        for (int width = LANES / 64; width > 0; width /= 2)
            #pragma unroll
            for (int w = 0; w < width; w++) parts[w] = parts[2 * w] + parts[2 * w + 1];
        sums[k] = parts[0];
    }
}

template <int LANES> __device__ __forceinline__ bool any_of_warp(bool mine) {
    return LANES == 1 || LANES > 32 ? mine : __any_sync(FULL, mine);  // lanes of a block agree already
}

// Find the least value and, of equal ones, the least number with it.
template <int LANES> __device__ __forceinline__ void least_of_lanes(double& value, double& number, double* across) {
    #pragma unroll
    for (int apart = 1; apart < (LANES < 32 ? LANES : 32); apart *= 2) {
        const double other = __shfl_xor_sync(FULL, value, apart), whose = __shfl_xor_sync(FULL, number, apart);
        if (other < value || (other == value && whose < number)) { value = other; number = whose; }
    }
    if (LANES <= 32) return;
    __syncthreads();
    if (threadIdx.x % 32 == 0) { across[threadIdx.x / 16] = value; across[threadIdx.x / 16 + 1] = number; }
    __syncthreads();
    for (int w = 0; w < LANES / 32; w++)
        if (across[2 * w] < value || (across[2 * w] == value && across[2 * w + 1] < number)) {
            value = across[2 * w];
            number = across[2 * w + 1];
        }
}
"""
