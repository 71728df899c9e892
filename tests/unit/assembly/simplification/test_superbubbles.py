"""Similar ways: of ways that say nearly the same one stays, against a plain search for superbubbles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.graph.unitigs_of_reads import unitigs_of_reads
from gpuasm.assembly.simplification.engine import clean
from gpuasm.assembly.simplification.superbubbles import (
    LONGEST,
    MINORITY,
    SPARSE,
    _differences,
    find_superbubble_variants,
)
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, all_near, graph_of, marked
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.oracles.superbubbles import not_on_kept_paths
from tests.samples import simulated_genome, simulated_texts

SIDES = "left>a left>b a>right b>right"
NESTED = "left>a left>b a>c a>d b>d c>e d>e d>f e>right f>right"


def graph_and_number(*inner, arcs=SIDES, ends=60.0):
    return graph_of([("left", 900, ends), ("right", 900, ends), *inner], arcs)


@pytest.mark.parametrize(
    ("a", "b", "goes"),
    [
        ((K, 40.0), (K, 20.0), "b"),
        ((K, 20.0), (K, 40.0), "a"),
        ((K, 30.0), (K, 30.0), "b"),  # of equals the lesser number stays
        ((K, 31.0), (K, 30.0), "b"),
        ((K - 1, 20.0), (K + 9, 40.0), "a"),  # an insertion that most have
        ((K - 1, 40.0), (K + 9, 20.0), "b"),  # and one that few have
    ],
)
def test_the_side_with_fewer_reads_goes(a, b, goes):
    graph, number = graph_and_number(("a", *a), ("b", *b))
    assert marked(find_superbubble_variants(graph), number) == {goes}


def test_nested_differences_go_at_once():
    inner = [("a", 5, 50.0), ("b", 5, 10.0), ("c", 9, 30.0), ("d", 9, 31.0), ("e", 5, 15.0), ("f", 5, 45.0)]
    graph, number = graph_and_number(*inner, arcs=NESTED)
    assert marked(find_superbubble_variants(graph), number) == {"b", "c", "e"}


@pytest.mark.parametrize(
    "arcs",
    [
        "left>a left>b a>right",  # an end
        f"{SIDES} out>b",  # another way in
        f"{SIDES} b>out",  # another way out
        "left>a left>b a>right b>right b>a a>b",  # a cycle
        "left>a left>-a a>right -a>right",  # both strands of one
    ],
)
def test_what_is_no_superbubble_stays(arcs):
    graph, number = graph_and_number(("a", K, 40.0), ("b", K, 20.0), ("out", 900, 20.0), arcs=arcs)
    assert marked(find_superbubble_variants(graph), number) == set()


@pytest.mark.parametrize(("n_kmers", "goes"), [(LONGEST, {"b"}), (LONGEST + 1, set())])
def test_long_ways_stay(n_kmers, goes):
    graph, number = graph_and_number(("a", n_kmers, 40.0), ("b", LONGEST, 20.0))
    assert marked(find_superbubble_variants(graph), number) == goes


def test_copies_of_a_repeat_that_differ_stay_where_there_is_one_depth():
    graph, number = graph_and_number(("a", K, 30.0), ("b", K, 30.0), ends=60.0)
    for one_copy, goes in ((30.0, set()), (39.9, set()), (40.1, {"b"}), (60.0, {"b"})):
        assert marked(find_superbubble_variants(graph, all_near(graph, one_copy)), number) == goes


def test_where_most_are_of_copies_only_what_is_surely_one_copy_goes():
    repeats = [(f"{name}{i}", n, 30.0 * m) for i in range(3) for name, n, m in (("l", 90, 2), ("a", K, 1), ("b", K, 1))]
    repeats += [(f"r{i}", 90, 60.0) for i in range(3)]
    arcs = " ".join(f"l{i}>a{i} l{i}>b{i} a{i}>r{i} b{i}>r{i}" for i in range(3))
    for depth, goes in ((37.0, {"b"}), (38.0, set())):
        single = [("left", 900, depth), ("right", 900, depth), ("a", K, 20.0), ("b", K, 17.0)]
        graph, number = graph_of([*single, *repeats], f"{SIDES} {arcs}")
        assert marked(find_superbubble_variants(graph, all_near(graph, 30.0)), number) == goes


@pytest.mark.parametrize(("rarer", "goes"), [(20.0, {"b"}), (20.1, set())])
def test_two_copies_that_are_covered_by_half_are_no_variants(rarer, goes):
    """Together they are as deep as one; of an isolate only what is a third as deep as that goes."""
    sides = [("left", SPARSE, 60.0), ("right", 900, 60.0), ("a", K, 60.0 - rarer), ("b", K, rarer)]
    graph, number = graph_of(sides, SIDES)
    assert marked(find_superbubble_variants(graph, all_near(graph, 60.0), minor_share=MINORITY), number) == goes
    assert marked(find_superbubble_variants(graph, all_near(graph, 60.0)), number) == {"b"}


def test_where_there_are_many_halves_the_sample_is_a_mixture():
    inner = [(f"{name}{i}", K, 30.0) for i in range(2) for name in "ab"]
    arcs = "left>a0 left>b0 a0>middle b0>middle middle>a1 middle>b1 a1>right b1>right"
    for size, goes in ((2 * SPARSE, set()), (2 * SPARSE - 2000, {"b0", "b1"})):
        graph, number = graph_of([("left", size, 60.0), ("middle", 900, 60.0), ("right", 900, 60.0), *inner], arcs)
        assert marked(find_superbubble_variants(graph, all_near(graph, 60.0), minor_share=MINORITY), number) == goes


@pytest.mark.parametrize(
    ("mode", "known", "n_left"),
    [
        (ISOLATE, {}, 4),
        (ISOLATE, {"merged": 1}, 4),
        (ISOLATE, {"merged": 2}, 1),  # one in 50,000 k-mers is not few
        (ISOLATE, {"are_read": False}, 1),
        (Mode("meta", ""), {}, 4),  # until the last graph: `last_variants`
        (Mode("meta", "", is_population=True), {}, 1),
    ],
)
def test_halves_stay_in_the_reads_of_an_isolate_alone(mode, known, n_left):
    sides = [("left", SPARSE, 60.0), ("right", 900, 60.0), ("a", K, 32.0), ("b", K, 28.0)]
    graph, _ = graph_of(sides, SIDES)
    assert clean(graph, mode=mode, **known)[0].n == n_left


@pytest.mark.parametrize(
    ("left", "right", "goes"),
    [(19.9, 19.9, {"b"}), (20.0, 19.9, set()), (19.9, 20.0, set()), (20.0, 20.0, set())],
)
def test_between_deep_ends_ways_stay_where_only_thin_ones_are_asked_for(left, right, goes):
    sides = [("left", 900, left), ("right", 900, right), ("a", K, 12.0), ("b", K, 8.0)]
    graph, number = graph_of(sides, SIDES)
    assert marked(find_superbubble_variants(graph, ends_below=20.0), number) == goes
    assert marked(find_superbubble_variants(graph), number) == {"b"}


def observed(texts, k):
    return unitigs_of_reads(Reads.from_strings(texts), k, min_count=1, observed=True)


def population(base, edits):
    texts = []
    for at, change in edits:
        text = list(base)
        text[at % len(base)] = change
        texts.append("".join(text))
    return [base, *texts]


EDITS = st.lists(st.tuples(st.integers(0, 199), st.sampled_from(["A", "C", "G", "T", "", "AC"])), max_size=6)
BASES = st.text("ACGT", min_size=12, max_size=60)


@given(base=BASES, edits=EDITS, k=st.sampled_from([3, 5, 7]))
def test_what_goes_is_what_a_plain_search_says(base, edits, k):
    graph = observed(population(base, edits), k)
    assert set(np.flatnonzero(find_superbubble_variants(graph)).tolist()) == not_on_kept_paths(graph)


def two_strains(*, seed=5, every=70, length=9000):
    """Strains that differ at every so many bases, but not at their ends, where ways could not meet again."""
    one = simulated_genome(length=length, seed=seed)
    other = one.copy()
    differing = slice(150 + every // 2, -150, every)
    other[differing] = (other[differing] + 1) % 4
    return one, other


def reads_of_two(one, other, *, fold):
    return simulated_texts(one, fold=fold[0], seed=1) + simulated_texts(other, fold=fold[1], seed=2)


@pytest.mark.parametrize("fold", [(40, 20), (20, 40)])
def test_two_strains_are_one_sequence_of_the_deeper_one_or_two_where_asked(fold):
    one, other = two_strains()
    texts = reads_of_two(one, other, fold=fold)
    merged = assemble(Reads.from_strings(texts), AssemblyOptions()).contigs
    assert merged[0].length > 8800
    assert sum(contig.length for contig in merged) < 9900  # where a genome ends nothing leads on
    text = merged[0].sequence
    text = max(text, reverse_complement(text), key=lambda own: own[:500] in decode(one) or own[:500] in decode(other))
    of_deeper, of_rarer = (
        count_kmers([text], 31).keys() & (count_kmers([decode(own)], 31).keys())
        for own in ((one, other) if fold[0] > fold[1] else (other, one))
    )
    assert len(of_deeper) > 0.95 * (merged[0].length - 30) > len(of_rarer)
    kept = assemble(Reads.from_strings(texts), AssemblyOptions(without=("superbubbles",))).contigs
    assert sum(contig.length for contig in kept) > 1.5 * merged[0].length


@pytest.mark.parametrize("mode", [ISOLATE, Mode("meta", "", is_population=True)])
def test_strands_do_not_matter(mode):
    one, other = (decode(own) for own in two_strains(every=50, length=1700))
    texts = [one] * 30 + [other] * 20
    one, other = (observed(own, 15) for own in (texts, [reverse_complement(text) for text in texts]))
    first, second = (clean(graph, mode=mode) for graph in (one, other))
    assert first[2].superbubbles > 0
    assert first[0].bases.tobytes() == second[0].bases.tobytes()
    assert first[0].count.tolist() == second[0].count.tolist()


def edits_within(pattern: list[int], text: list[int]) -> int:
    """Return the least edits between a pattern and any part of a text, by the whole matrix."""
    row = [0] * (len(text) + 1)
    for j, own in enumerate(pattern):
        before, row = row, [j + 1]
        for i, other in enumerate(text):
            row.append(min(before[i] + (own != other), before[i + 1] + 1, row[i] + 1))
    return min(row)


codes = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@given(codes, codes, st.integers(1, 9), st.integers(1, 9), st.data())
@example([0, 1, 2], [3], 7, 1, None)
@settings(max_examples=150, deadline=None)
def test_differences_are_those_of_the_whole_matrix(one, other, times, again, data):
    pattern = one * times
    text = list(pattern) + other * again
    if data is not None:  # some edits of the pattern, with something before and behind
        for _ in range(data.draw(st.integers(0, 12))):
            at = data.draw(st.integers(0, len(text)))
            text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.integers(0, 3), max_size=2))
    bases, start = np.array([1, 1, *pattern, 2], np.uint8), np.array([0, 2, 2 + len(pattern), 3 + len(pattern)])
    turned = [3 - base for base in pattern[::-1]]
    for oriented, own in ((2, pattern), (3, turned)):
        assert _differences(oriented, bases, start, np.array(text, np.uint8)) == edits_within(own, text)
