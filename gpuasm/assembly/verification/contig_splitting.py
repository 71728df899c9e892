"""Split contigs at breaks, without excluded bases, and keep the graph end of each part for scaffolding.

The first and the last part of a contig keep the ends of its unitig, which pairs may join, less the bases excluded
there. A part has no graph end at a break. If a break has a known number of missing bases, its two sides are joined by
a gap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gpuasm.assembly.contig import Contig, bounds_of, changed, in_order
from gpuasm.assembly.verification.unsupported_joins import MissingBases


@dataclass(frozen=True)
class Cuts:
    """Places at which contigs are cut.

    Attributes
    ----------
    place : list of int, ascending
        Among the bases of all contigs.
    is_break : list of bool
        Whether the two sides do not belong together; elsewhere an excluded stretch begins or ends.
    missing : list of (MissingBases or None)
        The bases missing at a break, where known.
    """

    place: list[int]
    is_break: list[bool]
    missing: list[MissingBases | None]

    @classmethod
    def of(cls, breaks: np.ndarray, excluded: np.ndarray, missing_bases: Mapping[int, MissingBases]) -> Cuts:
        """Return cuts at breaks and at both ends of excluded stretches."""
        place = np.union1d(breaks, excluded)
        return cls(place.tolist(), np.isin(place, breaks).tolist(), [missing_bases.get(at) for at in place.tolist()])

    def moved(self, place: np.ndarray) -> Cuts:
        """Return the cuts at other places, in the same order."""
        return replace(self, place=place.tolist())

    def within(self, low: int, high: int) -> list[int]:
        """Return the numbers of the cuts from ``low`` on and before ``high``."""
        return list(range(bisect_left(self.place, low), bisect_left(self.place, high)))

    def breaks(self, low: int, high: int) -> list[int]:
        """Return the numbers of the breaks from ``low`` to ``high``, both included."""
        return [
            row for row in range(bisect_left(self.place, low), bisect_right(self.place, high)) if self.is_break[row]
        ]


@dataclass(frozen=True)
class Join:
    """Two parts of one contig, and the bases missing between them.

    Attributes
    ----------
    source, target : int
        Oriented numbers of contigs: 2i + (1 if reversed).
    missing : MissingBases
        The bases between them.
    """

    source: int
    target: int
    missing: MissingBases


@dataclass(frozen=True)
class Parts:
    """Parts of contigs, longest first.

    Attributes
    ----------
    contigs : list of Contig
    places : (n,) int64
        Their bases' places among the bases of all contigs, one part after the other.
    joins : list of Join
        Joins of parts at breaks with a known number of missing bases.
    """

    contigs: list[Contig]
    places: np.ndarray
    joins: list[Join]


def split_contigs(
    contigs: Sequence[Contig],
    codes: np.ndarray,
    cuts: Cuts,
    *,
    is_excluded: np.ndarray,
    first_base: Mapping[int, int],
    min_length: int,
) -> Parts:
    """Return the contigs with their new bases, cut at places, circular ones from their new first base on.

    Parameters
    ----------
    codes : (n_places,) uint8
        All bases of the contigs, corrected.
    cuts
        Where they are cut.
    is_excluded : (n_places,) bool
        Which bases are excluded; there is a cut where that changes.
    first_base
        New first base of circular contigs, by number of the contig.
    min_length
        Shorter parts are dropped.
    """
    bounds = bounds_of(contigs)
    begin, is_whole = bounds.tolist(), _are_whole(bounds, cuts, is_excluded).tolist()
    parts: list[tuple[Contig, np.ndarray]] = []
    joins: list[tuple[int, MissingBases]] = []
    for number, contig in enumerate(contigs):
        low, high = begin[number], begin[number + 1]
        if is_whole[number]:
            if high - low >= min_length:
                places = np.arange(low, high)
                if number in first_base:
                    places = np.roll(places, -first_base[number])
                parts.append((changed(contig, codes=codes[places]), places))
            continue
        places, rows = np.arange(low, high), cuts.within(low, high)
        stretches = np.split(places, [cuts.place[row] - low for row in rows])
        kept = [own for own in stretches if own.size >= max(1, min_length) and not is_excluded[own[0]]]
        parts += _with_ends(contig, kept, cuts, within=(low, high), codes=codes)
        first = len(parts) - len(kept)
        joins += [(first + i, missing) for i, missing in enumerate(_missing_between(kept, cuts)) if missing is not None]
    order = in_order([contig for contig, _ in parts])
    rank = {old: new for new, old in enumerate(order)}
    return Parts(
        [parts[i][0] for i in order],
        np.concatenate([parts[i][1] for i in order] or [np.empty(0, np.int64)]),
        [Join(2 * rank[i], 2 * rank[i + 1], missing) for i, missing in joins],
    )


def _are_whole(bounds: np.ndarray, cuts: Cuts, is_excluded: np.ndarray) -> np.ndarray:
    """Return which contigs have neither cuts nor excluded bases: (n,) bool."""
    n_cuts = np.diff(np.searchsorted(np.array(cuts.place, np.int64), bounds))
    return (n_cuts == 0) & (np.diff(np.searchsorted(np.flatnonzero(is_excluded), bounds)) == 0)


def _with_ends(
    contig: Contig, kept: Sequence[np.ndarray], cuts: Cuts, *, within: tuple[int, int], codes: np.ndarray
) -> list[tuple[Contig, np.ndarray]]:
    """Return parts of a contig with the graph ends that they keep, and their places."""
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
        part = changed(
            contig,
            codes=codes[places],
            is_circular=False,
            unitig=contig.unitig if is_whole else -1,
            ends=ends,
            extended=extended,
        )
        found.append((part, places))
    return found


def _missing_between(kept: Sequence[np.ndarray], cuts: Cuts) -> list[MissingBases | None]:
    """Return the bases missing between each part and the next, where known."""
    found = []
    for one, other in pairwise(kept):
        place = int(one[-1]) + 1
        rows = cuts.breaks(place, int(other[0]))
        found.append(cuts.missing[rows[0]] if place == other[0] and rows else None)
    return found
