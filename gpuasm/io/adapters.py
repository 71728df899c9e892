"""Sequencing adapters read through: reads longer than their insert go on into the adapter at its other end."""

from __future__ import annotations

import numpy as np

from gpuasm.parallel import compiled
from gpuasm.sequence.encoding import base_at, encode
from gpuasm.sequence.reads import Reads

PROBE_LENGTH = 13

ADAPTERS = {
    "Illumina TruSeq": ("AGATCGGAAGAGC",),
    "Illumina Nextera": ("CTGTCTCTTATAC",),
    "Illumina small RNA": ("TGGAATTCTCGGG",),
    "MGI": ("AAGTCGGAGGCCA", "AAGTCGGATCGTA"),
}
"""The first 13 bases of what follows the insert, by kit; in 150 bases, a 13-mer is found by chance once in 500,000."""


def count_adapters(reads: Reads) -> tuple[list[str], np.ndarray]:
    """Count the reads that hold the beginning of an adapter.

    Parameters
    ----------
    reads : Reads
        On the host.

    Returns
    -------
    names : list of str
    counts : (n_adapters, 2) int64
        Reads with each adapter, those of even and of odd number apart: for pairs, first and second mates.
    """
    probes = np.array([_name_of(probe) for kit in ADAPTERS.values() for probe in kit], dtype=np.uint64)
    kits = np.array([number for number, kit in enumerate(ADAPTERS.values()) for _ in kit], dtype=np.int64)
    counts = np.zeros((len(ADAPTERS), 2), dtype=np.int64)
    _count(reads.words, reads.start, reads.length, reads.read, probes, kits, counts)
    return list(ADAPTERS), counts


def _name_of(probe: str) -> int:
    name = 0
    for code in encode(probe).tolist():
        name = name << 2 | code
    return name


@compiled()
def _count(words, start, length, read, probes, kits, counts):
    mask = (np.uint64(1) << np.uint64(2 * PROBE_LENGTH)) - np.uint64(1)
    seen = np.full(counts.shape[0], -1, dtype=np.int64)  # the last read counted: once a read, however many its pieces
    for piece in range(start.size):
        name = np.uint64(0)
        for i in range(length[piece]):
            name = (name << np.uint64(2) | base_at(words, start[piece] + i)) & mask
            if i + 1 < PROBE_LENGTH:
                continue
            for p in range(probes.size):
                if name == probes[p] and seen[kits[p]] != read[piece]:
                    seen[kits[p]] = read[piece]
                    counts[kits[p], read[piece] & 1] += 1
