"""CUDA C++ of `sphere_cpu`: the same operations, not fused unless explicitly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.geolocation import coefficients
from gpuasm.geolocation.sphere_cpu import arcs_loop, places_loop, units_loop
from gpuasm.threads import run_chunks

_BLOCK = 256
_KERNELS = ("units", "places", "arcs")
_POLYNOMIALS = (
    "ARC_EVEN",
    "ARC_ODD",
    "INVERSE_ARC_EVEN",
    "INVERSE_ARC_ODD",
    "SINE",
    "COSINE",
)


def _constants() -> str:
    """Return the coefficients as C definitions of the same numbers."""
    lines = [_array(name, getattr(coefficients, name)) for name in _POLYNOMIALS]
    lines += [f"#define {name} {getattr(coefficients, name).hex()}" for name in ("DEGREES", "HALF_TURN")]
    return "\n".join(lines) + f"\n#define HALF_PER_RADIUS {(0.5 / coefficients.EARTH_RADIUS_KM).hex()}\n"


def _array(name: str, values: Sequence[float]) -> str:
    return f"#define {name} {{{', '.join(value.hex() for value in values)}}}"


def units_of(places: Array) -> Array:
    """Return the unit vectors (n, 3) float64 of places (n, 2) float64 in degrees; NaN for unknown places."""
    units = array_namespace(places).empty((len(places), 3), np.float64)
    _run(units_loop, "units", (places, units))
    return units


def places_of(units: Array) -> Array:
    """Return latitudes and longitudes (n, 2) float64 in degrees, up to 180, of vectors (n, 3); NaN for NaN."""
    places = array_namespace(units).empty((len(units), 2), np.float64)
    _run(places_loop, "places", (units, places))
    return places


def arcs_between(a: Array, b: Array) -> Array:
    """Return the arcs (n,) float64 in radians between the rows of two arrays of unit vectors (n, 3)."""
    arc = array_namespace(a, b).empty(len(a), np.float64)
    _run(arcs_loop, "arcs", (a, b, arc))
    return arc


def _run(loop: object, kernel: str, args: tuple[Array, ...]) -> None:
    n = len(args[-1])
    args = tuple(array_namespace(arg).ascontiguousarray(arg) for arg in args)
    if array_namespace(*args) is np:
        run_chunks(loop, n, *args)  # type: ignore[arg-type]
    elif n:
        function = cuda_functions(_CUDA, *_KERNELS)[_KERNELS.index(kernel)]
        function((-(-n // _BLOCK),), (_BLOCK,), (np.int64(n), *args))


SPHERE_CUDA = (
    """
typedef long long i64;

// A double whose sums and products are rounded separately, as on the CPU.
struct Real {
    double v;
    __device__ Real() {}
    __device__ Real(double value) : v(value) {}
};
__device__ __forceinline__ Real operator+(Real a, Real b) { return __dadd_rn(a.v, b.v); }
__device__ __forceinline__ Real operator-(Real a, Real b) { return __dadd_rn(a.v, -b.v); }
__device__ __forceinline__ Real operator-(Real a) { return -a.v; }
__device__ __forceinline__ Real operator*(Real a, Real b) { return __dmul_rn(a.v, b.v); }
__device__ __forceinline__ Real operator/(Real a, Real b) { return __ddiv_rn(a.v, b.v); }
__device__ __forceinline__ bool operator==(Real a, Real b) { return a.v == b.v; }
__device__ __forceinline__ bool operator!=(Real a, Real b) { return a.v != b.v; }
__device__ __forceinline__ bool operator<(Real a, Real b) { return a.v < b.v; }
__device__ __forceinline__ bool operator<=(Real a, Real b) { return a.v <= b.v; }
__device__ __forceinline__ bool operator>(Real a, Real b) { return a.v > b.v; }
__device__ __forceinline__ bool operator>=(Real a, Real b) { return a.v >= b.v; }
__device__ __forceinline__ Real fused(Real a, Real b, Real c) { return __fma_rn(a.v, b.v, c.v); }
__device__ __forceinline__ Real root(Real a) { return __dsqrt_rn(a.v); }
__device__ __forceinline__ Real larger(Real a, Real b) { return a > b ? a : b; }
__device__ __forceinline__ Real smaller(Real a, Real b) { return a < b ? a : b; }

struct Vector { Real x, y, z; };
struct Place { Real lat, lon; };
struct Angle { Real sine, cosine; };
"""
    + _constants()
    + """
template <int STEPS> __device__ __forceinline__ Real root_by_newton(Real value) {
    const Real half = Real(0.5) * value;
    Real y = __longlong_as_double(0x5FE6EB50C7B537A9LL - (__double_as_longlong(value.v) >> 1));
    #pragma unroll
    for (int i = 0; i < STEPS; i++) y = fused(y, fused(-(half * y), y, 0.5), y);
    return y;
}
__device__ __forceinline__ Real inverse_root(Real value) { return root_by_newton<4>(value); }

