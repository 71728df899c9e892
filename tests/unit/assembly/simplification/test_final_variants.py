"""Final variants: those of a community are kept at each k, and merged in the last graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.parameters import COMMUNITY_MODE
from gpuasm.assembly.simplification.engine import clean, merge_final_variants
from gpuasm.assembly.simplification.sibling_branches import find_dead_end_variants
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.reads import Reads
from tests.graphs import K, graph_of, marked
from tests.samples import simulated_genome, simulated_pairs

COMMUNITY = Mode("meta", "a test")
TEXT = decode(simulated_genome(length=3000, seed=2))
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}


def graph_with(sequences, arcs, *, depth):
    unitigs = [(name, len(own) - K + 1, depth[name]) for name, own in sequences.items()]
    graph, number = graph_of(unitigs, arcs)
    return replace(graph, bases=encode("".join(sequences.values()))), number


def bubble(*, depth, ends=60.0):
    """Return a bubble of two branches of K k-mers that differ in one base."""
    variant = TEXT[:900] + OTHER[TEXT[900]] + TEXT[901:]
    branches = {"a": TEXT[900 - K + 1 : 901 + K - 1], "b": variant[900 - K + 1 : 901 + K - 1]}
    sequences = {"left": TEXT[:900], "right": TEXT[901:], **branches}
    return graph_with(sequences, "left>a left>b a>right b>right", depth={"left": ends, "right": ends} | depth)


def fork(end, *, depth, before=900):
    """Return a fork whose branch a continues and whose branch b differs in one base and ends."""
    follows = OTHER[TEXT[before]] + TEXT[before + 1 :]
    sequences = {"left": TEXT[:before], "a": TEXT[before - K + 1 :], "b": TEXT[before - K + 1 : before] + follows[:end]}
    sequences["on"] = simulated_text(1000, seed=8)
    return graph_with(sequences, "left>a left>b a>on", depth={"left": 100.0, "on": 60.0} | depth)


def simulated_text(length, *, seed):
    return decode(simulated_genome(length=length, seed=seed))


@pytest.mark.parametrize(("depth", "kept_branch"), [((40.0, 20.0), "a"), ((28.0, 32.0), "b")])
def test_bubble_is_kept_until_the_last_graph(depth, kept_branch):
    graph, number = bubble(depth=dict(zip("ab", depth, strict=True)))
    kept, _, removed = clean(graph, mode=COMMUNITY)
    assert (kept.n, removed.superbubbles) == (4, 0)
    merged, removed = merge_final_variants(graph, COMMUNITY)
    assert (merged.n, removed.superbubbles, removed.dead_end_variants) == (1, 1, 0)
    u = number[kept_branch]
    branch = graph.bases[graph.start[u] : graph.start[u + 1]]
    assert any(decode(branch) in decode(text) for text in (merged.bases, reverse_complement(merged.bases)))


@pytest.mark.parametrize(("ends", "n_left"), [(0.9, 1), (1.1, 4)])
def test_bubble_of_low_depth_is_merged_at_each_k(ends, n_left):
    graph, _ = bubble(depth={"a": 5.5, "b": 4.0}, ends=ends * COMMUNITY_MODE.superbubble_max_depth)
    assert clean(graph, mode=COMMUNITY)[0].n == n_left
    assert clean(graph, mode=COMMUNITY, without=("bubbles",))[0].n == 4
    assert clean(graph, mode=replace(COMMUNITY, keeps_variants=True))[0].n == 4


@pytest.mark.parametrize(
    ("end", "depth", "is_removed"),
    [
        (K, {"a": 60.0, "b": 40.0}, True),
        (K, {"a": 60.0, "b": 60.0}, True),
        (K, {"a": 60.0, "b": 30.0}, False),  # dominant paths keep it
        (K, {"a": 40.0, "b": 60.0}, False),  # the branch of more depth may be right
        (K + 1, {"a": 60.0, "b": 40.0}, False),  # longer than one difference explains
    ],
)
def test_dead_end_next_to_a_branch_of_similar_depth(end, depth, is_removed):
    graph, number = fork(end, depth=depth)
    assert marked(find_dead_end_variants(graph, longest=K, max_ratio=2.0), number) == ({"b"} if is_removed else set())
    merged, removed = merge_final_variants(graph, COMMUNITY)
    assert (removed.dead_end_variants, merged.n) == ((1, 1) if is_removed else (0, graph.n))


def test_rounds_are_repeated_until_nothing_changes():
    graph, _ = bubble(depth={"a": 40.0, "b": 20.0})
    merged, removed = merge_final_variants(graph, COMMUNITY)
    again, nothing = merge_final_variants(merged, COMMUNITY)
    assert (removed.rounds, nothing.rounds, nothing.total) == (2, 1, 0)
    assert again is merged


def relatives(*, every):
    """Return two related genomes that differ in one base of ``every``, and an unrelated one."""
    one, third = simulated_genome(length=20_000, seed=3), simulated_genome(length=28_000, seed=4)
    other, rng = one.copy(), np.random.default_rng(5)
    differing = rng.random(one.size) < 1 / every
    other[differing] = (other[differing] + rng.integers(1, 4, int(differing.sum()))) % 4
    return one, other.astype(np.uint8), third


def assembled(genomes, *, fold, without=()):
    texts = [
        text
        for seed, (genome, depth) in enumerate(zip(genomes, fold, strict=True))
        for text in simulated_pairs(genome, fold=depth, length=150, insert=400, sd=40, seed=seed)
    ]
    found = assemble(Reads.from_strings(texts, paired=True), AssemblyOptions(without=without))
    assert found.mode.parameters.merges_final_variants
    assert found.mode.is_community
    return found


def covered_share(found, genome):
    """Return the share of a genome that its own contigs cover."""
    texts = decode(genome), decode(reverse_complement(genome))
    is_covered = np.zeros(genome.size, bool)
    for contig in found.contigs:
        if (at := texts[0].find(contig.sequence)) >= 0:
            is_covered[at : at + contig.length] = True
        elif (at := texts[1].find(contig.sequence)) >= 0:
            is_covered[genome.size - at - contig.length : genome.size - at] = True
    return is_covered.mean()


def test_genomes_with_dense_variants_are_both_assembled():
    """Two bases of a hundred differ: reads and pairs show which variants are adjacent."""
    one, other, third = relatives(every=50)
    found = assembled((one, other, third), fold=(70, 20, 10))
    assert covered_share(found, one) > 0.98
    assert covered_share(found, other) > 0.9


def test_genomes_with_sparse_variants_make_one_sequence():
    """No pair spans two variants 2,500 bases apart, and no genome has twice the depth of the other."""
    one, other, third = relatives(every=2500)
    found = assembled((one, other, third), fold=(30, 20, 10))
    longest = max(contig.length for contig in found.contigs if decode(one[5000:5030]) in both_strands(contig))
    assert longest > 18_000
    apart = assembled((one, other, third), fold=(30, 20, 10), without=("bubbles",))
    assert max(contig.length for contig in apart.contigs if contig.depth > 20) < 15_000


def both_strands(contig):
    return f"{contig.sequence} {decode(reverse_complement(contig.codes))}"
