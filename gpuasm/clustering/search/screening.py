"""Error bound of the screening by scalar products, which guarantees that excluded units are not the best.

With rows and weights less the same centre, x and w, the squared distance is |x|^2 + 2 s, s = |w|^2 / 2 - w.x, and s is
computed by a matrix product. In float32, with u = 2^-24, any order of summation, and W the largest |w|, the error of s
is at most E = u ((d + 1) |x| W + W^2 + (|x| + W)^2): the product by d u |x| W, the halved norm, rounded once, and the
subtraction by u (W^2 + |x| W), and subtracting the centre by u (|x| + W)^2. The distance as defined (columns in order,
differences and sums rounded) has a factor of at most 1 +- g, g = (d + 3) u. A unit with s > T, where

    T = b + 2 E + 2 g / (1 - g) (b + E + |x|^2 / 2),     b = s of the second best so far,

is thus farther, as defined, than two others. All with s <= T are measured as defined, and the best two of these are the
best two of all.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace
from gpuasm.parallel import for_each, inlined


def squared_lengths(vectors: Array) -> Array:
    """Return the sum of squares of each row, float64."""
    xp = array_namespace(vectors)
    out = xp.empty(vectors.shape[0], np.float64)
    _add_squares(vectors.shape[0], vectors.reshape(-1), vectors.shape[1], out)
    return out


@inlined()
def threshold(best, norm, largest, d):
    """Return T for float64 arguments: s of the second best, |x|, the largest |w|, and the columns."""
    rounding = 5.960464477539063e-08  # u; 1.02 covers terms of second order in u and the rounding of T
    spread = norm + largest
    error = 1.02 * rounding * ((d + 1) * norm * largest + largest * largest + spread * spread) + d * 1e-37
    factor = 1.02 * (d + 3) * rounding
    above = max(0.0, best + error + 0.5 * norm * norm)
    return best + 2.0 * error + 2.0 * factor / (1.0 - factor) * above


def centred(values: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return values - centre in float32, rounded once."""
    return np.subtract(values, centre, dtype=np.float32)


@for_each
def _add_squares(i, vectors, d, out):
    total = 0.0
    for k in range(i * d, (i + 1) * d):
        value = float(vectors[k])
        total += value * value
    out[i] = total
