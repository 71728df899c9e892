"""Uncertainty of an inferred place, from the spread of its neighbours."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions, to_host, to_namespace
from gpuasm.geolocation.coefficients import EARTH_RADIUS_KM
from gpuasm.geolocation.neighbourhoods import located_neighbours, neighbourhoods
from gpuasm.geolocation.queue_cpu import MOST_AT_ONCE, SCANNED_ROUNDS
from gpuasm.geolocation.sphere_cpu import arc_between
from gpuasm.geolocation.sphere_cuda import arcs_between, units_of
from gpuasm.graph.directed_graph import DirectedGraph
from gpuasm.graph.rows import rows_of_slots
from gpuasm.parallel import compiled
from gpuasm.threads import run_chunks

_BLOCK = 128
_ROUNDING = 1 - 1e-12


def radii_of(medians: Array, neighbours: tuple[Array, Array, Array], own_radii: Array, *, share: float) -> Array:
    """Return the radius around each median that contains a share of its neighbours' weight, in kilometres.

    It contains a neighbour with its own radius, so errors accumulate along a chain of inferences. With n neighbours it
    contains (n + 1) / n times the share, at most all: a further neighbour would be inside with the probability of
    the share. A single neighbour with a given place has no spread, and the radius is NaN.

    Parameters
    ----------
    medians : (r, 3) float64
        Unit vectors.
    neighbours
        ``starts`` (r + 1,) int64, the start of each row; ``points`` (p, 3) float64; and ``weights`` (p,) float64.
    own_radii : (p,) float64
        Radii of the neighbours, in kilometres: 0 for a given place, NaN if unknown, which counts as 0.
    share
        From 0 to 1.
    """
    xp = array_namespace(medians)
    starts, points, weights = neighbours
    row = rows_of_slots(starts, len(points))
    reach = EARTH_RADIUS_KM * arcs_between(medians[row], points) + xp.nan_to_num(own_radii)
    order = xp.lexsort(xp.stack([xp.arange(row.size, dtype=np.float64), reach, row.astype(np.float64)]))
    radii = xp.empty(len(medians), np.float64)
    args = (starts, reach[order], weights[order], share, radii)
    if xp is np:
        run_chunks(_radii_loop, len(medians), *args)
    elif len(medians):
        (kernel,) = cuda_functions(_CUDA, "radii")
        n_blocks = -(-len(medians) // _BLOCK)
        kernel((n_blocks,), (_BLOCK,), (np.int64(len(medians)), *args[:3], np.float64(share), radii))
    return radii


def radii_of_rounds(graph: DirectedGraph, places: Array, rounds: Array, *, share: float) -> Array:
    """Return the radii (n,) of places inferred in rounds: 0 for given places, NaN for unknown ones.

    Parameters
    ----------
    graph
        The graph of the inference; parallel edges count separately.
    places : (n, 2) float64
        In degrees.
    rounds : (n,) int32
        The round of each place: 0 if given, -1 if unknown.
    share
        As in `radii_of`.
    """
    xp = array_namespace(places)
    units, radii = units_of(places), xp.where(rounds == 0, 0.0, np.nan)
    last = int(rounds.max()) if len(rounds) else 0
    for number in range(1, min(last, SCANNED_ROUNDS) + 1):
        near = neighbourhoods(
            graph, None, xp.flatnonzero(rounds == number), is_located=(rounds >= 0) & (rounds < number),
            seen=xp.zeros(len(rounds), np.int64), nearest=None, at_least=1,
        )  # fmt: skip
        row = (near.starts, units[near.neighbours], near.weights)
        radii[near.vertices] = radii_of(units[near.vertices], row, radii[near.neighbours], share=share)
    if last <= SCANNED_ROUNDS:
        return radii
    order = np.argsort(to_host(rounds), kind="stable")
    order, graph = order[to_host(rounds)[order] > SCANNED_ROUNDS], graph.moved_to(np)
    state = (to_host(units), to_host(rounds), to_host(radii))
    edges = (graph.row_offsets, graph.columns, np.empty(0))
    for first in range(0, order.size, MOST_AT_ONCE):
        _radii_in_order(order[first : first + MOST_AT_ONCE], edges, state, share)
    return to_namespace(xp, state[2])


@compiled()
def _radii_in_order(vertices, edges, state, share):
    """Write the radii of vertices in the order of their rounds: each needs those of earlier rounds."""
    units, rounds, radius_km = state
    for v in vertices:
        near, weights = located_neighbours(v, edges, rounds, rounds[v])
        median = (units[v, 0], units[v, 1], units[v, 2])
        radius_km[v] = radius_around(median, units[near], weights, radius_km[near], share)


@compiled()
def radius_around(median, points, weights, own_radii, share):
    """Return the radius around one median as `radii_of` does; see there."""
    reach = np.empty(weights.size)
    for k in range(weights.size):
        own = own_radii[k]
        arc = arc_between(median, (points[k, 0], points[k, 1], points[k, 2]))
        reach[k] = EARTH_RADIUS_KM * arc + (0.0 if np.isnan(own) else own)
    if weights.size == 1:
        return _radius(reach, weights, share)
    order = np.argsort(reach, kind="mergesort")
    return _radius(reach[order], weights[order], share)


@compiled()
def _radii_loop(first, last, starts, reach, weights, share, radii):
    for i in range(first, last):
        row = slice(starts[i], starts[i + 1])
        radii[i] = _radius(reach[row], weights[row], share)


@compiled()
def _radius(reach, weights, share):
    n, total = weights.size, 0.0
    for weight in weights:
        total += weight
    needed = min(1.0, share * (n + 1.0) / n) * total * _ROUNDING
    radius, held = reach[n - 1], 0.0
    for k in range(n):
        held += weights[k]
        if held >= needed:
            radius = reach[k]
            break
    return np.nan if n == 1 and radius == 0.0 else radius


_CUDA = (
    f"#define ROUNDING {_ROUNDING.hex()}\n"
    """
extern "C" __global__ void radii(long long n_rows, const long long* starts, const double* reach, const double* weights,
    double share, double* radii) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n_rows) return;
    const long long a = starts[i], b = starts[i + 1], n = b - a;
    double total = 0.0, held = 0.0;
    for (long long k = a; k < b; k++) total = __dadd_rn(total, weights[k]);
    const double fold = __ddiv_rn(__dmul_rn(share, __dadd_rn((double)n, 1.0)), (double)n);
    const double needed = __dmul_rn(__dmul_rn(fold < 1.0 ? fold : 1.0, total), ROUNDING);
    double radius = reach[b - 1];
    for (long long k = a; k < b; k++) {
        held = __dadd_rn(held, weights[k]);
        if (held >= needed) { radius = reach[k]; break; }
    }
    if (n == 1 && radius == 0.0) radius = __longlong_as_double(0x7ff8000000000000LL);
    radii[i] = radius;
}
"""
)
