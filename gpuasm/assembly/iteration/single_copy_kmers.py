"""Single-copy k-mers: pass the k-mers of certainly single-copy unitigs on to each larger k.

The last graph of reads shows which unitigs are single-copy. At larger k depth no longer shows it, as it depends on
which pairs were joined; but a k-mer that contains a single-copy k-mer is single-copy itself. So a window of the next k
is single-copy if a k-mer within it is.

A single-copy k-mer has exactly one successor in the genome. Where the window before a junction is single-copy and
fragments support one edge from it, any other edge is false (`edge_support`). Such edges arise at unitigs shorter than
the step of k between two repeat copies: only fragments span them, and where few pairs are joined, one of two incoming
edges is lost. The flank of the other edge would then be passed on to each larger k without one supporting fragment.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.assembly.iteration.passed_contigs import Text
from gpuasm.kmers.tally import Tally
from gpuasm.parallel import for_each, signatures


def single_copy_windows(text: Text, tally: Tally, is_single: Array, *, k: int) -> Array:
    """Return which k-mers of a tally contain a single-copy k-mer of the previous k.

    Parameters
    ----------
    text
        The text whose k-mers were counted.
    tally
        The k-mers of the next k.
    is_single : (n_kmers,) bool
        Which k-mers of length ``k``, as named in ``text.names``, are certainly single-copy.

    Returns
    -------
    (tally.n,) bool
    """
    contains_single = array_namespace(is_single).empty(tally.n, bool)
    _contains_single(tally.n, tally.place, text.names, tally.k - k, is_single, contains_single)
    return contains_single


def single_copy_ends(text: Text, is_single: Array, *, k: int, next_k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return of which flanks the first window, in the source, and the last one, in the target, are single-copy.

    Parameters
    ----------
    text
        The text of ``next_k``.
    is_single : (n_kmers,) bool
        As for `single_copy_windows`.

    Returns
    -------
    Two arrays (n_flanks,) bool, on the host; the second is False where the target is too short for a window.
    """
    xp, first = array_namespace(is_single), text.n_reads + text.n_contigs
    flanks = text.reads.select(xp.arange(first, text.reads.n_segments))
    found = []
    for place in (flanks.start, flanks.start + flanks.length - next_k):
        found.append(xp.empty(flanks.n_segments, bool))
        _contains_single(flanks.n_segments, 2 * place, text.names, next_k - k, is_single, found[-1])
    return to_host(found[0]), to_host(found[1] & text.reaches_passed)


@signatures("int64[::1], int32[::1], int64, boolean[::1], boolean[::1]")
@for_each
def _contains_single(i, place, names, step, is_single, contains_single):
    first = place[i] >> 1
    contains_single[i] = False
    for p in range(first, first + step + 1):
        if names[p] >= 0 and is_single[names[p] >> 1]:
            contains_single[i] = True
            break
