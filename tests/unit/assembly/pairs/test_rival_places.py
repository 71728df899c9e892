"""Anchors with a rival: what another way into the same text explains as well, as plain search of all ways finds it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs_of_reads import unitigs_of_reads
from gpuasm.assembly.pairs import rival_places
from gpuasm.assembly.pairs.anchors import Anchored, AnchorIndex, anchor_reads
from gpuasm.assembly.pairs.links import link_pairs
from gpuasm.assembly.pairs.rival_places import without_rivals
from gpuasm.assembly.pairs.threading import GraphArrays
from gpuasm.sequence.reads import Reads
from tests.oracles.kmers import reverse_complement
from tests.unit.assembly.pairs.test_joining import LENGTH, pairs_of, random_text, texts_of

K, SITES, BEGIN, BEHIND = 61, (170, 178, 186), 130, 2


def copies_of_a_repeat() -> tuple[str, str]:
    """Return two copies of a repeat that differ in three bases, eight apart."""
    first = random_text(400, 70)
    return first, "".join("CGTA"["ACGT".index(b)] if i in SITES else b for i, b in enumerate(first))


def genome_of(first: str, second: str) -> str:
    return random_text(1500, 71) + first + random_text(1500, 72) + second + random_text(1500, 73)


def read_of(first: str, second: str, errors: tuple[int, ...], *, neither: tuple[int, ...] = ()) -> str:
    """Return a read of the first copy with the second's bases at some sites, and bases of neither copy at others."""
    text = list(first[BEGIN : BEGIN + LENGTH])
    for site in errors:
        text[site - BEGIN] = second[site]
    for site in neither:
        text[site - BEGIN] = next(b for b in "ACGT" if b not in (first[site], second[site]))
    return "".join(text)


def oriented(graph: UnitigGraph, o: int) -> str:
    return reverse_complement(graph.sequence(o >> 1)) if o & 1 else graph.sequence(o >> 1)


def arcs(graph: UnitigGraph, o: int) -> list[int]:
    return graph.arc_to[graph.arc_start[o] : graph.arc_start[o + 1]].tolist()


def slow_has_rival(graph: UnitigGraph, o: int, base: int, text: str) -> bool:
    """Tell whether any way back from what follows an anchor's unitig agrees with the read as well as that does."""
    own, first = oriented(graph, o), max(0, -base)

    def goes(unitig: int, come_to: int, behind: int, *, is_first: bool) -> bool:
        for x in (to ^ 1 for to in arcs(graph, unitig ^ 1)):
            if is_first and x == o:
                continue
            other, here = oriented(graph, x), behind
            begin = come_to + graph.k - 1 - len(other)
            for q in range(min(come_to, len(text)) - 1, max(begin, first) - 1, -1):
                here += (other[q - begin] != text[q]) - (own[base + q] != text[q])
                if here > BEHIND:
                    break
            if here > BEHIND:
                continue
            if begin <= first:
                if here <= 0:
                    return True
            elif begin < len(text) and goes(x, begin, here, is_first=False):
                return True
        return False

    return any(goes(s, len(own) - base - (graph.k - 1), 0, is_first=True) for s in arcs(graph, o))


def anchored_in(genome: str, texts: list[str]) -> tuple[UnitigGraph, Reads, Anchored]:
    graph = unitigs_of_reads(Reads.from_strings([genome]), K, min_count=1, observed=True)
    reads = Reads.from_strings(texts)
    return graph, reads, anchor_reads(reads, AnchorIndex.of(graph, np))


def genome_of_copies(seed: int, copies: int) -> str:
    """Return a genome of copies of a repeat, of which one base in fifty differs, between texts of their own."""
    rng = np.random.default_rng(seed)
    repeat, genome = random_text(160, seed), ""
    for i in range(copies):
        copy = "".join(rng.choice(list("ACGT")) if rng.random() < 0.02 else b for b in repeat)
        genome += random_text(60, 7000 + 10 * seed + i) + copy
    return genome + random_text(120, seed + 1)


@given(seed=st.integers(0, 1000), turned=st.booleans(), copies=st.integers(2, 4), rate=st.sampled_from([0.01, 0.04]))
def test_rivals_are_those_that_a_search_of_all_ways_finds(seed, turned, copies, rate):
    genome = genome_of_copies(seed, copies)
    texts = texts_of(pairs_of(genome, fold=8, mean=150, errors=rate, seed=seed))
    graph, reads, anchored = anchored_in(reverse_complement(genome) if turned else genome, texts)
    checked = without_rivals(anchored, reads, GraphArrays.of(graph, np))
    rows = zip(anchored.oriented.tolist(), anchored.base.tolist(), texts, strict=True)
    expected = [o >= 0 and slow_has_rival(graph, o, base, text) for o, base, text in rows]
    assert ((anchored.oriented >= 0) & (checked.oriented < 0)).tolist() == expected
    assert checked.oriented.dtype == anchored.oriented.dtype


