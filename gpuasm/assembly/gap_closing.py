"""Gap closing: between two ends that pairs link, reads that hang over them may tell the bases.

Where coverage is thin, or a repeat stands within a read of unique bases, the graph ends though reads go on. All reads
are laid on the contigs, and those that hang over an end vote base by base, as far as they agree (`end_texts`). A gap is
closed where the text of one end overlaps that of the other: by so many bases that one wrong gap in a hundred samples
would be, of all that pairs tell, in one way only, and as far apart as pairs say. Units of a tandem repeat make several
ways, and stay a gap. What is left is closed by walks through the reads whose mates stand beside the gap, where reads
or their fragments tell one walk from all others (`gpuasm.assembly.pairs.local_walks`).

Where pairs are too few to tell that two ends are neighbours, reads must: they overlap by more bases, and neither end
with another. And where unitigs overlap, but so few pairs link them that a unit of a tandem repeat may be missing, a
read must come from the one, go across what they share, and on into the other. Where they should overlap, and pairs are
as many as should be, the last bases of one may be another copy's: then reads on both tell which are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuasm.assembly.carrying.insert_sizes import InsertSizes
from gpuasm.assembly.consensus.end_overlaps import goes_across, meet
from gpuasm.assembly.consensus.laid_ends import LaidEnds, lay_on_ends
from gpuasm.assembly.consensus.meeting_ends import least_bases, only_overlaps
from gpuasm.assembly.contigs import make_contigs
from gpuasm.assembly.graph.local_depth import depth_near_by
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.pairs.gaps import Gap, moved
from gpuasm.assembly.pairs.local_walks import fill_gap
from gpuasm.assembly.pairs.resolving import Resolved
from gpuasm.assembly.pairs.splitting import Fill, split
from gpuasm.parallel import ordered_map
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages

LEAST_OVERLAP, LEAST_OF_HINT = 7, 12
"""Bases, however few ends there are: fewer stand in what repeats a few bases; of gaps, and of what few pairs link."""
BESIDE = 12
"""Bases of either unitig beside what two share, in a read across it: fewer may be alike in a unit's next copy."""
LEAST_PAIRS = 5
"""Pairs of a gap that a walk may close. A few fragments of other copies may link the ends of a repeat longer than any:
of five gaps of three and four pairs that walks went over, two were no gaps."""
_CHANCE, _CHANCE_OF_HINT = 1e-2, 1e-3
"""Gaps of a sample that unrelated bases close, between true neighbours, where only what lies between would be wrong;
and between ends that few pairs link."""


