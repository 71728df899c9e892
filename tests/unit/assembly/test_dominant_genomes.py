"""The dominant genome of a community is one contig through sequence that a minor one shares."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.samples import simulated_genome, simulated_pairs

SHARED = slice(4000, 7000)


@pytest.fixture(scope="module")
def genomes():
    dominant, minor = (simulated_genome(length=12_000, seed=seed) for seed in (5, 6))
    minor[SHARED] = dominant[SHARED]
    return dominant, minor


@pytest.fixture(scope="module")
def pairs(genomes):
    dominant, minor = genomes
    texts = simulated_pairs(dominant, fold=80, seed=7) + simulated_pairs(minor, fold=20, seed=8)
    return Reads.from_strings(texts, paired=True)


def lengths_within(contigs, genome):
    """Return the lengths of the contigs that are part of a genome, longest first."""
    texts = decode(genome), decode(reverse_complement(genome))
    return [contig.length for contig in contigs if any(contig.sequence in text for text in texts)]


def test_dominant_genome_is_one_contig(genomes, pairs):
    dominant, minor = genomes
    contigs = assemble(pairs, AssemblyOptions(mode="meta")).contigs
    assert lengths_within(contigs, dominant)[0] > 11_900
    found = [length for length in lengths_within(contigs, minor) if length > 1000]
    assert len(found) == 2
    assert sum(found) > 8900


def test_contigs_end_at_shared_sequence_without_the_rules(genomes, pairs):
    contigs = assemble(pairs, AssemblyOptions(mode="meta", without=("dominant-paths",))).contigs
    assert lengths_within(contigs, genomes[0])[0] < 6000


def test_earlier_stages_do_not_join_dominant_paths(genomes, pairs):
    stopped = assemble(pairs, AssemblyOptions(mode="meta", stop_after="reads"))
    assert lengths_within(stopped.contigs, genomes[0])[0] < 6000
    assert np.diff(stopped.graph.arc_start).max() > 1
