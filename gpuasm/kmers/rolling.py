"""Rolling k-mers along a text: each step appends a base at one end and drops one at the other.

A k-mer of at most 31 bases is held on both strands, as two uint64 of two bits a base: ``forward`` as in the text,
its first base in the highest bits, and ``backward``, its reverse complement. Callers keep the two in registers.
"""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import inlined
from gpuasm.sequence.encoding import base_at

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@inlined()
def all_but_last(packed, position, k):
    """Return ``forward, backward`` of the k - 1 packed bases from ``position`` on; `rolled` adds the last."""
    top = np.uint64(2 * (k - 1))
    forward = np.uint64(0)
    backward = np.uint64(0)
    for i in range(k - 1):
        base = base_at(packed, position + i)
        forward = (forward << _TWO) | base
        backward = (backward >> _TWO) | ((_THREE - base) << top)
    return forward, backward


@inlined()
def rolled(forward, backward, base, k):
    """Return ``forward, backward`` of the k-mer whose last base is ``base`` (uint64), one base further in the text."""
    kmer_mask = (_ONE << np.uint64(2 * k)) - _ONE
    top = np.uint64(2 * (k - 1))
    return ((forward << _TWO) | base) & kmer_mask, (backward >> _TWO) | ((_THREE - base) << top)
