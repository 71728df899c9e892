"""Trimming of overlaps: each base of the genome is in one contig only, whatever the junction."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.graph.end_overlap_trimming import end_cuts
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.sequence.reads import Reads
from tests.graphs import graph_of
from tests.mate_pairs import random_text
from tests.oracles.kmers import reverse_complement

K = 31
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def contigs_of(genome: str) -> list[str]:
    graph = unitigs_of_reads(Reads.from_strings([genome]), K, min_count=1, observed=True)
    return [contig.sequence for contig in make_contigs(graph, min_length=1)]


@pytest.mark.parametrize("repeat_length", [31, 40, 60, 61, 90, 500])
@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_single_copy_sequence_keeps_its_copy_of_the_overlap(repeat_length, copies, reverse):
    repeat, genome = random_text(repeat_length, 1), random_text(300, 2)
    for copy in range(copies):
        # No two copies have the same neighbouring bases, or the repeat would be longer for them.
        is_reverse = reverse and copy > 0
        flank = "ACG"[copy].translate(COMPLEMENT) if is_reverse else "ACG"[copy]
        own = reverse_complement(repeat) if is_reverse else repeat
        genome += flank + own + flank + random_text(300, 3 + copy)
    contigs = contigs_of(genome)
    covered = coverage_by(contigs, genome)
    assert covered.max() == 1  # no base twice
    inner = max(0, repeat_length - 2 * (K - 1))
    assert (covered == 0).sum() == (copies * inner if inner < 12 else 0)
    assert sum(map(len, contigs)) == len(genome) - (copies - 1) * inner


def coverage_by(contigs, genome):
    """Return how many contigs contain each base of a genome; those of less than 12 bases match by chance."""
    covered = np.zeros(len(genome), np.int64)
    for contig in (c for c in contigs if len(c) >= 12):
        for text in (contig, reverse_complement(contig)):
            at = genome.find(text)
            while at >= 0:
                covered[at : at + len(text)] += 1
                at = genome.find(text, at + 1)
    return covered


@pytest.mark.parametrize("longer", [3, 8, 14])
@pytest.mark.parametrize("repeat_length", [32, 37, 43])
@pytest.mark.parametrize("reverse", [False, True])
def test_sequence_of_two_copies_of_three_is_in_one_contig(longer, repeat_length, reverse):
    """The excess cut of the repeat continues beyond the short unitig by which two copies are longer."""
    repeat, more = random_text(repeat_length, 1), "C" + random_text(longer, 20)
    parts = [repeat + more, repeat + more, repeat + "G"]
    genome = random_text(300, 2)
    for copy, part in enumerate(parts):
        genome += "ACG"[copy] + part + "ATG"[copy] + random_text((300, 400, 500)[copy], 3 + copy)
    contigs, own = contigs_of(reverse_complement(genome) if reverse else genome), longer + 1
    assert sum(map(len, contigs)) == len(genome) - own  # sequence of only these two is in one contig
    assert (coverage_by(contigs, genome) == 0).sum() == (2 * own if own < 12 else 0)


def test_side_of_fewer_unitigs_is_cut_beyond_a_short_repeat():
    unitigs = [("a", 90, 20.0), ("b", 80, 20.0), ("r", 5, 60.0), ("x", 70, 20.0), ("y", 60, 20.0), ("z", 50, 20.0)]
    graph, number = graph_of(unitigs, "a>r b>r r>x r>y r>z")
    cut, shared = end_cuts(graph), graph.k - 1
    beyond = {name: int(cut[2 * u + strand]) for name, u in number.items() for strand in (0, 1) if cut[2 * u + strand]}
    assert beyond == {"r": shared, "a": shared - 5, "b": shared - 5}


def test_graph_without_junctions_is_not_cut():
    graph, _ = graph_of([("a", 50, 20.0), ("b", 40, 20.0)])
    assert not end_cuts(graph).any()


def test_side_of_fewer_unitigs_is_cut():
    graph, number = graph_of([("a", 300, 20.0), ("b", 200, 20.0), ("r", 500, 40.0)], "a>r b>r")
    cut = end_cuts(graph)
    assert cut[2 * number["r"] + 1] == graph.k - 1
    assert cut.sum() == graph.k - 1


def test_hairpin_is_not_cut():
    graph, number = graph_of([("a", 300, 20.0)], "a>-a")
    assert not end_cuts(graph)[2 * number["a"]]


@pytest.mark.parametrize(("depth", "is_repeat"), [(40.0, True), (25.5, True), (24.5, False), (20.0, False)])
@pytest.mark.parametrize("reverse", [False, True])
def test_unitig_that_lost_its_continuation_is_cut(depth, is_repeat, reverse):
    arcs = "-r>-a -r>-b" if reverse else "a>r b>r"
    graph, number = graph_of([("a", 300, 20.0), ("b", 200, 20.0), ("r", 500, depth)], arcs)
    cut = end_cuts(graph)
    expected = {2 * number["r"] + 1} if is_repeat else {2 * number["a"], 2 * number["b"]}
    assert set(np.flatnonzero(cut)) == expected
    assert (cut[list(expected)] == graph.k - 1).all()


def test_depth_of_a_short_unitig_does_not_count():
    graph, number = graph_of([("a", 300, 20.0), ("b", 200, 20.0), ("r", K, 20.0)], "a>r b>r")
    assert set(np.flatnonzero(end_cuts(graph))) == {2 * number["r"] + 1}
