"""Find contained contig ends: places within contigs, on either strand, that equal the last bases of a free end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuasm.assembly.contig import Contig, bounds_of
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.kmers.keys import MAX_PLAIN_K
from gpuasm.kmers.text_kmers import kmers_of, places_of
from gpuasm.sequence.encoding import reverse_complement

RIGHT, LEFT = 0, 1


@dataclass(frozen=True, slots=True)
class ContainedEnd:
    """An end of a contig that is identical to a stretch of the same or another contig.

    Attributes
    ----------
    owner, side : int
        The contig whose end it is, and which end: `RIGHT` or `LEFT`.
    contig : int
        The contig that contains the stretch.
    begin, end : int
        The stretch, among the bases of all contigs.
    leaves_rightwards : bool
        Whether the end's contig leaves the stretch to the right; else it enters it from the left.
    """

    owner: int
    side: int
    contig: int
    begin: int
    end: int
    leaves_rightwards: bool

    @property
    def length(self) -> int:
        return self.end - self.begin


def find_contained_ends(contigs: Sequence[Contig]) -> list[ContainedEnd]:
    """Find the stretches of linear contigs that are identical to the last bases of a free end, but not that end itself.

    Parameters
    ----------
    contigs
        Contigs, gaps as code 4, which match nothing.

    Returns
    -------
    list of ContainedEnd
        By place, of `contained_end_min_bases` to `contained_end_max_bases` each. Ends whose last k-mer occurs at more
        than `self_alignment_max_places` places have none.
    """
    bounds, longest = bounds_of(contigs), ALIGNMENT.contained_end_max_bases
    ends = [
        (number, side, reverse_complement(contig.codes[:longest]) if side == LEFT else contig.codes[-longest:])
        for number, contig in enumerate(contigs)
        for side in (RIGHT, LEFT)
        if contig.free_ends[side] and contig.length > ALIGNMENT.contained_end_min_bases and not contig.is_circular
    ]
    if not ends:
        return []
    codes = np.concatenate([contig.codes for contig in contigs])
    found = []
    for at, row, leaves_rightwards in _last_kmers_of_ends(codes, [own for _, _, own in ends]):
        contig, (owner, side, own) = int(np.searchsorted(bounds, at, side="right")) - 1, ends[row]
        low, high, last = int(bounds[contig]), int(bounds[contig + 1]), at + MAX_PLAIN_K
        if last > high or contigs[contig].is_circular:
            continue
        ahead, behind = codes[at : min(high, at + longest)], codes[max(low, last - longest) : last]
        n = _n_identical_last(own, reverse_complement(ahead) if leaves_rightwards else behind)
        begin = at if leaves_rightwards else last - n
        is_at_end = begin == low if side == LEFT else begin + n == high
        is_itself = owner == contig and is_at_end and leaves_rightwards == (side == LEFT)
        if n >= ALIGNMENT.contained_end_min_bases and not is_itself:
            found.append(ContainedEnd(owner, side, contig, begin, begin + n, leaves_rightwards))
    return found


def _last_kmers_of_ends(codes: np.ndarray, ends: list[np.ndarray]) -> Iterator[tuple[int, int, bool]]:
    """Yield where the last k-mer of each end occurs: the place, the end's number, and whether it is reversed there."""
    forward, backward = kmers_of(np.concatenate([own[-MAX_PLAIN_K:] for own in ends]) & 3)
    forward, backward = forward[::MAX_PLAIN_K], backward[::MAX_PLAIN_K]
    key = np.minimum(forward, backward)
    order = np.argsort(key, kind="stable")
    place, kmer, reads_key = places_of(codes & 3, key[order])
    first, last = (np.searchsorted(key[order], kmer, side=side) for side in ("left", "right"))
    few = np.bincount(first, minlength=1)[first] <= ALIGNMENT.self_alignment_max_places
    for at, is_key, one, other in zip(*(own[few].tolist() for own in (place, reads_key, first, last)), strict=True):
        for row in order[one:other].tolist():
            yield at, row, is_key != bool(forward[row] < backward[row])


def _n_identical_last(one: np.ndarray, other: np.ndarray) -> int:
    """Count the identical bases at the end of two texts; a gap matches nothing."""
    n = min(one.size, other.size, ALIGNMENT.contained_end_max_bases)
    one, other = one[one.size - n :], other[other.size - n :]
    differs = np.flatnonzero((one != other) | (one > 3))
    return n - 1 - int(differs[-1]) if differs.size else n
