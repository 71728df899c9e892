"""CUDA C++ for rows of few slots: a warp processes several, each with the lanes that its located neighbours require.

Rows with equal numbers of lanes and of neighbours per lane form a bin, contiguous in a list. When half of the lanes of
a warp are idle, they take the next rows of the bin: the numbers of steps of rows differ by two orders of magnitude.
"""

from __future__ import annotations

from gpuasm.geolocation.gunrock_cpu import PLACES_OF_LANE, SLOTS_OF_SHORT_LANE

BINS = 24
"""Bins of rows by lanes (1 to 32) and places in a lane (1 to 4), and one for rows without any."""

ROWS_TO_COUNT, ROWS_TO_SORT = 64 * 16, 256 * 8
"""Rows of a block of a kernel."""

SHORT_ROWS_CUDA = (
    f"""
#define PLACES {PLACES_OF_LANE}
#define SLOTS {SLOTS_OF_SHORT_LANE}
#define BINS {BINS}
#define ROWS_TO_COUNT {ROWS_TO_COUNT}
#define ROWS_TO_SORT {ROWS_TO_SORT}
"""
    """
__device__ __forceinline__ int bin_of(int n, int length) {
    if (n == 0) return BINS;
    int k = 0;
    while (k < 5 && (PLACES << k < n || SLOTS << k < length)) k++;
    return k * PLACES + ((n - 1) >> k);
}

// Find the bin of each row from its number of located neighbours; four lanes read a row.
extern "C" __global__ void __launch_bounds__(256) count_known(int n_rows, const int* list, const i64* offsets,
    const int* columns, const u32* known, unsigned char* bins, int* counts) {
    __shared__ int here[BINS + 1];
    const int t = threadIdx.x, lane = t % 4;
    if (t <= BINS) here[t] = 0;
    __syncthreads();
    for (int k = 0; k < ROWS_TO_COUNT / 64; k++) {
        const int i = blockIdx.x * ROWS_TO_COUNT + k * 64 + t / 4;
        int n = 0, length = 0;
        if (i < n_rows) {
            const int v = list[i];
            const int* row = columns + offsets[v];
            length = (int)(offsets[v + 1] - offsets[v]);
            for (int first = lane; first < length; first += 16) {
                int u[4];
                #pragma unroll
                for (int j = 0; j < 4; j++) u[j] = first + 4 * j < length ? row[first + 4 * j] : -1;
                #pragma unroll
                for (int j = 0; j < 4; j++) n += u[j] >= 0 && is_set(known, u[j]);
            }
        }
        n += (int)__shfl_xor_sync(FULL, n, 1);
        n += (int)__shfl_xor_sync(FULL, n, 2);
        if (lane == 0 && i < n_rows) {
            const int bin = bin_of(n, length);
            bins[i] = (unsigned char)bin;
            atomicAdd(&here[bin], 1);
        }
    }
    __syncthreads();
    if (t <= BINS && here[t]) atomicAdd(&counts[t], here[t]);
}

// Sort rows by their bins, and append those without a located neighbour to the list of the next round.
extern "C" __global__ void __launch_bounds__(256) sort_rows(int n_rows, const int* list, const unsigned char* bins,
    const int* counts, int* filled, int* rows, int* next_list, int* next_count) {
    __shared__ int here[BINS + 1], base[BINS + 1];
    const int t = threadIdx.x, begin = blockIdx.x * ROWS_TO_SORT + t;
    int of_row[ROWS_TO_SORT / 256], ranks[ROWS_TO_SORT / 256];
    if (t <= BINS) here[t] = 0;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ROWS_TO_SORT / 256; k++) {
        of_row[k] = begin + k * 256 < n_rows ? bins[begin + k * 256] : -1;
        if (of_row[k] >= 0) ranks[k] = atomicAdd(&here[of_row[k]], 1);
    }
    __syncthreads();
    if (t < BINS && here[t]) {
        int before = 0;
        for (int b = 0; b < t; b++) before += counts[b];
        base[t] = before + atomicAdd(&filled[t], here[t]);
    }
    if (t == BINS && here[t]) base[t] = atomicAdd(next_count, here[t]);
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < ROWS_TO_SORT / 256; k++)
        if (of_row[k] >= 0) (of_row[k] < BINS ? rows : next_list)[base[of_row[k]] + ranks[k]] = list[begin + k * 256];
}

// The first bin of a warp: warps are distributed among bins in proportion to the work of their rows.
__device__ __forceinline__ int first_bin(const int* counts, int warp, int n_warps) {
    i64 work[BINS + 1];
    work[0] = 0;
    for (int b = 0; b < BINS; b++)
        work[b + 1] = work[b] + (counts[b] + (i64)counts[b] * (2 * (b % PLACES) + 4) * (b < 2 ? 0 : 1 << b / PLACES));
    const i64 mine = work[BINS] * warp / n_warps;
    int bin = 0;
    while (bin + 1 < BINS && work[bin + 1] <= mine) bin++;
    return bin;
}

struct Lanes { int of_row, own, of_warp; };  // lanes of a row, and a lane's number in it and in the warp
struct Neighbour { Vector unit; Place place; };

template <int N> __device__ __forceinline__ void add_group(Real (&sums)[N], int lanes) {
    #pragma unroll 1
    for (int apart = 1; apart < lanes; apart *= 2)
        #pragma unroll
        for (int k = 0; k < N; k++) sums[k] = sums[k] + Real(__shfl_xor_sync(FULL, sums[k].v, apart));
}

// List the located neighbours of each group's row, in their order; return their number.
__device__ __forceinline__ int list_known(const int* row, int length, const u32* known, Lanes lanes, int* mine) {
    const u32 group = (lanes.of_row == 32 ? FULL : (1u << lanes.of_row) - 1) << (lanes.of_warp - lanes.own);
    const u32 before = group & ((1u << lanes.of_warp) - 1);
    int n = 0;
    for (int first = lanes.own; __any_sync(FULL, first - lanes.own < length); first += 4 * lanes.of_row) {
        int u[4];
        bool has[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) u[j] = first + j * lanes.of_row < length ? row[first + j * lanes.of_row] : -1;
        #pragma unroll
        for (int j = 0; j < 4; j++) has[j] = u[j] >= 0 && is_set(known, u[j]);
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const u32 all = __ballot_sync(FULL, has[j]) & group;
            if (has[j]) mine[n + __popc(all & before)] = u[j];
            n += __popc(all);
        }
    }
    return n;
}

// Read the neighbours of a lane; neighbour k of a row belongs to lane k mod lanes.
template <int EACH_LANE> __device__ __forceinline__ void read(const int* mine, int n, const double2* places,
    Lanes lanes, Neighbour (&near)[EACH_LANE]) {
    double2 found[EACH_LANE];
    #pragma unroll
    for (int j = 0; j < EACH_LANE; j++) {
        const int k = lanes.own + j * lanes.of_row;
        found[j] = k < n ? places[mine[k]] : double2{0.0, 0.0};
    }
    #pragma unroll
    for (int j = 0; j < EACH_LANE; j++) {
        near[j].place = {found[j].x, found[j].y};
        near[j].unit = unit_of(near[j].place);
    }
}

// The place of a row with one neighbour, or the midpoint of its two.
template <int EACH_LANE> __device__ __forceinline__ Place of_one_or_two(const Neighbour (&near)[EACH_LANE], int n,
    Lanes lanes) {
    const int source = lanes.of_warp - lanes.own;
    const Place own = near[0].place;
    const Place a = {__shfl_sync(FULL, own.lat.v, source), __shfl_sync(FULL, own.lon.v, source)};
    Place b = {__shfl_sync(FULL, own.lat.v, source + 1), __shfl_sync(FULL, own.lon.v, source + 1)};
    if (lanes.of_row == 1 && EACH_LANE > 1) b = near[EACH_LANE > 1].place;
    return n == 1 ? a : midpoint(a, b);
}

// A step of the median for all groups of a warp; whether it is the last one.
template <int EACH_LANE> __device__ __forceinline__ bool step_of_rows(const Neighbour (&near)[EACH_LANE], int n,
    Lanes lanes, Place& at) {
    const Vector unit = unit_by_lanes(at, lanes.of_row);
    Real weights[EACH_LANE];
    int zeros = 0;
    #pragma unroll
    for (int j = 0; j < EACH_LANE; j++) {
        const Real t = quarter_chord(near[j].unit, unit);
        const bool is_there = lanes.own + j * lanes.of_row < n, is_zero = t == 0.0;
        weights[j] = over_half_arc(t);
        if (!is_there || is_zero) weights[j] = 0.0;
        zeros += is_there && is_zero;
    }
    Real sums[3] = {0.0, 0.0, 0.0}, at_place[1] = {0.0};
    #pragma unroll
    for (int j = 0; j < EACH_LANE; j++) {
        sums[0] = sums[0] + weights[j];
        sums[1] = fused(weights[j], near[j].place.lat, sums[1]);
        sums[2] = fused(weights[j], near[j].place.lon, sums[2]);
    }
    add_group(sums, lanes.of_row);
    if (__any_sync(FULL, zeros)) {
        at_place[0] = (double)zeros;
        add_group(at_place, lanes.of_row);
    }
    return move(at, (double)n, {sums[0], sums[1], sums[2], at_place[0]});
}

// The rows of a bin: idle lanes take new ones when they are half of the warp; else all continue for some steps.
template <int EACH_LANE> __device__ __forceinline__ void infer_bin(const int* rows, int n_rows, int* taken, Lanes lanes,
    int* mine, const i64* offsets, const int* columns, const u32* known, double* places, u32* found, int* rounds,
    int round, int n_steps) {
    const u32 before = (1u << lanes.of_warp) - 1;
    int v = 0, n = 0, step = 0;
    Place at = {0.0, 0.0};
    Neighbour near[EACH_LANE];
    #pragma unroll
    for (int j = 0; j < EACH_LANE; j++) near[j] = {{0.0, 0.0, 0.0}, {0.0, 0.0}};
    bool continues = false, has_more = true;
    while (true) {
        const u32 busy = __ballot_sync(FULL, continues);
        if (has_more && __popc(busy) <= 16) {
            const int idle = (32 - __popc(busy)) / lanes.of_row;
            int first = lanes.of_warp == 0 ? atomicAdd(taken, idle) : 0;
            first = (int)__shfl_sync(FULL, first, 0);
            const int i = first + __popc(~busy & before) / lanes.of_row;
            const bool is_new = !continues && i < n_rows;
            has_more = first + idle < n_rows;
            if (is_new) v = rows[i];
            const i64 start = is_new ? offsets[v] : 0;
            const int length = is_new ? (int)(offsets[v + 1] - start) : 0;
            const int n_known = list_known(columns + start, length, known, lanes, mine);
            __syncwarp();
            Real sums[2] = {0.0, 0.0};
            if (is_new) {
                n = n_known;
                step = 0;
                read(mine, n, (const double2*)places, lanes, near);
                #pragma unroll
                for (int j = 0; j < EACH_LANE; j++) {
                    sums[0] = sums[0] + near[j].place.lat;
                    sums[1] = sums[1] + near[j].place.lon;
                }
            }
            __syncwarp();
            add_group(sums, lanes.of_row);
            if (__any_sync(FULL, is_new && n <= 2)) {
                const Place few = of_one_or_two(near, n, lanes);
                if (is_new && n <= 2 && lanes.own == 0) write(v, few, places, found, rounds, round);
            }
            if (is_new) {
                const Real total = (double)n;
                at = {sums[0] / total, sums[1] / total};
                continues = n > 2;
            }
        } else if (busy == 0) break;
        else {
            #pragma unroll 1
            for (int again = 0; again < 4; again++) {
                const bool is_last = step_of_rows(near, n, lanes, at);
                if (continues && (is_last || ++step == n_steps)) {
                    continues = false;
                    if (lanes.own == 0) write(v, at, places, found, rounds, round);
                }
            }
        }
    }
}

#define RUN(EACH_LANE) infer_bin<EACH_LANE>(rows + begin, counts[bin], taken + bin, own, mine, offsets, columns, \\
    known, places, found, rounds, round, n_steps);

extern "C" __global__ void __launch_bounds__(128, 4) infer_short(const int* rows, const int* counts, int* taken,
    const i64* offsets, const int* columns, const u32* known, double* places, u32* found, int* rounds, int round,
    int n_steps) {
    __shared__ int of_warps[4][32 * PLACES];
    const int of_warp = threadIdx.x % 32, warp = threadIdx.x / 32;
    int bin = first_bin(counts, blockIdx.x * 4 + warp, gridDim.x * 4);
    for (int turn = 0; turn < BINS; turn++, bin = bin + 1 == BINS ? 0 : bin + 1) {
        if (counts[bin] == 0) continue;
        int begin = 0;
        for (int b = 0; b < bin; b++) begin += counts[b];
        const int lanes = 1 << bin / PLACES;
        const Lanes own = {lanes, of_warp % lanes, of_warp};
        int* mine = of_warps[warp] + of_warp / lanes * lanes * PLACES;
        switch (bin % PLACES) {
            case 0: RUN(1) break;
            case 1: RUN(2) break;
            case 2: RUN(3) break;
            default: RUN(4)
        }
    }
}
"""
)
