"""Spell k-mers out: from a place in the text to the lesser of the two strands' texts."""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import base_at


def spell_kmers(words: Array, tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the k-mers of a tally as sorted text, with their counts.

    Parameters
    ----------
    words
        The text that ``tally.place`` points into.
    tally
        The k-mers.

    Returns
    -------
    kmers : (n, ceil(k / 32)) uint64
        Each k-mer on the strand whose text is the lesser, 32 bases a word, the first base in the highest bits, zeros
        behind the last; rows ascend.
    count : (n,) uint32
        Occurrences.
    """
    xp, n_words = array_namespace(tally.keys), -(-tally.k // 32)
    spelled = xp.zeros(tally.n * n_words, np.uint64)
    _spell(tally.n, words, tally.place, tally.k, n_words, spelled)
    kmers, count = to_host(spelled).reshape(tally.n, n_words), to_host(tally.count)
    order = np.argsort(kmers[:, 0]) if n_words == 1 else np.lexsort(kmers.T[::-1])
    return kmers[order], count[order]


@for_each
def _spell(i, words, place, k, n_words, spelled):
    position = place[i] >> 1
    backwards = False
    for j in range(k):
        x = base_at(words, position + j)
        y = np.uint64(3) - base_at(words, position + k - 1 - j)
        if x != y:
            backwards = y < x
            break
    for j in range(k):
        base = base_at(words, position + j)
        if backwards:
            base = np.uint64(3) - base_at(words, position + k - 1 - j)
        spelled[i * n_words + (j >> 5)] |= base << np.uint64(62 - 2 * (j & 31))
