"""The median of weighted points on a sphere on CUDA: the same operations in the same order as `median_cpu`.

A thread processes rows of up to 8 points, a warp rows of up to 1,024, a block longer ones.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.geolocation import median_cpu
from gpuasm.geolocation.lanes_cuda import LANES_CUDA
from gpuasm.geolocation.median_cpu import MIDDLE, SHORT
from gpuasm.geolocation.sphere_cuda import SPHERE_CUDA

_LANES = (1, 32, 256)
_THREADS = (64, 128, 256)
_ACROSS = 8 * median_cpu.N_SUMS * 8  # bytes for the sums of the warps of a block
_DEFINED = ("SAME_PLACE", "ONE_MINIMUM", "TRUST", "SMALL_STEP", "LEAST_STEP", "NO_PULL", "TIE")


def medians_cuda(starts: Array, points: Array, weights: Array, medians: Array) -> None:
    """Write the median of each row of points; see `median.medians_of`."""
    xp = array_namespace(points)
    lengths = starts[1:] - starts[:-1]
    classes = (lengths <= SHORT, (lengths > SHORT) & (lengths <= MIDDLE), lengths > MIDDLE)
    kernels = cuda_functions(_CUDA, *(f"medians_{lanes}" for lanes in _LANES))
    for is_in, kernel, lanes, threads in zip(classes, kernels, _LANES, _THREADS, strict=True):
        rows = xp.flatnonzero(is_in)
        if rows.size:
            kernel(
                (-(-rows.size * lanes // threads),), (threads,),
                (np.int64(rows.size), rows, starts, points, weights, medians), shared_mem=_ACROSS,
            )  # fmt: skip


_CUDA = (
    SPHERE_CUDA
    + LANES_CUDA
    + "".join(f"#define {name} {getattr(median_cpu, name).hex()}\n" for name in _DEFINED)
    + f"#define MAX_STEPS {median_cpu.MAX_STEPS}\n#define MAX_TRIED {median_cpu.MAX_POINTS_TRIED}\n"
    + """
// A row of points as seen by a lane of its group. All lanes of a group have the same results.
struct Row { const double *points, *weights; i64 n; int lane; double* across; };
struct Measure {
    Real half_arcs, at_place, pull_1, pull_2, bend_11, bend_12, bend_22;
    double nearest, point, farthest;
};
struct Step { Real one, two; bool is_newton; };
struct Minimum { Vector at; Real half_arcs; double farthest; };

__device__ __forceinline__ Vector point_of(Row row, i64 k) {
    return {row.points[3 * k], row.points[3 * k + 1], row.points[3 * k + 2]};
}

__device__ __forceinline__ Real dot(Vector a, Vector b) { return fused(a.x, b.x, fused(a.y, b.y, a.z * b.z)); }

__device__ __forceinline__ Vector scaled(Vector v) {
    const Real length = root(dot(v, v));
    return {v.x / length, v.y / length, v.z / length};
}

__device__ __forceinline__ void axes(Vector y, Vector& u, Vector& v) {
    if (fabs(y.z.v) < 0.9) {
        const Real length = root(fused(y.x, y.x, y.y * y.y));
        u = {-y.y / length, y.x / length, 0.0};
    } else {
        const Real length = root(fused(y.y, y.y, y.z * y.z));
        u = {0.0, -y.z / length, y.y / length};
    }
    v = {fused(y.y, u.z, -(y.z * u.y)), fused(y.z, u.x, -(y.x * u.z)), fused(y.x, u.y, -(y.y * u.x))};
}

