"""Graphs of random sequences at k = 61, and pairs of reads from them, for rules that resolve repeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.insert_sizes import InsertSizes
from gpuasm.assembly.pairs.links import SpanningPairs
from gpuasm.sequence.encoding import decode, encode
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.samples import simulated_pairs

K, FOLD, LENGTH = 61, 40, 100
INSERT, SD = 300, 20


def random_text(n, seed):
    return decode(np.random.default_rng(seed).integers(0, 4, n).astype(np.uint8))


A, B, C, D = (random_text(2000, seed) for seed in range(4))
R = random_text(150, 10)


def graph_of(*texts, fold=FOLD):
    """Return the graph of texts, each with the depth that reads would have."""
    graph = unitigs_of_reads(Reads.from_strings(texts), K, min_count=1, observed=True)
    return replace(graph, count=graph.count * fold, arc_count=graph.arc_count * fold)


def inserts_of(mean=INSERT, sd=SD):
    sizes = np.rint(np.random.default_rng(5).normal(mean, sd, 20000)).astype(int)
    return InsertSizes.of(np.bincount(sizes), bases_per_pair=2 * LENGTH)


def pairs_of(*genomes, mean=INSERT, sd=SD, fold=FOLD, seed=1, extra=()):
    texts = [*extra]
    for genome in genomes:
        texts += simulated_pairs(encode(genome), fold=fold, length=LENGTH, insert=mean, sd=sd, seed=seed)
    reads = Reads.from_strings(texts, paired=True)
    return SpanningPairs(reads, inserts_of(mean, sd), len(texts) // 2)


def texts_of(graph):
    """Return the sequence of each unitig, on the lesser strand."""
    return sorted(either_strand(graph.sequence(u)) for u in range(graph.n))


def either_strand(text):
    return min(text, reverse_complement(text))


GENOME = A + R + B + reverse_complement(R) + C
PAIRS = pairs_of(GENOME, random_text(20, 17) + D)


def bytes_of(resolved):
    graph = resolved.graph
    return graph.bases.tobytes(), graph.start.tobytes(), graph.arc_to.tobytes(), resolved.gaps, resolved.counts
