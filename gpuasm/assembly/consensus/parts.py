"""Parts: contigs cut where they are broken, without what is left out, and what each part still joins in scaffolds.

The first and the last part of a contig end where its unitig does, and keep what pairs join there; less so many bases as
are left out before it. Beyond a break nothing is known to belong to a part, so that its end there has none, unless the
break says how many bases are missing: then its two sides are joined by a gap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpuasm.assembly.consensus.compressed import Lack
from gpuasm.assembly.contigs import Contig, bounds_of, in_order


@dataclass(frozen=True)
class Cuts:
    """Where contigs are cut.

    Attributes
    ----------
    place : list of int, ascending
        Among the bases of all contigs.
    is_break : list of bool
        Whether what is beside it does not belong together: elsewhere only what is left out begins or ends.
    lack : list of (Lack or None)
        What is missing at a break, where that is known.
    """

    place: list[int]
    is_break: list[bool]
    lack: list[Lack | None]

    @classmethod
    def of(cls, breaks: np.ndarray, left_out: np.ndarray, lacking: Mapping[int, Lack]) -> Cuts:
        """Return cuts at breaks, and where what is left out begins and ends."""
        place = np.union1d(breaks, left_out)
        return cls(place.tolist(), np.isin(place, breaks).tolist(), [lacking.get(at) for at in place.tolist()])

    def moved(self, place: np.ndarray) -> Cuts:
        """Return them at other places, in the same order."""
        return replace(self, place=place.tolist())

    def within(self, low: int, high: int) -> list[int]:
        """Return which places are from ``low`` on and before ``high``."""
        return list(range(bisect_left(self.place, low), bisect_left(self.place, high)))

    def breaks(self, low: int, high: int) -> list[int]:
        """Return which places from ``low`` to ``high``, both with, are breaks."""
        return [
            row for row in range(bisect_left(self.place, low), bisect_right(self.place, high)) if self.is_break[row]
        ]


@dataclass(frozen=True)
class Join:
    """Two parts that were one contig, and what is missing between them.

    Attributes
    ----------
    source, target : int
        Oriented numbers of contigs: 2i + (1 if reversed).
    lack : Lack
    """

    source: int
    target: int
    lack: Lack


@dataclass(frozen=True)
class Parts:
    """Parts of contigs, longest first.

    Attributes
    ----------
    contigs : list of Contig
    places : (n,) int64
        Which bases of all contigs they have, one part after the other.
    joins : list of Join
        Those between which a break says what is missing.
    """

    contigs: list[Contig]
    places: np.ndarray
    joins: list[Join]


def cut_contigs(
    contigs: Sequence[Contig],
    codes: np.ndarray,
    cuts: Cuts,
    *,
    is_left: np.ndarray,
    opened: Mapping[int, int],
    min_length: int,
) -> Parts:
    """Return the contigs with other bases, cut at places, circles cut anew.

    Parameters
    ----------
    contigs
        Contigs.
    codes : (n_places,) uint8
        All their bases, as they are now.
    cuts
        Where they are cut.
    is_left : (n_places,) bool
        Which bases are left out; cuts stand where that changes.
    opened
        Base at which a circle begins, by its number.
    min_length
        Shorter parts are left out.
    """
    begin = bounds_of(contigs).tolist()
    parts: list[tuple[Contig, np.ndarray]] = []
    joins: list[tuple[int, Lack]] = []
    for number, contig in enumerate(contigs):
        low, high = begin[number], begin[number + 1]
        places = np.arange(low, high)
        rows = cuts.within(low, high)
        if not rows and not is_left[low:high].any():
            if contig.length >= min_length:
                places = np.roll(places, -opened.get(number, 0))
                own = codes[places]
                parts.append((contig if np.array_equal(own, contig.codes) else replace(contig, codes=own), places))
            continue
        pieces = np.split(places, [cuts.place[row] - low for row in rows])
        kept = [own for own in pieces if own.size >= max(1, min_length) and not is_left[own[0]]]
        parts += _with_ends(contig, kept, cuts, within=(low, high), codes=codes)
        first = len(parts) - len(kept)
        joins += [(first + i, lack) for i, lack in enumerate(_between(kept, cuts)) if lack is not None]
    order = in_order([contig for contig, _ in parts])
    rank = {old: new for new, old in enumerate(order)}
    return Parts(
        [parts[i][0] for i in order],
        np.concatenate([parts[i][1] for i in order] or [np.empty(0, np.int64)]),
        [Join(2 * rank[i], 2 * rank[i + 1], lack) for i, lack in joins],
    )


def _with_ends(
    contig: Contig, kept: Sequence[np.ndarray], cuts: Cuts, *, within: tuple[int, int], codes: np.ndarray
) -> list[tuple[Contig, np.ndarray]]:
    """Return parts of a contig with the ends of its unitig that are theirs, and their places."""
    low, high = within
    found = []
    for i, places in enumerate(kept):
        first, last = int(places[0]), int(places[-1])
        has_right = i + 1 == len(kept) and not cuts.breaks(last + 1, high - 1)
        has_left = i == 0 and not cuts.breaks(low + 1, first)
        ends = contig.ends[0] if has_right else -1, contig.ends[1] if has_left else -1
        right, left = contig.extended
        extended = right - (high - 1 - last) if has_right else 0, left - (first - low) if has_left else 0
        is_whole = has_right and has_left and not contig.is_circular
        part = replace(
            contig,
            codes=codes[places],
            is_circular=False,
            unitig=contig.unitig if is_whole else -1,
            ends=ends,
            extended=extended,
        )
        found.append((part, places))
    return found


def _between(kept: Sequence[np.ndarray], cuts: Cuts) -> list[Lack | None]:
    """Return what is missing between each part and the next, where that is known."""
    found = []
    for one, other in pairwise(kept):
        place = int(one[-1]) + 1
        rows = cuts.breaks(place, int(other[0]))
        found.append(cuts.lack[rows[0]] if place == other[0] and rows else None)
    return found