@pytest.mark.parametrize(
    ("errors", "neither", "keeps"),
    [
        (SITES, (), True),
        (SITES[:2], (), True),
        (SITES[:1], (), False),
        (SITES[:1], SITES[1:2], False),
        (SITES[:1], SITES[1:], True),
    ],
)
def test_the_copy_that_explains_more_has_the_read(errors, neither, keeps):
    """The first word that is told has the second copy's base: that is right if the other sites do not say more."""
    first, second = copies_of_a_repeat()
    read = read_of(first, second, errors, neither=neither)
    graph, reads, anchored = anchored_in(genome_of(first, second), [read])
    assert second[SITES[0] - 20 : SITES[0] + 1] in oriented(graph, int(anchored.oriented[0]))
    checked = without_rivals(anchored, reads, GraphArrays.of(graph, np))
    assert checked.oriented[0] == (anchored.oriented[0] if keeps else -1)


def test_reads_of_one_copy_keep_their_anchors():
    genome = genome_of(*copies_of_a_repeat())
    graph, reads, anchored = anchored_in(genome, texts_of(pairs_of(genome, fold=20)))
    checked = without_rivals(anchored, reads, GraphArrays.of(graph, np))
    assert np.array_equal(checked.oriented, anchored.oriented)
    assert np.array_equal(checked.base, anchored.base)


def test_batches_change_nothing(monkeypatch):
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    texts = [*texts_of(pairs_of(genome, fold=5, errors=0.02)), read_of(first, second, SITES[:1])]
    graph, reads, anchored = anchored_in(genome, texts)
    whole = without_rivals(anchored, reads, GraphArrays.of(graph, np))
    monkeypatch.setattr(rival_places, "_BATCH", 7)
    assert np.array_equal(without_rivals(anchored, reads, GraphArrays.of(graph, np)).oriented, whole.oriented)
    assert (whole.oriented != anchored.oriented).any()


@pytest.mark.parametrize(("seed", "copies"), [(36, 4), (2, 5), (19, 3), (56, 4)])
def test_the_same_on_every_device(xp, seed, copies):
    """Of the ways back of one read, which are looked at side by side, some are rivals and some, after them, are not."""
    genome = genome_of_copies(seed, copies)
    texts = texts_of(pairs_of(genome, fold=30, mean=150, errors=0.04, seed=seed))
    graph, reads, anchored = anchored_in(genome, texts)
    rows = zip(anchored.oriented.tolist(), anchored.base.tolist(), texts, strict=True)
    has_rival = [o >= 0 and slow_has_rival(graph, o, base, text) for o, base, text in rows]
    some = [*np.flatnonzero(has_rival), *range(20)]
    assert len(some) > 20
    _, reads, anchored = anchored_in(genome, 500 * [texts[i] for i in some])
    moved = Anchored(*(xp.asarray(array) for array in (anchored.oriented, anchored.base, anchored.offset)))
    found = to_host(without_rivals(moved, reads.moved_to(xp), GraphArrays.of(graph, xp)).oriented)
    assert ((found < 0) & (anchored.oriented >= 0)).tolist() == 500 * [has_rival[i] for i in some]


@pytest.mark.parametrize("limit", ["_MOST_WAYS", "_MOST_ROUNDS"])
def test_in_a_tangle_an_anchor_stays(monkeypatch, limit):
    """A third copy begins within the first's sites, so that the way back along the first is of two unitigs."""
    first, second = copies_of_a_repeat()
    third = random_text(100, 74) + first[165:] + random_text(100, 75)
    genome = genome_of(first, second) + third
    graph, reads, anchored = anchored_in(genome, [read_of(first, second, SITES[:1])])
    assert without_rivals(anchored, reads, GraphArrays.of(graph, np)).oriented[0] == -1
    monkeypatch.setattr(rival_places, limit, {"_MOST_WAYS": 0, "_MOST_ROUNDS": 1}[limit])
    assert without_rivals(anchored, reads, GraphArrays.of(graph, np)).oriented[0] == anchored.oriented[0]


def test_without_arcs_or_reads_there_is_no_rival():
    graph, reads, anchored = anchored_in(random_text(200, 1), [])
    assert without_rivals(anchored, reads, GraphArrays.of(graph, np)).oriented.size == 0
    text = random_text(200, 1)
    graph, reads, anchored = anchored_in(text, [text[20:120]])
    assert without_rivals(anchored, reads, GraphArrays.of(graph, np)).oriented.tolist() == anchored.oriented.tolist()


def test_a_pair_with_a_rival_links_nothing():
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    graph = unitigs_of_reads(Reads.from_strings([genome]), K, min_count=1, observed=True)
    mate = reverse_complement(genome[1500 + 330 : 1500 + 330 + LENGTH])
    texts = texts_of(pairs_of(genome, fold=20))
    pairs = Reads.from_strings([*texts, read_of(first, second, SITES[:1]), mate], paired=True)
    index, last = AnchorIndex.of(graph, np), pairs.n_pieces // 2 - 1
    arrays = GraphArrays.of(graph, np)
    assert last in link_pairs(pairs, index, arrays, checks_anchors=False).pair
    checked = link_pairs(pairs, index, arrays)
    assert last not in checked.pair
    assert checked.pair.size > 0.99 * link_pairs(pairs, index, arrays, checks_anchors=False).pair.size
