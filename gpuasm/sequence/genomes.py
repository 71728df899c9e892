"""Genomes as codes: molecules with a name, a topology and a copy number, and random molecules with repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuasm.checks import instance, real, whole
from gpuasm.errors import UsageError
from gpuasm.primitives.randomness import random_uint64, random_units, stream_key
from gpuasm.sequence.encoding import reverse_complement

_MOST_BASES = 1 << 40


@dataclass(frozen=True)
class Molecule:
    """One sequence of a genome: a chromosome, a plasmid, a segment.

    Attributes
    ----------
    name : str
        Its name, without white space.
    codes : (length,) uint8
        Its bases, 4 for a letter that is not a base.
    circular : bool
        Whether the molecule is circular.
    copies : float
        Copies for each copy of the genome.
    """

    name: str
    codes: np.ndarray
    circular: bool = False
    copies: float = 1.0

    @property
    def description(self) -> str:
        """The part of a FASTA header after the name, as read and written."""
        shape = "yes" if self.circular else "no"
        return f"length={self.codes.size} circular={shape} copies={self.copies:g}"


@dataclass(frozen=True)
class Repeats:
    """Repeats: ``families`` random elements of ``length`` bases in ``copies`` copies each, exact or diverged.

    ``divergence`` is the share of bases that each copy has substituted, independently.
    """

    families: int = 0
    length: int = 1000
    copies: int = 2
    divergence: float = 0.0

    def __post_init__(self) -> None:
        for name in ("families", "copies"):
            whole(getattr(self, name), f"{name} of repeats", most=_MOST_BASES)
        whole(self.length, "length of repeats", least=1, most=_MOST_BASES)
        real(self.divergence, "divergence of repeats", least=0, most=1)


def simulate_molecule(
    name: str,
    length: int,
    *,
    gc: float = 0.5,
    repeats: Repeats | None = None,
    circular: bool = False,
    copies: float = 1.0,
    seed: int = 0,
) -> Molecule:
    """Make a random molecule whose bases are independent, with repeats on either strand that do not overlap.

    Parameters
    ----------
    name
        Its name; the random numbers depend on it.
    length
        Its length in bases.
    gc
        The share of G and C.

    Raises
    ------
    UsageError
        If the repeats do not fit, or a number lies outside its range.
    """
    whole(length, "length", most=_MOST_BASES)
    real(gc, "gc")
    real(copies, "copies")
    instance(name, str, "the name")
    if repeats is not None:
        instance(repeats, Repeats, "repeats")
    if length < 1 or not 0 <= gc <= 1 or copies <= 0:
        raise UsageError(
            "a length of at least 1, a GC share from 0 to 1 and copies above 0",
            f"length {length}, GC {gc:g}, copies {copies:g}",
            "change the option",
        )
    codes = _random_codes(stream_key(seed, name, "bases"), length, gc)
    if repeats is not None and repeats.families:
        _insert_repeats(codes, repeats, gc, (seed, name))
    return Molecule(name, codes, circular, copies)


def _random_codes(key: np.uint64, length: int, gc: float) -> np.ndarray:
    bits = random_uint64(key, 0, length)
    unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    second = (bits & np.uint64(1)).astype(np.uint8)
    # One bit chooses within {A, T} (codes 0, 3) or within {C, G} (1, 2).
    return np.where(unit < gc, 1 + second, 3 * second).astype(np.uint8)


def _insert_repeats(codes: np.ndarray, repeats: Repeats, gc: float, stream: tuple[int, str]) -> None:
    n_places = repeats.families * repeats.copies
    free = codes.size - n_places * repeats.length
    if repeats.length < 1 or repeats.copies < 1 or free < 0:
        raise UsageError(
            f"room for {n_places} repeat copies of {repeats.length} bases",
            f"{codes.size} bases",
            "choose a longer genome or fewer, shorter repeats",
        )
    offset = np.sort((random_units(stream_key(*stream, "places"), 0, n_places) * (free + 1)).astype(np.int64))
    start = offset + np.arange(n_places) * repeats.length
    family = np.argsort(random_uint64(stream_key(*stream, "families"), 0, n_places), kind="stable") % repeats.families
    reverse = random_uint64(stream_key(*stream, "strands"), 0, n_places) >> np.uint64(63)
    for place in range(n_places):
        element = _random_codes(stream_key(*stream, "element", int(family[place])), repeats.length, gc)
        element = _diverged(element, repeats.divergence, stream_key(*stream, "divergence", place))
        codes[start[place] : start[place] + repeats.length] = reverse_complement(element) if reverse[place] else element


def _diverged(codes: np.ndarray, rate: float, key: np.uint64) -> np.ndarray:
    unit = random_units(key, 0, codes.size)
    step = random_uint64(key, codes.size, codes.size) % np.uint64(3) + np.uint64(1)
    return np.where(unit < rate, (codes + step) & 3, codes).astype(np.uint8)
