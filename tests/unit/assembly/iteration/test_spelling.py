"""Spelled contigs and flanks: their bases, and the names of their k-mers."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.spelling import find_flanks, n_next_windows, spell_passed
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.read_files import genome_text, simulated_pairs


def kmer_graph_of(xp, genome, *, circular):
    pairs = simulated_pairs(genome, circular=circular, error_rate=0)
    reads = Reads.from_strings([read for pair in pairs for read in pair]).moved_to(xp)
    return build_first_graph(reads, AssemblyOptions(k=(31, 61)), Stages()).kmer_graph


def windows_of(graph):
    """Return the text of each window of a graph's unitigs, counted through all of them."""
    texts = [decode(graph.bases[graph.start[u] : graph.start[u + 1]]) for u in range(graph.n)]
    return [text[i : i + graph.k] for text in texts for i in range(len(text) - graph.k + 1)]


def oriented(graph, v):
    text = decode(graph.bases[graph.start[v >> 1] : graph.start[(v >> 1) + 1]])
    return reverse_complement(text) if v & 1 else text


def expected_text(graph, passed, flanks, k):
    texts = []
    for u in passed:
        text, n = oriented(graph, 2 * u), int(graph.n_kmers[u])
        if graph.is_circular[u]:
            texts += [text[:k], (text[:n] * 3)[n - 1 : n + k]]
        else:
            texts += [text[:k], text[-k:]] if len(text) > k else [text]
    for f in range(flanks.source.size):
        added = oriented(graph, flanks.target[f])[graph.k - 1 :]
        texts.append(oriented(graph, flanks.source[f])[-k:] + added[: flanks.added[f]])
    return texts


@pytest.mark.parametrize(
    ("genome", "circular"),
    [(genome_text(length=3000, repeats=3), False), (genome_text(length=700), True), (genome_text(length=645), False)],
    ids=["branching", "circle", "one"],
)
def test_bases_and_names_equal_plain_text(xp, genome, circular):
    kmer_graph, k = kmer_graph_of(xp, genome, circular=circular), 61
    graph = kmer_graph.graph
    passed = np.flatnonzero(n_next_windows(graph, k))
    assert passed.tolist() == np.flatnonzero(np.where(graph.is_circular, graph.n_kmers, graph.length) >= k).tolist()
    flanks = find_flanks(graph, np.isin(np.arange(graph.n), passed), k=k)
    assert passed.size
    assert bool(flanks.source.size) == bool(graph.n > 1)
    reads, names = spell_passed(kmer_graph, n_next_windows(graph, k), flanks, k=k)
    packed, names = to_host(reads.packed), to_host(names)
    starts, sizes = to_host(reads.start).tolist(), to_host(reads.length).tolist()
    texts = expected_text(graph, passed.tolist(), flanks, k)
    assert sizes == [len(text) for text in texts]
    assert starts == np.cumsum([0, *sizes[:-1]]).tolist()
    total = sum(sizes)
    assert decode(unpack(packed, 0, total)) == "".join(texts)
    assert not unpack(packed, total, 32 * packed.size - total).any()
    assert packed.size == total // 32 + 2
    windows = windows_of(graph)
    for start, text in zip(starts, texts, strict=True):
        n_named = len(text) - graph.k + 1
        assert (names[start + n_named : start + len(text)] == -1).all()
        for i, name in enumerate(names[start : start + n_named].tolist()):
            window = windows[name >> 1]
            assert text[i : i + graph.k] == (reverse_complement(window) if name & 1 else window)
    assert (names[total:] == -1).all()


def test_no_passed_contig_gives_no_text(xp):
    kmer_graph = kmer_graph_of(xp, genome_text(length=700), circular=True)
    n_next = np.zeros(kmer_graph.graph.n, np.int64)
    reads, names = spell_passed(kmer_graph, n_next, find_flanks(kmer_graph.graph, n_next > 0, k=61), k=61)
    assert reads.n_segments == 0
    assert to_host(reads.packed).tolist() == [0, 0]
    assert (to_host(names) == -1).all()
