"""Fragments: their insert sizes, how likely a length is, how many are expected at a distance, and those on contigs.

Insert sizes are the lengths of sequenced fragments, measured from pairs whose mates align to one sequence. A placement
of a fragment is a choice of its first base on one sequence, with its last base on another one or beyond a place. Links,
walks and gaps all count placements and take likelihoods here.

On contigs, the pairs whose mates face each other are fragments; other pairs of uniquely aligned mates are discordant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host, to_namespace
from gpuasm.assembly.alignment.contig_alignment import Alignments
from gpuasm.assembly.alignment.seed_index import Targets
from gpuasm.assembly.graph.unitig_graph import DEPTH_SCALE
from gpuasm.assembly.parameters import FRAGMENTS
from gpuasm.parallel import inlined
from gpuasm.sequence.reads import Reads, first_of_mates

_QUARTILES = (0.25, 0.5, 0.75)
LOG2_SCALE = 256
"""Likelihoods are in 1 / 256 bit."""
_LOG2_BITS = 8
_HISTOGRAM_SCALE = 1 << 20
"""Histograms are scaled to this sum, so that expected numbers of pairs fit 64 bits."""
SIXTEENTHS = 16
"""Fixed-point scale of expected numbers of pairs."""


@dataclass(frozen=True)
class InsertSizes:
    """The distribution of insert sizes: lengths of fragments, both mates included.

    Attributes
    ----------
    histogram : (longest + 1,) int64
        How many fragments of each length were measured.
    bases_per_pair : int
        Mean bases of a pair's two reads.
    """

    histogram: np.ndarray
    bases_per_pair: int

    @classmethod
    def of(cls, measured: np.ndarray, *, bases_per_pair: int) -> InsertSizes | None:
        """Return the distribution without outliers, or None where too few pairs were measured."""
        if measured.sum() < FRAGMENTS.insert_least_pairs:
            return None
        low, median, high = (_quantile(measured, share) for share in _QUARTILES)
        reach = FRAGMENTS.insert_outlier_widths * max(1, median - low, high - median)
        near = measured.copy()
        near[: max(0, median - reach)] = 0
        near[median + reach + 1 :] = 0
        return cls(near[: _quantile(near, 1.0) + 1], bases_per_pair)

    @property
    def n(self) -> int:
        """Fragments measured."""
        return int(self.histogram.sum())

    @property
    def mean(self) -> float:
        """Mean insert size in bases."""
        return float((self.histogram * np.arange(self.histogram.size)).sum() / self.n)

    @property
    def sd(self) -> float:
        """Standard deviation in bases."""
        squares = self.histogram * (np.arange(self.histogram.size) - self.mean) ** 2
        return float(np.sqrt(squares.sum() / self.n))

    @property
    def shortest(self) -> int:
        """The least usual length: few fragments are shorter."""
        return _quantile(self.histogram, 1 / FRAGMENTS.insert_tail_odds)

    @property
    def longest(self) -> int:
        """The greatest usual length: few fragments are longer."""
        return _quantile(self.histogram, 1 - 1 / FRAGMENTS.insert_tail_odds)

    def log2_density(self) -> np.ndarray:
        """Return the smoothed log2 density of each length, bounded below: (longest + 1,) int32, in 1 / 256.

        Sums of integers depend neither on order nor on the device.
        """
        width = max(1, round(self.sd / FRAGMENTS.insert_smoothing))
        smooth = np.convolve(self.histogram, np.ones(2 * width + 1), mode="same")
        density = smooth / smooth.max()
        return np.round(LOG2_SCALE * np.log2(np.maximum(density, 2.0**-FRAGMENTS.insert_floor_bits))).astype(np.int32)

    def model(self, xp: Any = np) -> FragmentModel:
        """Return what kernels need of the usual lengths, with arrays in a namespace."""
        histogram = self.histogram[: self.longest + 1]
        histogram = histogram * _HISTOGRAM_SCALE // max(_HISTOGRAM_SCALE, int(histogram.sum()))
        at_least = np.cumsum(histogram[::-1])[::-1]
        longer_by = np.append(np.cumsum(at_least[::-1])[::-1], 0).astype(np.int64)
        per_pair = max(1, DEPTH_SCALE * self.bases_per_pair * int(histogram.sum()) // SIXTEENTHS)
        density = to_namespace(xp, self.log2_density()[: self.longest + 1])
        return FragmentModel(density, to_namespace(xp, longer_by), self.shortest, self.longest, per_pair)


def _quantile(histogram: np.ndarray, share: float) -> int:
    """Return the least length that this share of the fragments does not exceed."""
    cumulative = np.cumsum(histogram)
    return int(np.searchsorted(cumulative, max(1.0, share * cumulative[-1])))


class FragmentModel(NamedTuple):
    """The lengths of fragments, for kernels.

    Attributes
    ----------
    density : (longest + 1,) int32
        Log2 likelihood of each length, relative to the likeliest, in 1 / 256.
    longer_by : (longest + 2,) int64
        For each length t the sum of max(0, fragment - t + 1) over all fragments.
    shortest, longest : int
        The usual lengths.
    per_pair : int
        Divisor of depth times placements for sixteenths of pairs.
    """

    density: Array
    longer_by: Array
    shortest: int
    longest: int
    per_pair: int


@inlined()
def log2_likelihood(model, insert):
    """Return the log2 likelihood of a fragment's length, in 1 / 256."""
    if insert >= 0 and insert <= model.longest:
        return np.int64(model.density[insert])
    return np.int64(model.density[0])


