"""The numbers that describe an assembly by its contigs alone."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuasm.io.length_statistics import n50_and_l50

if TYPE_CHECKING:
    from gpuasm.report.inputs import Run


@dataclass(frozen=True)
class Lengths:
    """Sums over contigs: how many, bases, longest, N50 and L50, auN (the area under the Nx curve, in bases)."""

    n: int
    total: int
    longest: int
    n50: int
    l50: int
    aun: float


def summarise_lengths(lengths: Sequence[int]) -> Lengths:
    """Describe contig lengths; all zero if there are none."""
    ordered, total = sorted(lengths, reverse=True), sum(lengths)
    if not total:
        return Lengths(len(ordered), 0, 0, 0, 0, 0.0)
    n50, l50 = n50_and_l50(ordered)
    return Lengths(len(ordered), total, ordered[0], n50, l50, sum(length**2 for length in ordered) / total)


def nx_curve(lengths: Sequence[int]) -> tuple[list[float], list[int]]:
    """Return the corners of the Nx curve: percent of all bases, and the length of the contig that reaches it."""
    ordered, total, done = sorted(lengths, reverse=True), sum(lengths), 0
    percent, length_at = [], []
    for length in ordered:
        percent += [100 * done / total, 100 * (done + length) / total]
        length_at += [length, length]
        done += length
    return percent, length_at


def mean_depth(run: Run) -> float | None:
    """Return the depth of the contigs, weighted by length; None without contigs."""
    return _mean(run, [contig.depth for contig in run.contigs])


def aligned_share(run: Run) -> float | None:
    """Return the share of reads that align to a contig, from 0 to 1; None if unknown."""
    reads, aligned = run.amount("reads"), run.amount("reads_aligned")
    return aligned / reads if reads and aligned is not None else None


def mean_gc(run: Run) -> float | None:
    """Return the share of G and C in the contigs, from 0 to 1; None without contigs."""
    return _mean(run, [contig.gc for contig in run.contigs])


def _mean(run: Run, values: Sequence[float]) -> float | None:
    lengths = [contig.length for contig in run.contigs]
    total = sum(lengths)
    return sum(map(operator.mul, values, lengths)) / total if total else None
