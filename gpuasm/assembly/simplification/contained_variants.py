"""Final variants: merge the variants of a community's last graph, and remove short contigs that a longer one contains.

At each k variants are kept: reads and fragments of a larger k show which of them are adjacent, and merging at a small k
would leave gaps in the minor genome. Only superbubbles of low depth are merged at each k, as no larger k resolves them.
In the last graph, before pairs are used, superbubble variants and dead-end variants are merged. A branch of twice the
depth of its sibling is left to the dominant paths, which keep both.

Variants that never rejoin the graph remain as contigs one or two reads long; a population has hundreds. They are
removed if they align to a longer contig as a read does. In an isolate a copy of a repeat may differ as little, so only
contigs of less than half a copy are removed. In a community a minor genome's conserved genes align to a dominant
genome's, and all are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment.contig_alignment import align_reads
from gpuasm.assembly.alignment.seed_index import Targets, index_seeds
from gpuasm.assembly.contig import Contig, single_copy_depth
from gpuasm.assembly.coverage.copy_number import one_copy_depth
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.graph.compaction import SourceUnitigs, compact
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.parameters import ALIGNMENT, PATHS, SIMPLIFICATION
from gpuasm.assembly.simplification.dead_end_variants import find_dead_end_variants
from gpuasm.assembly.simplification.engine import Removed
from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.sequence.reads import Reads


def merge_final_variants(
    graph: UnitigGraph, mode: Mode, *, without: Collection[str] = ()
) -> tuple[UnitigGraph, Removed]:
    """Remove variants from the last graph of a community until no more are found.

    Parameters
    ----------
    graph
        The cleaned graph of the last k.
    mode
        Mode of the sample.
    without
        Rules to leave out; "superbubbles" and "dead-end-variants" are used here.

    Returns
    -------
    The graph without variants, and how many unitigs each rule removed, in how many rounds.
    """
    removed, rules = Removed(), mode.rules(without)
    while True:
        before = removed.total
        if "superbubbles" in rules:
            marked = find_superbubble_variants(graph, one_copy_depth(graph, mode.parameters.depth_model))
            removed.superbubbles += int(marked.sum())
            graph = _without_marked(graph, marked)
        if "dead-end-variants" in rules:
            # One difference spoils k k-mers: a longer dead end contains sequence of its own.
            marked = find_dead_end_variants(graph, longest=graph.k, max_ratio=PATHS.dominant_min_ratio)
            removed.dead_end_variants += int(marked.sum())
            graph = _without_marked(graph, marked)
        removed.rounds += 1
        if removed.total == before:
            return graph, removed


def _without_marked(graph: UnitigGraph, marked: np.ndarray) -> UnitigGraph:
    return compact(graph, SourceUnitigs.identity(graph.n), is_removed=marked)[0] if marked.any() else graph


def find_contained_variants(contigs: Sequence[Contig], mode: Mode, *, xp: Any = np) -> np.ndarray:
    """Mark short contigs that align, as reads do, to a longer contig.

    Parameters
    ----------
    contigs
        All contigs, with the depth of their k-mers.
    mode
        Mode of the sample: it limits the depth of a variant.
    xp
        Namespace of the alignment: numpy or cupy.

    Returns
    -------
    (n,) bool
    """
    marked = np.zeros(len(contigs), dtype=bool)
    if not contigs or "contained-variants" not in mode.rules():
        return marked
    length, depth = (np.array([getattr(own, name) for own in contigs]) for name in ("length", "depth"))
    copies = mode.parameters.contained_variant_max_copies
    bound = np.inf if np.isinf(copies) else copies * single_copy_depth(length, depth)
    is_open = np.array([not own.is_circular for own in contigs])
    longest, shortest = SIMPLIFICATION.variant_max_kmers, 2 * SIMPLIFICATION.contained_seed
    short = np.flatnonzero((length <= longest) & (length >= shortest) & is_open & (depth < bound))
    long = [contigs[i] for i in np.flatnonzero(length > longest).tolist()]
    if short.size and long:
        covered = _count_covered([contigs[i].codes for i in short.tolist()], long, xp)
        marked[short] = covered >= SIMPLIFICATION.contained_share * length[short]
    return marked


def _count_covered(texts: Sequence[np.ndarray], contigs: Sequence[Contig], xp: Any) -> np.ndarray:
    """Count the bases of each text that align to one place of a contig, with at most one small gap: (n,) int64."""
    reads = Reads.from_codes(texts)
    codes, closed = [own.codes for own in contigs], [own.is_circular for own in contigs]
    targets = Targets.of(codes, closed, reach=int(reads.length.max()), xp=xp)
    reads = reads.moved_to(xp)
    seeds = index_seeds(targets, 2 * SIMPLIFICATION.contained_seed, reads=reads)
    aligned = align_reads(reads, targets, seeds)
    first, second = (
        {name: to_host(getattr(one, name)) for name in ("segment", "target", "is_reversed", "at", "begin", "end")}
        for one in aligned
    )
    covered = np.zeros(len(texts), np.int64)
    covered[first["segment"]] = first["end"] - first["begin"]
    row = np.searchsorted(first["segment"], second["segment"])
    before = {name: values[row] for name, values in first.items()}
    same = (before["target"] == second["target"]) & (before["is_reversed"] == second["is_reversed"])
    same &= np.abs(before["at"] - second["at"]) <= ALIGNMENT.alignment_max_shift
    # By the place of the whole text: bases in both alignments count once.
    begin = np.maximum(before["begin"] - before["at"], second["begin"] - second["at"])
    end = np.minimum(before["end"] - before["at"], second["end"] - second["at"])
    added = second["end"] - second["begin"] - np.maximum(0, end - begin)
    covered[second["segment"][same]] += added[same]
    return covered