template <int N> __device__ __forceinline__ Real even_and_odd(const double (&EVEN)[N], const double (&ODD)[N], Real c) {
    const Real x = fused(2.0, c, -1.0), square = x * x;
    Real even = EVEN[N - 1], odd = ODD[N - 1];
    #pragma unroll
    for (int k = N - 2; k >= 0; k--) { even = fused(even, square, EVEN[k]); odd = fused(odd, square, ODD[k]); }
    return fused(odd, x, even);
}

__device__ __forceinline__ Real arc_over_sine(Real c) {
    const double even[] = ARC_EVEN, odd[] = ARC_ODD;
    return even_and_odd(even, odd, c);
}

__device__ __forceinline__ Real over_half_arc(Real t) {
    const double even[] = INVERSE_ARC_EVEN, odd[] = INVERSE_ARC_ODD;
    const Real rest = larger(0.0, Real(1.0) - t);
    return root_by_newton<3>(t) * even_and_odd(even, odd, rest * root_by_newton<3>(rest));
}

__device__ __forceinline__ Angle sine_and_cosine(Real degrees) {
    const double sines[] = SINE, cosines[] = COSINE;
    const Real quarter = floor(fused(degrees, 1.0 / 90.0, 0.5).v);
    const Real r = fused(quarter, -90.0, degrees), square = r * r;
    Real s = sines[8], c = cosines[9];
    #pragma unroll
    for (int k = 7; k >= 0; k--) s = fused(s, square, sines[k]);
    #pragma unroll
    for (int k = 8; k >= 0; k--) c = fused(c, square, cosines[k]);
    s = s * r;
    const int turn = (int)quarter.v & 3;
    const Real sine = turn & 1 ? c : s, cosine = turn & 1 ? s : c;
    return {turn & 2 ? -sine : sine, turn == 1 || turn == 2 ? -cosine : cosine};
}

__device__ __forceinline__ Vector unit_of(Place place) {
    const Angle lat = sine_and_cosine(place.lat), lon = sine_and_cosine(place.lon);
    return {lat.cosine * lon.cosine, lat.cosine * lon.sine, lat.sine};
}

__device__ __forceinline__ Real angle_of(Real y, Real x) {
    const Real square = fused(x, x, y * y);
    if (square == 0.0) return 0.0;
    const Real length = root(square);
    x = x / length;
    y = y / length;
    if (x >= 0.0) return y * arc_over_sine(x) * Real(DEGREES);
    const Real turned = y * arc_over_sine(-x) * Real(DEGREES);
    return Real(y < 0.0 ? -HALF_TURN : HALF_TURN) - turned;
}

__device__ __forceinline__ Place place_of(Vector v) {
    return {angle_of(v.z, root(fused(v.x, v.x, v.y * v.y))), angle_of(v.y, v.x)};
}

__device__ __forceinline__ Real quarter_chord(Vector a, Vector b) {
    const Real x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return Real(0.25) * fused(x, x, fused(y, y, z * z));
}
"""
)

_CUDA = (
    SPHERE_CUDA
    + """
#define EACH(i) i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; if (i >= n) return;

extern "C" __global__ void units(i64 n, const double* places, double* units) {
    EACH(i)
    const double lat = places[2 * i], lon = places[2 * i + 1];
    Vector v = unit_of({lat, lon});
    if (!(lat == lat && lon == lon)) v.x = v.y = v.z = __longlong_as_double(0x7ff8000000000000LL);
    units[3 * i] = v.x.v;
    units[3 * i + 1] = v.y.v;
    units[3 * i + 2] = v.z.v;
}

extern "C" __global__ void places(i64 n, const double* units, double* places) {
    EACH(i)
    const Vector v = {units[3 * i], units[3 * i + 1], units[3 * i + 2]};
    const Place place = place_of(v);
    const bool known = v.x == v.x;
    places[2 * i] = known ? place.lat.v : v.x.v;
    places[2 * i + 1] = known ? place.lon.v : v.x.v;
}

extern "C" __global__ void arcs(i64 n, const double* a, const double* b, double* arc) {
    EACH(i)
    const Real t = quarter_chord({a[3 * i], a[3 * i + 1], a[3 * i + 2]}, {b[3 * i], b[3 * i + 1], b[3 * i + 2]});
    const Real rest = larger(0.0, Real(1.0) - t);
    const Real found = Real(2.0) * (t * inverse_root(t)) * arc_over_sine(rest * inverse_root(rest));
    arc[i] = t == t ? found.v : t.v;
}
"""
)

__all__ = ["SPHERE_CUDA", "arcs_between", "places_of", "units_of"]
