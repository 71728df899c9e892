"""Batches: reads some millions of pieces at a time, so that what is known of each stays small."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.assembly.consensus.stretches import word_at
from gpuasm.parallel import for_each
from gpuasm.primitives.hashing import mix
from gpuasm.sequence.reads import Reads

_PIECES_AT_A_TIME = 1 << 22
_ONE = np.uint64(1)


def batches(reads: Reads) -> Iterator[Reads]:
    """Yield the reads some millions of pieces at a time, mates together, each pair in the batch that its bases choose.

    Insert sizes are measured on the first batch, so which pairs that holds must not depend on the order of the reads.
    """
    n_batches = -(-reads.n_pieces // _PIECES_AT_A_TIME)
    if n_batches == 1:
        yield reads
    if n_batches <= 1:
        return
    xp = array_namespace(reads.words)
    batch = xp.empty(reads.n_pieces, np.int32)
    first_of_pair = xp.searchsorted(reads.read, reads.read // 2 * 2 if reads.paired else reads.read)
    _choose_batch(reads.n_pieces, first_of_pair, reads.start, reads.words, np.uint64(n_batches), batch)
    for number in range(n_batches):
        yield reads.select(xp.flatnonzero(batch == number))


@for_each
def _choose_batch(r, first_of_pair, start, words, n_batches, batch):
    batch[r] = np.int64((mix(word_at(words, start[first_of_pair[r]])) >> _ONE) % n_batches)
