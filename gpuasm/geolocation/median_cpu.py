"""The median of weighted points on a sphere, on the CPU: the same operations in the same order as `median_cuda`.

The sum of weighted arcs to the points is smooth except at each point and its antipode, and convex where all points are
within 90 degrees. It is minimised by Newton steps in the tangent plane within a trust region. If a step would reach the
nearest point, that point is tested: it is the median if the gradient of the others is no larger than its weight. If the
points are not within 45 degrees of their mean, there may be several minima: then the descent starts from the mean, from
26 directions spread over the sphere and from the best of up to 64 points, and the lowest minimum is used.
"""

from __future__ import annotations

import numpy as np

from gpuasm.geolocation.sphere_cpu import arc_over_sine, inverse_root
from gpuasm.parallel import compiled, inlined
from gpuasm.parallel import fused_multiply_add as fma

SHORT, MIDDLE = 8, 1024
"""Rows of up to these lengths are summed in one lane and in 32; longer ones in 256."""

N_SUMS = 7
HALF_ARCS, AT_PLACE, PULL_1, PULL_2, BEND_11, BEND_12, BEND_22, NEAREST, NEAREST_POINT, FARTHEST = range(10)
SAME_PLACE = 2.5e-25
"""A quarter of the squared chord, 1e-12, below which two points are equal."""

ONE_MINIMUM = 0.14644660940672624
"""The same for 45 degrees: points within that distance of their mean have one minimum."""

TRUST, SMALL_STEP, LEAST_STEP, NO_PULL, TIE = 0.5, 1e-6, 1e-13, 1e-13, 1e-12
MAX_STEPS, MAX_POINTS_TRIED = 200, 64


@compiled()
def medians_loop(first, last, starts, points, weights, medians):
    """Write the median (r, 3) of each of r rows of points (p, 3) and weights (p,); row i begins at starts[i]."""
    room = room_for_sums()
    for i in range(first, last):
        a, b = starts[i], starts[i + 1]
        medians[i, 0], medians[i, 1], medians[i, 2] = median_of_row(points[a:b], weights[a:b], room)


@compiled()
def room_for_sums():
    """Return room for the sums of `median_of_row`."""
    return np.empty(10), np.empty(10), np.empty((N_SUMS, 256))


