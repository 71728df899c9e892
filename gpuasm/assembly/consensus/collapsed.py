"""Collapsed repeats: stretches inside contigs on which the reads of several copies lie, and that no fragment spans.

The units of a tandem repeat, or copies of a repeat with each other's sides lost, may be left in a graph once, between
what is before the first and what is behind the last. All their reads lie there then: many times as many as on the
contig's other bases. Where fragments go across, such a stretch is told by them, and the others' copies are missing
elsewhere. Where not even two do, what its two sides have to do with each other is a guess, and the contig is broken in
its middle.

Reads of other copies end with the repeat, so that depth falls by half at least within twenty bases. Where a sample is
uneven, as captured or amplified ones are, it is as high in places, but falls off more gently. So it does where the
first and the last unit of a tandem repeat differ from those between: a stretch that repeats itself, two of many units,
needs no steep edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.assembly.contigs import Contig
from gpuasm.kmers.words import words_of

_TIMES = 5, 2
"""A stretch is deeper than five halves of its contig's mean: reads of three copies are, of two hardly ever."""
_LEAST_DEPTH = 10
"""Where a contig has fewer reads over a base on average, chance makes such stretches."""
_LEAST_BASES = 100
"""Bases of a stretch at least: shorter ones chance makes, and motifs."""
_BESIDE = 10
"""Bases on either side of an edge between which depth rises."""
_TANDEM = 0.5
"""Share of a stretch's words that stand in it more than once, at least, for it to be units of a tandem repeat."""


def find_deep(contigs: Sequence[Contig], depth: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return the stretches of contigs that are far deeper than these: (n, 2) int64, where each begins and ends.

    Parameters
    ----------
    contigs
        The contigs.
    depth : (n_places,) int32
        Reads over each base of all contigs, one contig after the other.
    bounds : (n + 1,) int64
        The places where each contig begins, and the end.
    """
    found = [np.empty((0, 2), np.int64)]
    for contig, low, high in zip(contigs, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own = depth[low:high]
        if own.sum(dtype=np.int64) < _LEAST_DEPTH * own.size:
            continue
        is_deep = _TIMES[1] * own.size * own.astype(np.int64) > _TIMES[0] * own.sum(dtype=np.int64)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_deep, [False]]).astype(np.int8)))
        begin, end = edges.reshape(-1, 2).T
        # Dips between two stretches, shorter than either may be, do not part them.
        parts, n = begin[1:] - end[:-1] >= _LEAST_BASES, begin.size
        begin, end = begin[np.concatenate([[True], parts])[:n]], end[np.concatenate([parts, [True]])[:n]]
        kept = (end - begin >= _LEAST_BASES) & (begin >= _BESIDE) & (end + _BESIDE <= own.size)
        begin, end = begin[kept], end[kept]
        is_told = _rises(own, begin - _BESIDE, begin + _BESIDE) & _rises(own, end + _BESIDE - 1, end - _BESIDE - 1)
        for i in np.flatnonzero(~is_told).tolist():
            is_told[i] = _is_tandem(contig.codes[begin[i] : end[i]])
        found.append(low + np.stack([begin[is_told], end[is_told]], axis=1).astype(np.int64))
    return np.concatenate(found)


def _is_tandem(codes: np.ndarray) -> bool:
    """Tell whether most of a text's words, as it reads them, stand in it more than once."""
    words = words_of(codes & 3)[0]
    _, times = np.unique(words, return_counts=True)
    return bool(times[times > 1].sum() >= max(1.0, _TANDEM * words.size))


def _rises(depth: np.ndarray, outside: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Tell whether depth inside is at least twice what it is outside."""
    return depth[inside] >= 2 * depth[outside].astype(np.int64)
