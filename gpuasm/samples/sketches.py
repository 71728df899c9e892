"""Sketches: the least hashes of a sample's k-mers, few enough to compare thousands of samples.

A *bottom* sketch keeps the s least hashes (MinHash as in Mash, Ondov et al. 2016, doi:10.1186/s13059-016-0997-x), a
*scaled* one all hashes up to 2^64 / scaled (FracMinHash as in sourmash, Irber et al. 2022,
doi:10.1101/2022.01.11.475838). Hashes are those of the two programs, so their sketches are comparable with ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.arrays import Array, array_namespace, to_host
from gpuasm.checks import array_of, instance, whole
from gpuasm.errors import DataError, UsageError
from gpuasm.samples.hashes import check_sketch_k, hash_bits, hashes_of_kmers, hashes_of_windows
from gpuasm.sequence.reads import Reads

MOST_HASH = (1 << 64) - 1
_MOST_SEED = (1 << 32) - 1
_OVERSAMPLING = 4
"""A first bound of the s least hashes admits so many times s; with repeats it may be too low."""


@dataclass(frozen=True)
class SketchKind:
    """Parameters that two compared sketches must share.

    Attributes
    ----------
    k : int
        Bases of a k-mer, 3 to 31.
    size : int
        Greatest number of hashes of a bottom sketch; 0 for a scaled one.
    max_hash : int
        The largest hash of a scaled sketch; 0 for a bottom one.
    seed : int
        Seed of the hash.
    bits : int
        Bits of a hash: 64, or 32 as in Mash for bottom sketches up to k = 16.
    """

    k: int
    size: int
    max_hash: int = 0
    seed: int = 42
    bits: int = 64

    @classmethod
    def bottom(cls, k: int, size: int, *, seed: int = 42) -> SketchKind:
        """Return the kind of Mash.

        Raises
        ------
        UsageError
            If k or the size is out of range.
        """
        check_sketch_k(k)
        whole(seed, "seed", most=_MOST_SEED)
        whole(size, "size")
        if size < 1:
            raise UsageError("a sketch of at least 1 hash", str(size), "choose for example --sketch-size 1000")
        return cls(k, size, seed=seed, bits=hash_bits(k))

    @classmethod
    def scaled(cls, k: int, scaled: int, *, seed: int = 42) -> SketchKind:
        """Return the kind of sourmash that keeps one k-mer in ``scaled``; 1 keeps all.

        Raises
        ------
        UsageError
            If k or scaled is out of range.
        """
        check_sketch_k(k)
        whole(seed, "seed", most=_MOST_SEED)
        whole(scaled, "scaled", most=MOST_HASH)
        if scaled < 1:
            raise UsageError("one k-mer in at least 1", f"scaled = {scaled}", "choose for example --scaled 1000")
        return cls(k, 0, max_hash_of(scaled), seed=seed)

    @property
    def is_scaled(self) -> bool:
        return self.size == 0

    @property
    def scale(self) -> int:
        """A scaled sketch keeps one k-mer in so many; 0 for a bottom sketch."""
        return round(MOST_HASH / self.max_hash) if self.max_hash else 0


def max_hash_of(scaled: int) -> int:
    """Return the largest hash of a scaled sketch, bitwise as sourmash."""
    return MOST_HASH if scaled == 1 else int(float(MOST_HASH) / scaled)


@dataclass(frozen=True)
class Sketches:
    """The sketches of samples, all of one kind.

    Attributes
    ----------
    kind : SketchKind
    names : tuple of str
        The samples, all distinct.
    hashes : (total,) uint64
        Those of the first sample, ascending and distinct, then those of the second, and so on.
    offsets : (n + 1,) int64
        Start of the hashes of each sample; on the host.
    """

    kind: SketchKind
    names: tuple[str, ...]
    hashes: Array
    offsets: np.ndarray

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> np.ndarray:
        """Hashes of each sample, (n,) int64."""
        return np.diff(self.offsets)

    def of(self, sample: int) -> Array:
        """Return the hashes of one sample."""
        return self.hashes[int(self.offsets[sample]) : int(self.offsets[sample + 1])]

    @classmethod
    def join(cls, kind: SketchKind, names: Sequence[str], sketches: Iterable[np.ndarray]) -> Sketches:
        """Join the sketches of single samples.

        Raises
        ------
        DataError
            If two samples have the same name.
        """
        taken = set()
        for name in names:
            if name in taken:
                raise DataError("a name of its own for each sample", f"{name!r} twice", "rename one of the two")
            taken.add(name)
        parts = [to_host(sketch) for sketch in sketches]
        offsets = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
        return cls(kind, tuple(names), np.concatenate([np.empty(0, np.uint64), *parts]), offsets)

    def cut_to(self, kind: SketchKind) -> Sketches:
        """Reduce the sketches to a kind of fewer hashes.

        Raises
        ------
        DataError
            If these sketches cannot be reduced to that kind.
        """
        mine = replace(self.kind, size=kind.size, max_hash=kind.max_hash)
        fits = kind.is_scaled == self.kind.is_scaled
        fits = fits and kind.size <= self.kind.size and kind.max_hash <= self.kind.max_hash
        if mine != kind or not fits:
            raise DataError(
                f"sketches to be made {describe(kind)}",
                f"sketches {describe(self.kind)}",
                "sketch all samples alike: the same k and seed, and all by size or all scaled",
            )
        parts = [to_host(self.of(i)) for i in range(self.n)]
        if kind.is_scaled:
            parts = [part[: int(np.searchsorted(part, np.uint64(kind.max_hash), side="right"))] for part in parts]
        else:
            parts = [part[: kind.size] for part in parts]
        return Sketches.join(kind, self.names, parts)


def describe(kind: SketchKind) -> str:
    """Describe a kind in a message."""
    how = f"scaled by {kind.scale}" if kind.is_scaled else f"of {kind.size} hashes"
    return f"{how} of {kind.bits} bits, k = {kind.k}, seed {kind.seed}"


def sketch_text(reads: Reads, kind: SketchKind) -> Array:
    """Sketch all k-mers of a text, such as the contigs of an assembly.

    Parameters
    ----------
    reads
        The text, on the host or on a device.
    kind
        The kind of sketch.

    Returns
    -------
    (h,) uint64, ascending, in the memory of the text; fewer than the size of the kind if there are fewer k-mers.
    """
    instance(reads, Reads, "a text")
    windows = int(np.maximum(to_host(reads.length).astype(np.int64) - (kind.k - 1), 0).sum())

    def up_to(bound: int) -> Array:
        xp = array_namespace(reads.packed)
        batches = hashes_of_windows(reads, kind.k, seed=kind.seed, bits=kind.bits)
        found = [hashes[hashes <= np.uint64(bound)] for hashes in batches]
        return xp.unique(xp.concatenate([xp.empty(0, np.uint64), *found]))

    return _least(up_to, windows, kind)


def sketch_kmers(kmers: Array, kind: SketchKind) -> Array:
    """Sketch counted canonical k-mers, (n,) uint64, such as the solid ones of reads."""
    array_of(kmers, "k-mers", "u", (None,))
    hashes = hashes_of_kmers(kmers, kind.k, seed=kind.seed, bits=kind.bits)
    xp = array_namespace(kmers)
    return _least(lambda bound: xp.unique(hashes[hashes <= np.uint64(bound)]), kmers.size, kind)


def _least(up_to: Callable[[int], Array], n: int, kind: SketchKind) -> Array:
    """Return the hashes of the sketch; ``up_to`` returns all distinct ones up to a bound."""
    if kind.is_scaled:
        return up_to(kind.max_hash)
    largest = (1 << kind.bits) - 1
    share = _OVERSAMPLING * kind.size / max(n, 1)
    while True:  # with a bound only a small part of the hashes is sorted
        bound = largest if share >= 1 else int(share * largest)
        found = up_to(bound)
        if found.size >= kind.size or bound == largest:
            return found[: kind.size]
        share *= 8
