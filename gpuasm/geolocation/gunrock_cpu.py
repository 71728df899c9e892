"""A round of Gunrock's geolocation on the CPU: the same operations in the same order as `gunrock_cuda`.

Sums of a row are computed in lanes, each in the order of the row, and the lanes are added pairwise. In a row of up to
``SHORT`` slots, located neighbour k belongs to lane k mod L, where L depends on the number of located neighbours and on
the row's length; in longer rows slot s belongs to lane s mod L, located or not. Rows of more than ``CHUNK`` slots are
divided into chunks, whose sums are added in sequence.
"""

from __future__ import annotations

import numpy as np

from gpuasm.geolocation.coefficients import EARTH_RADIUS_KM
from gpuasm.geolocation.sphere_cpu import angle_of, over_half_arc, sine_and_cosine, unit_of
from gpuasm.parallel import compiled, inlined
from gpuasm.parallel import fused_multiply_add as fma

SHORT, MIDDLE, CHUNK = 128, 512, 2048
PLACES_OF_LANE = 4
"""Greatest number of located neighbours in a lane of a short row."""
SLOTS_OF_SHORT_LANE = 16
"""Greatest number of slots of a short row that a lane reads."""
STOP_DEGREES = 1e-3
_SUMS = 4
_VECTOR = 8
_LAT, _LON = 3, 4


@inlined
def lanes_of(n, length):
    """Return the number of lanes of a row of this length with n located neighbours."""
    if length > SHORT:
        return 64 if length <= MIDDLE else 256
    lanes = 1
    while lanes < 32 and (PLACES_OF_LANE * lanes < n or SLOTS_OF_SHORT_LANE * lanes < length):
        lanes *= 2
    return lanes


@compiled()
def round_loop(
    first, last, rows, row_offsets, columns, is_known, places, spatial_iterations, longest, new_places, counts
):
    """Infer the places of some vertices from their neighbours' of the round before.

    ``new_places`` (r, 2) float64 and ``counts`` (r,) int32 take, for each of the r ``rows``, the place in degrees and
    the number of located neighbours; without any, the place is not written.
    """
    slots = np.empty(longest, np.int64)
    points = np.zeros((5, longest + _VECTOR))
    weights = np.empty(longest + _VECTOR)
    lanes = np.empty((256, _SUMS))
    for i in range(first, last):
        start, end = row_offsets[rows[i]], row_offsets[rows[i] + 1]
        n = 0
        for slot in range(start, end):
            u = columns[slot]
            if is_known[u]:
                slots[n] = slot - start
                points[_LAT, n], points[_LON, n] = places[u, 0], places[u, 1]
                n += 1
        counts[i] = n
        if n == 1:
            new_places[i, 0], new_places[i, 1] = points[_LAT, 0], points[_LON, 0]
        elif n == 2:
            new_places[i, 0], new_places[i, 1] = midpoint(
                points[_LAT, 0], points[_LON, 0], points[_LAT, 1], points[_LON, 1]
            )
        elif n > 2:
            if end - start <= SHORT:  # lanes are those of the located neighbours
                for k in range(n):
                    slots[k] = k
            row = (slots, lanes_of(n, end - start), lanes)
            new_places[i, 0], new_places[i, 1] = _median(points, n, spatial_iterations, weights, row)


@inlined
def midpoint(lat_a, lon_a, lat_b, lon_b):
    """Return the midpoint of the great circle between two places; the longitude may lie beyond 180 degrees."""
    sin_a, cos_a = sine_and_cosine(lat_a)
    sin_b, cos_b = sine_and_cosine(lat_b)
    sin_d, cos_d = sine_and_cosine(lon_b - lon_a)
    x, y = fma(cos_b, cos_d, cos_a), cos_b * sin_d
    return angle_of(sin_a + sin_b, np.sqrt(fma(x, x, y * y))), lon_a + angle_of(y, x)


