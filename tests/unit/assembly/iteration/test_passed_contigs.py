"""Contigs and edges that are passed to the next k."""

from __future__ import annotations

import numpy as np

from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.passed_contigs import next_text
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.false_edges import random_text
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
