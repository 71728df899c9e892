"""Alignment of reads to unitigs, compared with a plain search for each k-mer."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly.alignment.reads_on_unitigs import align_to_unitigs
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_genome, simulated_texts

K = 21


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reads_align_by_their_first_and_last_kmer(seed):
    genome = simulated_genome(length=4000, repeats=4, repeat_length=90, seed=seed)
    texts = simulated_texts(genome, fold=8, length=100, error_rate=0.01, seed=seed)
    reads = Reads.from_strings(texts)
    kmer_graph = build_first_graph(reads, AssemblyOptions(k=(K, 41)), Stages()).kmer_graph
    kmer_graph = kmer_graph.with_index()
    aligned = align_to_unitigs(reads, kmer_graph)
    where = _places([kmer_graph.graph.sequence(u) for u in range(kmer_graph.graph.n)])
    n_junction_reads = 0
    for r, text in enumerate(texts):
        found = [(i, *where[text[i : i + K]]) for i in range(len(text) - K + 1) if text[i : i + K] in where]
        for own, oriented, base in (
            (0, aligned.oriented, aligned.base),
            (-1, aligned.last_oriented, aligned.last_base),
        ):
            i, unitig, at = found[own] if found else (0, -1, 0)
            assert (int(oriented[r]), int(base[r])) == (unitig, at - i)
        n_junction_reads += int(aligned.oriented[r] != aligned.last_oriented[r])
    assert n_junction_reads > 0
    assert int(np.asarray(aligned.contained).sum()) <= len(texts) - n_junction_reads


def _places(unitigs: list[str]) -> dict[str, tuple[int, int]]:
    """Return the oriented unitig of each k-mer on either strand, and its position there."""
    both = [
        (2 * u + is_reversed, reverse_complement(s) if is_reversed else s)
        for u, s in enumerate(unitigs)
        for is_reversed in (0, 1)
    ]
    return {text[i : i + K]: (o, i) for o, text in both for i in range(len(text) - K + 1)}
