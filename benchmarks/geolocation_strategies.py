"""The three strategies of Gunrock's geolocation as they were: a thread for each vertex, in single precision.

- gather: one kernel writes the locations of located neighbours to a list as long as the edges, another computes.
- repeated: one kernel, which looks at all neighbours anew in every step of the median; a number for each edge is kept.
- early exit: the same, but it leaves at once with one or two located neighbours.

What a round finds is seen by the next round only, unlike there, so that results can be compared.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, cuda_functions

STRATEGIES = ("gather", "repeated", "early exit")
_BLOCK = 128


def locate_by(strategy: str, row_offsets, columns, places, *, iterations: int = 10, spatial_iterations: int = 1000):
    """Return latitude and longitude, (n, 2) float32, as a strategy infers them."""
    xp = array_namespace(columns)
    gather, infer_gathered, infer = cuda_functions(_CUDA, "gather", "infer_gathered", "infer")
    n = len(places)
    places = places.astype(np.float32)
    grid, size = ((-(-n // _BLOCK),), (_BLOCK,)), np.int64(n)
    scratch = xp.empty(columns.size, np.float32)
    listed = xp.empty((columns.size, 2), np.float32) if strategy == "gather" else None
    counts = xp.empty(n, np.int32) if strategy == "gather" else None
    for _ in range(iterations):
        after = places.copy()
        if strategy == "gather":
            gather(*grid, (size, row_offsets, columns, places, listed, counts))
            infer_gathered(*grid, (size, row_offsets, listed, counts, scratch, np.int32(spatial_iterations), after))
        else:
            leaves = np.int32(strategy == "early exit")
            infer(*grid, (size, row_offsets, columns, places, scratch, np.int32(spatial_iterations), leaves, after))
        places = after
    return places


_CUDA = """
typedef long long i64;
#define DEG 0.017453292f
__device__ bool valid(float2 p) { return !isnan(p.x) && !isnan(p.y); }
__device__ float haversine(float2 a, float2 b) {
    float x = sinf((b.x - a.x) * DEG * 0.5f), y = sinf((b.y - a.y) * DEG * 0.5f);
    float h = x * x + cosf(a.x * DEG) * cosf(b.x * DEG) * y * y;
    return 2.0f * 6371.0f * asinf(sqrtf(h));
}
__device__ float2 midpoint(float2 a, float2 b) {
    float f1 = a.x * DEG, f2 = b.x * DEG, l1 = a.y * DEG, d = (b.y - a.y) * DEG;
    float bx = cosf(f2) * cosf(d), by = cosf(f2) * sinf(d);
    float c = cosf(f1) + bx;
    return make_float2(atan2f(sinf(f1) + sinf(f2), sqrtf(c * c + by * by)) / DEG, (l1 + atan2f(by, c)) / DEG);
}
// Neighbours one after another, through the graph or from a list.
struct Through {
    const int* columns;
    const float2* places;
    __device__ float2 operator[](i64 e) const { return places[columns[e]]; }
};
struct Listed { const float2* list; __device__ float2 operator[](i64 e) const { return list[e]; } };
template <class Neighbours> __device__ float2 median(Neighbours at, i64 first, i64 last, float* inverse, int steps) {
    float2 y = make_float2(0, 0);
    int n = 0;
    for (i64 e = first; e < last; e++) if (valid(at[e])) { y.x += at[e].x; y.y += at[e].y; n++; }
    y.x /= n; y.y /= n;
    for (int step = 0; step <= steps; step++) {
        float sum = 0; int zeros = 0;
        for (i64 e = first; e < last; e++) if (valid(at[e])) {
            float d = haversine(at[e], y);
            inverse[e] = d == 0 ? 0 : 1 / d;
            sum += inverse[e];
            zeros += d == 0;
        }
        if (zeros == n) return y;
        float2 t = make_float2(0, 0);
        for (i64 e = first; e < last; e++) if (valid(at[e])) {
            t.x += inverse[e] / sum * at[e].x;
            t.y += inverse[e] / sum * at[e].y;
        }
        float2 next = t;
        if (zeros) {
            float rx = (t.x - y.x) * sum, ry = (t.y - y.y) * sum, r = sqrtf(rx * rx + ry * ry);
            float q = r == 0 ? 0 : zeros / r, a = fmaxf(0, 1 - q), b = fminf(1, q);
            next = make_float2(a * t.x + b * y.x, a * t.y + b * y.y);
        }
        float dx = next.x - y.x, dy = next.y - y.y;
        y = next;
        if (sqrtf(dx * dx + dy * dy) < 1e-3f) break;
    }
    return y;
}
template <class Neighbours> __device__ void settle(Neighbours at, i64 first, i64 last, int leaves, float* inverse,
    int steps, float2* out) {
    int n = 0;
    float2 two[2];
    for (i64 e = first; e < last; e++) {
        float2 p = at[e];
        if (valid(p)) { if (n < 2) two[n] = p; n++; }
    }
    if (n == 0) return;
    if (leaves && n == 1) *out = two[0];
    else if (leaves && n == 2) *out = midpoint(two[0], two[1]);
    else *out = median(at, first, last, inverse, steps);
}
extern "C" __global__ void gather(i64 n, const i64* offsets, const int* columns, const float2* places, float2* list,
    int* counts) {
    i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (v >= n) return;
    counts[v] = 0;
    if (valid(places[v])) return;
    i64 to = offsets[v];
    for (i64 e = offsets[v]; e < offsets[v + 1]; e++) { float2 p = places[columns[e]]; if (valid(p)) list[to++] = p; }
    counts[v] = to - offsets[v];
}
extern "C" __global__ void infer_gathered(i64 n, const i64* offsets, const float2* list, const int* counts,
    float* inverse, int steps, float2* out) {
    i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (v >= n || !counts[v]) return;
    settle(Listed{list}, offsets[v], offsets[v] + counts[v], 0, inverse, steps, out + v);
}
extern "C" __global__ void infer(i64 n, const i64* offsets, const int* columns, const float2* places, float* inverse,
    int steps, int leaves, float2* out) {
    i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (v >= n || valid(places[v])) return;
    settle(Through{columns, places}, offsets[v], offsets[v + 1], leaves, inverse, steps, out + v);
}
"""
