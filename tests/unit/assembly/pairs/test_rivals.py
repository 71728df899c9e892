"""Ends that share what others are joined over: few pairs do not decide between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuasm.assembly.pairs.overlaps import oriented_codes
from gpuasm.assembly.pairs.resolving import resolve
from gpuasm.assembly.pairs.rivals import find_tails, rivals_of
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from tests.unit.assembly.pairs.test_resolving import FOLD, either_strand, graph_of, pairs_of, random_text, texts_of

A, B, C, D, E, F = (random_text(2000, seed) for seed in range(40, 46))
SHARED = random_text(50, 50)
FEW, MANY = 1.6, FOLD
"""Folds at which three or four pairs are expected across SHARED, and some hundred."""


def turned(text):
    return decode(reverse_complement(encode(text)))


def resolved(texts, genomes, *, fold, without=(), seed=1):
    graph = graph_of(*texts)
    share = np.int64(FOLD / fold)
    graph = replace(graph, count=graph.count // share, arc_count=graph.arc_count // share)
    return resolve(graph, pairs_of(*genomes, fold=fold, seed=seed), without=("lost-junctions", *without))


def joined_of(seeds, *args, **options):
    """Return how often A and B are joined, over several libraries."""
    whole = either_strand(A + SHARED + B)
    return sum(whole in texts_of(resolved(*args, seed=seed, **options).graph) for seed in seeds)


def test_few_pairs_do_not_decide_where_another_end_shares_the_bases():
    ends, rival = [A + SHARED, SHARED + B], C + SHARED
    genome = [A + SHARED + B]
    alone = joined_of(range(12), ends, genome, fold=FEW)
    assert alone >= 3
    for other in (rival, turned(rival), SHARED + D):
        assert joined_of(range(12), [*ends, other], genome, fold=FEW) == 0
        assert joined_of(range(12), [*ends, other], genome, fold=FEW, without=["rivals"]) == alone


def test_many_pairs_do():
    ends, genome = [A + SHARED, SHARED + B, C + SHARED], [A + SHARED + B]
    assert joined_of(range(2), ends, genome, fold=MANY) == 2


def test_an_end_that_is_joined_elsewhere_is_no_rival():
    """The other end and its own target have few pairs too, and lead nowhere else."""
    ends = [A + SHARED, SHARED + B, C + SHARED, SHARED + D]
    genomes = [A + SHARED + B, C + SHARED + D]
    both = [either_strand(text) for text in genomes]
    for seed in range(12):
        found = set(texts_of(resolved(ends, genomes, fold=FEW, seed=seed).graph))
        assert len(found & set(both)) != 1


def plain_tails(graph):
    """Return every place of each dead end's last 31 bases within another unitig, by looking at all of them."""
    texts = {o: decode(oriented_codes(graph, o)) for o in range(2 * graph.n)}
    dead = [o for o in texts if graph.arc_start[o] == graph.arc_start[o + 1] and not graph.is_circular[o >> 1]]
    return sorted(
        (o, at + 31, end)
        for end in dead
        for o, text in texts.items()
        if o >> 1 != end >> 1 and not graph.is_circular[o >> 1]
        for at in range(len(text) - 31)
        if text[at : at + 31] == texts[end][-31:]
    )


@pytest.mark.parametrize("seed", range(5))
def test_tails_are_those_of_plain_python(seed, xp):
    rng = np.random.default_rng(seed)
    words = [random_text(45, 60 + i) for i in range(3)]
    texts = []
    for _ in range(8):
        first, last, middle = (words[i] if (i := rng.integers(0, 4)) < 3 else "" for _ in range(3))
        inner = decode(rng.integers(0, 4, 300).astype(np.uint8))
        text = first + inner[:150] + middle + inner[150:] + last
        texts.append(turned(text) if rng.random() < 0.5 else text)
    graph = graph_of(*texts)
    tails = find_tails(graph, xp)
    assert sorted(zip(tails.oriented.tolist(), tails.at.tolist(), tails.end.tolist(), strict=True)) == plain_tails(
        graph
    )


def test_rivals_agree_with_all_that_they_share():
    graph = graph_of(A + SHARED, SHARED + B, C + SHARED, D + SHARED[:40], E + "A" + SHARED[1:], SHARED[10:] + F)
    texts = {decode(oriented_codes(graph, o)): o for o in range(2 * graph.n)}
    source, target = texts[A + SHARED], texts[SHARED + B]
    found = rivals_of(graph, find_tails(graph, np), source=source, target=target)
    other = texts[SHARED[10:] + F]
    assert sorted(found) == sorted(
        [(texts[C + SHARED], target, 50), (texts[D + SHARED[:40]], target, 40), (source, other, 40)]
    )


def test_without_dead_ends_there_is_nothing():
    graph = graph_of(A)
    assert find_tails(graph, np).oriented.size == 0
