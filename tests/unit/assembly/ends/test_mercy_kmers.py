"""Gaps that single reads bridge, and junctions that low coverage must not close."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.ends.mercy_kmers import _windows_to_end, add_mercy_kmers
from gpuasm.assembly.graph.kmer_graph import KmerGraph, WindowRows
from gpuasm.assembly.graph.piece_joining import PieceLinks, join_pieces
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.pieces import compact_kmers
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.read_files import genome_text, simulated_pairs
from tests.samples import simulated_genome, simulated_texts

OPTIONS = AssemblyOptions(k=(31, 61), min_contig_length=100)


def tiled(text: str, first: int, last: int, length: int = 100) -> list[str]:
    return [text[i : i + length] for i in range(first, last - length + 1, 5)]


def bridges(texts: list[str]) -> tuple[int, list[str]]:
    stages = Stages()
    assembly = assemble(Reads.from_strings(texts), OPTIONS, stages=stages)
    count = next(record.counts["bridges"] for record in stages.records if record.name == "bridge gaps")
    return count, [contig.sequence for contig in assembly.contigs]


@pytest.fixture
def genome() -> str:
    return decode(simulated_genome(length=3000, seed=8))


def test_one_read_bridges_a_gap_between_two_dead_ends(genome):
    sides = tiled(genome, 0, 1490) + tiled(genome, 1510, 3000)
    n_without, without = bridges(sides)
    n_with, with_bridge = bridges([*sides, genome[1440:1560]])
    assert (n_without, len(without)) == (0, 2)
    assert (n_with, len(with_bridge)) == (1, 1)
    assert with_bridge[0] in genome or reverse_complement(with_bridge[0]) in genome
    assert len(with_bridge[0]) > 2800


def test_a_gap_around_an_isolated_unitig_is_bridged_by_two_reads(genome):
    """The isolated unitig, 40 bases seen twice, must not be removed before it is bridged."""
    sides = tiled(genome, 0, 1400)[::3] + tiled(genome, 1500, 3000)[::3]
    two = [genome[1350:1460], genome[1420:1560]]
    n, contigs = bridges([*sides, *two])
    assert n >= 2
    assert len(contigs) == 1
    assert len(contigs[0]) > 2800


def test_an_error_that_two_reads_share_does_not_hide_a_dead_end(genome):
    wrong = {"A": "C", "C": "G", "G": "T", "T": "A"}[genome[1480]]
    sides = [*tiled(genome, 0, 1490), *tiled(genome, 1510, 3000)]
    sides = [text for text in sides if genome.find(text) != 1390 and genome.find(text) != 1385]
    shared = genome[1390:1480] + wrong + genome[1481:1490]
    n, contigs = bridges([*sides, shared, shared, genome[1440:1560]])
    assert n >= 1
    assert len(contigs) == 1
    # The true read bridges the gap; in the end, two of three reads over the base have the other base.
    consensus = genome[:1480] + wrong + genome[1481:]
    assert contigs[0] in consensus or reverse_complement(contigs[0]) in consensus


def test_a_read_that_folds_back_is_no_bridge(genome):
    """Ends of cDNA prime their own copies: such a read leaves and re-enters over one end."""
    loop = genome[2940:] + "ACGGTTA" + reverse_complement(genome[2950:])
    n, contigs = bridges([*tiled(genome, 0, 3000), loop])
    assert n == 0
    assert len(contigs) == 1
    assert len(contigs[0]) >= 2990


def test_a_bridge_is_the_same_from_either_strand(genome):
    texts = [*tiled(genome, 0, 1490), *tiled(genome, 1510, 3000), genome[1440:1560]]
    assert bridges(texts) == bridges([reverse_complement(text) for text in reversed(texts)])


def test_errors_at_high_coverage_are_no_bridges():
    genome = simulated_genome(length=3000, seed=9)
    texts = simulated_texts(genome, fold=60, length=100, error_rate=0.004, circular=True, seed=9)
    n, contigs = bridges(texts)
    assert n == 0
    assert [len(contig) for contig in contigs] == [3000]


@pytest.mark.parametrize(("seed", "fold"), [(1, 30), (2, 20), (3, 20)])
def test_a_junction_without_reads_at_the_larger_k_stays_a_junction(seed, fold):
    # Three copies of 800 bases; reads of 150 cannot span them. At k = 141 no read covers the true edge of one copy.
    genome = simulated_genome(length=12_000, repeats=3, seed=seed)
    texts = simulated_texts(genome, fold=fold, error_rate=0.0, seed=seed)
    options = AssemblyOptions(k=(31, 61, 97, 127, 141), min_contig_length=150)
    contigs = assemble(Reads.from_strings(texts), options).contigs
    assert contigs
    text = decode(genome)
    for contig in contigs:
        assert contig.sequence in text or reverse_complement(contig.sequence) in text


@pytest.mark.parametrize("copies", [2, 3])
def test_a_short_segment_next_to_a_repeat_is_bridged_before_tips_are_removed(copies):
    """The segment of depth two leads into a repeat of higher depth: without its bridge it looks like a tip."""
    left, segment, repeat, right, *others = (decode(simulated_genome(length=1000, seed=seed)) for seed in range(20, 28))
    segment, repeat = segment[:50], repeat[:40]
    texts = []
    for i in range(copies - 1):
        text = others[2 * i] + repeat + others[2 * i + 1]
        texts += tiled(text, 0, len(text))
    whole = left + segment + repeat + right
    start = len(left) + 20  # of the two reads that contain the segment's last 30 bases
    texts += tiled(whole, 0, len(left))
    texts += [whole[start : start + 100]] * 2
    texts += tiled(whole, len(left) + 60, len(whole))
    texts.append(whole[len(left) - 50 : start + 40])  # the bridge: 20 bases of the segment are in no other read
    options = AssemblyOptions(k=(31, 61), min_contig_length=100, mode="meta")
    contigs = [contig.sequence for contig in assemble(Reads.from_strings(texts), options).contigs]
    joined = whole[len(left) - 100 : len(left) + 60]
    assert any(joined in contig or joined in reverse_complement(contig) for contig in contigs)


@pytest.mark.parametrize(("genome", "circular"), [(genome_text(length=3000, repeats=3), False), (genome_text(), True)])
def test_windows_to_end_are_counted_at_dead_ends(xp, genome, circular):
    texts = [read for pair in simulated_pairs(genome, circular=circular, error_rate=0) for read in pair]
    kmer_graph = build_first_graph(Reads.from_strings(texts).moved_to(xp), OPTIONS, Stages()).kmer_graph
    graph, expected, found = kmer_graph.graph, [], []
    rows = WindowRows(*map(to_host, kmer_graph.rows))
    has_arcs = (np.diff(graph.arc_start) > 0) | np.repeat(graph.is_circular, 2)
    for u, n in enumerate(graph.n_kmers.tolist()):
        for i in range(n):
            for strand, left in ((0, n - 1 - i), (1, i)):
                leads_on = graph.is_circular[u] or graph.arc_start[2 * u + strand + 1] > graph.arc_start[2 * u + strand]
                expected.append(graph.k + 1 if leads_on else min(left, graph.k + 1))
                name = 2 * (int(rows.first_window[u]) + i) + strand
                found.append(_windows_to_end(name, rows, has_arcs, graph.k + 1))
    assert found == expected


@pytest.mark.parametrize("n", [0, 1, 300])
def test_edges_of_bridges_are_added(xp, n):
    genome = "".join(np.random.default_rng(3).choice(list("ACGT"), 300))
    known = Reads.from_strings([genome[:150]] * 2 + [genome[170:]] * 2).moved_to(xp)
    pieces = compact_kmers(tally_kmers(known, 21, min_count=2, min_follow=2))
    followers = partial(count_followers, known, 21)
    joined = join_pieces([pieces], PieceLinks.of(pieces, xp, min_follow=2, followers=followers))
    kmer_graph = KmerGraph.of(joined.graph, xp).with_index()
    new = add_mercy_kmers(joined, kmer_graph, Reads.from_strings([genome[100:220]] * n).moved_to(xp))
    assert new.n == (40 if n else 0)
    if not n:
        return
    whole = tally_kmers(Reads.from_strings([genome]).moved_to(xp), 21, min_follow=1)
    keys, edges = (to_host(column).tolist() for column in (whole.keys, whole.edges))
    expected, found = dict(zip(keys, edges, strict=True)), {}
    names, window_edges = to_host(kmer_graph.text_index.find_windows(whole.keys)).tolist(), joined.edges.tolist()
    for key, name in zip(keys, names, strict=True):
        if name >= 0:
            own = window_edges[name >> 1]
            found[key] = own >> 4 | (own & 15) << 4 if name & 1 else own
    found |= dict(zip(to_host(new.keys).tolist(), to_host(new.edges).tolist(), strict=True))
    assert found == expected
    assert to_host(new.count).tolist() == [n] * 40
