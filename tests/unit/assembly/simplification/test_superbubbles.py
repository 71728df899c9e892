"""Superbubble variants, compared with a plain search for superbubbles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly import AssemblyOptions, assemble
from gpuasm.assembly.coverage.sample_mode import ISOLATE, Mode
from gpuasm.assembly.parameters import ISOLATE_MODE, SIMPLIFICATION
from gpuasm.assembly.simplification.engine import clean
from gpuasm.assembly.simplification.superbubbles import find_superbubble_variants
from gpuasm.sequence.encoding import decode
from gpuasm.sequence.reads import Reads
from tests.graphs import K, all_near, graph_of, marked, observed_graph
from tests.oracles.kmers import count_kmers, reverse_complement
from tests.oracles.superbubbles import not_on_kept_paths
from tests.samples import simulated_genome, simulated_texts

LONGEST, SPARSE = SIMPLIFICATION.variant_max_kmers, SIMPLIFICATION.superbubble_spacing
MINOR_SHARE = ISOLATE_MODE.minor_variant_share
SIDES = "left>a left>b a>right b>right"
NESTED = "left>a left>b a>c a>d b>d c>e d>e d>f e>right f>right"


def graph_and_number(*inner, arcs=SIDES, ends=60.0):
    return graph_of([("left", 900, ends), ("right", 900, ends), *inner], arcs)


@pytest.mark.parametrize(
    ("a", "b", "removed"),
    [
        ((K, 40.0), (K, 20.0), "b"),
        ((K, 20.0), (K, 40.0), "a"),
        ((K, 30.0), (K, 30.0), "b"),  # of equals the lower number is kept
        ((K, 31.0), (K, 30.0), "b"),
        ((K - 1, 20.0), (K + 9, 40.0), "a"),  # an insertion of most reads
        ((K - 1, 40.0), (K + 9, 20.0), "b"),  # and one of few reads
    ],
)
def test_branch_of_fewer_reads_is_removed(a, b, removed):
    graph, number = graph_and_number(("a", *a), ("b", *b))
    assert marked(find_superbubble_variants(graph), number) == {removed}


def test_nested_variants_are_removed_at_once():
    inner = [("a", 5, 50.0), ("b", 5, 10.0), ("c", 9, 30.0), ("d", 9, 31.0), ("e", 5, 15.0), ("f", 5, 45.0)]
    graph, number = graph_and_number(*inner, arcs=NESTED)
    assert marked(find_superbubble_variants(graph), number) == {"b", "c", "e"}


@pytest.mark.parametrize(
    "arcs",
    [
        "left>a left>b a>right",  # a dead end
        f"{SIDES} out>b",  # another incoming edge
        f"{SIDES} b>out",  # another outgoing edge
        "left>a left>b a>right b>right b>a a>b",  # a cycle
        "left>a left>-a a>right -a>right",  # both strands of one
    ],
)
def test_other_subgraphs_are_kept(arcs):
    graph, number = graph_and_number(("a", K, 40.0), ("b", K, 20.0), ("out", 900, 20.0), arcs=arcs)
    assert marked(find_superbubble_variants(graph), number) == set()


@pytest.mark.parametrize(("factor", "removed"), [(0.8, {"b"}), (1.2, set())])
def test_long_paths_are_kept(factor, removed):
    n_kmers = int(factor * LONGEST)
    graph, number = graph_and_number(("a", n_kmers, 40.0), ("b", n_kmers, 20.0))
    assert marked(find_superbubble_variants(graph), number) == removed


def test_differing_copies_of_a_repeat_are_kept():
    graph, number = graph_and_number(("a", K, 30.0), ("b", K, 30.0), ends=60.0)
    for one_copy, removed in ((30.0, set()), (39.9, set()), (40.1, {"b"}), (60.0, {"b"})):
        assert marked(find_superbubble_variants(graph, all_near(graph, one_copy)), number) == removed


def test_stricter_bound_holds_if_most_superbubbles_are_of_repeats():
    repeats = [(f"{name}{i}", n, 30.0 * m) for i in range(3) for name, n, m in (("l", 90, 2), ("a", K, 1), ("b", K, 1))]
    repeats += [(f"r{i}", 90, 60.0) for i in range(3)]
    arcs = " ".join(f"l{i}>a{i} l{i}>b{i} a{i}>r{i} b{i}>r{i}" for i in range(3))
    for depth, removed in ((37.0, {"b"}), (38.0, set())):
        single = [("left", 900, depth), ("right", 900, depth), ("a", K, 20.0), ("b", K, 17.0)]
        graph, number = graph_of([*single, *repeats], f"{SIDES} {arcs}")
        assert marked(find_superbubble_variants(graph, all_near(graph, 30.0)), number) == removed


@pytest.mark.parametrize(("rarer", "removed"), [(20.0, {"b"}), (20.1, set())])
def test_two_copies_covered_by_half_are_no_variants(rarer, removed):
    """Of an isolate a variant has at most a third of the depth of its ends."""
    sides = [("left", SPARSE, 60.0), ("right", 900, 60.0), ("a", K, 60.0 - rarer), ("b", K, rarer)]
    graph, number = graph_of(sides, SIDES)
    assert marked(find_superbubble_variants(graph, all_near(graph, 60.0), minor_share=MINOR_SHARE), number) == removed
    assert marked(find_superbubble_variants(graph, all_near(graph, 60.0)), number) == {"b"}


def test_many_variants_of_similar_depth_show_a_mixture():
    inner = [(f"{name}{i}", K, 30.0) for i in range(2) for name in "ab"]
    arcs = "left>a0 left>b0 a0>middle b0>middle middle>a1 middle>b1 a1>right b1>right"
    for size, removed in ((2 * SPARSE, set()), (2 * SPARSE - 2000, {"b0", "b1"})):
        graph, number = graph_of([("left", size, 60.0), ("middle", 900, 60.0), ("right", 900, 60.0), *inner], arcs)
        assert (
            marked(find_superbubble_variants(graph, all_near(graph, 60.0), minor_share=MINOR_SHARE), number) == removed
        )


@pytest.mark.parametrize(
    ("mode", "options", "n_unitigs"),
    [
        (ISOLATE, {}, 4),
        (ISOLATE, {"merged": 1}, 4),
        (ISOLATE, {"merged": 2}, 1),  # one in 50,000 k-mers is not few
        (ISOLATE, {"are_read": False}, 1),
        (Mode("meta", ""), {}, 4),  # until the last graph
        (Mode("meta", "", is_population=True), {}, 1),
    ],
)
def test_variants_of_similar_depth_are_kept_in_graphs_of_reads_only(mode, options, n_unitigs):
    sides = [("left", SPARSE, 60.0), ("right", 900, 60.0), ("a", K, 32.0), ("b", K, 28.0)]
    graph, _ = graph_of(sides, SIDES)
    assert clean(graph, mode=mode, **options)[0].n == n_unitigs


@pytest.mark.parametrize(
    ("left", "right", "removed"),
    [(19.9, 19.9, {"b"}), (20.0, 19.9, set()), (19.9, 20.0, set()), (20.0, 20.0, set())],
)
def test_ends_of_high_depth_are_excluded_if_requested(left, right, removed):
    sides = [("left", 900, left), ("right", 900, right), ("a", K, 12.0), ("b", K, 8.0)]
    graph, number = graph_of(sides, SIDES)
    assert marked(find_superbubble_variants(graph, ends_below=20.0), number) == removed
    assert marked(find_superbubble_variants(graph), number) == {"b"}


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
def test_result_equals_the_oracle(base, edits, k):
    graph = observed_graph(population(base, edits), k)
    assert set(np.flatnonzero(find_superbubble_variants(graph)).tolist()) == not_on_kept_paths(graph)


def two_strains(*, seed=5, every=70, length=9000):
    """Return strains that differ every ``every`` bases, but not at their ends, where paths could not rejoin."""
    one = simulated_genome(length=length, seed=seed)
    other = one.copy()
    differing = slice(150 + every // 2, -150, every)
    other[differing] = (other[differing] + 1) % 4
    return one, other


def reads_of_two(one, other, *, fold):
    return simulated_texts(one, fold=fold[0], seed=1) + simulated_texts(other, fold=fold[1], seed=2)


@pytest.mark.parametrize("fold", [(40, 20), (20, 40)])
def test_strains_make_the_dominant_sequence_unless_left_out(fold):
    one, other = two_strains()
    texts = reads_of_two(one, other, fold=fold)
    merged = assemble(Reads.from_strings(texts), AssemblyOptions()).contigs
    assert merged[0].length > 8800
    assert sum(contig.length for contig in merged) < 9900  # dead ends at the ends of a genome remain
    text = merged[0].sequence
    text = max(text, reverse_complement(text), key=lambda own: own[:500] in decode(one) or own[:500] in decode(other))
    of_dominant, of_minor = (
        count_kmers([text], 31).keys() & (count_kmers([decode(own)], 31).keys())
        for own in ((one, other) if fold[0] > fold[1] else (other, one))
    )
    assert len(of_dominant) > 0.95 * (merged[0].length - 30) > len(of_minor)
    kept = assemble(Reads.from_strings(texts), AssemblyOptions(without=("bubbles",))).contigs
    assert sum(contig.length for contig in kept) > 1.5 * merged[0].length


@pytest.mark.parametrize("mode", [ISOLATE, Mode("meta", "", is_population=True)])
def test_result_does_not_depend_on_strands(mode):
    one, other = (decode(own) for own in two_strains(every=50, length=1700))
    texts = [one] * 30 + [other] * 20
    one, other = (observed_graph(own, 15) for own in (texts, [reverse_complement(text) for text in texts]))
    first, second = (clean(graph, mode=mode) for graph in (one, other))
    assert first[2].superbubbles > 0
    assert first[0].bases.tobytes() == second[0].bases.tobytes()
    assert first[0].count.tolist() == second[0].count.tolist()
