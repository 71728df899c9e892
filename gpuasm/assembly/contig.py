"""Contigs: the named unitigs of the last graph, with depth, copy number and circularity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuasm.assembly.coverage.graph_depth import weighted_quantile
from gpuasm.assembly.graph.canonical_order import canonical_order
from gpuasm.assembly.graph.end_overlap_trimming import end_cuts
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.sequence.encoding import decode, reverse_complement


@dataclass(frozen=True)
class Contig:
    """One contig.

    Attributes
    ----------
    name : str
        The same in every output file.
    codes : (length,) uint8
        Its bases; those of a circular contig without overlap.
    depth : float
        Mean depth in reads over each base.
    copies : int
        Number of copies, by depth relative to that of one copy; at least 1.
    is_circular : bool
        Whether its ends join.
    unitig : int
        Its unitig in the graph, or -1 for a contig of an earlier graph or a part of a unitig.
    free_ends : (bool, bool)
        Whether its right and its left end are dead ends of the graph, which reads may extend.
    extended : (int, int)
        Bases beyond the right and the left end of its unitig; negative if it was cut.
    ends : (int, int)
        Its right and left end in the graph: 2u for the end of unitig u, 2u + 1 for that of its reverse complement; -1
        for none.
    source : int
        The oriented unitig of the graph that it was made of, also of a part: 2u, or 2u + 1 for the reverse complement;
        -1 for a contig of an earlier graph.
    """

    name: str
    codes: np.ndarray
    depth: float
    copies: int
    is_circular: bool
    unitig: int
    free_ends: tuple[bool, bool] = (False, False)
    extended: tuple[int, int] = (0, 0)
    ends: tuple[int, int] = (-1, -1)
    source: int = -1

    @property
    def length(self) -> int:
        return int(self.codes.size)

    @property
    def sequence(self) -> str:
        return decode(self.codes)

    @property
    def gc(self) -> float:
        """Share of C and G."""
        return float(np.count_nonzero((self.codes == 1) | (self.codes == 2)) / self.codes.size)


def make_contigs(
    graph: UnitigGraph,
    isolated: Sequence[UnitigGraph] = (),
    *,
    min_length: int,
    is_abandoned: np.ndarray | None = None,
) -> list[Contig]:
    """Name the unitigs of at least ``min_length`` bases of the last cleaned graph, longest first.

    Unitigs of ``isolated`` graphs of smaller k have no unitig in ``graph`` (-1). ``is_abandoned``, (2n,) bool, are dead
    ends of ``graph`` that are not free, as their continuation was removed: 2u + s is the end of unitig u read on strand
    s.
    """
    single = single_copy_depth(graph.n_kmers, graph.depth)
    contigs = _contigs_of(graph, end_cuts(graph), single, is_abandoned=is_abandoned)
    for own in isolated:
        alone = _contigs_of(own, np.zeros(2 * own.n, np.int64), single)
        contigs += [changed(contig, unitig=-1, ends=(-1, -1), source=-1) for contig in alone]
    contigs = [contig for contig in contigs if contig.length >= min_length]
    return numbered([contigs[i] for i in in_order(contigs)])


def _contigs_of(
    graph: UnitigGraph, cut: np.ndarray, single: float, *, is_abandoned: np.ndarray | None = None
) -> list[Contig]:
    """Return each unitig of a graph as a contig without a name, less the bases that `end_cuts` cuts."""
    right, left = cut[0::2], cut[1::2]
    first = np.minimum(graph.start[:-1] + left, graph.start[1:])
    last = np.maximum(first, graph.start[1:] - right)
    is_free = graph.is_dead_end if is_abandoned is None else graph.is_dead_end & ~is_abandoned
    columns = (first, last, graph.depth, copies_of(graph.depth, single), graph.is_circular, is_free.reshape(-1, 2))
    contigs = []
    for u, (a, b, depth, n, is_circular, free) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        codes, source, ends = graph.bases[a:b], 2 * u, (2 * u, 2 * u + 1)
        if is_circular:
            codes, is_flipped = open_circular(codes, graph.k)
            source, ends = 2 * u + is_flipped, (-1, -1)
        contigs.append(Contig("", codes, depth, n, is_circular, u, (free[0], free[1]), ends=ends, source=source))
    return contigs


def changed(contig: Contig, **values: Any) -> Contig:
    """Return a contig with other values of some attributes, as `dataclasses.replace` does in ten times the time."""
    new = object.__new__(Contig)
    vars(new).update(vars(contig), **values)
    return new


def numbered(contigs: Sequence[Contig]) -> list[Contig]:
    """Name contigs by their order."""
    return [changed(contig, name=f"contig_{number:06d}") for number, contig in enumerate(contigs, start=1)]


def in_order(contigs: Sequence[Contig]) -> list[int]:
    """Return the order of contigs by name: longest first, then by sequence."""
    return sorted(range(len(contigs)), key=lambda i: (-contigs[i].codes.size, contigs[i].codes.tobytes()))


def bounds_of(contigs: Sequence[Contig]) -> np.ndarray:
    """Return the places where each contig begins, and the end: (n + 1,) int64."""
    return np.concatenate([[0], np.cumsum([contig.codes.size for contig in contigs])]).astype(np.int64)


def single_copy_depth(length: np.ndarray, depth: np.ndarray) -> float:
    """Return the length-weighted median depth of the sequences that are at least half as long as the tenth longest.

    Lengths are (n,) int64, depths (n,) float64.
    """
    if length.size == 0:
        return 0.0
    is_long = length >= np.sort(length)[-min(COVERAGE.long_contig_rank, length.size)] / 2
    return weighted_quantile(depth[is_long], length[is_long])


def copies_of(depth: np.ndarray, single: float) -> np.ndarray:
    """Return the copies of sequences by their depth and that of one copy, at least 1: (n,) int64."""
    return np.maximum(1, np.rint(depth / single) if single > 0 else np.ones(depth.size)).astype(np.int64)


def open_circular(codes: np.ndarray, k: int) -> tuple[np.ndarray, bool]:
    """Open a circular text before its least k-mer, on the strand of that k-mer, and remove the overlap.

    Returns
    -------
    (length,) uint8: the bases; and whether they are those of the other strand.
    """
    found = canonical_order(codes, np.array([0, codes.size]), np.array([True]), k)
    circle = codes[: codes.size - k + 1]
    n, at = circle.size, int(found.rotation[0])
    if not found.is_flipped[0]:
        return np.roll(circle, -at), False
    # The least k-mer is the reverse complement of the window at `at`; it begins where that window ends.
    return np.roll(reverse_complement(circle), -(n - (at + k) % n) % n), True
