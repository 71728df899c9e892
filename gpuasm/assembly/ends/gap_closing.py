"""Close gaps between linked ends by the reads at these ends.

Where coverage is low, or a repeat lies within a read, the graph ends although reads continue. All reads are aligned to
the contigs, and clipped tails yield a consensus beyond each end (`end_sequences`). A gap is closed if the two sequences
overlap at one length only, at the distance that pairs state, and by so many bases that one gap in a hundred samples is
closed wrongly. Units of a tandem repeat allow several lengths, and stay a gap. Other gaps are closed by walks through
their local reads, if reads or fragments support one walk only (`gpuasm.assembly.ends.local_walks`).

Ends that few pairs link must overlap by more bases, and with no other end. If two unitigs overlap but few pairs link
them, a tandem unit may be missing: one read must span the overlap. If linked unitigs should overlap but differ, the
last bases of one may be of another copy: reads on both must show which bases are wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import array_namespace
from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.coverage.local_depth import nearby_depth
from gpuasm.assembly.ends.clipped_ends import AlignedEnds, align_to_ends
from gpuasm.assembly.ends.end_overlaps import find_overlaps, has_read_across, overlap_ends
from gpuasm.assembly.ends.local_walks import fill_gap
from gpuasm.assembly.ends.overlapping_ends import least_bases, unambiguous_overlaps
from gpuasm.assembly.graph.graph_edits import Fill, split
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.options import EVERY_RULE
from gpuasm.assembly.pairs.gaps import Gap, Resolved, move_gaps
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.parameters import ENDS
from gpuasm.parallel import ordered_map
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages


def close_gaps(
    resolved: Resolved,
    reads: Reads,
    *,
    isolated: Sequence[UnitigGraph] = (),
    stages: Stages,
    inserts: InsertSizes | None = None,
    rules: Collection[str] = EVERY_RULE,
) -> tuple[UnitigGraph, list[Gap]]:
    """Join linked ends whose intermediate bases reads determine.

    Parameters
    ----------
    resolved
        The resolved graph, its gaps, and other linked ends.
    reads
        All reads, on the host or on a device.
    isolated
        Graphs whose unitigs are contigs too, so that their reads are not aligned to other contigs.
    stages
        Where to report progress.
    inserts
        Insert sizes; None where reads have no mates.
    rules
        Applied rules, of `gpuasm.assembly.options.RULES`: "local-reads" and "fragment-choice" are two of them.

    Returns
    -------
    The graph in which gaps are closed, and the remaining gaps.
    """
    graph = resolved.graph
    is_dead = np.diff(graph.arc_start) == 0
    free, ambiguous_overlaps, mismatching_overlaps = (
        [gap for gap in some if is_dead[gap.source] and is_dead[gap.target ^ 1]]
        for some in (resolved.gaps, resolved.ambiguous_overlaps, resolved.mismatching_overlaps)
    )
    if not (free or resolved.weak_links or ambiguous_overlaps or mismatching_overlaps):
        return graph, resolved.gaps
    with stages.stage("close gaps") as stage:
        ends = np.flatnonzero(is_dead & ~np.repeat(graph.is_circular, 2))
        linked = [] if "local-reads" not in rules else [gap for gap in free if gap.n_pairs >= ENDS.gap_walk_min_pairs]
        ends_of_gaps = [(gap.source, gap.target ^ 1) for gap in linked]
        contigs = make_contigs(graph, isolated, min_length=1)
        aligned = align_to_ends(
            graph, ends, contigs, reads, of_gaps=ends_of_gaps, longest=inserts.longest if inserts else 0
        )

        def filled(some: Sequence[Gap]) -> dict[Gap, Fill]:
            return _fills(aligned, some, least_bases(len(some), ENDS.gap_min_overlap, ENDS.linked_chance))

        fills = filled(free)
        density = inserts.log2_density() if inserts and "fragment-choice" in rules else None
        open_ = [gap for gap in linked if gap not in fills]
        read_length = reads.n_bases // max(1, reads.n_segments)
        walked = _walked(graph, aligned, open_, read_length=read_length, density=density)
        xp = array_namespace(reads.packed)
        least = least_bases(len(resolved.weak_links), ENDS.dead_end_min_overlap, ENDS.unlinked_chance)
        more = _fills(aligned, _unambiguous(aligned, resolved.weak_links, least, xp=xp), least)
        ambiguous = _across(aligned, filled(ambiguous_overlaps))
        mismatching = _overlapping(filled(mismatching_overlaps))
        left = [gap for gap in resolved.gaps if gap not in fills and gap not in walked]
        made = [*fills.values(), *walked.values(), *more.values(), *ambiguous.values(), *mismatching.values()]
        if made:
            # Dead ends lose no edges, so no unitig between them is dropped.
            graph, sources = split(graph, made, nearby_depth(graph), longest=0)
            left = move_gaps(left, graph, sources)
        stage.note(
            gaps=len(resolved.gaps),
            closed=len(fills),
            walked=len(walked),
            weak_links=len(resolved.weak_links),
            weak_links_closed=len(more),
        )
        stage.note(
            ambiguous_overlaps=len(ambiguous_overlaps),
            ambiguous_closed=len(ambiguous),
            mismatching_overlaps=len(mismatching_overlaps),
            mismatching_closed=len(mismatching),
        )
    return graph, left


def _unambiguous(ends: AlignedEnds, weak_links: Sequence[Gap], least: int, *, xp: Any) -> list[Gap]:
    """Return the weak links whose end sequences overlap with each other and with no third one."""
    found = unambiguous_overlaps(find_overlaps(ends.texts, least, xp=xp))
    overlapping = set(zip(found.end.tolist(), found.other.tolist(), strict=True))
    return [link for link in weak_links if (link.source, link.target ^ 1) in overlapping]


def _across(ends: AlignedEnds, fills: dict[Gap, Fill]) -> dict[Gap, Fill]:
    """Return the overlaps that a read spans."""
    return {
        gap: fill
        for gap, fill in fills.items()
        if fill.overlap
        and has_read_across(ends, gap.source, gap.target ^ 1, shared=fill.overlap, flank=ENDS.junction_flank)
    }


def _overlapping(fills: dict[Gap, Fill]) -> dict[Gap, Fill]:
    """Return the fills at which unitigs overlap, as their pairs state."""
    return {gap: fill for gap, fill in fills.items() if fill.overlap}


def _walked(
    graph: UnitigGraph, ends: AlignedEnds, gaps: Sequence[Gap], *, read_length: int, density: np.ndarray | None
) -> dict[Gap, Fill]:
    """Return the fills of gaps that a walk through local reads closes."""
    local = ((gap, ends.local_reads.get((gap.source, gap.target ^ 1), [])) for gap in gaps)
    with_reads = [(gap, own) for gap, own in local if own]

    def filled(each: tuple[Gap, list[tuple[bytes, int]]]) -> Fill | None:
        return fill_gap(graph, *each, read_length=read_length, density=density, flank=ends.flank)

    return {gap: fill for (gap, _), fill in zip(with_reads, ordered_map(filled, with_reads), strict=True) if fill}


def _fills(ends: AlignedEnds, gaps: Sequence[Gap], least: int) -> dict[Gap, Fill]:
    """Return the fills of gaps whose end sequences overlap at the distance that pairs state."""
    fills = {}
    for gap in gaps:
        found = overlap_ends(ends, gap.source, gap.target ^ 1, least=least)
        if found and abs(found.size - gap.size) <= gap.spread and -found.size <= ends.texts.k - 2:
            between = found.between.tobytes() if found.size >= 0 else None
            fills[gap] = Fill((gap.source, gap.target), overlap=max(0, -found.size), between=between)
    return fills
