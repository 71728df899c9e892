"""False anchors: reads that an error alone ties to a unitig.

Of a thousand reads from one copy of a repeat some have an error that makes a word of another copy's. Such a read is
anchored where it is not from, and a pair of them links what is far apart. But it does not agree with the unitig before
the anchor, which is the first word there is: there it was looked for in vain. How many bases do not agree though the
read is from there, differs from sequencer to sequencer, and the reads themselves tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.assembly.pairs.anchors import Anchored
from gpuasm.assembly.pairs.threading import GraphArrays, oriented_base
from gpuasm.parallel import for_each
from gpuasm.sequence.encoding import base_at
from gpuasm.sequence.reads import Reads

_SPREAD = 5
"""Standard deviations that the number of differing bases may be above its mean: errors do not come one by one."""
_ASIDE = 1
"""Differing bases that do not count: often the anchor is not the read's first word because of one."""
_UNIT = 1 << 12
"""The rate at which bases differ is in parts of this, so that all is whole numbers, the same on any device."""


def without_false_anchors(anchored: Anchored, reads: Reads, graph: GraphArrays) -> Anchored:
    """Take the anchors off reads that differ too much from the unitig before the anchor.

    Bases before the anchor differ at some rate, all reads taken together. An anchor is false where those of its read
    are, one aside, more than five standard deviations above their mean, by Poisson.

    Parameters
    ----------
    anchored
        Where each piece is anchored.
    reads
        The pieces.
    graph
        The graph that they are anchored in.

    Returns
    -------
    The anchors, without the false ones.
    """
    xp, n = array_namespace(reads.words), reads.n_pieces
    compared, differing = xp.zeros(n, np.int32), xp.zeros(n, np.int32)
    _compare(
        n, reads.start, reads.words, anchored.oriented, anchored.base, anchored.offset, graph.words, graph.start,
        compared, differing,
    )  # fmt: skip
    more, expected = xp.maximum(differing.astype(np.int64) - _ASIDE, 0), compared.astype(np.int64)
    expected *= _UNIT * int(more.sum()) // max(1, int(expected.sum()))
    excess = _UNIT * more - expected
    is_false = (excess > 0) & (excess * excess > _SPREAD**2 * _UNIT * expected)
    return replace(anchored, oriented=xp.where(is_false, -1, anchored.oriented).astype(np.int32))


@for_each
def _compare(r, read_start, read_words, oriented, base, offset, words, start, compared, differing):
    o = np.int64(oriented[r])
    if o >= 0:
        n = 0
        for q in range(max(np.int64(0), -base[r]), offset[r]):
            code = np.int64(base_at(read_words, read_start[r] + q))
            if oriented_base(words, start, o, base[r] + q) != code:
                n += 1
        compared[r] = offset[r] - max(np.int64(0), -base[r])
        differing[r] = n
