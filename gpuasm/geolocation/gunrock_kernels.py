"""CUDA C++ of `gunrock_cuda`."""

from __future__ import annotations

from gpuasm.geolocation.gunrock_cpu import CHUNK, STOP_DEGREES
from gpuasm.geolocation.lanes_cuda import LANES_CUDA
from gpuasm.geolocation.sphere_cuda import SPHERE_CUDA

SLOTS_OF_LANE = 8
"""How many slots of a row a lane takes."""

SUMS_BYTES = 8 * 4 * 8
"""Of shared memory in which the warps of a block add up."""

_CUDA = (
    SPHERE_CUDA
    + LANES_CUDA
    + f"#define STOP {(STOP_DEGREES * STOP_DEGREES).hex()}\n#define CHUNK {CHUNK}\n#define EACH {SLOTS_OF_LANE}\n"
    + """
typedef unsigned int u32;

__device__ __forceinline__ bool is_set(const u32* bits, int u) { return bits[u >> 5] >> (u & 31) & 1; }

// List the vertices without location, but with neighbours, by the length of their rows; set the bits of the others.
extern "C" __global__ void work_lists(i64 n, const i64* offsets, const double* places, u32* known, int* list_0,
    int* list_1, int* list_2, int* list_3, int* list_4, int* list_5, int* counts, int* rounds) {
    extern __shared__ float4 shared[];
    int *here = (int*)shared, *base = here + 6;
    const int t = threadIdx.x;
    const i64 v = blockIdx.x * (i64)blockDim.x + t;
    if (t < 6) here[t] = 0;
    __syncthreads();
    const bool has = v < n && places[2 * v] == places[2 * v] && places[2 * v + 1] == places[2 * v + 1];
    if (has) atomicOr(&known[v >> 5], 1u << (v & 31));
    int kind = -1, rank = 0;
    if (v < n) {
        rounds[v] = has ? 0 : -1;
        const i64 length = offsets[v + 1] - offsets[v];
        if (!has && length > 0)
            kind = length <= 8 ? 0 : length <= 32 ? 1 : length <= 128 ? 2 : length <= 256 ? 3 : length <= CHUNK ? 4 : 5;
    }
    if (kind >= 0) rank = atomicAdd(&here[kind], 1);
    __syncthreads();
    if (t < 6 && here[t]) base[t] = atomicAdd(&counts[t], here[t]);
    __syncthreads();
    int* lists[] = {list_0, list_1, list_2, list_3, list_4, list_5};
    if (kind >= 0) lists[kind][base[kind] + rank] = (int)v;
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

// Add what n neighbours of a lane give: number k of neighbour j is at numbers[(k * EACH + j) * stride].
__device__ __forceinline__ void weigh(const double* numbers, int stride, int n, Vector unit, Real (&sums)[4]) {
    #pragma unroll 2
    for (int j = 0; j < n; j++) {
        const double* own = numbers + j * stride;
        const int next = EACH * stride;
        const Real t = quarter_chord({own[0], own[next], own[2 * next]}, unit);
        Real weight = over_half_arc(t);
        if (t == 0.0) weight = 0.0;
        sums[0] = sums[0] + weight;
        sums[1] = fused(weight, own[3 * next], sums[1]);
        sums[2] = fused(weight, own[4 * next], sums[2]);
        if (weight == 0.0) sums[3] = sums[3] + 1.0;
    }
}

// The unit vector of a place that all lanes of a group hold: of two lanes each makes one angle's sine and cosine.
template <int LANES> __device__ __forceinline__ Vector unit_by_lanes(Place at) {
    if (LANES == 1) return unit_of(at);
    const bool is_odd = threadIdx.x & 1;
    const Angle mine = sine_and_cosine(is_odd ? at.lon : at.lat);
    const Angle other = {__shfl_xor_sync(FULL, mine.sine.v, 1), __shfl_xor_sync(FULL, mine.cosine.v, 1)};
    const Angle lat = is_odd ? other : mine, lon = is_odd ? mine : other;
    return {lat.cosine * lon.cosine, lat.cosine * lon.sine, lat.sine};
}

// Read a lane's neighbours with a location, first their places, all at once, then make their unit vectors.
template <int LANES> __device__ __forceinline__ int gather(const int* columns, int length, int lane, const u32* known,
    const double* places, double* numbers, int stride, int& first) {
    int u[EACH], n = 0;
    bool has[EACH];
    first = 0x7fffffff;
    #pragma unroll
    for (int j = 0; j < EACH; j++) u[j] = lane + j * LANES < length ? columns[lane + j * LANES] : -1;
    #pragma unroll
    for (int j = 0; j < EACH; j++) has[j] = u[j] >= 0 && is_set(known, u[j]);
    const int next = EACH * stride;
    #pragma unroll
    for (int j = 0; j < EACH; j++)
        if (has[j]) {
            if (n == 0) first = lane + j * LANES;
            const double2 place = ((const double2*)places)[u[j]];
            numbers[3 * next + n * stride] = place.x;
            numbers[4 * next + n * stride] = place.y;
            n++;
        }
    for (int j = 0; j < n; j++) {
        double* own = numbers + j * stride;
        const Vector v = unit_of({own[3 * next], own[4 * next]});
        own[0] = v.x.v;
        own[next] = v.y.v;
        own[2 * next] = v.z.v;
    }
    return n;
}

template <int LANES> __device__ __forceinline__ void add_places(const double* numbers, int stride, int n,
    Real (&sums)[4]) {
    for (int j = 0; j < n; j++) {
        sums[1] = sums[1] + numbers[(3 * EACH + j) * stride];
        sums[2] = sums[2] + numbers[(4 * EACH + j) * stride];
    }
    sums[3] = sums[3] + (double)n;
}

// The two neighbours of a group that has two, in the order of their slots.
template <int LANES> __device__ __forceinline__ Place middle_of_two(const double* numbers, int stride, int n, int first,
    bool has_two, double* across) {
    const int next = EACH * stride;
    // The lane with the earlier slot has the least number; only two lanes have any, if not one alone.
    Real least[1] = {n > 0 ? first : 0};
    Real both[1] = {least[0]};
    add_lanes<LANES, 1>(both, across);
    const bool is_first = n > 0 && (n > 1 || least[0] + least[0] < both[0]);
    Real four[4] = {0.0, 0.0, 0.0, 0.0};
    if (has_two && n > 0) {
        const int k = is_first ? 0 : 2;
        four[k] = numbers[3 * next];
        four[k + 1] = numbers[4 * next];
        if (n > 1) {
            four[2] = numbers[3 * next + stride];
            four[3] = numbers[4 * next + stride];
        }
    }
    add_lanes<LANES, 4>(four, across);
    return midpoint({four[0], four[1]}, {four[2], four[3]});
}

__device__ __forceinline__ void write(int v, Place at, double* places, u32* found, int* rounds, int round) {
    places[2 * (i64)v] = at.lat.v;
    places[2 * (i64)v + 1] = at.lon.v;
    rounds[v] = round;
    atomicOr(&found[v >> 5], 1u << (v & 31));
}

// Infer the places of rows in a pass of n_steps. Rows that take more are listed in ``left`` with where they have come
// to, unless this pass is the last; ``begun`` is that of the pass before, not looked at in the first one.
template <int LANES> __device__ __forceinline__ void infer(const int* list, const int* count, const double2* begun,
    const i64* offsets, const int* columns, const u32* known, double* places, u32* found, int* rounds, int round,
    int* next_list, int* next_count, bool is_first, bool is_last, int n_steps, int* left, double2* left_at,
    int* left_count) {
    extern __shared__ float4 shared[];
    const int n_rows = *count;
    double *numbers = (double*)shared + threadIdx.x, *across = (double*)shared + 5 * EACH * blockDim.x;
    const int stride = blockDim.x, groups = blockDim.x / LANES, lane = threadIdx.x % LANES;
    for (i64 begin = blockIdx.x * (i64)groups; begin < n_rows; begin += gridDim.x * (i64)groups) {
        const i64 i = begin + threadIdx.x / LANES;
        const bool is_row = i < n_rows;
        const int v = is_row ? list[i] : 0;
        const i64 start = offsets[v];
        int first, n = 0;
        if (is_row)
            n = gather<LANES>(columns + start, (int)(offsets[v + 1] - start), lane, known, places, numbers, stride,
                first);
        Real sums[4] = {0.0, 0.0, 0.0, 0.0};
        add_places<LANES>(numbers, stride, n, sums);
        add_lanes<LANES, 4>(sums, across);
        const Real total = sums[3];
        Place at = {sums[1], sums[2]};
        if (any_of_warp<LANES>(total == 2.0)) {
            const Place middle = middle_of_two<LANES>(numbers, stride, n, first, total == 2.0, across);
            if (total == 2.0) at = middle;
        }
        bool goes_on = total > 2.0;
        if (goes_on) at = {at.lat / total, at.lon / total};
        if (goes_on && !is_first) at = {begun[i].x, begun[i].y};
        for (int step = 0; step < n_steps && any_of_warp<LANES>(goes_on); step++) {
            Real parts[4] = {0.0, 0.0, 0.0, 0.0};
            const Vector unit = unit_by_lanes<LANES>(at);
            if (goes_on) weigh(numbers, stride, n, unit, parts);
            add_lanes<LANES, 4>(parts, across);
            if (goes_on) goes_on = !move(at, total, parts);
        }
        if (is_row && lane == 0) {
            if (total == 0.0) next_list[atomicAdd(next_count, 1)] = v;
            else if (goes_on && !is_last) {
                const int place = atomicAdd(left_count, 1);
                left[place] = v;
                left_at[place] = {at.lat.v, at.lon.v};
            } else write(v, at, places, found, rounds, round);
        }
        if (LANES > 32) __syncthreads();
    }
}

#define INFER(LANES, THREADS) extern "C" __global__ void __launch_bounds__(THREADS) infer_##LANES(const int* list, \\
    const int* count, const double2* begun, const i64* offsets, const int* columns, const u32* known, double* places, \\
    u32* found, int* rounds, int round, int* next_list, int* next_count, bool is_first, bool is_last, int n_steps, \\
    int* left, double2* left_at, int* left_count) { \\
    infer<LANES>(list, count, begun, offsets, columns, known, places, found, rounds, round, next_list, next_count, \\
        is_first, is_last, n_steps, left, left_at, left_count); \\
}
INFER(1, 128)
INFER(4, 128)
INFER(16, 128)
INFER(32, 128)
INFER(256, 256)

extern "C" __global__ void turn_longitudes(i64 n, const int* rounds, double* places) {
    const i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (v >= n || rounds[v] <= 0) return;
    const Real lon = places[2 * v + 1];
    if (lon < -180.0 || lon > 180.0)
        places[2 * v + 1] = (lon - Real(360.0) * Real(floor((lon / Real(360.0) + 0.5).v))).v;
}

// Rows of several chunks. Numbers of chunk c begin at points[c * CHUNK * 5]; sums[4 c] are those of its lanes.

__device__ __forceinline__ void keep(const Real (&sums)[4], double* to) {
    if (threadIdx.x < 4) to[threadIdx.x] = (threadIdx.x == 0 ? sums[0] : threadIdx.x == 1 ? sums[1]
        : threadIdx.x == 2 ? sums[2] : sums[3]).v;
}

extern "C" __global__ void gather_chunks(const int* rows, const i64* offsets, const int* columns, const u32* known,
    const double* places, const int* row_of_chunk, const int* first_chunk, double* points, int* held, double* sums) {
    extern __shared__ float4 shared[];
    double* across = (double*)shared;
    const int c = blockIdx.x, row = row_of_chunk[c], t = threadIdx.x;
    const i64 start = offsets[rows[row]] + (c - first_chunk[row]) * (i64)CHUNK, rest = offsets[rows[row] + 1] - start;
    double* numbers = points + c * (i64)CHUNK * 5 + t;
    int first;
    const int n = gather<256>(columns + start, (int)(rest < CHUNK ? rest : CHUNK), t, known, places, numbers, 256,
        first);
    held[c * 256 + t] = n;
    Real parts[4] = {0.0, 0.0, 0.0, 0.0};
    add_places<256>(numbers, 256, n, parts);
    add_lanes<256, 4>(parts, across);
    keep(parts, sums + 4 * c);
}

__device__ __forceinline__ void add_chunks(const double* sums, int first, int last, Real (&total)[4]) {
    for (int k = 0; k < 4; k++) total[k] = 0.0;
    #pragma unroll 4
    for (int c = first; c < last; c++)
        for (int k = 0; k < 4; k++) total[k] = total[k] + sums[4 * c + k];
}

extern "C" __global__ void start_rows(int n_rows, const int* rows, const i64* offsets, const int* columns,
    const u32* known, const double* places, const int* first_chunk, const double* sums, double* centre) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_rows) return;
    Real total[4];
    add_chunks(sums, first_chunk[i], first_chunk[i + 1], total);
    Place at = {total[1], total[2]};
    if (total[3] == 2.0) {
        Place two[2];
        int n = 0;
        for (i64 slot = offsets[rows[i]]; n < 2; slot++) {
            const i64 u = columns[slot];
            if (is_set(known, u)) two[n++] = {places[2 * u], places[2 * u + 1]};
        }
        at = midpoint(two[0], two[1]);
    }
    if (total[3] > 2.0) at = {at.lat / total[3], at.lon / total[3]};
    centre[4 * i] = at.lat.v;
    centre[4 * i + 1] = at.lon.v;
    centre[4 * i + 2] = total[3].v;
    centre[4 * i + 3] = total[3] > 2.0;
}

extern "C" __global__ void step_chunks(const int* row_of_chunk, const int* first_chunk, const double* points,
    const int* held, double* sums, const double* centre) {
    extern __shared__ float4 shared[];
    double* across = (double*)shared;
    const int c = blockIdx.x, t = threadIdx.x;
    const double* own = centre + 4 * row_of_chunk[c];
    if (own[3] == 0.0) return;
    Real parts[4] = {0.0, 0.0, 0.0, 0.0};
    weigh(points + c * (i64)CHUNK * 5 + t, 256, held[c * 256 + t], unit_by_lanes<256>({own[0], own[1]}), parts);
    add_lanes<256, 4>(parts, across);
    keep(parts, sums + 4 * c);
}

extern "C" __global__ void move_rows(int n_rows, const int* first_chunk, const double* sums, double* centre) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_rows || centre[4 * i + 3] == 0.0) return;
    Real total[4];
    add_chunks(sums, first_chunk[i], first_chunk[i + 1], total);
    Place at = {centre[4 * i], centre[4 * i + 1]};
    centre[4 * i + 3] = !move(at, centre[4 * i + 2], total);
    centre[4 * i] = at.lat.v;
    centre[4 * i + 1] = at.lon.v;
}

extern "C" __global__ void finish_rows(int n_rows, const int* rows, const double* centre, double* places, u32* found,
    int* rounds, int round, int* next_list, int* next_count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_rows) return;
    const Place at = {centre[4 * i], centre[4 * i + 1]};
    if (centre[4 * i + 2] == 0.0) next_list[atomicAdd(next_count, 1)] = rows[i];
    else write(rows[i], at, places, found, rounds, round);
}
"""
)
