"""Identify reads of a reference, as PhiX174, a host or a spike-in, by exact 21-mers that they share with it.

The k-mers are kept by quotienting (Cleary 1984, doi:10.1109/TC.1984.1676499): an invertible hash of a k-mer names its
bucket by the upper bits, and the lower bits alone are stored. So a k-mer takes 4 bytes, and 1 to 2 more for buckets.
Of a large reference a sample is kept, those whose hash ends with zeros (Broder 1997, doi:10.1109/SEQUEN.1997.666900).
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np

from gpuasm.errors import DataError
from gpuasm.io.memory_bound import MemoryBound
from gpuasm.io.read_through import first_segment_of_reads, reverse_complement_of_window, window
from gpuasm.io.reading import read_reads
from gpuasm.parallel import compiled, inlined
from gpuasm.sequence.reads import Reads
from gpuasm.threads import ordered_map, run_chunks, thread_count

K = 21
"""Long enough that random bases rarely contain a k-mer of a genome, short enough for reads with errors."""

_BITS, _UNUSED = np.uint64(2 * K), np.uint64(64 - 2 * K)
_ALL = np.uint64((1 << 2 * K) - 1)
_HALF = np.uint64(K)
_M1, _M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_LARGE, _LAST_BITS = 1 << 24, np.uint64(3)
"""k-mers of a large reference, and the last bits of the hash of those that are kept, which are zero."""
_LEAST_BUCKET_BITS, _MOST_BUCKET_BITS = 11, 31
_LOG_KMERS_PER_BUCKET = 3
_FREE = np.uint32(0xFFFFFFFF)
"""An unused place of a bucket: with 2^11 buckets or more, no k-mer has so many lower bits."""
_END_BASES = 9
"""Last bases of a k-mer, by which few places of other reads are worth a closer look if the reference is short."""
_END = np.uint64((1 << 2 * _END_BASES) - 1)
_ENDS_A_WINDOW = 32 - _END_BASES + 1


@dataclass(frozen=True, eq=False, repr=False)
class ReferenceKmers:
    """The 21-mers of a reference, on both strands.

    Attributes
    ----------
    first : (n_buckets + 1,) int64
        Place of the first k-mer of each bucket in ``rest``.
    rest : (n,) uint32
        Lower bits of the hash of each k-mer; the free places of a bucket follow the used ones.
    is_end : (2^18,) bool
        Whether a k-mer of either strand ends with these nine bases.
    last_bits : uint64
        Bits that are zero in the hash of all k-mers that are kept; 0 if all are kept.
    """

    first: np.ndarray
    rest: np.ndarray
    is_end: np.ndarray
    last_bits: np.uint64

    @classmethod
    def of(cls, reference: Reads, *, path: str | PathLike[str] | None = None) -> ReferenceKmers:
        """Collect the k-mers of sequences on the host.

        Parameters
        ----------
        reference
            The sequences.
        path
            Their file, for messages.

        Raises
        ------
        DataError
            If no sequence has 21 bases in a row.
        ResourceError
            If the k-mers do not fit into memory.
        """
        n = int(np.maximum(reference.length.astype(np.int64) - (K - 1), 0).sum())
        if n == 0:
            raise DataError(f"a sequence of at least {K} bases", "none", "give the whole reference", path=path)
        last_bits = _LAST_BITS if n > _LARGE else np.uint64(0)
        kept = n // (int(last_bits) + 1)
        bits = min(max(kept.bit_length() - _LOG_KMERS_PER_BUCKET, _LEAST_BUCKET_BITS), _MOST_BUCKET_BITS)
        MemoryBound(path).require(4 * kept + (8 << bits))
        first, is_end = np.zeros((1 << bits) + 1, np.int64), np.zeros(1 << 2 * _END_BASES, np.bool_)
        arrays = reference.packed, reference.start, reference.length, np.uint64(bits), last_bits
        _run_buckets(_count, 1 << bits, *arrays, first)
        np.cumsum(first, out=first)
        rest = np.full(first[-1], _FREE)
        _run_buckets(_place, 1 << bits, *arrays, first, rest, is_end)
        return cls(first, rest, is_end, last_bits)


def reads_of_reference(reads: Reads, n_pairs: int, kmers: ReferenceKmers) -> np.ndarray:
    """Identify reads of a reference: those with more than half of their bases in its 21-mers, or in those kept of it.

    Of a reference of more than 2^24 bases one 21-mer in four is kept. Mates are judged together.

    Parameters
    ----------
    reads : Reads
        On the host.
    n_pairs
        Reads 0 to 2 * n_pairs - 1 are mates.
    kmers
        Of the reference.

    Returns
    -------
    (n_reads,) bool
    """
    is_found = np.zeros(reads.n_reads - n_pairs, np.bool_)
    bits = np.uint64(int(kmers.first.size - 1).bit_length() - 1)
    arrays = first_segment_of_reads(reads), reads.packed, reads.start, reads.length
    table = kmers.first, kmers.rest, kmers.is_end, bits, kmers.last_bits
    run_chunks(_judge, is_found.size, n_pairs, *arrays, *table, is_found)
    return np.concatenate([np.repeat(is_found[:n_pairs], 2), is_found[n_pairs:]])


def read_reference(path: str | PathLike[str]) -> tuple[ReferenceKmers, str]:
    """Read a file of FASTA or FASTQ, plain or compressed, and return its k-mers and its sha256.

    Raises
    ------
    DataError
        If it is malformed, or no sequence has 21 bases in a row.
    NoInputError
        If it is not there.
    ResourceError
        If it does not fit into memory.
    """
    read_set = read_reads(single=[fspath(path)])
    return ReferenceKmers.of(read_set.reads, path=path), read_set.files[0].sha256


def _run_buckets(loop, n_buckets, *arrays):
    """Run a loop over the whole reference in each thread, for buckets of its own: no two write to the same place."""
    bounds = np.linspace(0, n_buckets, thread_count() + 1).astype(np.uint64)

    def run(part: int) -> None:
        loop(bounds[part], bounds[part + 1], *arrays)

    for _ in ordered_map(run, range(bounds.size - 1)):
        pass


@inlined()
def _hashed(kmer):
    """Return the hash of the lesser strand of a k-mer, of as many bits; different k-mers have different hashes."""
    other = reverse_complement_of_window(kmer) >> _UNUSED
    name = min(kmer, other)
    name ^= name >> _HALF
    name = name * _M1 & _ALL
    name ^= name >> _HALF
    name = name * _M2 & _ALL
    return name ^ name >> _HALF


@compiled()
def _count(least, below, packed, start, length, bits, last_bits, count):
    """Count the k-mers of buckets ``least`` to ``below``; that of bucket b is element b + 1."""
    for segment in range(start.size):
        for at in range(start[segment], start[segment] + length[segment] - K + 1):
            hashed = _hashed(window(packed, at) >> _UNUSED)
            bucket = hashed >> _BITS - bits
            if not hashed & last_bits and least <= bucket < below:
                count[np.int64(bucket) + 1] += 1


@compiled()
def _place(least, below, packed, start, length, bits, last_bits, first, rest, is_end):
    """Store each different k-mer of buckets ``least`` to ``below`` once."""
    lower = (np.uint64(1) << _BITS - bits) - np.uint64(1)
    for segment in range(start.size):
        for at in range(start[segment], start[segment] + length[segment] - K + 1):
            kmer = window(packed, at) >> _UNUSED
            hashed = _hashed(kmer)
            if hashed & last_bits or not least <= hashed >> _BITS - bits < below:
                continue
            is_end[np.int64(kmer & _END)] = True
            is_end[np.int64(reverse_complement_of_window(kmer) >> _UNUSED & _END)] = True
            place, value = first[np.int64(hashed >> _BITS - bits)], np.uint32(hashed & lower)
            while rest[place] != _FREE and rest[place] != value:
                place += 1
            rest[place] = value


@inlined()
def _contains(kmer, first, rest, bits, last_bits):
    hashed = _hashed(kmer)
    if hashed & last_bits:
        return False
    bucket = np.int64(hashed >> _BITS - bits)
    value = np.uint32(hashed & (np.uint64(1) << _BITS - bits) - np.uint64(1))
    for place in range(first[bucket], first[bucket + 1]):
        if rest[place] == value:
            return True
        if rest[place] == _FREE:
            return False
    return False


@compiled()
def _judge(begin, end, n_pairs, first_segment, packed, start, length, first, rest, is_end, bits, last_bits, is_found):
    """Judge pairs, then single reads; see `reads_of_reference`."""
    for unit in range(begin, end):
        read = 2 * unit if unit < n_pairs else unit + n_pairs
        segments = range(first_segment[read], first_segment[read + (2 if unit < n_pairs else 1)])
        total = np.int64(0)
        for segment in segments:
            total += length[segment]
        covered = missed = np.int64(0)
        for segment in segments:
            most = total - 2 * missed
            table = first, rest, is_end, bits, last_bits
            found = _covered(packed, start[segment], length[segment] - K + 1, most, *table)
            covered += found
            missed += length[segment] - found
            if 2 * missed >= total:
                break
        is_found[unit] = 2 * covered > total


@compiled()
def _covered(packed, begin, n, most, first, rest, is_end, bits, last_bits):
    """Return the bases in k-mers of the reference, of those that begin at n places.

    The search ends where twice the other bases are ``most`` or more.
    """
    top, behind = 64 - 2 * _END_BASES, K - _END_BASES
    covered = done = 0
    for at in range(0, n, _ENDS_A_WINDOW):
        if 2 * (at - covered) >= most:
            break
        bases = window(packed, begin + at + behind)
        for i in range(min(_ENDS_A_WINDOW, n - at)):
            if not is_end[np.int64(bases >> np.uint64(top - 2 * i) & _END)]:
                continue
            if _contains(window(packed, begin + at + i) >> _UNUSED, first, rest, bits, last_bits):
                covered += at + i + K - max(done, at + i)
                done = at + i + K
    return covered
