"""Anchors with an alternative placement, against a plain search of all backward paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.arrays import to_host
from gpuasm.assembly.alignment import read_threading
from gpuasm.assembly.alignment.graph_anchors import Anchored, AnchorIndex, anchor_reads
from gpuasm.assembly.alignment.read_threading import GraphArrays, without_alternative_placements
from gpuasm.assembly.graph.unitig_graph import UnitigGraph
from gpuasm.assembly.graph.unitigs import unitigs_of_reads
from gpuasm.assembly.pairs.links import link_pairs
from gpuasm.assembly.parameters import ALIGNMENT
from gpuasm.sequence.reads import Reads
from tests.mate_pairs import LENGTH, pairs_of, random_text, texts_of
from tests.oracles.kmers import reverse_complement

K, SITES, BEGIN = 61, (170, 178, 186), 130


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


def slow_has_alternative(graph: UnitigGraph, o: int, base: int, text: str) -> bool:
    """Search for a backward path from the unitigs after the anchor's that matches the read as well as the anchor's."""
    own, first = oriented(graph, o), max(0, -base)

    def matches(unitig: int, reached: int, lag: int, *, is_first: bool) -> bool:
        for x in (to ^ 1 for to in arcs(graph, unitig ^ 1)):
            if is_first and x == o:
                continue
            other, here = oriented(graph, x), lag
            begin = reached + graph.k - 1 - len(other)
            for q in range(min(reached, len(text)) - 1, max(begin, first) - 1, -1):
                here += (other[q - begin] != text[q]) - (own[base + q] != text[q])
                if here > ALIGNMENT.alternative_max_lag:
                    break
            if here > ALIGNMENT.alternative_max_lag:
                continue
            if begin <= first:
                if here <= 0:
                    return True
            elif begin < len(text) and matches(x, begin, here, is_first=False):
                return True
        return False

    return any(matches(s, len(own) - base - (graph.k - 1), 0, is_first=True) for s in arcs(graph, o))


def anchored_in(genome: str, texts: list[str]) -> tuple[UnitigGraph, Reads, Anchored]:
    graph = unitigs_of_reads(Reads.from_strings([genome]), K, min_count=1, observed=True)
    reads = Reads.from_strings(texts)
    return graph, reads, anchor_reads(reads, AnchorIndex.of(graph, np))


def genome_of_copies(seed: int, copies: int) -> str:
    """Return a genome of copies of a repeat, of which one base in fifty differs, between unique texts."""
    rng = np.random.default_rng(seed)
    repeat, genome = random_text(160, seed), ""
    for i in range(copies):
        copy = "".join(rng.choice(list("ACGT")) if rng.random() < 0.02 else b for b in repeat)
        genome += random_text(60, 7000 + 10 * seed + i) + copy
    return genome + random_text(120, seed + 1)


@given(
    seed=st.integers(0, 1000), is_reversed=st.booleans(), copies=st.integers(2, 4), rate=st.sampled_from([0.01, 0.04])
)
def test_alternatives_are_those_of_a_plain_search(seed, is_reversed, copies, rate):
    genome = genome_of_copies(seed, copies)
    texts = texts_of(pairs_of(genome, fold=8, mean=150, errors=rate, seed=seed))
    graph, reads, anchored = anchored_in(reverse_complement(genome) if is_reversed else genome, texts)
    checked = without_alternative_placements(anchored, reads, GraphArrays.of(graph, np))
    rows = zip(anchored.oriented.tolist(), anchored.base.tolist(), texts, strict=True)
    expected = [o >= 0 and slow_has_alternative(graph, o, base, text) for o, base, text in rows]
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
def test_read_keeps_its_anchor_if_the_anchored_copy_matches_better(errors, neither, keeps):
    """The first unique k-mer has a base of the second copy; the other sites may support the first one."""
    first, second = copies_of_a_repeat()
    read = read_of(first, second, errors, neither=neither)
    graph, reads, anchored = anchored_in(genome_of(first, second), [read])
    assert second[SITES[0] - 20 : SITES[0] + 1] in oriented(graph, int(anchored.oriented[0]))
    checked = without_alternative_placements(anchored, reads, GraphArrays.of(graph, np))
    assert checked.oriented[0] == (anchored.oriented[0] if keeps else -1)


def test_reads_of_one_copy_keep_their_anchors():
    genome = genome_of(*copies_of_a_repeat())
    graph, reads, anchored = anchored_in(genome, texts_of(pairs_of(genome, fold=20)))
    checked = without_alternative_placements(anchored, reads, GraphArrays.of(graph, np))
    assert np.array_equal(checked.oriented, anchored.oriented)
    assert np.array_equal(checked.base, anchored.base)


def test_batch_size_does_not_change_the_result(monkeypatch):
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    texts = [*texts_of(pairs_of(genome, fold=5, errors=0.02)), read_of(first, second, SITES[:1])]
    graph, reads, anchored = anchored_in(genome, texts)
    whole = without_alternative_placements(anchored, reads, GraphArrays.of(graph, np))
    monkeypatch.setattr(read_threading, "_BATCH", 7)
    assert np.array_equal(
        without_alternative_placements(anchored, reads, GraphArrays.of(graph, np)).oriented, whole.oriented
    )
    assert (whole.oriented != anchored.oriented).any()


@pytest.mark.parametrize(("seed", "copies"), [(36, 4), (2, 5), (19, 3), (56, 4)])
def test_same_result_on_every_device(xp, seed, copies):
    """The paths of one read are extended in parallel; some of them are alternatives, others are not."""
    genome = genome_of_copies(seed, copies)
    texts = texts_of(pairs_of(genome, fold=30, mean=150, errors=0.04, seed=seed))
    graph, reads, anchored = anchored_in(genome, texts)
    rows = zip(anchored.oriented.tolist(), anchored.base.tolist(), texts, strict=True)
    has_alternative = [o >= 0 and slow_has_alternative(graph, o, base, text) for o, base, text in rows]
    some = [*np.flatnonzero(has_alternative), *range(20)]
    assert len(some) > 20
    _, reads, anchored = anchored_in(genome, 500 * [texts[i] for i in some])
    moved = Anchored(*(xp.asarray(array) for array in (anchored.oriented, anchored.base, anchored.offset)))
    found = to_host(without_alternative_placements(moved, reads.moved_to(xp), GraphArrays.of(graph, xp)).oriented)
    assert ((found < 0) & (anchored.oriented >= 0)).tolist() == 500 * [has_alternative[i] for i in some]


@pytest.mark.parametrize("limit", [{"alternative_max_paths": 0}, {"alternative_max_unitigs": 1}])
def test_anchor_in_a_tangle_is_kept(monkeypatch, limit):
    """A third copy begins within the first's sites, so that the backward path of the first has two unitigs."""
    first, second = copies_of_a_repeat()
    third = random_text(100, 74) + first[165:] + random_text(100, 75)
    genome = genome_of(first, second) + third
    graph, reads, anchored = anchored_in(genome, [read_of(first, second, SITES[:1])])
    assert without_alternative_placements(anchored, reads, GraphArrays.of(graph, np)).oriented[0] == -1
    monkeypatch.setattr(read_threading, "ALIGNMENT", replace(ALIGNMENT, **limit))
    assert (
        without_alternative_placements(anchored, reads, GraphArrays.of(graph, np)).oriented[0] == anchored.oriented[0]
    )


