"""Walks from single copies: if copies of a repeat differ far apart, shorter links decide longer ones."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuasm.assembly.alignment.graph_anchors import AnchorIndex
from gpuasm.assembly.alignment.read_threading import MOST_UNITIGS, GraphArrays
from gpuasm.assembly.coverage.copy_number import are_surely_single
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.links import Links, link_pairs
from gpuasm.assembly.paths.graph_walks import WALK_UNITIGS
from gpuasm.assembly.paths.path_choice import (
    choose_by_prefixes,
    choose_walks,
    fitting_pairs,
    known_prefixes,
)
from gpuasm.assembly.paths.pseudo_long_reads import join_mates
from gpuasm.sequence.reads import Reads
from tests.mate_pairs import MEMBER, first_state, pairs_of, random_text, texts_of
from tests.oracles.kmers import reverse_complement

SITES = (120, 230)
"""Farther from the flank than a read is long: no read of a pair across both sites contains the first."""
COPIES = ("AG", "AT", "CG")


def copies_that_differ_far_apart(seed: int = 60) -> tuple[str, list[int]]:
    """Return a genome with three copies of a repeat of 400 bases, and where these begin."""
    repeat, genome, starts = list(random_text(400, seed)), random_text(1500, seed + 1), []
    for i, bases in enumerate(COPIES):
        for site, base in zip(SITES, bases, strict=True):
            repeat[site] = base
        starts.append(len(genome))
        genome += "".join(repeat) + random_text(1500, seed + 2 + i)
    return genome, starts


@pytest.mark.parametrize("errors", [0.0, 0.004])
def test_each_copy_has_fragments_across_distant_sites(errors):
    genome, starts = copies_that_differ_far_apart()
    state = first_state(pairs_of(genome, errors=errors))
    fragments = join_mates(state.spanning.reads, state.spanning.inserts, state.kmer_graph)
    found = [t for text in texts_of(fragments.reads) for t in (text, reverse_complement(text))]
    assert all(text in genome or reverse_complement(text) in genome for text in found)
    for start in starts:
        across = genome[start - 15 : start + SITES[1] + 15]
        assert sum(across in text for text in found) >= 3


def test_the_rule_is_for_isolates_and_can_be_left_out():
    """If two strains share a unitig, it may have two continuations, one of them rare."""
    state = first_state(pairs_of(copies_that_differ_far_apart()[0]))
    pairs, inserts = state.spanning.reads, state.spanning.inserts
    with_rule, without, of_members = (
        join_mates(pairs, inserts, state.kmer_graph, **options)
        for options in ({}, {"without": ("path-prefixes",)}, {"mode": MEMBER})
    )
    assert with_rule.counts["certain"] > without.counts["certain"] == of_members.counts["certain"]
    assert with_rule.counts["without_path"] == without.counts["without_path"]


def linked(genome: str, *, errors: float = 0.004):
    """Return the graph of a genome's pairs, their links with what lengths they can have, and the walks chosen."""
    state = first_state(pairs_of(genome, errors=errors))
    graph = GraphArrays.of(state.kmer_graph.graph, np)
    links = link_pairs(state.spanning.reads, AnchorIndex.of(state.kmer_graph.graph, np), graph)
    inserts = state.spanning.inserts
    return state.kmer_graph.graph, graph, links, inserts, choose_walks(links, graph, inserts)


