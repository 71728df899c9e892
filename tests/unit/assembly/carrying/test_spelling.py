"""Text that goes on to the next k: its letters, and the k-mers that its places are named after."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.arrays import to_host
from gpuasm.assembly.carrying.flanks import find_flanks
from gpuasm.assembly.carrying.spelling import spell
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.unit.cli.read_files import genome_text, simulated_pairs


def level_of(xp, genome, *, circular):
    pairs = simulated_pairs(genome, circular=circular, error_rate=0)
    reads = Reads.from_strings([read for pair in pairs for read in pair]).moved_to(xp)
    return begin(reads, AssemblyOptions(k=(31, 61)), Stages()).level


def windows_of(graph):
    """Return the text of each window of a graph's unitigs, counted through all of them."""
    texts = [decode(graph.bases[graph.start[u] : graph.start[u + 1]]) for u in range(graph.n)]
    return [text[i : i + graph.k] for text in texts for i in range(len(text) - graph.k + 1)]


def oriented(graph, v):
    text = decode(graph.bases[graph.start[v >> 1] : graph.start[(v >> 1) + 1]])
    return reverse_complement(text) if v & 1 else text


def expected_text(graph, carried, flanks, k):
    texts = []
    for u in carried:
        text, n = oriented(graph, 2 * u), int(graph.n_kmers[u])
        texts.append((text[:n] * 3)[: n + k] if graph.is_circular[u] else text)
    for f in range(len(flanks)):
        along = flanks.unitig[flanks.start[f] : flanks.start[f + 1]].tolist()
        added = "".join(oriented(graph, v)[graph.k - 1 :] for v in along)
        texts.append(oriented(graph, flanks.source[f])[-k:] + added[: flanks.added[f]])
    return texts


@pytest.mark.parametrize(
    ("genome", "circular"),
    [(genome_text(length=3000, repeats=3), False), (genome_text(length=700), True), (genome_text(length=645), False)],
    ids=["branching", "circle", "one"],
)
def test_letters_and_names_are_those_of_plain_text(xp, genome, circular):
    level, k = level_of(xp, genome, circular=circular), 61
    graph = level.graph
    carried = np.flatnonzero(np.where(graph.is_circular, graph.n_kmers, graph.length) >= k)
    flanks = find_flanks(graph, np.isin(np.arange(graph.n), carried), k=k)
    assert carried.size
    assert bool(len(flanks)) == bool(graph.n > 1)
    spelled = spell(level, carried, flanks, k=k)
    words, names = to_host(spelled.words), to_host(spelled.names)
    texts = expected_text(graph, carried.tolist(), flanks, k)
    total = int(spelled.start[-1])
    assert decode(unpack(words, 0, total)) == "".join(texts)
    assert not unpack(words, total, 32 * words.size - total).any()
    assert words.size == total // 32 + 2
    windows, strand = windows_of(graph), to_host(level.strand)
    for start, text in zip(spelled.start.tolist(), texts, strict=False):
        n_named = len(text) - graph.k + 1
        assert (names[start + n_named : start + len(text)] == -1).all()
        for i, name in enumerate(names[start : start + n_named].tolist()):
            window = windows[name >> 1]
            assert text[i : i + graph.k] == (window if (name & 1) == strand[name >> 1] else reverse_complement(window))
    assert (names[total:] == -1).all()


def test_nothing_carried_is_no_text(xp):
    level, nothing = level_of(xp, genome_text(length=700), circular=True), np.empty(0, np.int64)
    spelled = spell(level, nothing, find_flanks(level.graph, np.zeros(level.graph.n, bool), k=61), k=61)
    assert spelled.start.tolist() == [0]
    assert to_host(spelled.words).tolist() == [0, 0]
    assert (to_host(spelled.names) == -1).all()
