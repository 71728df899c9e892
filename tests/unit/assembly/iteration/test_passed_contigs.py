"""Contigs and edges that are passed to the next k."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import assemble
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.passed_contigs import isolated_contigs, next_text
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.false_edges import random_text
from tests.graphs import graph_of
from tests.oracles.kmers import reverse_complement


def test_edge_into_a_short_unitig_is_passed():
    """Three repeat copies; after two of them 20 bases agree, so that a short unitig follows the repeat."""
    repeat, few = random_text(200, 1), random_text(20, 2)
    after = [few + "A" + random_text(500, 3), few + "C" + random_text(500, 4), random_text(500, 5)]
    assert after[2][0] != few[0]
    genome = "".join(random_text(500, 10 + i) + repeat + tail for i, tail in enumerate(after))
    reads = Reads.from_strings([genome[i : i + 100] for i in range(0, len(genome) - 99, 2)])
    state = build_first_graph(reads, AssemblyOptions(k=(31, 61)), Stages())
    short = [u for u in range(state.kmer_graph.graph.n) if state.kmer_graph.graph.length[u] < 61]
    assert short
    text = next_text(state.junction_reads.select(np.empty(0, np.int64)), state.names, state.kmer_graph, k=61).reads
    spelled = {decode(unpack(text.packed, int(s), int(n))) for s, n in zip(text.start, text.length, strict=True)}
    spelled |= {reverse_complement(one) for one in spelled}
    for edge in (repeat + few, repeat + after[2][:1]):
        assert any(edge[-61:] in one for one in spelled)


@pytest.mark.parametrize(
    ("k", "depth", "is_kept"),
    [
        (97, 21.0, True),  # two windows of 12
        (97, 20.9, False),  # one, and part of another
        (97, 12.0, False),
        (97, 3.0, True),  # less than one window: passed from a smaller k
        (31, 12.0, False),
        (31, 3.0, False),  # there is no smaller k
    ],
)
def test_isolated_contigs_exclude_single_reads(k, depth, is_kept):
    graph, number = graph_of([("own", 20, depth), ("linked", 20, 50.0), ("long", 300, depth)], "linked>long", k=k)
    kept = isolated_contigs(graph, k + 30, window=12.0)
    assert (kept.n, kept.length.tolist()) == ((1, [k + 19]) if is_kept else (0, []))
    assert set(number) == {"own", "linked", "long"}


def test_low_coverage_contig_is_kept_at_large_k():
    """240 bases at 6x with a plasmid at 260x: one window of large k has more depth than that."""
    plasmid, low_coverage = random_text(3000, 1), random_text(240, 2)
    rng, texts = np.random.default_rng(3), []
    for text, n in ((plasmid * 2, 4000), (low_coverage, 4)):
        for at in rng.integers(0, len(text) - 199, n).tolist():
            fragment = text[at : at + int(rng.integers(200, 290))]
            texts += [fragment[:100], reverse_complement(fragment[-100:])]
    texts += [low_coverage[at : at + 100] for at in (0, 0, 70, 70, 140, 140)]
    found = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions(mode="meta"))
    assert max(found.k) > 200
    assert any(contig.sequence in (low_coverage, reverse_complement(low_coverage)) for contig in found.contigs)