@inlined()
def is_usual(model, insert):
    """Return whether a fragment may have this length."""
    return insert >= model.shortest and insert <= model.longest


@inlined()
def n_placements(model, gap, near_x, far_x, near_y, far_y):
    """Return how many placements of fragments begin on one sequence and end on another, at least 1.

    A fragment begins ``near_x`` to ``far_x`` bases before the gap, and ends ``near_y`` to ``far_y`` bases behind it.
    """
    nearer, ahead, behind = gap + near_x + near_y, far_x + 1 - near_x, far_y + 1 - near_y
    placements = _n_longer(model, nearer) - _n_longer(model, nearer + ahead)
    placements += _n_longer(model, nearer + ahead + behind)
    return max(np.int64(1), placements - _n_longer(model, nearer + behind))


@inlined()
def _n_longer(model, length):
    """Return the sum over fragments of max(0, fragment - length + 1)."""
    if length < 0:
        # Entry 1 sums the bases of all fragments; entry 0 adds one for each fragment.
        return model.longer_by[0] - length * (model.longer_by[0] - model.longer_by[1])
    return model.longer_by[min(length, model.longest + 1)]


@inlined()
def log2_256(value):
    """Return log2 of a positive int64 in 1 / 256, linear between powers of two, so that all devices agree."""
    bit = 0
    while (value >> (bit + 1)) > 0:
        bit += 1
    leading = value >> (bit - _LOG2_BITS) if bit >= _LOG2_BITS else value << (_LOG2_BITS - bit)
    return bit * LOG2_SCALE + (leading - LOG2_SCALE)


@dataclass(frozen=True)
class Fragments:
    """Pairs on one target that face each other.

    Attributes
    ----------
    begin, end : (n,) int64
        From the first base to the last that agrees with the target, in text positions; on a circular target the end
        may lie beyond its text.
    insert : (n,) int64
        Bases from outer end to outer end, mates whole.
    """

    begin: Array
    end: Array
    insert: Array

    def no_longer_than(self, longest: int) -> Fragments:
        """Return the fragments of at most so many bases."""
        xp = array_namespace(self.insert)
        chosen = xp.flatnonzero(self.insert <= longest)
        return Fragments(*(values[chosen] for values in (self.begin, self.end, self.insert)))


def find_fragments(reads: Reads, first: Alignments, targets: Targets) -> Fragments:
    """Find the pairs whose mates are uniquely aligned to one target and face each other there.

    A read cut at N is represented by its first aligned segment; ``first`` are the first alignments of segments.
    """
    xp = array_namespace(first.at)
    one, other, may_face, insert = _unique_mates(reads, first)
    is_forward = one.is_reversed == 0
    size, closed = (to_namespace(xp, a)[one.target] for a in (targets.size, targets.is_circular))
    around = xp.where(closed, (insert - 1) % size + 1, insert)
    begin = xp.where(is_forward, one.begin, other.begin)
    end = xp.where(is_forward, other.end, one.end) + (around - insert)
    good = xp.flatnonzero(may_face & (around > 0) & (around <= FRAGMENTS.longest_insert))
    return Fragments(*(values[good] for values in (begin, end, around)))


def find_discordant_pairs(reads: Reads, first: Alignments, targets: Targets, *, longest: int) -> Alignments:
    """Find the reads of discordant pairs: both mates are unique, but do not face each other within ``longest`` bases.

    Pairs on one circular target are excluded: their fragment may span its end.
    """
    xp = array_namespace(first.at)
    one, other, may_face, insert = _unique_mates(reads, first)
    is_one = (one.target == other.target) & to_namespace(xp, targets.is_circular)[one.target]
    rows = xp.flatnonzero(~is_one & ~(may_face & (insert > 0) & (insert <= longest)))
    return one.where(rows).joined(other.where(rows))


def _unique_mates(reads: Reads, first: Alignments) -> tuple[Alignments, Alignments, Array, Array]:
    """Return the first alignments of both mates of the pairs with unique ones, and what they are as a pair.

    That is whether they are on opposite strands of one target, and if so the length of their fragment, which is
    positive where they face each other.
    """
    xp, (one, other) = array_namespace(first.at), first_of_mates(reads.read[first.segment])
    are_unique = first.is_unique[one] & first.is_unique[other]
    one, other = first.where(one[are_unique]), first.where(other[are_unique])
    is_reversed = one.is_reversed == 1
    place, its_place = (own.at + own.is_reversed * reads.length[own.segment] for own in (one, other))
    may_face = (one.target == other.target) & (one.is_reversed != other.is_reversed)
    return one, other, may_face, xp.where(is_reversed, place - its_place, its_place - place)


def longest_insert(fragments: Fragments) -> int:
    """Return the longest insert size that is no outlier; 0 where too few pairs were measured."""
    found = InsertSizes.of(np.bincount(to_host(fragments.insert), minlength=1), bases_per_pair=0)
    return found.histogram.size - 1 if found else 0
