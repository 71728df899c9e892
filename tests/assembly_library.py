"""A library of pairs with varying insert sizes, for tests of contigs and fragments."""

from __future__ import annotations

import numpy as np

from gpuasm.sequence.encoding import decode, reverse_complement

READ, INSERT, SD = 100, 400, 30


def random_codes(rng, length):
    return rng.integers(0, 4, length).astype(np.uint8)


def pairs_from(codes, *, fold, rng, mean=INSERT):
    """Return pairs of reads from random places of a text, with varying insert size."""
    texts = []
    for _ in range(fold * codes.size // (2 * READ)):
        insert = int(np.clip(rng.normal(mean, SD), 2 * READ, 2 * mean))
        start = int(rng.integers(0, codes.size - insert))
        mates = codes[start : start + READ], reverse_complement(codes[start + insert - READ : start + insert])
        texts += [decode(mate) for mate in (mates if rng.integers(2) else mates[::-1])]
    return texts
