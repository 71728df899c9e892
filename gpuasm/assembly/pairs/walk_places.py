"""Where a read lies on walks: wherever it differs from one of them by the fewest bases.

Reads have errors, of 100 bases more than half of them in some libraries. Errors must not decide which fragments have a
say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.parallel import compiled

LEAST_PER_DIFFERENCE = 25
"""Bases of a read for each that may differ."""


def places_on(texts: Sequence[bytes], reads: Sequence[bytes]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return where each read lies on texts.

    Parameters
    ----------
    texts
        Codes of the walks, with what lies beside them.
    reads
        Codes of reads, in the walks' direction.

    Returns
    -------
    For each read the numbers of the texts that hold it, ascending, and where in them its first base is, both int64:
    all places at which as few of its bases differ as anywhere, none where more than one in `LEAST_PER_DIFFERENCE` do.
    """
    codes = np.frombuffer(b"".join(texts), np.uint8)
    start = np.cumsum([0, *(len(text) for text in texts)], dtype=np.int64)
    text, at = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64)
    found = []
    for read in reads:
        n = _lay(codes, start, np.frombuffer(read, np.uint8), len(read) // LEAST_PER_DIFFERENCE, text, at)
        found.append((text[:n].copy(), at[:n].copy()))
    return found


@compiled()
def _lay(codes, start, read, most, text, at):
    """Write the text and the position of each place with the fewest differences, most of them; return their number."""
    n = 0
    for i in range(start.size - 1):
        for p in range(start[i], start[i + 1] - read.size + 1):
            differing = 0
            for j in range(read.size):
                if codes[p + j] != read[j]:
                    differing += 1
                    if differing > most:
                        break
            if differing < most:
                most, n = differing, 0
            if differing == most:
                text[n], at[n] = i, p - start[i]
                n += 1
    return n
