"""Chimeric libraries: count the fragments that contain chimeric k-mers, which amplification produces.

Two overlapping mates read one molecule twice. A k-mer that both mates contain and no other read does is suspect if it
lies between two k-mers of many reads: the molecule was copied or joined wrongly there. A sequencing error is in one
mate only, and by chance low coverage hardly isolates one k-mer between two of high coverage.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import array_namespace, to_namespace
from gpuasm.assembly.alignment.ungapped import mismatch_mask
from gpuasm.assembly.iteration.merged_mates import OverlappingMates
from gpuasm.assembly.parameters import ITERATION
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.rolling import all_but_last, rolled
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures
from gpuasm.primitives.hashing import find
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

BOTH_MATES = 2
"""Count of a k-mer that the two mates of one fragment contain, and no other read."""
_NONE = np.uint64(0)


def count_chimeric_fragments(reads: Reads, mates: OverlappingMates, tally: Tally) -> tuple[int, int]:
    """Count the fragments with a k-mer of their own between k-mers of many reads.

    Parameters
    ----------
    reads
        Paired reads, on the host or on a device.
    mates
        The pairs whose mates overlap.
    tally
        The k-mers of a plain k that at least two reads contain.

    Returns
    -------
    How many fragments have a k-mer of many reads where their mates overlap; and how many of these have a k-mer of their
    own between two such k-mers, that is one that both mates contain and no other read.
    """
    xp = array_namespace(reads.packed)
    if mates.n == 0 or tally.n == 0:
        return 0, 0
    dictionary = Dictionary.of(tally.keys, k=tally.k, k0=0)
    index = (dictionary.keys, dictionary.slots, dictionary.n_slots)
    seen = xp.zeros(mates.n, np.uint8)
    text = (reads.start, reads.length, reads.packed)
    _find_own_kmers(
        mates.n,
        mates.first,
        mates.insert,
        *text,
        tally.k,
        *index,
        to_namespace(xp, tally.count),
        ITERATION.chimera_covering_reads,
        BOTH_MATES,
        seen,
    )
    return int((seen > 0).sum()), int((seen == 2).sum())


@signatures(
    "int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1], int64, uint64[::1], int32[::1], uint64, "
    "uint32[::1], int64, int64, uint8[::1]"
)
@for_each
def _find_own_kmers(i, first, insert, start, length, packed, k, keys, slots, n_slots, count, many, twice, seen):
    """Write 0 where no k-mer has many reads, 2 where a k-mer of this fragment alone lies between two such, else 1."""
    a = first[i]
    size_b = np.int64(length[a + 1])
    # Base j of the second mate's reverse complement lies at position other + j of ``packed``.
    other = start[a] + insert[i] - size_b
    begin = max(np.int64(0), insert[i] - size_b)
    end = min(np.int64(length[a]), insert[i])
    verdict, is_enclosed = 0, False
    if end - begin >= k:
        at = start[a] + begin
        forward, backward = all_but_last(packed, at, k)
        for p in range(at, start[a] + end - k + 1):
            forward, backward = rolled(forward, backward, base_at(packed, p + k - 1), k)
            number = find(min(forward, backward), keys, slots, n_slots)
            if number >= 0:
                if count[number] >= many:
                    verdict = 2 if is_enclosed or verdict == 2 else 1
                elif count[number] == twice and verdict == 1:
                    differs = mismatch_mask(packed, start[a + 1], size_b, 1, p - other, packed, other)
                    is_enclosed = is_enclosed or (differs >> np.uint64(64 - 2 * k)) == _NONE
    seen[i] = verdict