def close_gaps(
    resolved: Resolved,
    reads: Reads,
    *,
    set_aside: Sequence[UnitigGraph] = (),
    stages: Stages,
    inserts: InsertSizes | None = None,
    without: Sequence[str] = (),
) -> tuple[UnitigGraph, list[Gap]]:
    """Join what reads tell between ends that pairs link.

    Parameters
    ----------
    resolved
        The resolved graph, its gaps, and what else pairs link.
    reads
        All reads, on the host or on a device.
    set_aside
        Graphs whose unitigs are contigs too: reads that come from them must not be taken for others'.
    stages
        Where to report progress.
    inserts
        How long fragments are; None where reads have no mates.
    without
        Rules to leave out, of `gpuasm.assembly.options.RULES`: "local-reads" and "fragment-choice" are two of them.

    Returns
    -------
    The graph in which gaps are closed, and the gaps that are left.
    """
    graph = resolved.graph
    is_dead = np.diff(graph.arc_start) == 0
    free, doubtful, differing = (
        [gap for gap in some if is_dead[gap.source] and is_dead[gap.target ^ 1]]
        for some in (resolved.gaps, resolved.doubtful, resolved.differing)
    )
    if not (free or resolved.hints or doubtful or differing):
        return graph, resolved.gaps
    with stages.stage("close gaps") as stage:
        ends = np.flatnonzero(is_dead & ~np.repeat(graph.is_circular, 2))
        linked = [] if "local-reads" in without else [gap for gap in free if gap.n_pairs >= LEAST_PAIRS]
        asked = [(gap.source, gap.target ^ 1) for gap in linked]
        contigs = make_contigs(graph, set_aside, min_length=1)
        laid = lay_on_ends(graph, ends, contigs, reads, of_gaps=asked, longest=inserts.longest if inserts else 0)
        fills = _fills(laid, free, least_bases(len(free), LEAST_OVERLAP, _CHANCE))
        density = inserts.log2_density() if inserts and "fragment-choice" not in without else None
        open_ = [gap for gap in linked if gap not in fills]
        read_length = reads.n_bases // max(1, reads.n_pieces)
        walked = _walked(graph, laid, open_, read_length=read_length, density=density)
        least = least_bases(len(resolved.hints), LEAST_OF_HINT, _CHANCE_OF_HINT)
        more = _fills(laid, _met(laid, resolved.hints, least), least)
        across = _across(laid, _fills(laid, doubtful, least_bases(len(doubtful), LEAST_OVERLAP, _CHANCE)))
        alike = _overlapping(_fills(laid, differing, least_bases(len(differing), LEAST_OVERLAP, _CHANCE)))
        left = [gap for gap in resolved.gaps if gap not in fills and gap not in walked]
        made = [*fills.values(), *walked.values(), *more.values(), *across.values(), *alike.values()]
        if made:
            # Dead ends lose no arcs: nothing lies between them that might be dropped.
            graph, pieces = split(graph, made, depth_near_by(graph), longest=0)
            left = moved(left, graph, pieces)
        stage.note(
            gaps=len(resolved.gaps), closed=len(fills), walked=len(walked), hints=len(resolved.hints), met=len(more)
        )
        stage.note(doubtful=len(doubtful), across=len(across), differing=len(differing), alike=len(alike))
    return graph, left


def _met(ends: LaidEnds, hints: Sequence[Gap], least: int) -> list[Gap]:
    """Return the hints at ends whose texts overlap with each other's and no third one's."""
    found = only_overlaps(ends.texts.overlaps(least))
    met = set(zip(found.end.tolist(), found.other.tolist(), strict=True))
    return [hint for hint in hints if (hint.source, hint.target ^ 1) in met]


def _across(ends: LaidEnds, fills: dict[Gap, Fill]) -> dict[Gap, Fill]:
    """Return those overlaps that a read goes across."""
    return {
        gap: fill
        for gap, fill in fills.items()
        if fill.overlap and goes_across(ends, gap.source, gap.target ^ 1, shared=fill.overlap, beside=BESIDE)
    }


def _overlapping(fills: dict[Gap, Fill]) -> dict[Gap, Fill]:
    """Return those that say that unitigs overlap, as their pairs do."""
    return {gap: fill for gap, fill in fills.items() if fill.overlap}


def _walked(
    graph: UnitigGraph, ends: LaidEnds, gaps: Sequence[Gap], *, read_length: int, density: np.ndarray | None
) -> dict[Gap, Fill]:
    """Return what closes gaps that a walk through their local reads goes over."""
    local = ((gap, ends.local_reads.get((gap.source, gap.target ^ 1), [])) for gap in gaps)
    asked = [(gap, own) for gap, own in local if own]

    def filled(each: tuple[Gap, list[tuple[bytes, int]]]) -> Fill | None:
        return fill_gap(graph, *each, read_length=read_length, density=density, beside=ends.beside)

    return {gap: fill for (gap, _), fill in zip(asked, ordered_map(filled, asked), strict=True) if fill}


def _fills(ends: LaidEnds, gaps: Sequence[Gap], least: int) -> dict[Gap, Fill]:
    """Return what closes those gaps whose ends meet where pairs say."""
    fills = {}
    for gap in gaps:
        found = meet(ends, gap.source, gap.target ^ 1, least=least)
        if found and abs(found.size - gap.size) <= gap.spread and -found.size <= ends.texts.k - 2:
            between = found.between.tobytes() if found.size >= 0 else None
            fills[gap] = Fill((gap.source, gap.target), overlap=max(0, -found.size), between=between)
    return fills
