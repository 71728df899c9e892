"""Checksums of the edges of each vertex, to detect changed vertices."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.graph.directed_graph import DirectedGraph

_M1, _M2, _SHIFT = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53), np.uint64(33)


def row_checksums(graph: DirectedGraph, keys: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return a checksum of the edges and weights of each vertex, independent of their order.

    Parameters
    ----------
    graph
        On the host or on a device.
    keys : (n,) uint64
        A number for each vertex that does not change if vertices are renumbered.
    weights : (m,) float64, optional

    Returns
    -------
    (n,) uint64
    """
    slots = _mixed(keys)[to_host(graph.columns)]
    if weights is not None:
        slots = slots ^ _mixed(np.ascontiguousarray(to_host(weights), np.float64).view(np.uint64) + _M1)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(slots), dtype=np.uint64)])  # modulo 2^64
    offsets = to_host(graph.row_offsets)
    return sums[offsets[1:]] - sums[offsets[:-1]]


def keys_of_names(names: Sequence[str]) -> np.ndarray:
    """Return a number (n,) uint64 for each name."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def _mixed(values: np.ndarray) -> np.ndarray:
    """Mix the bits of numbers: the finaliser of MurmurHash3."""
    values = values ^ (values >> _SHIFT)
    values = values * _M1
    values = values ^ (values >> _SHIFT)
    values = values * _M2
    return values ^ (values >> _SHIFT)
