"""Contigs in bins, as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlacedContig:
    """A contig on the map: its bases, row and column of its unit, and its bin, "" for none."""

    length: int
    row: int
    column: int
    bin: str


@dataclass(frozen=True)
class BinnedContigs:
    """Contigs in bins.

    Attributes
    ----------
    bins : list of dict
        The lines of bins.tsv, as text.
    contigs : list of PlacedContig
        Longest first.
    height : list of list of float
        The U-matrix, row by row.
    training : list of (float, float)
        Quantisation and topographic error after each epoch.
    binned, total : int
        Bases in bins, and in all contigs.
    """

    bins: list[dict[str, str]]
    contigs: list[PlacedContig]
    height: list[list[float]]
    training: list[tuple[float, float]]
    binned: int
    total: int
