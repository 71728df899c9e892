"""Spanning: which stretches and windows of contigs fragments go across, from before their first base to their last."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.consensus.targets import Targets
from gpuasm.parallel import compiled

_SPANNED = 2
"""Fragments that show what belongs together: one may be two molecules in one."""


def unspanned_middles(stretches: np.ndarray, begin: np.ndarray, end: np.ndarray, targets: Targets) -> np.ndarray:
    """Return the middles of those stretches that fragments do not span, ascending: (b,) int64.

    Only stretches longer than half of the fragments are judged: shorter ones larger values of k go across, though mates
    beside them may have no place of their own. Of stretches that lie over each other the first is taken that no
    fragment spans, and none within a fragment's length of a contig's end: there none across proves nothing.

    Parameters
    ----------
    stretches : (n, 2) int64
        Places among the bases of all contigs, where each begins and ends.
    begin, end : (m,) int64
        Where fragments begin and end, in text positions.
    targets
        What these lie on.
    """
    if stretches.size == 0 or begin.size == 0:
        return np.empty(0, np.int64)
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    longest, typical = int((end - begin).max()), int(np.median(end - begin))
    target = np.searchsorted(targets.offset, stretches[:, 0], side="right") - 1
    first, size = targets.offset[target], targets.size[target]
    found: list[int] = []
    for (low, high), t, own, n in zip(stretches.tolist(), target.tolist(), first.tolist(), size.tolist(), strict=True):
        is_short = high - low <= typical
        is_near_end = low - own < longest or own + n - high < longest or targets.is_circular[t]
        if is_short or is_near_end or any(low <= place <= high for place in found):
            continue
        shift = int(targets.start[t]) - own
        rows = slice(*np.searchsorted(begin, [low + shift - longest, low + shift]).tolist())
        if int((end[rows] > high + shift).sum()) < _SPANNED:
            found.append((low + high) // 2)
    return np.array(sorted(found), np.int64)


@compiled()
def count_places(places, times, counts):
    """Count each place so many times, and return the counts; places beyond the end are passed over."""
    for place in places:
        if place < counts.size:
            counts[place] += times
    return counts


def without_any(begin: np.ndarray, end: np.ndarray, targets: Targets, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last of each run of windows, within one linear target, that no fragment spans.

    Returns
    -------
    low, high : (m,) int64
        Text positions where these windows begin.
    """
    changes, spans = np.zeros(int(targets.start[-1]) + 1, np.int32), end - begin >= window
    spanning = np.cumsum(count_places(end[spans] - window + 1, -1, count_places(begin[spans], 1, changes)))
    # A run ends where a target's last window begins; circles have none.
    n_windows = np.where(targets.is_circular, 0, np.maximum(targets.size - window + 1, 0))
    first, changes = targets.start[:-1], np.zeros(changes.size, np.int32)
    inside = np.cumsum(count_places(first + n_windows, -1, count_places(first, 1, changes)))
    is_bare = np.concatenate([[False], (spanning == 0) & (inside > 0), [False]])
    low, behind = np.flatnonzero(is_bare[1:] != is_bare[:-1]).reshape(-1, 2).T
    return low, behind - 1
