"""Compare all pairs of sketches: the number of hashes that two samples share, the same on every device.

Mash's rule for bottom sketches: among the s least hashes of the union of two sketches, count those in both. A common
hash that is the i-th of one sketch and the j-th of the other, with c common ones before it, is the (i + j - c)-th of
the union, counted from 0: it counts if that is below s. So one pass over an inverted index of the samples of each hash,
in ascending order, counts every pair; hashes of a single sample cost nothing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, cuda_functions, to_host, to_namespace
from gpuasm.checks import instance
from gpuasm.errors import one_line
from gpuasm.graph.names import short_list
from gpuasm.parallel import compiled
from gpuasm.samples.hash_index import HashIndex, index_in_parts, merge_alike
from gpuasm.samples.sketches import Sketches, SketchKind
from gpuasm.threads import run_chunks

_LOG = logging.getLogger(__name__)
_SOME, _MOST_LETTERS = 5, 120
_NO_BOUND = (1 << 31) - 1
_THREADS = 256
_MOST_BLOCKS = 1 << 16


@dataclass(frozen=True)
class Comparison:
    """Numbers of hashes that all pairs of samples share.

    Attributes
    ----------
    kind : SketchKind
    names : tuple of str
    sizes : (n,) int64
        Hashes of each sample.
    shared : (n, n) int32
        Shared hashes among those compared; symmetric.
    """

    kind: SketchKind
    names: tuple[str, ...]
    sizes: np.ndarray
    shared: np.ndarray

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def compared(self) -> np.ndarray:
        """Compared hashes of the union of each two sketches, (n, n) int64: at most the size of a bottom sketch."""
        union = self.sizes[:, None] + self.sizes[None, :] - self.shared
        return union if self.kind.is_scaled else np.minimum(union, self.kind.size)


def compare(sketches: Sketches, xp: Any = np) -> Comparison:
    """Compare all pairs of sketches on the device of namespace ``xp``; a warning names those without any hash."""
    instance(sketches, Sketches, "sketches")
    empty = [name for name, size in zip(sketches.names, sketches.sizes.tolist(), strict=True) if size == 0]
    if empty and sketches.n > 1:
        _LOG.warning(
            "%d of %d sketches have no hash, so nothing is known of their distances: %s; sketch them with a lower"
            " --scaled", len(empty), sketches.n, one_line(short_list(empty, _SOME), _MOST_LETTERS),
        )  # fmt: skip
    shared = to_host(shared_hashes(sketches, xp))
    return Comparison(sketches.kind, sketches.names, sketches.sizes, shared)


def shared_hashes(sketches: Sketches, xp: Any = np) -> Array:
    """Count the shared hashes of each two samples.

    Parameters
    ----------
    sketches
        On the host or on the device of ``xp``.
    xp
        numpy or cupy, the device that counts.

    Returns
    -------
    (n, n) int32 of ``xp``, symmetric; on the diagonal the hashes of each sample.
    """
    n = sketches.n
    shared = xp.zeros((n, n), np.int32)
    hashes = to_namespace(xp, sketches.hashes)
    offsets = xp.asarray(sketches.offsets)
    count = _count_cpu if xp is np else _count_cuda
    is_scaled = sketches.kind.is_scaled
    for index in index_in_parts(hashes, offsets):
        count(merge_alike(index) if is_scaled else index, _NO_BOUND if is_scaled else sketches.kind.size, shared)
    shared += shared.T.copy()
    diagonal = xp.arange(n)
    shared[diagonal, diagonal] = xp.asarray(sketches.sizes.astype(np.int32))
    return shared


def _count_cpu(index: HashIndex, size: int, shared: np.ndarray) -> None:
    """Fill the upper triangle: a row of samples at a time."""
    run_chunks(_count_rows, shared.shape[0], *index, np.int64(size), shared)


@compiled()
def _count_rows(first, last, offsets, before, ids, start, place, holder, rank, weight, size, shared):
    for a in range(first, last):
        row = shared[a]
        for e in range(offsets[a], offsets[a + 1]):
            own = e - offsets[a] + before[a]
            times = weight[ids[e]]
            for p in range(place[e] + 1, start[ids[e] + 1]):
                b = holder[p]
                if own + rank[p] - row[b] < size:
                    row[b] += times


def _count_cuda(index: HashIndex, size: int, shared: Array) -> None:
    """Fill the upper triangle: a block for each row of samples, a thread for each holder of a hash."""
    n = shared.shape[0]
    (count,) = cuda_functions(_CUDA, "count_shared")
    count((min(n, _MOST_BLOCKS),), (_THREADS,), (np.int64(n), *index, np.int32(min(size, (1 << 31) - 1)), shared))


_CUDA = """
typedef long long i64;
extern "C" __global__ void count_shared(i64 n, const i64* offsets, const i64* before, const int* ids, const i64* start,
                                        const i64* place, const int* holder, const int* rank, const int* weight,
                                        int size, int* shared) {
    for (i64 a = blockIdx.x; a < n; a += gridDim.x) {
        int* row = shared + a * n;
        for (i64 e = offsets[a]; e < offsets[a + 1]; e++) {
            i64 first = place[e] + 1, last = start[ids[e] + 1];
            if (first == last) continue;  // the same for all threads of the block
            int own = (int)(e - offsets[a] + before[a]), times = weight[ids[e]];
            for (i64 p = first + threadIdx.x; p < last; p += blockDim.x) {
                int b = holder[p], already = row[b];
                if (own + rank[p] - already < size) row[b] = already + times;
            }
            __syncthreads();  // for the next hash, another thread may update the same pair
        }
    }
}
"""
