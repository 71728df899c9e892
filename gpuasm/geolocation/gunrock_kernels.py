"""CUDA C++ of `gunrock_cuda`: the lists of rows, and the functions for all rows."""

from __future__ import annotations

from gpuasm.geolocation.gunrock_cpu import CHUNK, MIDDLE, SHORT, STOP_DEGREES
from gpuasm.geolocation.gunrock_long_rows import LONG_ROWS_CUDA
from gpuasm.geolocation.gunrock_short_rows import SHORT_ROWS_CUDA
from gpuasm.geolocation.lanes_cuda import LANES_CUDA
from gpuasm.geolocation.sphere_cuda import SPHERE_CUDA

LONGEST = (SHORT, MIDDLE, CHUNK)
"""Slots of the longest row of each list but the last."""

VERTICES_OF_BLOCK = 256 * 16
"""Vertices of a block of `work_lists`."""

_COMMON_CUDA = (
    f"""
#define STOP {(STOP_DEGREES * STOP_DEGREES).hex()}
#define CHUNK {CHUNK}
#define SHORT {LONGEST[0]}
#define MIDDLE {LONGEST[1]}
#define VERTICES_OF_BLOCK {VERTICES_OF_BLOCK}
"""
    """
typedef unsigned int u32;

__device__ __forceinline__ bool is_set(const u32* bits, int u) { return bits[u >> 5] >> (u & 31) & 1; }

// List the vertices without location, but with neighbours, by the length of their rows; set the bits of the others.
extern "C" __global__ void __launch_bounds__(256) work_lists(i64 n, const i64* offsets, const double2* places,
    u32* known, int* list_0, int* list_1, int* list_2, int* list_3, int* counts, int* rounds) {
    __shared__ int here[4], base[4];
    const int t = threadIdx.x, lane = t % 32;
    const i64 begin = blockIdx.x * (i64)VERTICES_OF_BLOCK + t;
    int kinds[VERTICES_OF_BLOCK / 256], ranks[VERTICES_OF_BLOCK / 256];
    if (t < 4) here[t] = 0;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < VERTICES_OF_BLOCK / 256; k++) {
        const i64 v = begin + k * 256;
        const double2 place = v < n ? places[v] : double2{0.0, 0.0};
        const bool has = place.x == place.x && place.y == place.y;
        const u32 bits = __ballot_sync(FULL, has && v < n);
        kinds[k] = -1;
        if (v < n) {
            if (lane == 0) known[v / 32] = bits;
            rounds[v] = has ? 0 : -1;
            const i64 length = has ? 0 : offsets[v + 1] - offsets[v];
            if (length > 0) kinds[k] = length <= SHORT ? 0 : length <= MIDDLE ? 1 : length <= CHUNK ? 2 : 3;
        }
        const u32 are_short = __ballot_sync(FULL, kinds[k] == 0);
        int first = 0;
        if (lane == 0 && are_short) first = atomicAdd(&here[0], __popc(are_short));
        ranks[k] = (int)__shfl_sync(FULL, first, 0) + __popc(are_short & ((1u << lane) - 1));
        if (kinds[k] > 0) ranks[k] = atomicAdd(&here[kinds[k]], 1);
    }
    __syncthreads();
    if (t < 4 && here[t]) base[t] = atomicAdd(&counts[t], here[t]);
    __syncthreads();
    int* lists[] = {list_0, list_1, list_2, list_3};
    #pragma unroll
    for (int k = 0; k < VERTICES_OF_BLOCK / 256; k++)
        if (kinds[k] >= 0) lists[kinds[k]][base[kinds[k]] + ranks[k]] = (int)(begin + k * 256);
}

__device__ __forceinline__ Place midpoint(Place a, Place b) {
    const Angle lat_a = sine_and_cosine(a.lat), lat_b = sine_and_cosine(b.lat), d = sine_and_cosine(b.lon - a.lon);
    const Real x = fused(lat_b.cosine, d.cosine, lat_a.cosine), y = lat_b.cosine * d.sine;
    return {angle_of(lat_a.sine + lat_b.sine, root(fused(x, x, y * y))), a.lon + angle_of(y, x)};
}

// A step of the modified Weiszfeld iteration; whether it is the last.
__device__ __forceinline__ bool move(Place& at, Real n, const Real (&sums)[4]) {
    if (sums[3] == n) return true;
    const Real inverse = Real(1.0) / sums[0];
    const Place before = at, to = {sums[1] * inverse, sums[2] * inverse};
    if (sums[3] == 0.0) at = to;
    else {
        const Real pull = sums[0] * Real(HALF_PER_RADIUS);
        const Real by_lat = (to.lat - at.lat) * pull, by_lon = (to.lon - at.lon) * pull;
        const Real length = root(fused(by_lat, by_lat, by_lon * by_lon));
        const Real ratio = length == 0.0 ? Real(0.0) : sums[3] / length;
        const Real rest = larger(0.0, Real(1.0) - ratio), share = smaller(1.0, ratio);
        at = {fused(rest, to.lat, share * at.lat), fused(rest, to.lon, share * at.lon)};
    }
    const Real by_lat = at.lat - before.lat, by_lon = at.lon - before.lon;
    return fused(by_lat, by_lat, by_lon * by_lon) < STOP;
}

// The unit vector of a place that all lanes of a group hold: each of two lanes computes one angle's sine and cosine.
__device__ __forceinline__ Vector unit_by_lanes(Place at, int lanes) {
    if (lanes == 1) return unit_of(at);
    const bool is_odd = threadIdx.x & 1;
    const Angle mine = sine_and_cosine(is_odd ? at.lon : at.lat);
    const Angle other = {__shfl_xor_sync(FULL, mine.sine.v, 1), __shfl_xor_sync(FULL, mine.cosine.v, 1)};
    const Angle lat = is_odd ? other : mine, lon = is_odd ? mine : other;
    return {lat.cosine * lon.cosine, lat.cosine * lon.sine, lat.sine};
}

__device__ __forceinline__ void write(int v, Place at, double* places, u32* found, int* rounds, int round) {
    places[2 * (i64)v] = at.lat.v;
    places[2 * (i64)v + 1] = at.lon.v;
    rounds[v] = round;
    atomicOr(&found[v >> 5], 1u << (v & 31));
}

extern "C" __global__ void wrap_longitudes(i64 n, const int* rounds, double* places) {
    const i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (v >= n || rounds[v] <= 0) return;
    const Real lon = places[2 * v + 1];
    if (lon < -180.0 || lon > 180.0)
        places[2 * v + 1] = (lon - Real(360.0) * Real(floor((lon / Real(360.0) + 0.5).v))).v;
}
"""
)

CUDA = SPHERE_CUDA + LANES_CUDA + _COMMON_CUDA + SHORT_ROWS_CUDA + LONG_ROWS_CUDA
