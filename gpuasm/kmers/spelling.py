"""Spell k-mers: from a position in the text to the lesser of the sequences of both strands."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import base_at


def spell_kmers(packed: Array, tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the k-mers of a tally as sorted text, with their counts.

    Parameters
    ----------
    packed
        The text of the positions ``tally.place``.
    tally
        The k-mers.

    Returns
    -------
    kmers : (n, ceil(k / 32)) uint64
        The lesser of each k-mer and its reverse complement, 32 bases in each element, the first base in the highest
        bits, zeros after the last; rows ascend.
    count : (n,) uint32
        Occurrences.
    """
    xp, n_packed = array_namespace(tally.keys), -(-tally.k // 32)
    spelled = xp.zeros(tally.n * n_packed, np.uint64)
    _spell(tally.n, packed, tally.place, tally.k, n_packed, spelled)
    kmers, count = to_host(spelled).reshape(tally.n, n_packed), to_host(tally.count)
    order = np.argsort(kmers[:, 0]) if n_packed == 1 else np.lexsort(kmers.T[::-1])
    return kmers[order], count[order]


@for_each
def _spell(i, packed, place, k, n_packed, spelled):
    position = place[i] >> 1
    backwards = False
    for j in range(k):
        x = base_at(packed, position + j)
        y = np.uint64(3) - base_at(packed, position + k - 1 - j)
        if x != y:
            backwards = y < x
            break
    for j in range(k):
        base = base_at(packed, position + j)
        if backwards:
            base = np.uint64(3) - base_at(packed, position + k - 1 - j)
        spelled[i * n_packed + (j >> 5)] |= base << np.uint64(62 - 2 * (j & 31))
