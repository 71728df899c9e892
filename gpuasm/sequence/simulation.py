"""Simulate paired reads of given genomes as FASTQ text: every pair depends only on the seed and its own number.

So threads can make ranges of pairs in any order, and the bytes are always the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from gpuasm.checks import instance, real, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.primitives.randomness import random_units, stream_key
from gpuasm.sequence.error_profile import ErrorProfile, hiseq_profile
from gpuasm.sequence.fastq_writer import RATE_SCALE, RECORD_OVERHEAD, choose_fragments, write_mates
from gpuasm.sequence.genomes import Molecule
from gpuasm.threads import ordered_map

PAIRS_PER_BLOCK = 1 << 14

_N_QUANTILES = 1 << 12


@dataclass(frozen=True)
class ReadOptions:
    """Options of the sequencing.

    Attributes
    ----------
    fold : float
        Mean depth: bases of all reads divided by bases of all genomes, for equal abundances.
    length, insert, insert_sd : int, float, float
        Bases of a read; mean and standard deviation of the fragment length. No fragment is shorter than a read or
        longer than its molecule.
    error_rate : float or None
        Mean substitutions per base; None: that of the profile.
    n_rate : float
        Share of the bases that are read as N.
    single : bool
        First mates only.
    seed : int
        Seed of all random numbers.
    """

    fold: float
    length: int = 150
    insert: float = 350.0
    insert_sd: float = 50.0
    error_rate: float | None = None
    n_rate: float = 0.0
    single: bool = False
    seed: int = 0


@dataclass(frozen=True)
class ReadBlock:
    """A range of simulated pairs.

    Attributes
    ----------
    first : int
        Number of the first pair.
    mates : list of uint8 arrays
        FASTQ text of the first and, if there is one, the second mates.
    molecule : (n,) int32
        The source molecule of each pair.
    start, insert : (n,) int64, (n,) int32
        Start of the fragment on the forward strand, 0-based, and its length.
    reverse : (n,) bool
        Whether the first mate is on the reverse strand.
    """

    first: int
    mates: list[np.ndarray]
    molecule: np.ndarray
    start: np.ndarray
    insert: np.ndarray
    reverse: np.ndarray


@dataclass(frozen=True)
class ReadSimulation:
    """Reads of a set of genomes, made block by block.

    Attributes
    ----------
    genomes : sequence of sequences of Molecule
        The molecules of each genome; names are distinct over all of them.
    options : ReadOptions
        Options of the sequencing.
    abundances : sequence of float, optional
        Relative copies of each genome; equal if not given.

    Raises
    ------
    DataError
        If a molecule is shorter than a read, or two have one name.
    UsageError
        If an option lies outside its range.
    """

    genomes: Sequence[Sequence[Molecule]]
    options: ReadOptions
    abundances: Sequence[float] | None = None
    profile: ErrorProfile = field(init=False)

    def __post_init__(self) -> None:
        instance(self.options, ReadOptions, "options")
        _check_options(self.options)
        is_list = isinstance(self.genomes, (list, tuple))
        if not is_list or not all(isinstance(genome, (list, tuple)) for genome in self.genomes):
            raise UsageError("a list of genomes, each a list of molecules", "another", "put them into lists")
        for molecule in self.molecules:
            instance(molecule, Molecule, "a molecule")
        _check_molecules(self.molecules, self.options.length)
        if self.abundances is not None and (len(self.abundances) != len(self.genomes) or min(self.abundances) < 0):
            raise UsageError(
                f"{len(self.genomes)} abundances of at least 0", f"{list(self.abundances)}", "give one for each genome"
            )
        profile = hiseq_profile(self.options.length, error_rate=self.options.error_rate)
        object.__setattr__(self, "profile", profile)

    @cached_property
    def molecules(self) -> list[Molecule]:
        """All molecules of all genomes, in order."""
        return [molecule for genome in self.genomes for molecule in genome]

    @cached_property
    def depths(self) -> np.ndarray:
        """(n_molecules,) float64: the mean depth of each molecule."""
        abundance = np.asarray(self.abundances or [1.0] * len(self.genomes), dtype=np.float64)
        relative = np.repeat(abundance / abundance.mean(), [len(genome) for genome in self.genomes])
        return self.options.fold * relative * np.array([m.copies for m in self.molecules])

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs (or single reads) for the requested depth."""
        length = np.array([m.codes.size for m in self.molecules], dtype=np.float64)
        bases = float((self.depths * length).sum())
        return int(bases / (self.options.length * (1 if self.options.single else 2)) + 0.5)

    def block(self, first: int, last: int) -> ReadBlock:
        """Make pairs first, first + 1, ... last - 1."""
        n, tables = last - first, self._tables
        fragments = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.bool_)
        choose_fragments(first, tables.keys[0], tables.genome[0], tables.lengths, fragments)
        mates = []
        for mate, profile in enumerate(tables.profiles):
            text = np.empty(n * tables.record_bytes, np.uint8)
            mates.append(text[: write_mates(first, mate, tables.keys, tables.genome, profile, fragments, text)])
        return ReadBlock(first, mates, *fragments)

    def blocks(
        self, finish: Callable[[ReadBlock], Any] = lambda block: block, *, pairs_per_block: int = PAIRS_PER_BLOCK
    ) -> Iterator[Any]:
        """Yield ``finish(block)`` for all blocks of pairs in order; the pool's threads make them ahead."""

        def finished(first: int) -> Any:
            return finish(self.block(first, min(first + pairs_per_block, self.n_pairs)))

        yield from ordered_map(finished, range(0, self.n_pairs, pairs_per_block))

    @cached_property
    def _tables(self) -> _Tables:
        return _tables_of(self)


