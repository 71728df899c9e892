"""Genomes and reads for tests, made in memory."""

from __future__ import annotations

import numpy as np

from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads


def simulated_genome(*, length: int, repeats: int = 0, repeat_length: int = 800, seed: int = 1) -> np.ndarray:
    """Return the codes of a random genome in which one element stands ``repeats`` times, on both strands."""
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, length).astype(np.uint8)
    element = rng.integers(0, 4, repeat_length).astype(np.uint8)
    for number, start in enumerate(rng.choice(length // repeat_length - 1, repeats, replace=False) * repeat_length):
        genome[start : start + repeat_length] = element if number % 2 else reverse_complement(element)
    return genome


def simulated_texts(
    genome: np.ndarray,
    *,
    fold: float,
    length: int = 150,
    error_rate: float = 0.003,
    circular: bool = False,
    seed: int = 1,
) -> list[str]:
    """Return single reads from both strands of a genome."""
    rng = np.random.default_rng(seed)
    n = int(fold * genome.size / length)
    if circular:
        genome = np.concatenate([genome, genome[:length]])
    start = rng.integers(0, genome.size - length + 1, n)
    codes = genome[start[:, None] + np.arange(length)]
    wrong = rng.random(codes.shape) < error_rate
    codes = np.where(wrong, (codes + rng.integers(1, 4, codes.shape)) % 4, codes).astype(np.uint8)
    backwards = rng.random(n) < 0.5
    return [decode(reverse_complement(read) if back else read) for read, back in zip(codes, backwards, strict=True)]


def simulated_reads(*, length: int, fold: float, repeats: int = 0, seed: int = 1, **options) -> Reads:
    """Return packed reads of a simulated genome."""
    return Reads.from_strings(
        simulated_texts(simulated_genome(length=length, repeats=repeats, seed=seed), fold=fold, seed=seed, **options)
    )


def simulated_pairs(
    genome: np.ndarray,
    *,
    fold: float,
    length: int = 100,
    insert: float = 300,
    sd: float = 20,
    error_rate: float = 0.0,
    circular: bool = False,
    seed: int = 1,
) -> list[str]:
    """Return reads of fragments of a genome, mates one after the other, facing each other, from either strand."""
    rng = np.random.default_rng(seed)
    n = int(fold * genome.size / (2 * length))
    size = np.maximum(length, np.rint(rng.normal(insert, sd, n)).astype(int))
    longest = int(size.max(initial=length))
    text = np.concatenate([genome, genome[:longest]]) if circular else genome
    start = rng.integers(0, genome.size if circular else np.maximum(1, genome.size - size + 1), n)
    texts = []
    for first, bases in zip(start.tolist(), size.tolist(), strict=True):
        fragment = text[first : first + bases]
        mates = [fragment[:length], reverse_complement(fragment)[:length]]
        for read in mates if rng.random() < 0.5 else mates[::-1]:
            wrong = rng.random(read.size) < error_rate
            texts.append(decode(np.where(wrong, (read + rng.integers(1, 4, read.size)) % 4, read).astype(np.uint8)))
    return texts


def pairs_of_relatives(*, length: int) -> list[str]:
    """Return pairs, with errors, of three genomes with repeats that differ in one base in a hundred, 8 to 30-fold."""
    rng = np.random.default_rng(3)
    ancestor = simulated_genome(length=length, repeats=max(3, length // 10_000), repeat_length=340, seed=5)
    texts = []
    for fold in (8, 15, 30):
        is_other = rng.random(length) < 0.01
        codes = np.where(is_other, (ancestor + rng.integers(1, 4, length)) % 4, ancestor).astype(np.uint8)
        texts += simulated_pairs(codes, fold=fold, length=150, insert=350, sd=50, error_rate=0.005, seed=fold)
    return texts
