"""Scaffolds: contigs in order, with gaps of N where pairs determine the distance but not the bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuasm.assembly.contig import Contig
from gpuasm.assembly.graph.end_overlap_trimming import end_cuts
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.link_evidence import Gap
from gpuasm.assembly.parameters import COVERAGE
from gpuasm.primitives.strand_walks import strand_walks
from gpuasm.sequence.encoding import NOT_A_BASE, decode, reverse_complement


@dataclass(frozen=True)
class Part:
    """A contig in a scaffold, and the gap after it.

    Attributes
    ----------
    contig : Contig
    is_reverse : bool
        Whether the scaffold reads its reverse complement.
    begin, end : int
        Bases of the contig, on its own strand, that belong to the scaffold.
    gap : int
        N after it; 0 after the last part.
    join : Gap, or None
        The gap by pairs, with its size between the whole contigs.
    """

    contig: Contig
    is_reverse: bool
    begin: int
    end: int
    gap: int = 0
    join: Gap | None = None

    @property
    def codes(self) -> np.ndarray:
        """Its bases as the scaffold reads them."""
        codes = self.contig.codes[self.begin : self.end]
        return reverse_complement(codes) if self.is_reverse else codes


@dataclass(frozen=True)
class Scaffold:
    """One scaffold.

    Attributes
    ----------
    name : str
    parts : tuple of Part
    """

    name: str
    parts: tuple[Part, ...]

    @property
    def codes(self) -> np.ndarray:
        """(length,) uint8: its bases, 4 for N."""
        if len(self.parts) == 1:
            return self.parts[0].codes
        texts = []
        for part in self.parts:
            texts += [part.codes, np.full(part.gap, NOT_A_BASE, np.uint8)]
        return np.concatenate(texts)

    @property
    def length(self) -> int:
        return sum(part.end - part.begin + part.gap for part in self.parts)

    @property
    def is_circular(self) -> bool:
        return len(self.parts) == 1 and self.parts[0].contig.is_circular

    @property
    def sequence(self) -> str:
        return decode(self.codes)


def make_scaffolds(contigs: Sequence[Contig], gaps: Sequence[Gap], graph: UnitigGraph) -> list[Scaffold]:
    """Order contigs into scaffolds, longest first; a contig without joins is a scaffold of its own.

    ``gaps`` are joins between unitigs of the graph that the contigs were made from, at most one at each end; those of
    ends that no contig has are ignored.
    """
    joins = _between_contigs(contigs, gaps, graph)
    successor = np.full(2 * len(contigs), -1, np.int32)
    for source, target in joins:
        successor[source] = target
    walks = strand_walks(successor)
    scaffolds = []
    for w, (first, last) in enumerate(zip(walks.start[:-1].tolist(), walks.start[1:].tolist(), strict=True)):
        path = walks.path[first:last].tolist()
        if w >= walks.n_linear:
            path = _open_cycle(path, joins)
        scaffolds.append(Scaffold("", _make_parts(path, joins, contigs)))
    scaffolds.sort(key=lambda s: (-s.length, s.codes.tobytes()))
    return [Scaffold(f"scaffold_{i:06d}", scaffold.parts) for i, scaffold in enumerate(scaffolds, start=1)]


def _between_contigs(contigs: Sequence[Contig], gaps: Sequence[Gap], graph: UnitigGraph) -> dict[tuple[int, int], Gap]:
    """Return joins between oriented contigs on both strands, with the sizes between contigs, whose ends may be cut."""
    number = {end: 2 * i + side for i, contig in enumerate(contigs) for side, end in enumerate(contig.ends) if end >= 0}
    cut = end_cuts(graph)
    joins: dict[tuple[int, int], Gap] = {}
    for gap in gaps:
        if gap.source >> 1 == gap.target >> 1 or not number.keys() >= set(gap.ends):
            continue
        ends = [number[end] for end in gap.ends]
        size = gap.size + int(cut[list(gap.ends)].sum()) - sum(contigs[end >> 1].extended[end & 1] for end in ends)
        source, target = ends[0], ends[1] ^ 1
        # At most half of a contig is cut for a gap, so that two gaps leave a part of it.
        if 2 * (COVERAGE.scaffold_min_gap - size) <= min(contigs[end >> 1].length for end in (source, target)):
            for here, there in ((source, target), (target ^ 1, source ^ 1)):
                joins[here, there] = replace(gap, source=here, target=there, size=size)
    return joins


def _open_cycle(path: list[int], joins: dict[tuple[int, int], Gap]) -> list[int]:
    """Open a cycle at the join of the fewest pairs."""
    pairs = [joins[path[i - 1], path[i]].n_pairs for i in range(len(path))]
    at = pairs.index(min(pairs))
    return path[at:] + path[:at]


def _make_parts(path: list[int], joins: dict[tuple[int, int], Gap], contigs: Sequence[Contig]) -> tuple[Part, ...]:
    parts = []
    cut_before = 0
    for i, oriented in enumerate(path):
        contig, is_reverse = contigs[oriented >> 1], bool(oriented & 1)
        join = joins[oriented, path[i + 1]] if i + 1 < len(path) else None
        missing = max(0, COVERAGE.scaffold_min_gap - join.size) if join else 0
        # The shorter contig is cut, so that the longer one stays whole.
        cuts_this = join is not None and contig.length <= contigs[path[i + 1] >> 1].length
        cut_after = missing if cuts_this else 0
        left, right = (cut_after, cut_before) if is_reverse else (cut_before, cut_after)
        size = max(COVERAGE.scaffold_min_gap, join.size) if join else 0
        parts.append(Part(contig, is_reverse, left, contig.length - right, size, join))
        cut_before = missing - cut_after
    return tuple(parts)