@compiled()
def median_of_row(points, weights, room):
    """Return the median of one row of points."""
    n = len(weights)
    if n == 1 or (n == 2 and weights[0] > weights[1]):
        return points[0, 0], points[0, 1], points[0, 2]
    if n == 2 and weights[0] < weights[1]:
        return points[1, 0], points[1, 1], points[1, 2]
    total, mean, length = _mean(points, weights, room[2])
    best, lowest = mean, np.inf
    if length > NO_PULL * total:
        if n == 2:
            return mean
        best, lowest, farthest = _descend(points, weights, mean, NO_PULL * total, room)
        if farthest <= ONE_MINIMUM:
            return best
    for k in range(-1, 27):
        if k == -1:
            begin = _best_point(points, weights, room)
        elif k == 13:
            continue
        else:
            begin = _scaled((k // 9 - 1.0, k // 3 % 3 - 1.0, k % 3 - 1.0))
        found, value, _ = _descend(points, weights, begin, NO_PULL * total, room)
        if is_better(value, found, lowest, best):
            best, lowest = found, value
    return best


@inlined
def is_better(value, place, lowest, best):
    """Return whether a minimum is lower; of equal ones the northernmost, then that of larger x, then of larger y."""
    if value < lowest - TIE * value:
        return True
    if value > lowest + TIE * value:
        return False
    for k in (2, 0, 1):
        if abs(place[k] - best[k]) > 1e-9:
            return place[k] > best[k]
    return False


@compiled()
def _best_point(points, weights, room):
    n = len(weights)
    stride = (n + MAX_POINTS_TRIED - 1) // MAX_POINTS_TRIED
    best, lowest = (points[0, 0], points[0, 1], points[0, 2]), np.inf
    for k in range(0, n, stride):
        point = (points[k, 0], points[k, 1], points[k, 2])
        _measure(points, weights, point, (room[1], room[2]))
        if is_better(room[1][HALF_ARCS], point, lowest, best):
            best, lowest = point, room[1][HALF_ARCS]
    return best


@compiled()
def _descend(points, weights, begin, no_pull, room):
    """Return the local minimum from a place, its sum of half arcs, and the distance of the start's farthest point."""
    at, trial, lanes = room
    place, trust, refused = begin, TRUST, -1.0
    _measure(points, weights, place, (at, lanes))
    farthest = at[FARTHEST]
    for _ in range(MAX_STEPS):
        pull = np.sqrt(fma(at[PULL_1], at[PULL_1], at[PULL_2] * at[PULL_2]))
        if pull <= at[AT_PLACE] or pull <= no_pull:
            break
        step_1, step_2, is_newton = _step(at, pull, trust)
        length = np.sqrt(fma(step_1, step_1, step_2 * step_2))
        if length < LEAST_STEP:
            break
        distance = 2.0 * np.sqrt(at[NEAREST])
        snaps = at[NEAREST_POINT] >= 0.0 and at[NEAREST_POINT] != refused and length >= 0.5 * distance
        if snaps:
            k = int(at[NEAREST_POINT])
            there = (points[k, 0], points[k, 1], points[k, 2])
        else:
            there = _moved(place, step_1, step_2)
            if is_newton and length < SMALL_STEP and length < 1e-3 * distance:
                place = there
                break
        _measure(points, weights, there, (trial, lanes))
        if trial[HALF_ARCS] < at[HALF_ARCS]:
            place, trust = there, min(TRUST, max(trust, 2.0 * length))
            at, trial = trial, at
        elif snaps:
            refused = at[NEAREST_POINT]
        else:
            trust = 0.25 * length
    if at[AT_PLACE] > 0.0:
        place = _point_at(points, place)
    return place, at[HALF_ARCS], farthest


@inlined
def _point_at(points, place):
    """Return the first point at a place, with its exact coordinates; else the place."""
    for k in range(len(points)):
        x, y, z = points[k, 0] - place[0], points[k, 1] - place[1], points[k, 2] - place[2]
        if 0.25 * fma(x, x, fma(y, y, z * z)) < SAME_PLACE:
            return points[k, 0], points[k, 1], points[k, 2]
    return place


@inlined
def _step(at, pull, trust):
    """Return a step in the tangent plane, and whether it is a full Newton step."""
    g1, g2, a, b, c = at[PULL_1], at[PULL_2], at[BEND_11], at[BEND_12], at[BEND_22]
    length = trust
    if at[AT_PLACE] > 0.0:
        bend = fma(g1 * g1, a, fma(2.0 * (g1 * g2), b, g2 * g2 * c)) / (pull * pull)
        if bend > 0.0:
            length = min(trust, (pull - at[AT_PLACE]) / bend)
        return g1 / pull * length, g2 / pull * length, False
    determinant = fma(a, c, -(b * b))
    if determinant <= 0.0 or a + c <= 0.0:
        return g1 / pull * length, g2 / pull * length, False
    s1, s2 = fma(c, g1, -(b * g2)) / determinant, fma(a, g2, -(b * g1)) / determinant
    length = np.sqrt(fma(s1, s1, s2 * s2))
    if length <= trust:
        return s1, s2, True
    return s1 / length * trust, s2 / length * trust, False


@inlined
def _axes(y):
    """Return two directions orthogonal to a unit vector and to each other."""
    if abs(y[2]) < 0.9:
        length = np.sqrt(fma(y[0], y[0], y[1] * y[1]))
        u = (-y[1] / length, y[0] / length, 0.0)
    else:
        length = np.sqrt(fma(y[1], y[1], y[2] * y[2]))
        u = (0.0, -y[2] / length, y[1] / length)
    v = (
        fma(y[1], u[2], -(y[2] * u[1])),
        fma(y[2], u[0], -(y[0] * u[2])),
        fma(y[0], u[1], -(y[1] * u[0])),
    )
    return u, v


@inlined
def _scaled(v):
    length = np.sqrt(fma(v[0], v[0], fma(v[1], v[1], v[2] * v[2])))
    return v[0] / length, v[1] / length, v[2] / length


@inlined
def _moved(y, step_1, step_2):
    u, v = _axes(y)
    return _scaled(
        (
            fma(step_1, u[0], fma(step_2, v[0], y[0])),
            fma(step_1, u[1], fma(step_2, v[1], y[1])),
            fma(step_1, u[2], fma(step_2, v[2], y[2])),
        )
    )


@inlined
def lanes_of(n):
    """Return the number of lanes of a row of n points."""
    return 1 if n <= SHORT else 32 if n <= MIDDLE else 256


@compiled()
def _mean(points, weights, lanes):
    """Return the sum of the weights, the direction of the weighted sum of the points, and the length of that sum."""
    n_lanes = lanes_of(len(weights))
    lanes[:4, :n_lanes] = 0.0
    for k in range(len(weights)):
        lane = k % n_lanes
        lanes[0, lane] += weights[k]
        for axis in range(3):
            lanes[axis + 1, lane] = fma(weights[k], points[k, axis], lanes[axis + 1, lane])
    _fold(lanes, n_lanes, 4)
    x, y, z = lanes[1, 0], lanes[2, 0], lanes[3, 0]
    length = np.sqrt(fma(x, x, fma(y, y, z * z)))
    if length == 0.0:
        return lanes[0, 0], (0.0, 0.0, 1.0), 0.0
    return lanes[0, 0], (x / length, y / length, z / length), length


@compiled()
def _measure(points, weights, y, room):
    """Write the sum of half arcs from y, the gradient and its derivative at y, and the points nearby."""
    into, lanes = room
    n, n_lanes = len(weights), lanes_of(len(weights))
    lanes[:, :n_lanes] = 0.0
    into[NEAREST], into[NEAREST_POINT], into[FARTHEST] = np.inf, -1.0, 0.0
    u, v = _axes(y)
    for k in range(n):
        lane, weight = k % n_lanes, weights[k]
        d0, d1, d2 = points[k, 0] - y[0], points[k, 1] - y[1], points[k, 2] - y[2]
        t = 0.25 * fma(d0, d0, fma(d1, d1, d2 * d2))
        into[FARTHEST] = max(into[FARTHEST], t)
        if t < SAME_PLACE:
            lanes[AT_PLACE, lane] += weight
            continue
        if t < into[NEAREST]:
            into[NEAREST], into[NEAREST_POINT] = t, k
        rest = max(0.0, 1.0 - t)
        per_sine, per_cosine = inverse_root(t), inverse_root(rest)
        lanes[HALF_ARCS, lane] = fma(weight, t * per_sine * arc_over_sine(rest * per_cosine), lanes[HALF_ARCS, lane])
        if rest < SAME_PLACE:
            continue  # the antipode has no gradient
        per_sine = 0.5 * (per_sine * per_cosine)
        r1 = fma(d0, u[0], fma(d1, u[1], d2 * u[2])) * per_sine
        r2 = fma(d0, v[0], fma(d1, v[1], d2 * v[2])) * per_sine
        bend = weight * (fma(-2.0, t, 1.0) * per_sine)
        lanes[PULL_1, lane] = fma(weight, r1, lanes[PULL_1, lane])
        lanes[PULL_2, lane] = fma(weight, r2, lanes[PULL_2, lane])
        lanes[BEND_11, lane] = fma(bend, r2 * r2, lanes[BEND_11, lane])
        lanes[BEND_12, lane] = fma(bend, -(r1 * r2), lanes[BEND_12, lane])
        lanes[BEND_22, lane] = fma(bend, r1 * r1, lanes[BEND_22, lane])
    _fold(lanes, n_lanes, N_SUMS)
    into[:N_SUMS] = lanes[:, 0]


@compiled()
def _fold(lanes, n_lanes, n_sums):
    width = n_lanes
    while width > 1:
        width //= 2
        for k in range(n_sums):
            for lane in range(width):
                lanes[k, lane] = lanes[k, 2 * lane] + lanes[k, 2 * lane + 1]
