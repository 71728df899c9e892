"""Distinct integers: by a bitmap if their range is small enough, else by sorting."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, cuda_functions
from gpuasm.parallel import compiled

_MOST = 1 << 32
"""Largest range of a bitmap: half a gigabyte."""


def distinct(values: Array) -> Array:
    """Return the distinct values, ascending.

    Parameters
    ----------
    values : (n,) of an integer type
        May be negative.

    Returns
    -------
    (d,) of the same type.
    """
    xp = array_namespace(values)
    if values.size == 0:
        return values.copy()
    low, high = int(values.min()), int(values.max())
    size = high - low + 1
    if size > min(_MOST, 64 * values.size):
        return xp.unique(values)
    found = _mark_cuda(values, low, size) if xp is not np else _mark_cpu(values, low, size)
    return (xp.flatnonzero(found) + low).astype(values.dtype)


def _mark_cpu(values: np.ndarray, low: int, size: int) -> np.ndarray:
    seen = np.zeros(size, dtype=bool)
    _mark(values, low, seen)
    return seen


@compiled()
def _mark(values, low, seen):
    for value in values:
        seen[np.int64(value) - low] = True


def _mark_cuda(values: Array, low: int, size: int) -> Array:
    xp = array_namespace(values)
    seen = xp.zeros(size, np.uint8)
    kernels = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
    name = f"mark_{'u' if values.dtype.kind == 'u' else ''}{kernels[values.dtype.itemsize]}"
    (mark,) = cuda_functions(_CUDA, name)
    blocks = min((values.size + 255) // 256, 132 * 64)
    mark((blocks,), (256,), (values, np.int64(values.size), np.int64(low), seen))
    return seen


_CUDA = "\n".join(
    f"""
extern "C" __global__ void mark_{name}(const {kind}* values, long long n, long long low, unsigned char* seen) {{
    // Reading first avoids repeated writes of frequent values.
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {{
        long long at = (long long)values[i] - low;
        if (!seen[at]) seen[at] = 1;
    }}
}}"""
    for name, kind in (
        ("int8", "signed char"),
        ("int16", "short"),
        ("int32", "int"),
        ("int64", "long long"),
        ("uint8", "unsigned char"),
        ("uint16", "unsigned short"),
        ("uint32", "unsigned"),
        ("uint64", "unsigned long long"),
    )
)