class _Tables(NamedTuple):
    """Look-up tables of the compiled loops; see `gpuasm.sequence.fastq_writer`."""

    keys: tuple[np.uint64, np.uint64]
    genome: tuple
    lengths: tuple
    profiles: list[tuple]
    record_bytes: int


def _tables_of(simulation: ReadSimulation) -> _Tables:
    options, molecules = simulation.options, simulation.molecules
    length = np.array([m.codes.size for m in molecules], dtype=np.int64)
    weight = np.cumsum(simulation.depths * length)
    names = [m.name.encode() for m in molecules]
    codes = np.concatenate([m.codes for m in molecules])
    circular = np.array([m.circular for m in molecules])
    letters = np.frombuffer(b"".join(names), dtype=np.uint8)
    thresholds, qualities = simulation.profile.threshold, simulation.profile.quality
    n_threshold = int(options.n_rate * RATE_SCALE + 0.5)
    return _Tables(
        keys=(stream_key(options.seed, "fragments"), stream_key(options.seed, "bases")),
        genome=((codes, _offsets(length), circular, weight / weight[-1]), letters, _offsets([len(n) for n in names])),
        lengths=(_insert_quantiles(options), options.length),
        profiles=[(thresholds[mate], qualities[mate], n_threshold) for mate in range(1 if options.single else 2)],
        record_bytes=2 * options.length + max(map(len, names)) + RECORD_OVERHEAD,
    )


def read_texts(simulation: ReadSimulation) -> list[str]:
    """Return the bases of all reads, mates one after the other, for tests and small inputs."""
    texts = [
        [mate.tobytes().decode("ascii").split("\n")[1::4] for mate in block.mates] for block in simulation.blocks()
    ]
    return [text for mates in texts for pair in zip(*mates, strict=True) for text in pair]


def log_normal_abundances(n: int, sd: float, seed: int) -> list[float]:
    """Return n relative abundances whose logarithms are normal with standard deviation ``sd``."""
    normal = NormalDist()
    units = np.clip(random_units(stream_key(seed, "abundances"), 0, n), 1e-12, 1 - 1e-12)
    return [math.exp(sd * normal.inv_cdf(unit)) for unit in units.tolist()]


def _offsets(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _insert_quantiles(options: ReadOptions) -> np.ndarray:
    if options.insert_sd == 0:
        return np.full(_N_QUANTILES, round(options.insert), dtype=np.int32)
    normal = NormalDist(options.insert, options.insert_sd)
    return np.array([round(normal.inv_cdf((i + 0.5) / _N_QUANTILES)) for i in range(_N_QUANTILES)], dtype=np.int32)


_MOST = 1e12


def _check_options(options: ReadOptions) -> None:
    whole(options.length, "read length")
    for name in ("fold", "insert", "insert_sd", "n_rate"):
        real(getattr(options, name), name, most=_MOST)
    if options.error_rate is not None:
        real(options.error_rate, "error_rate", least=0, most=1)
    least = 0 if options.single else options.length
    for expected, value, holds in (
        ("a depth above 0", options.fold, options.fold > 0),
        ("a read length from 1 to 100000", options.length, 1 <= options.length <= 100_000),
        (f"an insert size of at least the read length, {least}", options.insert, options.insert >= least),
        ("an insert standard deviation of at least 0", options.insert_sd, options.insert_sd >= 0),
        ("a rate of N from 0 to 0.5", options.n_rate, 0 <= options.n_rate <= 0.5),
    ):
        if not holds:
            raise UsageError(expected, f"{value:g}", "change the option")


def _check_molecules(molecules: Sequence[Molecule], length: int) -> None:
    if not molecules:
        raise DataError("at least one sequence", "none", "give a FASTA file with records")
    seen = set()
    for molecule in molecules:
        if molecule.codes.size < length:
            found = f"{molecule.name} of {molecule.codes.size}"
            remedy = "leave it out or choose a shorter --length"
            raise DataError(f"sequences of at least {length} bases", found, remedy)
        if molecule.name in seen:
            raise DataError("distinct sequence names", f"{molecule.name} twice", "rename one of them")
        seen.add(molecule.name)
