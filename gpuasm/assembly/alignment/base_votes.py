"""Collect the votes of aligned reads against contig bases: every base in which a read differs from its contig."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.parallel import for_each, signatures
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_ONE, _THREE = np.uint64(1), np.uint64(3)


def count_votes(reads: Reads, aligned: Alignments, targets: Targets) -> Array:
    """Return ``4 * place + base`` for each base of a read that differs from its contig: (n,) int64.

    Only uniquely aligned reads vote.
    """
    xp = array_namespace(aligned.at)
    rows = xp.flatnonzero(aligned.is_unique & (aligned.mismatches > 0))
    end = xp.cumsum(aligned.mismatches[rows].astype(np.int64))
    found = xp.empty(int(end[-1]) if rows.size else 0, np.int64)
    where = (aligned.segment, aligned.at, aligned.is_reversed, aligned.begin, aligned.end, aligned.target)
    names = ("start", "size", "is_circular", "offset")
    own = tuple(to_namespace(xp, getattr(targets, name)) for name in names)
    out = (end - aligned.mismatches[rows], found)
    _collect_votes(rows.size, rows, *where, reads.start, reads.length, reads.packed, *own, targets.packed, *out)
    return found


@signatures(
    "int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1], int32[::1], int64[::1], int32[::1], "
    "uint64[::1], int64[::1], int64[::1], boolean[::1], int64[::1], uint64[::1], int64[::1], int64[::1]"
)
@for_each
def _collect_votes(
    v,
    rows,
    segment,
    at,
    is_reversed,
    begin,
    end,
    target,
    read_start,
    length,
    read_packed,
    start,
    size,
    is_circular,
    offset,
    text_packed,
    out_first,
    found,
):
    p = rows[v]
    r = segment[p]
    t = target[p]
    n = np.int64(length[r])
    out = out_first[v]
    j = begin[p] - at[p]
    last = end[p] - at[p]
    while j < last:
        differs = mismatch_mask(read_packed, read_start[r], n, is_reversed[p], j, text_packed, at[p])
        stop = min(last, j + 32)
        if differs != np.uint64(0):
            for i in range(j, stop):
                if (differs >> np.uint64(62 - 2 * (i - j))) & _ONE:
                    base = base_at(read_packed, read_start[r] + i)
                    if is_reversed[p]:
                        base = _THREE - base_at(read_packed, read_start[r] + n - 1 - i)
                    within = at[p] + i - start[t]
                    if is_circular[t]:
                        within %= size[t]
                    found[out] = 4 * (offset[t] + within) + np.int64(base)
                    out += 1
        j = stop
