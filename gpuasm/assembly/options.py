"""What an assembly depends on, besides the reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AssemblyOptions:
    """What an assembly depends on, besides the reads.

    Attributes
    ----------
    k : tuple of int, or None
        Ascending odd values, the first at most 31, each at most twice the one before; None chooses by read length.
    min_count : int or None
        Least multiplicity of a solid k-mer; None takes it from the spectrum.
    min_contig_length : int
        Shorter contigs are left out of the contigs, not of the graph.
    """

    k: tuple[int, ...] | None = None
    min_count: int | None = None
    min_contig_length: int = 200