def slow_prefixes(links, chosen, inserts, is_single):
    """Return the known path from each oriented unitig, by counting the walks of its pairs."""
    fits, link = fitting_pairs(links, chosen, inserts), links.of_pairs
    walks = defaultdict(list)
    for pair in np.flatnonzero(fits & (chosen.size[link] > 1)):
        walk = chosen.unitigs.reshape(-1, WALK_UNITIGS)[link[pair], : chosen.size[link[pair]]].tolist()
        walks[walk[0]].append(walk)
        walks[walk[-1] ^ 1].append([o ^ 1 for o in walk[::-1]])
    prefixes = {}
    for begin, some in walks.items():
        prefix = prefixes[begin] = [begin]
        while is_single[begin >> 1]:
            at = len(prefix)
            following = Counter(w[at] for w in some if len(w) > at and w[:at] == prefix).most_common(1)
            agree = [w[:at] == prefix[: len(w)] for w in some]
            if not following:
                break
            against = [
                w for w, a in zip(some, agree, strict=True) if not a or (len(w) > at and w[at] != following[0][0])
            ]
            if following[0][1] < max(3, 10 * len(against)):
                break
            prefix.append(following[0][0])
    return prefixes


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_prefixes_equal_those_of_counting_pairs(share):
    graph, arrays, links, inserts, chosen = linked(copies_that_differ_far_apart()[0])
    is_single = np.random.default_rng(4).random(graph.n) < share
    expected = slow_prefixes(links, chosen, inserts, is_single)
    found = known_prefixes(links, chosen, inserts, is_single=is_single).reshape(2, -1, WALK_UNITIGS)
    assert (found[:, :, 0] == -1).all()
    for side, ends in enumerate((links.source, links.target ^ 1)):
        for i, end in enumerate(ends.tolist()):
            prefix = expected.get(end, [end])[1:]
            assert found[side, i, 1 : 1 + len(prefix)].tolist() == prefix
            assert (found[side, i, 1 + len(prefix) :] == -1).all()
    assert (found >= 0).any() == (share > 0)
    again = choose_by_prefixes(links, chosen, arrays, inserts, is_single=is_single)
    was = chosen.size > 0
    assert np.array_equal(again.size[was], chosen.size[was])
    assert ((again.size > 0).sum() > was.sum()) == (share > 0)


@given(n_kmers=st.integers(1, 500), depth=st.floats(1, 100), copy=st.floats(1, 100))
def test_a_copy_is_single_where_its_reads_make_one_likelier_than_two(n_kmers, depth, copy):
    graph = unitigs_of_reads(Reads.from_strings([random_text(60 + n_kmers, 7)]), 61, min_count=1, observed=True)
    graph = replace(graph, count=np.array([round(depth * graph.unit * n_kmers)]))
    reads = graph.depth[0] * (n_kmers + 39) / 100
    one, two = (poisson_bits(reads, times * copy * (n_kmers + 39) / 100) for times in (1, 2))
    assume(abs(one - two - 10) > 1e-6)
    assert are_surely_single(graph, np.array([copy]), bases_per_read=100).tolist() == [one - two >= 10]


def poisson_bits(n: float, mean: float) -> float:
    return (n * math.log(mean) - mean - math.lgamma(n + 1)) / math.log(2)


def test_few_reads_show_no_single_copy():
    """A unitig of one 61-mer is in few reads; only high depth gives enough of them."""
    graph = unitigs_of_reads(Reads.from_strings([random_text(61, 7)]), 61, min_count=1, observed=True)
    found = [
        are_surely_single(replace(graph, count=np.array([d * graph.unit])), np.array([float(d)]), bases_per_read=100)[0]
        for d in (20, 100)
    ]
    assert found == [False, True]


def repeated(links, i: int, n: int, *, right: int):
    """Return one link with n pairs like its first, whose fragments end so many bases behind the target's begin."""
    p = int(links.first[i])
    threads = [
        np.tile(t[MOST_UNITIGS * p : MOST_UNITIGS * (p + 1)], n) for t in (links.left_thread, links.right_thread)
    ]
    left = np.full(n, links.left[p] + links.right[p] - right, np.int32)
    own = links.source[i : i + 1], links.target[i : i + 1], np.array([0, n]), np.arange(n)
    return Links(*own, left, np.full(n, right, np.int32), *threads)


@pytest.mark.parametrize(("times", "bases_before", "is_certain"), [(1, 0, True), (20, 0, False), (20, 1, True)])
def test_too_many_pairs_within_short_unitigs_exclude_a_walk(times, bases_before, is_certain):
    """A short unitig distinguishes copies. Few mates can begin on it, but more before it."""
    graph, arrays, links, inserts, chosen = linked(copies_that_differ_far_apart()[0], errors=0.0)
    n_pairs = np.diff(links.first)
    some = np.flatnonzero((chosen.n_walks == 1) & (chosen.size > 1) & (n_pairs > 5))
    assert some.size
    for i in some.tolist():
        right = int(graph.length[links.target[i] >> 1]) + bases_before
        found = choose_walks(repeated(links, i, times * int(n_pairs[i]), right=right), arrays, inserts)
        assert (found.size[0] > 0) == is_certain
