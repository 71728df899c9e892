"""Communities of small genomes that differ in composition, as contigs to be binned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.clustering.bins.windows import Contigs


def genome(length: int, seed: int, *, biased: float = 0.5) -> np.ndarray:
    """Return codes that are made of words of its own and, for the rest, of any bases."""
    rng = np.random.default_rng(seed)
    vocabulary = rng.integers(0, 4, (300, 8), np.uint8)
    packed = vocabulary[rng.integers(0, 300, length // 8 + 1)]
    is_any = rng.random(packed.shape[0]) >= biased
    packed[is_any] = rng.integers(0, 4, (int(is_any.sum()), 8), np.uint8)
    return packed.reshape(-1)[:length]


def cut(codes: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    """Cut codes into contigs of the given lengths in turn, until there is no more."""
    found, at, turn = [], 0, 0
    while at < codes.size:
        found.append(codes[at : at + lengths[turn % len(lengths)]])
        at, turn = at + lengths[turn % len(lengths)], turn + 1
    return found


def contigs_of(parts: Sequence[np.ndarray], depth: Sequence[float] | None = None, **columns: object) -> Contigs:
    """Return contigs named by their numbers; without depths there are no samples."""
    length = [part.size for part in parts]
    level = np.zeros((len(parts), 0)) if depth is None else np.array(depth, np.float64).reshape(len(parts), -1)
    values = {
        "names": [f"contig_{i}" for i in range(len(parts))],
        "codes": np.concatenate([np.empty(0, np.uint8), *parts]),
        "start": np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        "depth": level,
        "is_circular": np.zeros(len(parts), bool),
    }
    return Contigs(**{**values, **columns})


def community(
    n_genomes: int, *, length: int = 300_000, cuts: Sequence[int] = (40_000, 12_000, 6000, 3000, 900)
) -> tuple[Contigs, np.ndarray]:
    """Return the contigs of genomes of rising depth, and the genome of each."""
    parts = [cut(genome(length, seed), cuts) for seed in range(n_genomes)]
    owner = np.repeat(np.arange(n_genomes), [len(found) for found in parts])
    depth = np.array([10.0 * (g + 1) for g in owner]) * np.random.default_rng(9).normal(1, 0.03, owner.size)
    return contigs_of([part for found in parts for part in found], depth), owner
