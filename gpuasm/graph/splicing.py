"""Splice a few circuits: compute their new labels and ranks from the old ones, without ranking the edges again.

Exchanges cut the old circuits into segments that begin at the slots concerned. The host orders these few segments, and
each edge looks up its segment: one sequential pass over the edges, where a second list ranking has random access.
"""

from __future__ import annotations

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.parallel import for_each
from gpuasm.primitives.cycles import Cycles
from gpuasm.primitives.searching import run_of

MOST = 1024
"""Circuits and links up to which splicing is faster than ranking again."""


def splice(circuits: Cycles, links: Array) -> Cycles:
    """Return the circuits after the predecessors of edges i and i + 1 are exchanged, for all links i.

    Parameters
    ----------
    circuits
        The circuits before, at most a few thousand.
    links : (k,) int64, ascending
        Links of a spanning forest of the circuits, at most a few thousand.
    """
    xp = array_namespace(circuits.label)
    leader, size = to_host(circuits.leader), to_host(circuits.size)
    slots, following = _exchanged_slots(to_host(links))
    on_device = to_namespace(xp, slots)
    label, rank = to_host(circuits.label[on_device]), to_host(circuits.rank[on_device])
    order = np.lexsort((rank, label))
    slots, following, label, rank = slots[order], following[order], label[order].astype(np.int64), rank[order]
    table = _segments(leader, size, (slots, following, label, rank.astype(np.int64)))
    key, new_label, base, total = (to_namespace(xp, column) for column in table)
    out_label, out_rank = xp.empty_like(circuits.label), xp.empty_like(circuits.rank)
    _look_up(
        out_label.size, circuits.label, circuits.rank, key, new_label, base, total, key.size, out_label, out_rank
    )  # fmt: skip
    new_leader, first = np.unique(table[1], return_index=True)
    return Cycles(out_label, out_rank, to_namespace(xp, new_leader), to_namespace(xp, table[3][first]))


def _exchanged_slots(links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slots of all links, ascending, and the slot that now follows the old predecessor of each."""
    slots = np.union1d(links, links + 1)
    is_first = ~np.isin(slots - 1, links)
    run = np.cumsum(is_first) - 1
    last = slots[np.append(np.flatnonzero(is_first)[1:], slots.size) - 1]
    return slots, np.where(is_first, last[run], slots - 1)


def _segments(
    leader: np.ndarray, size: np.ndarray, exchanged: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the table of segments: key (old label << 32 | old rank), new label, new rank there, circuit's size."""
    slots, following, label, rank = exchanged
    size_of = dict(zip(leader.tolist(), size.tolist(), strict=True))
    number = {slot: j for j, slot in enumerate(slots.tolist())}
    first_of = {own: int(j) for own, j in zip(*np.unique(label, return_index=True), strict=True)}
    last_of = {own: j for j, own in enumerate(label.tolist())}
    after = [first_of[own] if j == last_of[own] else j + 1 for j, own in enumerate(label.tolist())]
    length = [
        int(rank[a] - rank[j]) + (size_of[own] if a <= j else 0)
        for j, (a, own) in enumerate(zip(after, label.tolist(), strict=True))
    ]
    base, circuit = _arrange(after, length, following.tolist(), number)
    total = {c: sum(length[j] for j in range(len(length)) if circuit[j] == c) for c in set(circuit)}
    least = {c: min(int(label[j]) for j in range(len(label)) if circuit[j] == c) for c in set(circuit)}
    rows = [(own, 0, own, 0, size_of[own]) for own in size_of if own not in first_of]
    for own, j in last_of.items():  # rank 0 lies in the segment that begins at the last slot and wraps around
        rows.append((own, 0, least[circuit[j]], base[j] + size_of[own] - int(rank[j]), total[circuit[j]]))
    rows += [(int(label[j]), int(rank[j]), least[circuit[j]], base[j], total[circuit[j]]) for j in range(len(slots))]
    start = {row[0]: row[3] for row in rows if row[1] == 0 and row[0] == row[2]}
    table = sorted({(own << 32) | r: (new, (at - start[new]) % n, n) for own, r, new, at, n in rows}.items())
    key = np.array([k for k, _ in table], np.int64)
    columns = np.array([values for _, values in table], np.int64).reshape(-1, 3)
    return key, columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy()


def _arrange(
    after: list[int], length: list[int], following: list[int], number: dict[int, int]
) -> tuple[list[int], list[int]]:
    """Return the offset of each segment in its new circuit, and the number of that circuit."""
    base, circuit = [0] * len(after), [-1] * len(after)
    for first in range(len(after)):
        j, at = first, 0
        while circuit[j] < 0:
            base[j], circuit[j] = at, first
            at += length[j]
            j = number[following[after[j]]]
    return base, circuit


@for_each
def _look_up(edge, label, rank, key, new_label, base, total, n_segments, out_label, out_rank):
    own = (np.int64(label[edge]) << 32) | np.int64(rank[edge])
    segment = run_of(own, key, n_segments)
    at = base[segment] + own - key[segment]
    out_label[edge] = new_label[segment]
    out_rank[edge] = at - total[segment] if at >= total[segment] else at
