"""Reads of two places that share a short sequence, so that a false edge joins them at small k."""

from __future__ import annotations

import numpy as np

SHARED = 23


def random_text(n: int, seed: int) -> str:
    """Return n random bases."""
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


def two_places(*, fold: int) -> tuple[str, list[str]]:
    """Return the false edge between two places that share 23 bases, and reads; those of the first place end there."""
    own, shared, other = random_text(600, 1), random_text(SHARED, 2), random_text(600, 3)
    before = random_text(600, 4)
    first, second = own + shared, before + shared + other
    reads = [second[i : i + 100] for i in range(0, len(second) - 99, 8)]
    reads += [first[i : i + 100] for i in range(0, len(first) - 99, 100 // fold)]
    return own[-5:] + shared + other[:1], reads + [first[-100:]] * 2
