"""Identify reads of phage PhiX174, the control of Illumina runs, by their 21-mers."""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np

from gpuasm.io.reference_kmers import K, ReferenceKmers, reads_of_reference
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads

MOST_BASES = 2 * 5386
"""Of a contig of PhiX174: two genomes."""
_WINDOWS = 20
"""Places of a contig that are compared: it is of one origin."""


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
    return reads_of_reference(reads, n_pairs, _kmers())


def phix_genome() -> str:
    """Return the 5,386 bases of PhiX174, a circular genome."""
    text = (resources.files("gpuasm.io") / "data" / "phix174.fasta").read_text(encoding="ascii")
    return "".join(text.splitlines()[1:])


def is_phix(sequence: str) -> bool:
    """Return whether a contig is of PhiX174, in part or whole: most of some of its 21-mers are the genome's.

    One longer than `MOST_BASES` is not.
    """
    if not K <= len(sequence) <= MOST_BASES:
        return False
    known = _texts()
    places = range(0, len(sequence) - K + 1, max(1, (len(sequence) - K) // _WINDOWS))
    return 2 * sum(sequence[place : place + K] in known for place in places) > len(places)


@functools.cache
def _texts() -> frozenset[str]:
    """Return the 21-mers of both strands: twice as many as the genome has bases."""
    genome = phix_genome()
    other = decode(reverse_complement(encode(genome)))
    circles = [strand + strand[: K - 1] for strand in (genome, other)]
    return frozenset(circle[place : place + K] for circle in circles for place in range(len(genome)))


@functools.cache
def _kmers() -> ReferenceKmers:
    genome = phix_genome()
    return ReferenceKmers.of(Reads.from_codes([encode(genome + genome[: K - 1])]))