template <int LANES> __device__ Measure measure(Row row, Vector y) {
    Real sums[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double none = __longlong_as_double(0x7ff0000000000000LL);
    double nearest = none, point = none, farthest = 0.0;
    Vector u, v;
    axes(y, u, v);
    for (i64 k = row.lane; k < row.n; k += LANES) {
        const Real weight = row.weights[k];
        const Vector p = point_of(row, k), d = {p.x - y.x, p.y - y.y, p.z - y.z};
        const Real t = quarter_chord(p, y);
        if (t > farthest) farthest = t.v;
        if (t < SAME_PLACE) { sums[1] = sums[1] + weight; continue; }
        if (t < nearest) { nearest = t.v; point = (double)k; }
        const Real rest = larger(0.0, Real(1.0) - t);
        Real per_sine = inverse_root(t);
        const Real per_cosine = inverse_root(rest);
        sums[0] = fused(weight, t * per_sine * arc_over_sine(rest * per_cosine), sums[0]);
        if (rest < SAME_PLACE) continue;
        per_sine = Real(0.5) * (per_sine * per_cosine);
        const Real r1 = dot(d, u) * per_sine, r2 = dot(d, v) * per_sine;
        const Real bend = weight * (fused(-2.0, t, 1.0) * per_sine);
        sums[2] = fused(weight, r1, sums[2]);
        sums[3] = fused(weight, r2, sums[3]);
        sums[4] = fused(bend, r2 * r2, sums[4]);
        sums[5] = fused(bend, -(r1 * r2), sums[5]);
        sums[6] = fused(bend, r1 * r1, sums[6]);
    }
    add_lanes<LANES, 7>(sums, row.across);
    least_of_lanes<LANES>(nearest, point, row.across);
    double least = -farthest, unused = 0.0;
    least_of_lanes<LANES>(least, unused, row.across);
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], nearest, point == none ? -1.0 : point,
            -least};
}

__device__ Step step_from(const Measure& at, Real pull, Real trust) {
    const Real g1 = at.pull_1, g2 = at.pull_2, a = at.bend_11, b = at.bend_12, c = at.bend_22;
    Real length = trust;
    if (at.at_place > 0.0) {
        const Real bend = fused(g1 * g1, a, fused(Real(2.0) * (g1 * g2), b, g2 * g2 * c)) / (pull * pull);
        if (bend > 0.0) length = smaller(trust, (pull - at.at_place) / bend);
        return {g1 / pull * length, g2 / pull * length, false};
    }
    const Real determinant = fused(a, c, -(b * b));
    if (determinant <= 0.0 || a + c <= 0.0) return {g1 / pull * length, g2 / pull * length, false};
    const Real s1 = fused(c, g1, -(b * g2)) / determinant, s2 = fused(a, g2, -(b * g1)) / determinant;
    length = root(fused(s1, s1, s2 * s2));
    if (length <= trust) return {s1, s2, true};
    return {s1 / length * trust, s2 / length * trust, false};
}

__device__ Vector moved(Vector y, Step step) {
    Vector u, v;
    axes(y, u, v);
    return scaled({fused(step.one, u.x, fused(step.two, v.x, y.x)), fused(step.one, u.y, fused(step.two, v.y, y.y)),
                   fused(step.one, u.z, fused(step.two, v.z, y.z))});
}

template <int LANES> __device__ __noinline__ Minimum descend(Row row, Vector begin, Real no_pull) {
    Vector place = begin;
    Real trust = TRUST;
    double refused = -1.0;
    Measure at = measure<LANES>(row, place);
    const double farthest = at.farthest;
    for (int step = 0; step < MAX_STEPS; step++) {
        const Real pull = root(fused(at.pull_1, at.pull_1, at.pull_2 * at.pull_2));
        if (pull <= at.at_place || pull <= no_pull) break;
        const Step by = step_from(at, pull, trust);
        const Real length = root(fused(by.one, by.one, by.two * by.two));
        if (length < LEAST_STEP) break;
        const Real distance = Real(2.0) * root(at.nearest);
        const bool snaps = at.point >= 0.0 && at.point != refused && length >= Real(0.5) * distance;
        const Vector there = snaps ? point_of(row, (i64)at.point) : moved(place, by);
        if (!snaps && by.is_newton && length < SMALL_STEP && length < Real(1e-3) * distance) { place = there; break; }
        const Measure trial = measure<LANES>(row, there);
        if (trial.half_arcs < at.half_arcs) {
            place = there;
            trust = smaller(TRUST, larger(trust, Real(2.0) * length));
            at = trial;
        } else if (snaps) refused = at.point;
        else trust = Real(0.25) * length;
    }
    for (i64 k = 0; at.at_place > 0.0 && k < row.n; k++)
        if (quarter_chord(point_of(row, k), place) < SAME_PLACE) { place = point_of(row, k); break; }
    return {place, at.half_arcs, farthest};
}

