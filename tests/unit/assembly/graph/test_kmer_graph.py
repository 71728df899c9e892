"""K-mers numbered along unitigs, and their successors."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.graph.compaction import SourceUnitigs
from gpuasm.assembly.graph.kmer_graph import KmerGraph, LinkRows, cleaned_columns, follow_name, unitig_of
from gpuasm.assembly.graph.piece_joining import PieceLinks, join_pieces
from gpuasm.assembly.simplification.engine import clean
from gpuasm.kmers.counting import count_followers, tally_kmers
from gpuasm.kmers.pieces import compact_kmers
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.unit.kmers.test_tally import noisy_reads

CIRCULAR = "".join(np.random.default_rng(4).choice(list("ACGT"), 90))
TEXTS = [*noisy_reads(2, 150), *[(CIRCULAR * 3)[i : i + 80] for i in range(90)]]


def graph_of_reads(xp, k, *, cleaned):
    reads = Reads.from_strings(TEXTS).moved_to(xp)
    tally = tally_kmers(reads, k, min_count=2, min_follow=1)
    pieces = compact_kmers(tally, followers=lambda keys: count_followers(reads, k, keys))
    joined = join_pieces([pieces], PieceLinks.of(pieces, xp, min_follow=1))
    if cleaned:
        graph, sources, _ = clean(joined.graph)
    else:
        graph, sources = joined.graph, SourceUnitigs.identity(joined.graph.n)
    kmer_graph, columns = KmerGraph.of(graph, xp).with_index(), cleaned_columns([joined], (graph, sources))
    assert columns.graph is graph
    rows = (to_host(column).tolist() for column in (tally.keys, tally.count, tally.edges))
    known = {key: row for key, *row in zip(*rows, strict=True)}
    for text, count, edges in zip(windows(graph), columns.count.tolist(), columns.edges.tolist(), strict=True):
        strand = reverse_complement(text) < text
        assert [count, edges >> 4 | (edges & 15) << 4 if strand else edges] == known[key_of(text)]
    return kmer_graph


def windows(graph):
    """Return the text of each window along all unitigs."""
    k = graph.k
    return [graph.sequence(u)[i : i + k] for u in range(graph.n) for i in range(int(graph.n_kmers[u]))]


def key_of(text):
    return int(min(text, reverse_complement(text)).translate(str.maketrans("ACGT", "0123")), 4)


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_kmers_are_numbered_along_the_unitigs(xp, k, cleaned):
    kmer_graph = graph_of_reads(xp, k, cleaned=cleaned)
    graph, texts = kmer_graph.graph, windows(kmer_graph.graph)
    known = {key_of(text) for text in texts}
    other = next(key for key in range(4**k) if key not in known)
    keys = np.array([key_of(text) for text in texts] + [other], np.uint64)
    names = to_host(kmer_graph.text_index.find_windows(to_namespace(xp, keys))).tolist()
    is_reversed = [reverse_complement(text) < text for text in texts]
    assert names == [2 * j + reverse for j, reverse in enumerate(is_reversed)] + [-1]
    rows = type(kmer_graph.rows)(*map(to_host, kmer_graph.rows))
    found = [unitig_of(window, rows) for window in range(len(texts))]
    assert found == np.repeat(np.arange(graph.n), graph.n_kmers).tolist()
    assert kmer_graph.graph.is_circular.any() or k == 9


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("k", [9, 21, 31])
def test_neighbours_follow_unitigs_and_arcs(xp, k, cleaned):
    kmer_graph = graph_of_reads(xp, k, cleaned=cleaned)
    graph, n = kmer_graph.graph, int(kmer_graph.graph.n_kmers.sum())
    links = LinkRows(*(to_host(row) for row in kmer_graph.link_rows))
    neighbour = [follow_name(v, base, k, links) for v in range(2 * n) for base in range(4)]
    number = {}
    for j, text in enumerate(windows(graph)):
        number[text], number[reverse_complement(text)] = 2 * j, 2 * j + 1
    expected = np.full(8 * n, -1)

    def link(before, after):
        expected[4 * number[before] + "ACGT".index(after[-1])] = number[after]

    for u in range(graph.n):
        text = graph.sequence(u)
        closing = text[k - 1] if graph.is_circular[u] else ""
        for i in range(len(text + closing) - k):
            edge = (text + closing)[i : i + k + 1]
            link(edge[:k], edge[1:])
            link(reverse_complement(edge)[:k], reverse_complement(edge)[1:])
    for a, b in zip(graph.arc_from.tolist(), graph.arc_to.tolist(), strict=True):
        ends = [graph.sequence(v >> 1) for v in (a, b)]
        source, target = (reverse_complement(t) if v & 1 else t for t, v in zip(ends, (a, b), strict=True))
        link(source[-k:], target[:k])
    assert np.array_equal(neighbour, expected)
