"""Angles, arcs and unit vectors from additions, multiplications and roots only, bitwise the same as `sphere_cuda`.

Mathematical libraries differ in the last digit, which a stopping rule amplifies; so none is called here.
"""

from __future__ import annotations

import numpy as np

from gpuasm.geolocation.coefficients import (
    ARC_EVEN,
    ARC_ODD,
    COSINE,
    DEGREES,
    HALF_TURN,
    INVERSE_ARC_EVEN,
    INVERSE_ARC_ODD,
    SINE,
)
from gpuasm.parallel import compiled, inlined
from gpuasm.parallel import fused_multiply_add as fma

_MAGIC = np.int64(0x5FE6EB50C7B537A9)


@inlined
def inverse_root(value):
    """Return 1 / sqrt(value) for value >= 0 by four Newton steps; a large number for 0."""
    half = 0.5 * value
    y = np.int64(_MAGIC - (np.float64(value).view(np.int64) >> np.int64(1))).view(np.float64)
    for _ in range(4):
        y = fma(y, fma(-(half * y), y, 0.5), y)
    return y


@inlined
def arc_over_sine(c):
    """Return a / sin(a) for 0 <= a <= pi / 2 with c = cos(a)."""
    x = fma(2.0, c, -1.0)
    square = x * x
    even, odd = ARC_EVEN[10], ARC_ODD[10]
    for k in range(9, -1, -1):
        even, odd = fma(even, square, ARC_EVEN[k]), fma(odd, square, ARC_ODD[k])
    return fma(odd, x, even)


@inlined
def _nearly_inverse_root(value):
    """Return 1 / sqrt(value) for value >= 0 to within 1e-10 of it; a large number for 0."""
    half = 0.5 * value
    y = np.int64(_MAGIC - (np.float64(value).view(np.int64) >> np.int64(1))).view(np.float64)
    for _ in range(3):
        y = fma(y, fma(-(half * y), y, 0.5), y)
    return y


@inlined
def over_half_arc(t):
    """Return 1 / a for t = sin(a) ** 2 and 0 <= a <= pi / 2 to within 1e-9 of it: the weight of a point in a median."""
    rest = max(0.0, 1.0 - t)
    x = fma(2.0, rest * _nearly_inverse_root(rest), -1.0)
    square = x * x
    even, odd = INVERSE_ARC_EVEN[5], INVERSE_ARC_ODD[5]
    for k in range(4, -1, -1):
        even, odd = fma(even, square, INVERSE_ARC_EVEN[k]), fma(odd, square, INVERSE_ARC_ODD[k])
    return _nearly_inverse_root(t) * fma(odd, x, even)


@inlined
def sine_and_cosine(degrees):
    """Return both of an angle in degrees."""
    quarter = np.floor(fma(degrees, 1.0 / 90.0, 0.5))
    r = fma(quarter, -90.0, degrees)
    square = r * r
    s, c = SINE[8], COSINE[9]
    for k in range(7, -1, -1):
        s = fma(s, square, SINE[k])
    for k in range(8, -1, -1):
        c = fma(c, square, COSINE[k])
    s *= r
    turn = np.int64(quarter) & 3
    if turn == 1:
        return c, -s
    if turn == 2:
        return -s, -c
    if turn == 3:
        return -c, s
    return s, c


@inlined
def unit_of(latitude, longitude):
    """Return the unit vector of a place in degrees."""
    sin_lat, cos_lat = sine_and_cosine(latitude)
    sin_lon, cos_lon = sine_and_cosine(longitude)
    return cos_lat * cos_lon, cos_lat * sin_lon, sin_lat


@inlined
def angle_of(y, x):
    """Return the angle of the direction (x, y) in degrees, -180 to 180; 0 for no direction."""
    square = fma(x, x, y * y)
    if square == 0.0:
        return 0.0
    length = np.sqrt(square)
    x, y = x / length, y / length
    if x >= 0.0:
        return y * arc_over_sine(x) * DEGREES
    turned = y * arc_over_sine(-x) * DEGREES
    return (-HALF_TURN if y < 0.0 else HALF_TURN) - turned


@inlined
def place_of(x, y, z):
    """Return latitude and longitude in degrees of a vector, which need not be of length one; 0 longitude at a pole."""
    return angle_of(z, np.sqrt(fma(x, x, y * y))), angle_of(y, x)


@compiled()
def units_loop(first, last, places, units):
    """Write the unit vectors of places, NaN for unknown ones."""
    for i in range(first, last):
        if not (np.isnan(places[i, 0]) or np.isnan(places[i, 1])):
            units[i, 0], units[i, 1], units[i, 2] = unit_of(places[i, 0], places[i, 1])
        else:
            units[i, :] = np.nan


@compiled()
def places_loop(first, last, units, places):
    """Write the places of vectors, NaN for NaN."""
    for i in range(first, last):
        if not np.isnan(units[i, 0]):
            places[i, 0], places[i, 1] = place_of(units[i, 0], units[i, 1], units[i, 2])
        else:
            places[i, :] = np.nan


@inlined
def arc_between(a, b):
    """Return the arc in radians between two unit vectors; NaN if one is."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    t = 0.25 * fma(x, x, fma(y, y, z * z))
    rest = max(0.0, 1.0 - t)
    return np.nan if np.isnan(t) else 2.0 * (t * inverse_root(t)) * arc_over_sine(rest * inverse_root(rest))


@compiled()
def arcs_loop(first, last, a, b, arc):
    """Write the arcs in radians between pairs of unit vectors."""
    for i in range(first, last):
        arc[i] = arc_between((a[i, 0], a[i, 1], a[i, 2]), (b[i, 0], b[i, 1], b[i, 2]))
