"""Single words: what reads tell to be there once, known at every larger k.

In the last graph of reads these tell which unitigs are there once. Beyond the reads depth does not tell it any more, as
it is that of the copies whose pairs could be joined; but what holds a word that is there once is there once itself. So
what is certain of the k-mers of that graph is carried from k to k: a window of the next k is single if a k-mer within
it is.

A single word goes on in one way. So where the window before a junction is single and fragments take one way on from it,
any other is false (`contradicted`). Such ways come from unitigs too short for a step of k, between two copies of a
repeat: nothing but fragments goes through them, of a tangle few pairs are joined, and one of two ways in may be lost.
What follows on that way is left with the other way in alone, and its flank would go on there at every larger k, without
one fragment, until a contig begins with the other copy's bases.

Of E. coli O157:H7 (2 x 75, 30-fold) this is so of 12 of 23 false flanks that no fragment takes at k = 121, and of none
of 505 true ones; over all values of k, of 36 false ones and of one true. In 2 x 150 (60-fold) of 20, and of one.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.carrying.carrying import Text
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each


def single_windows(text: Text, tally: Tally, is_single: Array, *, k: int) -> Array:
    """Tell which k-mers of a tally hold a single one of the k before.

    Parameters
    ----------
    text
        The text that was tallied.
    tally
        The k-mers of the next k.
    is_single : (n_kmers,) bool
        Which of the k-mers that ``text.names`` name, of length ``k``, are there once for certain.

    Returns
    -------
    (tally.n,) bool
    """
    is_held = array_namespace(is_single).empty(tally.n, bool)
    _holds_single(tally.n, tally.place, text.names, tally.k - k, is_single, is_held)
    return is_held


def single_at_ends(text: Text, is_single: Array, *, k: int, next_k: int) -> tuple[np.ndarray, np.ndarray]:
    """Tell of which flanks the first window, the last of the source, and the last, the target's first, are single.

    Parameters
    ----------
    text
        The text of ``next_k``.
    is_single : (n_kmers,) bool
        As for `single_windows`.

    Returns
    -------
    Two arrays (n_flanks,) bool, on the host; the second is False where the target is too short for a window.
    """
    xp, first = array_namespace(is_single), text.n_reads + text.n_unitigs
    flanks = text.reads.select(xp.arange(first, text.reads.n_pieces))
    held = []
    for place in (flanks.start, flanks.start + flanks.length - next_k):
        held.append(xp.empty(flanks.n_pieces, bool))
        _holds_single(flanks.n_pieces, 2 * place, text.names, next_k - k, is_single, held[-1])
    return to_host(held[0]), to_host(held[1] & text.is_met)


@for_each
def _holds_single(i, place, names, step, is_single, is_held):
    first = place[i] >> 1
    is_held[i] = False
    for p in range(first, first + step + 1):
        if names[p] >= 0 and is_single[names[p] >> 1]:
            is_held[i] = True
            break