@compiled()
def _median(points, n, spatial_iterations, weights, row):
    for k in range(n):
        points[0, k], points[1, k], points[2, k] = unit_of(points[_LAT, k], points[_LON, k])
        weights[k] = 1.0
    sums = _add_up(points, n, weights, row)
    lat, lon = sums[1] / n, sums[2] / n
    for _ in range(spatial_iterations + 1):
        _weigh(points, n, unit_of(lat, lon), weights)
        before_lat, before_lon = lat, lon
        lat, lon, is_at_all = next_place(lat, lon, n, _add_up(points, n, weights, row))
        by_lat, by_lon = lat - before_lat, lon - before_lon
        if is_at_all or fma(by_lat, by_lat, by_lon * by_lon) < STOP_DEGREES * STOP_DEGREES:
            break
    return lat, lon


@compiled()
def _weigh(points, n, unit, weights):
    """Write one over half the arc from a place to each point; 0 for a point at the place.

    Numbers after the last point are written too: vector instructions process eight points at a time.
    """
    for k in range((n + _VECTOR - 1) // _VECTOR * _VECTOR):
        x, y, z = points[0, k] - unit[0], points[1, k] - unit[1], points[2, k] - unit[2]
        t = 0.25 * fma(x, x, fma(y, y, z * z))
        weights[k] = 0.0 if t == 0.0 else over_half_arc(t)


@compiled()
def _add_up(points, n, weights, row):
    """Sum, by lanes, the weights, the weighted latitudes and longitudes, and the number of zero weights."""
    slots, n_lanes, lanes = row
    sums = (0.0, 0.0, 0.0, 0.0)
    if n_lanes == 1:
        for k in range(n):
            sums = _with_point(points, k, weights[k], sums)
        return sums
    lanes[:n_lanes] = 0.0
    chunk = slots[0] // CHUNK
    for k in range(n):
        if slots[k] // CHUNK != chunk:
            sums = _with_lanes(lanes, n_lanes, sums)
            lanes[:n_lanes] = 0.0
            chunk = slots[k] // CHUNK
        lane = slots[k] % n_lanes
        before = (lanes[lane, 0], lanes[lane, 1], lanes[lane, 2], lanes[lane, 3])
        lanes[lane, 0], lanes[lane, 1], lanes[lane, 2], lanes[lane, 3] = _with_point(points, k, weights[k], before)
    return _with_lanes(lanes, n_lanes, sums)


@inlined
def _with_point(points, k, weight, to):
    zero = 1.0 if weight == 0.0 else 0.0
    return to[0] + weight, fma(weight, points[_LAT, k], to[1]), fma(weight, points[_LON, k], to[2]), to[3] + zero


@inlined
def _with_lanes(lanes, n_lanes, to):
    width = n_lanes
    while width > 1:
        width //= 2
        for lane in range(width):
            for k in range(_SUMS):
                lanes[lane, k] = lanes[2 * lane, k] + lanes[2 * lane + 1, k]
    return to[0] + lanes[0, 0], to[1] + lanes[0, 1], to[2] + lanes[0, 2], to[3] + lanes[0, 3]


@inlined
def next_place(lat, lon, n, sums):
    """Return the place after a step of the modified Weiszfeld iteration, and whether all points are there."""
    weight, by_lat, by_lon, at_place = sums
    if at_place == n:
        return lat, lon, True
    inverse = 1.0 / weight
    to_lat, to_lon = by_lat * inverse, by_lon * inverse
    if at_place == 0.0:
        return to_lat, to_lon, False
    # weights are of half arcs in radians, Gunrock's of arcs in kilometres, and the rule depends on their scale
    pull = weight * (0.5 / EARTH_RADIUS_KM)
    pull_lat, pull_lon = (to_lat - lat) * pull, (to_lon - lon) * pull
    length = np.sqrt(fma(pull_lat, pull_lat, pull_lon * pull_lon))
    share = 0.0 if length == 0.0 else at_place / length
    rest, share = max(0.0, 1.0 - share), min(1.0, share)
    return fma(rest, to_lat, share * lat), fma(rest, to_lon, share * lon), False
