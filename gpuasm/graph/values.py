"""Numbers that belong to edges or vertices: one check for all methods, and their scaling without rounding."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.checks import array_of
from gpuasm.errors import DataError
from gpuasm.graph.csr_graph import CsrGraph
from gpuasm.graph.rows import rows_of_slots
from gpuasm.parallel import compiled

MODERATE = 1e60
"""Products of four numbers between 1 / MODERATE and MODERATE, and sums of them, neither overflow nor vanish."""

LEAST = 2.0**-400
"""Of what was above 0 before it was scaled."""

_DEGREES = (90.0, 180.0)


def checked_values(values: Array, size: int, *, what: str, whose: str) -> Array:
    """Return a number for each edge or vertex as (size,) float64.

    Parameters
    ----------
    values
        What was given.
    size
        How many there should be.
    what, whose
        For messages: "weight" and "edge", for example.

    Raises
    ------
    DataError
        If they have another shape or type, or one is negative or not finite.
    """
    array_of(values, f"a {what} for each {whose}, {size}", "iuf", (size,))
    xp = array_namespace(values)
    values = values.astype(np.float64, copy=False)
    wrong = ~(xp.isfinite(values) & (values >= 0))
    if bool(wrong.any()):
        at = int(wrong.argmax())
        raise DataError(f"a finite {what} of 0 or more", f"{float(values[at])} at {whose} {at}", f"correct the {what}s")
    return values


def checked_weights(graph: CsrGraph, weights: Array | None) -> Array | None:
    """Return the weights of a graph's edges as (m,) float64; None if there are none.

    Raises
    ------
    DataError
        As `checked_values`; or if they are not in the memory of the graph.
    """
    if weights is None:
        return None
    weights = checked_values(weights, graph.n_edges, what="weight", whose="edge")
    array_namespace(graph.columns, weights)
    return weights


def checked_places(places: Array, n: int) -> Array:
    """Return the places of n vertices as (n, 2) float64: latitude and longitude in degrees, both NaN if unknown.

    Raises
    ------
    DataError
        If they have another shape or type, or one is half unknown or none on Earth.
    """
    array_of(places, "a latitude and a longitude for each vertex", "iuf", (n, 2))
    places = places.astype(np.float64, copy=False)
    at = _first_misplaced(places)
    if at < n:
        found = f"{float(places[at, 0])} and {float(places[at, 1])} at vertex {at}"
        raise DataError(
            "latitudes from -90 to 90 and longitudes from -180 to 180 degrees", found, "correct it, or make both NaN"
        )
    return places


def _first_misplaced(places: Array) -> int:
    """Return the first row that is half unknown or no place on Earth; the number of rows if there is none.

    Each row is read once.
    """
    xp, n = array_namespace(places), len(places)
    if xp is np:
        return int(_find_misplaced(places))
    first = xp.full(1, n, np.int64)
    if n:
        (find,) = cuda_functions(_CUDA, "find_misplaced")
        find((min(-(-n // 256), 1 << 16),), (256,), (np.int64(n), xp.ascontiguousarray(places), first))
    return int(first[0])


@compiled()
def _find_misplaced(places):
    most_lat, most_lon = _DEGREES
    for v in range(len(places)):
        lat, lon = places[v, 0], places[v, 1]
        is_place = abs(lat) <= most_lat and abs(lon) <= most_lon
        if not is_place and not (np.isnan(lat) and np.isnan(lon)):
            return v
    return len(places)


_CUDA = f"""
typedef long long i64;
extern "C" __global__ void find_misplaced(i64 n, const double2* places, i64* first) {{
    for (i64 v = blockIdx.x * (i64)blockDim.x + threadIdx.x; v < n; v += (i64)gridDim.x * blockDim.x) {{
        const double2 at = places[v];
        const bool is_place = fabs(at.x) <= {_DEGREES[0]} && fabs(at.y) <= {_DEGREES[1]};
        if (!is_place && !(isnan(at.x) && isnan(at.y))) atomicMin(first, v);
    }}
}}
"""


def checked_vertices(vertices: Array, n: int) -> Array:
    """Return numbers of vertices as (t,) int64.

    Raises
    ------
    DataError
        If they have another shape or type, or one is not from 0 to n - 1.
    """
    array_of(vertices, "numbers of vertices", "iu", (None,))
    if vertices.size and (int(vertices.min()) < 0 or int(vertices.max()) >= n):
        found = f"{int(vertices.min())} to {int(vertices.max())}"
        raise DataError(f"vertices from 0 to {n - 1}", found, "check the vertex numbers")
    return vertices.astype(np.int64, copy=False)


def are_moderate(values: Array) -> bool:
    """Return whether all numbers above 0 lie between 1 / MODERATE and MODERATE."""
    if not values.size:
        return True
    xp = array_namespace(values)
    return float(values.max()) <= MODERATE and float(xp.where(values > 0, values, 1.0).min()) >= 1 / MODERATE


def scaled_rows(starts: Array, values: Array) -> Array:
    """Return values of which each row has a greatest one from 0.5 to 1, if any value is extreme; else the values.

    A row is multiplied by a power of two: the ratios within it are exact. What is above 0 remains so.

    Parameters
    ----------
    starts : (r + 1,) int64
        Start of each row.
    values : (p,) float64
        Not negative.
    """
    if are_moderate(values):
        return values
    xp = array_namespace(starts, values)
    row = rows_of_slots(starts, values.size)
    order = xp.lexsort(xp.stack([values, row.astype(np.float64)]))
    filled = starts[1:] > starts[:-1]
    greatest = xp.zeros(starts.size - 1)
    greatest[filled] = values[order[starts[1:][filled] - 1]]
    scaled = xp.ldexp(values, -xp.frexp(greatest)[1][row])
    return xp.where(values > 0, xp.maximum(scaled, LEAST), 0.0)
