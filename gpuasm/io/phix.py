"""Identify reads of phage PhiX174, the control of Illumina runs, by their 21-mers."""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from gpuasm.io.adapters import first_segment_of_reads
from gpuasm.parallel import compiled, inlined, run_chunks
from gpuasm.sequence.encoding import base_at, encode, reverse_complement
from gpuasm.sequence.reads import Reads

K = 21
"""Long enough that random bases contain none of the genome's k-mers, short enough for reads with errors."""

_LOG_SLOTS = 15
_EMPTY = ~np.uint64(0)
_END = np.uint64(0xFFFF)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def phix_reads(reads: Reads, n_pairs: int) -> np.ndarray:
    """Identify reads of PhiX174 (NC_001422.1): those with more than half of their bases in its 21-mers.

    Mates are judged together.

    Parameters
    ----------
    reads : Reads
        On the host.
    n_pairs
        Reads 0 to 2 * n_pairs - 1 are mates.

    Returns
    -------
    (n_reads,) bool
    """
    first_segment = first_segment_of_reads(reads)
    covered, total = np.zeros(reads.n_reads, np.int64), np.zeros(reads.n_reads, np.int64)
    arrays = first_segment, reads.packed, reads.start, reads.length
    run_chunks(_cover, reads.n_reads, *arrays, *_tables(), covered, total)
    surplus = 2 * covered - total
    mates = surplus[: 2 * n_pairs].reshape(-1, 2).sum(axis=1)
    return np.concatenate([np.repeat(mates, 2), surplus[2 * n_pairs :]]) > 0


def phix_genome() -> str:
    """Return the 5,386 bases of PhiX174, a circular genome."""
    text = (resources.files("gpuasm.io") / "data" / "phix174.fasta").read_text(encoding="ascii")
    return "".join(text.splitlines()[1:])


@functools.cache
def _tables() -> tuple[np.ndarray, np.ndarray]:
    """Return a hash table of the 21-mers of both strands, and which 8 bases they end with."""
    genome = phix_genome()
    codes = encode(genome + genome[: K - 1])
    table = np.full(1 << _LOG_SLOTS, _EMPTY)
    for strand in (codes, reverse_complement(codes)):
        _insert(strand.astype(np.uint64), table)
    is_end = np.zeros(1 << 16, np.bool_)
    is_end[(table[table != _EMPTY] & _END).astype(np.int64)] = True
    return table, is_end


@inlined()
def _slot(name):
    return np.int64((name * _FACTOR) >> np.uint64(64 - _LOG_SLOTS))


@compiled()
def _insert(codes, table):
    mask = (np.uint64(1) << np.uint64(2 * K)) - np.uint64(1)
    name = np.uint64(0)
    for i in range(codes.size):
        name = (name << np.uint64(2) | codes[i]) & mask
        if i + 1 >= K:
            slot = _slot(name)
            while table[slot] != _EMPTY and table[slot] != name:
                slot = (slot + 1) & (table.size - 1)
            table[slot] = name


@compiled()
def _cover(first, last, first_segment, packed, start, length, table, is_end, covered, total):
    """Count the bases of each read, and those in 21-mers of the table."""
    mask = (np.uint64(1) << np.uint64(2 * K)) - np.uint64(1)
    for read in range(first, last):
        for segment in range(first_segment[read], first_segment[read + 1]):
            total[read] += length[segment]
            name, done = np.uint64(0), 0
            for i in range(length[segment]):
                name = (name << np.uint64(2) | base_at(packed, start[segment] + i)) & mask
                if i + 1 < K or not is_end[name & _END]:
                    continue
                slot = _slot(name)
                while table[slot] != _EMPTY and table[slot] != name:
                    slot = (slot + 1) & (table.size - 1)
                if table[slot] == name:
                    covered[read] += i + 1 - max(done, i + 1 - K)
                    done = i + 1
