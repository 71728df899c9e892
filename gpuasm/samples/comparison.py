"""All sketches against all: how many hashes each two samples share, in integers, the same on every device.

Mash's rule for bottom sketches: of the union of two sketches the s least hashes are taken, and those that are in both
are counted. A common hash that is the i-th of one sketch and the j-th of the other, with c common ones before it, is
the (i + j - c)-th of the union, all counted from 0: it counts where that is below s. So one pass over an index of who
has which hash, hashes ascending, counts every pair; hashes that a single sample has cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.arrays import Array, to_host, to_namespace
from gpuasm.samples.holders import index_in_parts, merge_alike
from gpuasm.samples.sketches import Sketches, SketchKind

_NO_BOUND = (1 << 31) - 1


@dataclass(frozen=True)
class Comparison:
    """What all pairs of samples share.

    Attributes
    ----------
    kind : SketchKind
    names : tuple of str
    sizes : (n,) int64
        Hashes of each sample.
    shared : (n, n) int32
        Hashes that two samples share, of those compared; symmetric.
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
        """Hashes of the union of each two sketches that were compared, (n, n) int64: at most a bottom sketch's size."""
        union = self.sizes[:, None] + self.sizes[None, :] - self.shared
        return union if self.kind.is_scaled else np.minimum(union, self.kind.size)


def compare(sketches: Sketches, xp: Any = np) -> Comparison:
    """Compare all sketches with all, where namespace ``xp`` computes."""
    shared = to_host(shared_hashes(sketches, xp))
    return Comparison(sketches.kind, sketches.names, sketches.sizes, shared)


def shared_hashes(sketches: Sketches, xp: Any = np) -> Array:
    """Count the hashes that each two samples share.

    Parameters
    ----------
    sketches
        On the host or on the device of ``xp``.
    xp
        numpy or cupy: where to count.

    Returns
    -------
    (n, n) int32 of ``xp``, symmetric; on the diagonal the hashes of each sample.
    """
    n = sketches.n
    shared = xp.zeros((n, n), np.int32)
    hashes = to_namespace(xp, sketches.hashes)
    offsets = xp.asarray(sketches.offsets)
    if xp is np:
        from gpuasm.samples.shared_cpu import count_shared_cpu as count  # noqa: PLC0415 - either twin, never both
    else:
        from gpuasm.samples.shared_cuda import count_shared_cuda as count  # noqa: PLC0415
    is_scaled = sketches.kind.is_scaled
    for index in index_in_parts(hashes, offsets):
        count(merge_alike(index) if is_scaled else index, _NO_BOUND if is_scaled else sketches.kind.size, shared)
    shared += shared.T.copy()
    diagonal = xp.arange(n)
    shared[diagonal, diagonal] = xp.asarray(sketches.sizes.astype(np.int32))
    return shared