__device__ bool is_better(Real value, Vector place, Real lowest, Vector best) {
    if (value < lowest - Real(TIE) * value) return true;
    if (value > lowest + Real(TIE) * value) return false;
    if (fabs((place.z - best.z).v) > 1e-9) return place.z > best.z;
    if (fabs((place.x - best.x).v) > 1e-9) return place.x > best.x;
    return fabs((place.y - best.y).v) > 1e-9 && place.y > best.y;
}

template <int LANES> __device__ Vector best_point(Row row) {
    const i64 stride = (row.n + MAX_TRIED - 1) / MAX_TRIED;
    Vector best = point_of(row, 0);
    Real lowest = __longlong_as_double(0x7ff0000000000000LL);
    for (i64 k = 0; k < row.n; k += stride) {
        const Vector point = point_of(row, k);
        const Real value = measure<LANES>(row, point).half_arcs;
        if (is_better(value, point, lowest, best)) { best = point; lowest = value; }
    }
    return best;
}

template <int LANES> __device__ Vector median(Row row) {
    if (row.n == 1 || (row.n == 2 && row.weights[0] > row.weights[1])) return point_of(row, 0);
    if (row.n == 2 && row.weights[0] < row.weights[1]) return point_of(row, 1);
    Real sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (i64 k = row.lane; k < row.n; k += LANES) {
        const Real weight = row.weights[k];
        const Vector p = point_of(row, k);
        sums[0] = sums[0] + weight;
        sums[1] = fused(weight, p.x, sums[1]);
        sums[2] = fused(weight, p.y, sums[2]);
        sums[3] = fused(weight, p.z, sums[3]);
    }
    add_lanes<LANES, 4>(sums, row.across);
    const Vector sum = {sums[1], sums[2], sums[3]};
    const Real length = root(dot(sum, sum)), no_pull = Real(NO_PULL) * sums[0];
    Vector best = {0.0, 0.0, 1.0};
    Real lowest = __longlong_as_double(0x7ff0000000000000LL);
    if (length > no_pull) {
        best = {sum.x / length, sum.y / length, sum.z / length};
        if (row.n == 2) return best;
        const Minimum found = descend<LANES>(row, best, no_pull);
        best = found.at;
        lowest = found.half_arcs;
        if (found.farthest <= ONE_MINIMUM) return best;
    } else if (length != 0.0) best = {sum.x / length, sum.y / length, sum.z / length};
    for (int k = -1; k < 27; k++) {
        if (k == 13) continue;
        const Vector begin = k == -1 ? best_point<LANES>(row)
            : scaled({(double)(k / 9 - 1), (double)(k / 3 % 3 - 1), (double)(k % 3 - 1)});
        const Minimum found = descend<LANES>(row, begin, no_pull);
        if (is_better(found.half_arcs, found.at, lowest, best)) { best = found.at; lowest = found.half_arcs; }
    }
    return best;
}

template <int LANES> __device__ void write_medians(i64 n_rows, const i64* rows, const i64* starts, const double* points,
    const double* weights, double* medians) {
    extern __shared__ float4 shared[];
    const i64 i = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / LANES;
    if (i >= n_rows) return;  // complete groups, so that no lane waits for one that returned
    const i64 start = starts[rows[i]], n = starts[rows[i] + 1] - start;
    const Row row = {points + 3 * start, weights + start, n, (int)(threadIdx.x % LANES), (double*)shared};
    const Vector at = median<LANES>(row);
    if (row.lane == 0) {
        medians[3 * rows[i]] = at.x.v;
        medians[3 * rows[i] + 1] = at.y.v;
        medians[3 * rows[i] + 2] = at.z.v;
    }
}

#define MEDIANS(LANES) extern "C" __global__ void medians_##LANES(i64 n_rows, const i64* rows, const i64* starts, \\
    const double* points, const double* weights, double* medians) { \\
    write_medians<LANES>(n_rows, rows, starts, points, weights, medians); \\
}
MEDIANS(1)
MEDIANS(32)
MEDIANS(256)
"""
)
