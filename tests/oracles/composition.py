"""Tetranucleotides as text."""

from __future__ import annotations

import itertools
from collections import Counter

from tests.oracles.kmers import canonical, windows

COLUMNS = sorted({canonical("".join(tetramer)) for tetramer in itertools.product("ACGT", repeat=4)})


def tetramer_counts(text: str) -> list[int]:
    counts = Counter(canonical(window) for window in windows([text], 4))
    return [counts[tetramer] for tetramer in COLUMNS]
