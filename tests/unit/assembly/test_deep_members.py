"""A deep member of a community is told through what a shallow one shares with it."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.sequence.encoding import decode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.samples import simulated_genome, simulated_pairs

SHARED = slice(4000, 7000)


@pytest.fixture(scope="module")
def members():
    deep, shallow = (simulated_genome(length=12_000, seed=seed) for seed in (5, 6))
    shallow[SHARED] = deep[SHARED]
    return deep, shallow


@pytest.fixture(scope="module")
def pairs(members):
    deep, shallow = members
    texts = simulated_pairs(deep, fold=80, seed=7) + simulated_pairs(shallow, fold=20, seed=8)
    return Reads.from_strings(texts, paired=True)


def lengths_within(contigs, genome):
    """Return the lengths of the contigs that are text of a genome, longest first."""
    texts = decode(genome), decode(reverse_complement(genome))
    return [contig.length for contig in contigs if any(contig.sequence in text for text in texts)]


def test_the_deep_one_is_one_contig_and_the_shallow_one_ends_at_it(members, pairs):
    """Unless it takes what the deep one leaves: `shallow_ways`."""
    deep, shallow = members
    contigs = assemble(pairs, AssemblyOptions(mode="meta", without=("minor-paths",))).contigs
    assert lengths_within(contigs, deep)[0] > 11_900
    left = [length for length in lengths_within(contigs, shallow) if length > 1000]
    assert len(left) == 2
    assert sum(left) > 8900


def test_without_them_contigs_end_where_members_part(members, pairs):
    contigs = assemble(pairs, AssemblyOptions(mode="meta", without=("dominant-paths", "minor-paths"))).contigs
    assert lengths_within(contigs, members[0])[0] < 6000


def test_the_graph_of_an_earlier_stage_stays_as_it_is(members, pairs):
    stopped = assemble(pairs, AssemblyOptions(mode="meta", stop_after="reads"))
    assert lengths_within(stopped.contigs, members[0])[0] < 6000
    assert np.diff(stopped.graph.arc_start).max() > 1
