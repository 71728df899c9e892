"""CUDA C++ of the search for best units: one kernel, with the contribution of a column for each metric."""

from __future__ import annotations

import functools

TILE = 128
"""Rows and units of a tile."""
KEPT = {"screen": 3}
"""Values that a thread keeps for each of its rows while screening; else two."""
SCREENED = 16
"""Candidates of a row from the screening by a block."""

_ADD = {
    "screen": "total = __fmaf_rn(x, w, total)",
    "euclidean": "{ float t = __fsub_rn(x, w); total = __fmaf_rn(t, t, total); }",
    "euclidean_missing": "{ float t = x == x ? __fsub_rn(x, w) : 0.0f; total = __fmaf_rn(t, t, total); }",
    "manhattan": "total = __fadd_rn(total, fabsf(__fsub_rn(x, w)))",
    "manhattan_missing": "{ float t = x == x ? __fsub_rn(x, w) : 0.0f; total = __fadd_rn(total, fabsf(t)); }",
    "chebyshev": "total = fmaxf(total, fabsf(__fsub_rn(x, w)))",  # fmaxf ignores NaN
}
_ADD["chebyshev_missing"] = _ADD["chebyshev"]


def kept_by_thread(variant: str) -> int:
    """Return how many values a thread keeps for each of its rows."""
    return KEPT.get(variant, 2)


def shared_bytes(variant: str) -> int:
    """Return the shared memory of a block: two buffers of eight columns of rows and units, and kept values."""
    return 4 * (2 * 2 * 8 * TILE + 8 * 2 * kept_by_thread(variant) * 256 + 2 * TILE)