def test_no_alternatives_without_arcs_or_reads():
    graph, reads, anchored = anchored_in(random_text(200, 1), [])
    assert without_alternative_placements(anchored, reads, GraphArrays.of(graph, np)).oriented.size == 0
    text = random_text(200, 1)
    graph, reads, anchored = anchored_in(text, [text[20:120]])
    assert (
        without_alternative_placements(anchored, reads, GraphArrays.of(graph, np)).oriented.tolist()
        == anchored.oriented.tolist()
    )


def test_pair_with_an_alternative_placement_links_nothing():
    first, second = copies_of_a_repeat()
    genome = genome_of(first, second)
    graph = unitigs_of_reads(Reads.from_strings([genome]), K, min_count=1, observed=True)
    mate = reverse_complement(genome[1500 + 330 : 1500 + 330 + LENGTH])
    texts = texts_of(pairs_of(genome, fold=20))
    pairs = Reads.from_strings([*texts, read_of(first, second, SITES[:1]), mate], paired=True)
    index, last = AnchorIndex.of(graph, np), pairs.n_segments // 2 - 1
    arrays = GraphArrays.of(graph, np)
    assert last in link_pairs(pairs, index, arrays, checks_anchors=False).pair
    checked = link_pairs(pairs, index, arrays)
    assert last not in checked.pair
    assert checked.pair.size > 0.99 * link_pairs(pairs, index, arrays, checks_anchors=False).pair.size
