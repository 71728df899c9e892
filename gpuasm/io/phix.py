"""Identify reads of phage PhiX174, the control of Illumina runs, by their 21-mers."""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from gpuasm.io.read_through import first_segment_of_reads, window
from gpuasm.parallel import compiled, inlined, run_chunks
from gpuasm.sequence.encoding import encode, reverse_complement
from gpuasm.sequence.reads import Reads

K = 21
"""Long enough that random bases contain none of the genome's k-mers, short enough for reads with errors."""

_LOG_SLOTS = 15
_EMPTY = ~np.uint64(0)
_END_BASES = 9
"""Last bases of a 21-mer, by which few places are worth a closer look."""
_END = np.uint64((1 << 2 * _END_BASES) - 1)
_ENDS_A_WINDOW = 32 - _END_BASES + 1
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
    """Return a hash table of the 21-mers of both strands, and which bases they end with."""
    genome = phix_genome()
    codes = encode(genome + genome[: K - 1])
    table = np.full(1 << _LOG_SLOTS, _EMPTY)
    for strand in (codes, reverse_complement(codes)):
        _insert(strand.astype(np.uint64), table)
    is_end = np.zeros(1 << 2 * _END_BASES, np.bool_)
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
    for read in range(first, last):
        for segment in range(first_segment[read], first_segment[read + 1]):
            total[read] += length[segment]
            covered[read] += _covered(packed, start[segment], length[segment] - K + 1, table, is_end)


@compiled()
def _covered(packed, first, n, table, is_end):
    """Return the bases in 21-mers of the table, of those that begin at n places."""
    top, behind = 64 - 2 * _END_BASES, K - _END_BASES
    covered = done = 0
    for at in range(0, n, _ENDS_A_WINDOW):
        bases = window(packed, first + at + behind)
        for i in range(min(_ENDS_A_WINDOW, n - at)):
            if not is_end[bases >> np.uint64(top - 2 * i) & _END]:
                continue
            name = window(packed, first + at + i) >> np.uint64(64 - 2 * K)
            slot = _slot(name)
            while table[slot] != _EMPTY and table[slot] != name:
                slot = (slot + 1) & (table.size - 1)
            if table[slot] == name:
                covered += at + i + K - max(done, at + i)
                done = at + i + K
    return covered