_SKELETON = """
#define ADD(total, x, w) @ADD@
#define KEPT @KEPT@
#define SCREEN @SCREEN@
#define SCREENED @SCREENED@
typedef long long i64;

// Which row of the tile is row i of a thread, and which lane of units a thread has: lane, lane + 16, .. lane + 112.
// Neighbouring units on the map belong to different threads, so that no thread has all units near a row.
__device__ __forceinline__ int row_of(int thread, int i) {
    return ((thread >> 5) & 3) * 32 + (i >> 2) * 16 + ((thread >> 3) & 3) * 4 + (i & 3);
}
__device__ __forceinline__ int lane_of(int thread) { return (thread >> 7) * 8 + (thread & 7); }

// An upper bound of s for all units that may be among the best two, as gpuasm.clustering.search.screening.threshold.
__device__ __forceinline__ double threshold(double best, double norm, double largest, int d) {
    double u = 5.960464477539063e-08, spread = norm + largest;
    double error = 1.02 * u * ((d + 1) * norm * largest + largest * largest + spread * spread) + d * 1e-37;
    double factor = 1.02 * (d + 3) * u;
    double above = fmax(0.0, best + error + 0.5 * norm * norm);
    return best + 2.0 * error + 2.0 * factor / (1.0 - factor) * above;
}

// Keep the two least, the lowest unit of ties, for units in any order.
__device__ __forceinline__ void keep_two(float v, int u, float* value, int* unit) {
    if (u < 0) return;
    if (v < value[0] || (v == value[0] && u < unit[0]) || unit[0] < 0) {
        value[1] = value[0]; unit[1] = unit[0]; value[0] = v; unit[0] = u;
    } else if (v < value[1] || (v == value[1] && u < unit[1]) || unit[1] < 0) {
        value[1] = v; unit[1] = u;
    }
}

// rows and units have their columns first, padded with zeros to whole tiles and to eight columns.
#define PARAMETERS \
    const float* __restrict__ rows, i64 rows_stride, const float* __restrict__ units, i64 units_stride, \
    const float* __restrict__ halves, int d, int n_units, int n_tiles, int tiles_per_part, int stride_of_tiles, \
    const int* __restrict__ list, int n, const double* __restrict__ norms, const double* __restrict__ largest, \
    unsigned* bounds, float* __restrict__ part_value, int* __restrict__ part_unit, int* __restrict__ part_count
template <bool LISTED> __device__ __forceinline__ void search_rows(PARAMETERS) {
    extern __shared__ float4 shared[];
    float* row_tile = (float*)shared;                      // [2][8][128]
    float* unit_tile = row_tile + 2 * 8 * 128;             // [2][8][128]
    float* kept_value = unit_tile + 2 * 8 * 128;           // [8][KEPT][256]
    int* kept_unit = (int*)(kept_value + 8 * KEPT * 256);  // [8][KEPT][256]
    // The least value of each row in this block, and a bound of the row's best two: the second least value of any
    // block so far. Both are bits of values that are not negative. When they are updated does not affect the result.
    unsigned* least_of_row = (unsigned*)(kept_unit + 8 * KEPT * 256);  // [128]
    unsigned* bound = least_of_row + 128;                              // [128]
    const int thread = threadIdx.x, n_padded = gridDim.x * 128;
    const int first_tile = blockIdx.y * tiles_per_part;
    const int last_tile = min(n_tiles, first_tile + tiles_per_part);
    const int first_row = blockIdx.x * 128;
    const int load_column = thread >> 5, load_at = (thread & 31) * 4;
    const int row_at = row_of(thread, 0);                               // rows i = 0..3 here, i = 4..7 16 further on
    const int unit_at = (thread >> 7) * 64 + (thread & 7) * 4;          // units j = 0..3 here, j = 4..7 32 further on
    const int lane = lane_of(thread);

    #pragma unroll
    for (int i = 0; i < 8 * KEPT; i++) {
        kept_value[i * 256 + thread] = __int_as_float(0x7f800000);
        kept_unit[i * 256 + thread] = -1;
    }
    #if !SCREEN
    if (thread < 128) {
        least_of_row[thread] = 0x7f800000u;
        bound[thread] = atomicMin(bounds + n_padded + first_row + thread, 0x7f800000u);
    }
    #endif
    int source[4];
    #pragma unroll
    for (int q = 0; q < 4; q++) {
        const int at = first_row + load_at + q;
        source[q] = LISTED ? list[at < n ? at : 0] : at;
    }
    float4 next_rows, next_units;
    #define LOAD(tile, column) { \\
        const float* from = rows + (i64)((column) + load_column) * rows_stride; \\
        { \\
            if (LISTED) next_rows = make_float4(from[source[0]], from[source[1]], from[source[2]], from[source[3]]); \\
            else next_rows = *(const float4*)(from + source[0]); \\
        } \\
        next_units = *(const float4*)(units + (i64)((column) + load_column) * units_stride + (i64)(tile) * 128 \\
                                      + load_at); }
    #define STORE(buffer) { \\
        *(float4*)(row_tile + ((buffer) * 8 + load_column) * 128 + load_at) = next_rows; \\
        *(float4*)(unit_tile + ((buffer) * 8 + load_column) * 128 + load_at) = next_units; }

    // Tiles in a scattered order: neighbours are similar, so in map order the least value of a row would be updated
    // many times.
    int buffer = 0, tile = (int)((i64)first_tile * stride_of_tiles % n_tiles), next_tile = tile;
    LOAD(tile, 0)
    STORE(0)
    __syncthreads();
    for (int turn = first_tile; turn < last_tile; turn++, tile = next_tile) {
        next_tile += stride_of_tiles;
        if (next_tile >= n_tiles) next_tile -= n_tiles;
        float total[8][8];
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < 8; j++) total[i][j] = 0.0f;
        for (int column = 0; column < d; column += 8) {
            const bool is_last = column + 8 >= d;
            const bool more = !is_last || turn + 1 < last_tile;
            if (more) {
                if (is_last) LOAD(next_tile, 0)
                else LOAD(tile, column + 8)
            }
            const float* a = row_tile + buffer * 8 * 128 + row_at;
            const float* b = unit_tile + buffer * 8 * 128 + unit_at;
            #pragma unroll
            for (int half = 0; half < 2; half++) {
                if (half == 1 && column + 4 >= d) break;  // only padding
                #pragma unroll
                for (int k = half * 4; k < half * 4 + 4; k++) {
                    const float4 a0 = *(const float4*)(a + k * 128), a1 = *(const float4*)(a + k * 128 + 16);
                    const float4 b0 = *(const float4*)(b + k * 128), b1 = *(const float4*)(b + k * 128 + 32);
                    const float x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
                    const float w[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
                    #pragma unroll
                    for (int i = 0; i < 8; i++)
                        #pragma unroll
                        for (int j = 0; j < 8; j++) ADD(total[i][j], x[i], w[j]);
                }
            }
            if (more) STORE(buffer ^ 1)
            __syncthreads();
            buffer ^= 1;
        }
        const int first_unit = tile * 128 + lane;
        #if SCREEN
        #pragma unroll
        for (int j = 0; j < 8; j++) {
            const float half = halves[first_unit + j * 16];
            #pragma unroll
            for (int i = 0; i < 8; i++) total[i][j] = __fsub_rn(half, total[i][j]);
        }
        #endif
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            float least = total[i][0];
            #pragma unroll
            for (int j = 1; j < 8; j++) least = fminf(least, total[i][j]);
            float* value = kept_value + i * KEPT * 256 + thread;
            int* unit = kept_unit + i * KEPT * 256 + thread;
            #if SCREEN
            const bool may_be_best = true;
            #else
            const int row = row_at + (i >> 2) * 16 + (i & 3);
            const float limit = __int_as_float(((volatile int*)bound)[row]);
            const bool may_be_best = least <= limit;
            #endif
            if (may_be_best && least <= value[(KEPT - 1) * 256]) {
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    const int u = first_unit + j * 16;
                    const float v = total[i][j];
                    #define IS_BEFORE(k) (v < value[(k) * 256] || (v == value[(k) * 256] && u < unit[(k) * 256]))
                    if (u < n_units && IS_BEFORE(KEPT - 1)) {
                        int at = KEPT - 1;
                        while (at > 0 && IS_BEFORE(at - 1)) {
                            value[at * 256] = value[(at - 1) * 256];
                            unit[at * 256] = unit[(at - 1) * 256];
                            at--;
                        }
                        value[at * 256] = v;
                        unit[at * 256] = u;
                        #if !SCREEN
                        const unsigned bits = __float_as_int(v);
                        atomicMin(bound + row, max(bits, atomicMin(least_of_row + row, bits)));
                        #endif
                    }
                }
            }
        }
    }
    __syncthreads();
    #if !SCREEN
    if (thread < 128) {
        unsigned* all = bounds + first_row + thread;
        const unsigned least = least_of_row[thread], before = atomicMin(all, least);
        atomicMin(all + n_padded, min(bound[thread], max(least, before)));
    }
    #endif
    // One thread for each row, whose values 16 threads keep. Row thread of the tile is row i of one lane of rows.
    if (thread >= 128 || first_row + thread >= n) return;
    const int i = ((thread >> 4) & 1) * 4 + (thread & 3);
    const int owner = (thread >> 5) * 32 + ((thread >> 2) & 3) * 8;
    float value[2] = {__int_as_float(0x7f800000), __int_as_float(0x7f800000)};
    int unit[2] = {-1, -1};
    #define OWNER(l) (owner + ((l) >> 3) * 128 + ((l) & 7))
    for (int l = 0; l < 16; l++)
        for (int k = 0; k < 2; k++) {
            const int at = (i * KEPT + k) * 256 + OWNER(l);
            keep_two(kept_value[at], kept_unit[at], value, unit);
        }
    const i64 stride = (i64)gridDim.x * 128, place = first_row + thread;
    #if SCREEN
    const int wide = SCREENED;
    #else
    const int wide = 2;
    #endif
    float* out_value = part_value + (i64)blockIdx.y * wide * stride + place;
    int* out_unit = part_unit + (i64)blockIdx.y * wide * stride + place;
    for (int k = 0; k < 2; k++) { out_value[k * stride] = value[k]; out_unit[k * stride] = unit[k]; }
    #if SCREEN
    const double limit = threshold(value[1], norms[LISTED ? list[place] : place], *largest, d);
    int count = 2;
    for (int l = 0; l < 16; l++)
        for (int k = 0; k < KEPT; k++) {
            const int at = (i * KEPT + k) * 256 + OWNER(l), u = kept_unit[at];
            if (u < 0 || !(kept_value[at] <= limit)) break;
            if (k == KEPT - 1) count = SCREENED + 1;  // there may be more such units of this thread
            if (u == unit[0] || u == unit[1]) continue;
            if (count < SCREENED) { out_value[count * stride] = kept_value[at]; out_unit[count * stride] = u; }
            count++;
        }
    part_count[(i64)blockIdx.y * stride + place] = count;
    #endif
}

// All rows, or those of a list.
#define ARGUMENTS rows, rows_stride, units, units_stride, halves, d, n_units, n_tiles, tiles_per_part, \
    stride_of_tiles, list, n, norms, largest, bounds, part_value, part_unit, part_count
extern "C" __global__ void __launch_bounds__(256, 2) search(PARAMETERS) { search_rows<false>(ARGUMENTS); }
extern "C" __global__ void __launch_bounds__(256, 2) search_listed(PARAMETERS) { search_rows<true>(ARGUMENTS); }

#if !SCREEN
// The best two of all parts, written at the positions of the rows.
extern "C" __global__ void merge(const float* part_value, const int* part_unit, int n_parts, i64 stride,
    const int* list, int has_list, int n, i64 n_rows, int* out_unit, float* out_value) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= n) return;
    float value[2] = {__int_as_float(0x7f800000), __int_as_float(0x7f800000)};
    int unit[2] = {-1, -1};
    for (int k = 0; k < 2 * n_parts; k++)
        keep_two(part_value[k * stride + place], part_unit[k * stride + place], value, unit);
    const i64 row = has_list ? list[place] : place;
    for (int k = 0; k < 2; k++) { out_unit[k * n_rows + row] = unit[k]; out_value[k * n_rows + row] = value[k]; }
}
#else
// Measure the candidates of the screening as defined; mark rows for which excluded units might be nearer.
extern "C" __global__ void measure(const float* part_value, const int* part_unit, const int* part_count, int n_parts,
    i64 stride, const int* list, int has_list, int n, i64 n_rows, const float* rows, const float* weights, int d,
    const double* norms, const double* largest, int* out_unit, float* out_value, bool* is_unsure) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= n) return;
    const i64 row = has_list ? list[place] : place;
    float value[2] = {__int_as_float(0x7f800000), __int_as_float(0x7f800000)};
    int unit[2] = {-1, -1};
    for (int p = 0; p < n_parts; p++)
        for (int k = 0; k < 2; k++) {
            const i64 at = (i64)(p * SCREENED + k) * stride + place;
            keep_two(part_value[at], part_unit[at], value, unit);
        }
    const double limit = threshold(value[1], norms[row], *largest, d);
    bool unsure = false;
    for (int k = 0; k < 2; k++) { value[k] = __int_as_float(0x7f800000); unit[k] = -1; }
    for (int p = 0; p < n_parts; p++) {
        if (!(part_value[(i64)p * SCREENED * stride + place] <= limit)) continue;  // its least exceeds the limit
        const int count = part_count[(i64)p * stride + place];
        if (count > SCREENED) { unsure = true; break; }
        for (int k = 0; k < count; k++) {
            const i64 at = (i64)(p * SCREENED + k) * stride + place;
            const int u = part_unit[at];
            if (u < 0 || !(part_value[at] <= limit)) continue;
            float total = 0.0f;
            const float* x = rows + row * d;
            const float* w = weights + (i64)u * d;
            for (int c = 0; c < d; c++) {
                const float t = __fsub_rn(x[c], w[c]);
                total = __fmaf_rn(t, t, total);
            }
            keep_two(total, u, value, unit);
        }
    }
    is_unsure[place] = unsure;
    for (int k = 0; k < 2; k++) { out_unit[k * n_rows + row] = unit[k]; out_value[k * n_rows + row] = value[k]; }
}
#endif
"""


@functools.cache
def search_source(variant: str) -> str:
    """Return the CUDA C++ of a variant: "screen", or a metric, with "_missing" where values may be."""
    text = _SKELETON.replace("@ADD@", _ADD[variant]).replace("@KEPT@", str(kept_by_thread(variant)))
    return text.replace("@SCREEN@", str(int(variant == "screen"))).replace("@SCREENED@", str(SCREENED))


_CUDA = {variant: search_source(variant) for variant in _ADD}
