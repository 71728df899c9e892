"""CUDA C++ for rows of many slots: one block, or several blocks, for each."""

from __future__ import annotations

SLOTS_OF_LANE = 8
"""Slots of a row for each lane."""

SUMS_BYTES = 8 * 4 * 8
"""Shared memory for the sums of the warps of a block."""

LONG_ROWS_CUDA = (
    f"#define EACH {SLOTS_OF_LANE}\n"
    """
// Add the contributions of n neighbours of a lane: number k of neighbour j is at numbers[(k * EACH + j) * stride].
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

// Read a lane's located neighbours, first all their places, then compute their unit vectors.
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

__device__ __forceinline__ void add_places(const double* numbers, int stride, int n, Real (&sums)[4]) {
    for (int j = 0; j < n; j++) {
        sums[1] = sums[1] + numbers[(3 * EACH + j) * stride];
        sums[2] = sums[2] + numbers[(4 * EACH + j) * stride];
    }
    sums[3] = sums[3] + (double)n;
}

// The midpoint of the two neighbours of a block's row, in the order of their slots.
template <int LANES> __device__ __forceinline__ Place middle_of_two(const double* numbers, int n, int first,
    double* across) {
    const int next = EACH * LANES;
    // The lane with the earlier slot has the least number; only one or two lanes have any.
    const Real slot = n > 0 ? first : 0;
    Real both[1] = {slot};
    add_lanes<LANES, 1>(both, across);
    const bool is_first = n > 0 && (n > 1 || slot + slot < both[0]);
    Real four[4] = {0.0, 0.0, 0.0, 0.0};
    if (n > 0) {
        const int k = is_first ? 0 : 2;
        four[k] = numbers[3 * next];
        four[k + 1] = numbers[4 * next];
        if (n > 1) {
            four[2] = numbers[3 * next + LANES];
            four[3] = numbers[4 * next + LANES];
        }
    }
    add_lanes<LANES, 4>(four, across);
    return midpoint({four[0], four[1]}, {four[2], four[3]});
}

// Infer the places of rows that a block processes in sequence.
template <int LANES> __device__ __forceinline__ void infer(const int* list, int n_rows, const i64* offsets,
    const int* columns, const u32* known, double* places, u32* found, int* rounds, int round, int n_steps,
    int* next_list, int* next_count) {
    extern __shared__ float4 shared[];
    double *numbers = (double*)shared + threadIdx.x, *across = (double*)shared + 5 * EACH * LANES;
    for (int i = blockIdx.x; i < n_rows; i += gridDim.x) {
        const int v = list[i];
        const i64 start = offsets[v];
        int first;
        const int n = gather<LANES>(columns + start, (int)(offsets[v + 1] - start), threadIdx.x, known, places,
            numbers, LANES, first);
        Real sums[4] = {0.0, 0.0, 0.0, 0.0};
        add_places(numbers, LANES, n, sums);
        add_lanes<LANES, 4>(sums, across);
        const Real total = sums[3];
        Place at = {sums[1], sums[2]};
        if (total == 2.0) at = middle_of_two<LANES>(numbers, n, first, across);
        bool continues = total > 2.0;
        if (continues) at = {at.lat / total, at.lon / total};
        for (int step = 0; step < n_steps && continues; step++) {
            Real parts[4] = {0.0, 0.0, 0.0, 0.0};
            weigh(numbers, LANES, n, unit_by_lanes(at, LANES), parts);
            add_lanes<LANES, 4>(parts, across);
            continues = !move(at, total, parts);
        }
        if (threadIdx.x == 0) {
            if (total == 0.0) next_list[atomicAdd(next_count, 1)] = v;
            else write(v, at, places, found, rounds, round);
        }
        __syncthreads();
    }
}

#define INFER(LANES) extern "C" __global__ void __launch_bounds__(LANES) infer_##LANES(const int* list, int n_rows, \\
    const i64* offsets, const int* columns, const u32* known, double* places, u32* found, int* rounds, int round, \\
    int n_steps, int* next_list, int* next_count) { \\
    infer<LANES>(list, n_rows, offsets, columns, known, places, found, rounds, round, n_steps, next_list, \\
        next_count); \\
}
INFER(64)
INFER(256)

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
    add_places(numbers, 256, n, parts);
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
    weigh(points + c * (i64)CHUNK * 5 + t, 256, held[c * 256 + t], unit_by_lanes({own[0], own[1]}, 256), parts);
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
