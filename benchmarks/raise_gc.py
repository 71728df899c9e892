"""A genome with more G and C, whose repeats are still repeats: what a base becomes depends on its neighbours alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpuasm.io.fasta import write_fasta
from gpuasm.io.genomes import read_genome
from gpuasm.primitives.randomness import random_bits

SPAN = 4
"""Bases on either side that a change depends on: copies of a repeat rarely differ in 9-mers."""
_A, _C, _T, _NONE = 0, 1, 3, 4


def raise_gc(genome: Path, out: Path, *, percent: float) -> Path:
    """Write a genome whose A and T are changed to G and C until as much of it is G or C.

    Each 9-mer, on the strand whose code is the lesser, has a hash, and those with the lowest are changed in their
    middle base, to G or C by a bit of the hash: all copies of a repeat are changed alike, on both strands. Ends and
    what is near other letters than A, C, G and T stay. The same genome gives the same file.
    """
    molecules = read_genome(genome)
    keys, becomes = zip(*(_keys_of(m.codes) for m in molecules), strict=True)
    everything = np.concatenate([m.codes for m in molecules])
    is_base = everything < _NONE
    changes = round(percent / 100 * np.count_nonzero(is_base)) - np.count_nonzero((everything == 1) | (everything == 2))
    key = np.concatenate(keys)
    candidates = np.sort(key[np.concatenate(becomes) < _NONE])
    if not 0 < changes <= candidates.size:
        raise ValueError(f"{genome.name}: {percent:g} % of G and C cannot be reached by changing A and T")
    most = candidates[changes - 1]
    changed = [
        np.where((b < _NONE) & (k <= most), b, m.codes) for m, k, b in zip(molecules, keys, becomes, strict=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_fasta(out, [m.name for m in molecules], [""] * len(molecules), changed)
    return out


def _keys_of(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the hash of the 9-mer around each base, and what an A or T would become; 4 where it is to stay."""
    n, k = codes.size, 2 * SPAN + 1
    key, becomes = np.zeros(n, np.uint64), np.full(n, _NONE, np.uint8)
    if n < k:
        return key, becomes
    windows = np.lib.stride_tricks.sliding_window_view(codes, k)
    weights = np.uint64(4) ** np.arange(k, dtype=np.uint64)
    forward = windows @ weights
    backward = (3 - np.minimum(windows, 3)) @ weights[::-1]
    is_forward = forward <= backward
    mixed = random_bits(np.uint64(0), np.minimum(forward, backward))
    middle = codes[SPAN : n - SPAN]
    changeable = ((middle == _A) | (middle == _T)) & (windows.max(axis=1) < _NONE)
    letter = np.where(mixed & np.uint64(1), 2, _C).astype(np.uint8)  # on the lesser strand
    key[SPAN : n - SPAN] = mixed
    becomes[SPAN : n - SPAN] = np.where(changeable, np.where(is_forward, letter, 3 - letter), _NONE)
    return key, becomes
