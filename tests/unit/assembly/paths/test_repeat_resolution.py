"""Repeats that pairs resolve: graphs of known genomes, and pairs from them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuasm.assembly.contig import make_contigs
from gpuasm.assembly.coverage.sample_mode import Mode
from gpuasm.assembly.options import rules_without
from gpuasm.assembly.paths.repeat_resolution import resolve, resolve_pairs
from gpuasm.assembly.scaffold import make_scaffolds
from gpuasm.kmers.spectrum import analyse_spectrum
from gpuasm.stages import Stages
from gpuasm.threads import set_threads, thread_count
from tests.oracles.kmers import reverse_complement
from tests.repeat_graphs import (
    FOLD,
    GENOME,
    LENGTH,
    PAIRS,
    A,
    B,
    C,
    D,
    K,
    R,
    bytes_of,
    either_strand,
    graph_of,
    pairs_of,
    random_text,
    texts_of,
)


def scaffolds_of(resolved):
    contigs = make_contigs(resolved.graph, min_length=1)
    return make_scaffolds(contigs, resolved.gaps, resolved.graph)


@pytest.mark.parametrize("genome", [A + R + B + R + C, GENOME, A + R + B + R + C + reverse_complement(R) + D])
def test_copies_of_a_repeat_longer_than_k_are_resolved(genome):
    graph = graph_of(genome)
    assert graph.n > 1
    resolved = resolve(graph, pairs_of(genome))
    assert texts_of(resolved.graph) == [either_strand(genome)]
    assert resolved.gaps == []
    assert resolved.counts["walks"] >= 1


def test_a_repeat_longer_than_fragments_stays():
    genome = A + random_text(400, 11) + B + random_text(400, 11) + C
    graph = graph_of(genome)
    resolved = resolve(graph, pairs_of(genome))
    assert texts_of(resolved.graph) == texts_of(graph)
    assert resolved.gaps == []


@pytest.mark.parametrize(("units", "mean"), [(2, 300), (3, 300), (2, 500), (3, 500), (3, 700)])
def test_no_unit_of_a_tandem_repeat_is_lost(units, mean):
    genome = A + units * R + B
    resolved = resolve(graph_of(genome), pairs_of(genome, mean=mean))
    for text in texts_of(resolved.graph):
        assert text in genome or reverse_complement(text) in genome
    if mean > len(units * R) + 2 * LENGTH:
        assert texts_of(resolved.graph) == [either_strand(genome)]


@pytest.mark.parametrize("shared", [20, 40, K - 2])
def test_dead_ends_that_overlap_at_the_linked_distance_are_joined(shared):
    genome = A + B
    graph = graph_of(genome[:2000], genome[2000 - shared :])
    resolved = resolve(graph, pairs_of(genome))
    assert texts_of(resolved.graph) == [either_strand(genome)]
    assert resolved.counts["linked_overlaps"] == 1


@pytest.mark.parametrize(("shared", "kind"), [(40, "gaps"), (K - 2, "ambiguous_overlaps")])
def test_an_overlap_that_few_pairs_link_is_left_to_reads(shared, kind):
    """A tandem unit may be missing: reads of 100 bases contain two units of 40, not of 59."""
    genome = A + B
    resolved = resolve(graph_of(genome[:2000], genome[2000 - shared :]), pairs_of(genome, fold=FOLD // 4))
    assert resolved.counts["linked_overlaps"] == 0
    assert [len(getattr(resolved, name)) for name in ("gaps", "ambiguous_overlaps")] == [
        kind == "gaps",
        kind == "ambiguous_overlaps",
    ]


@pytest.mark.parametrize(("share", "third", "n_gaps"), [(0.2, True, 0), (0.2, False, 1), (0.6, True, 1)])
def test_few_of_the_expected_pairs_link_no_repeated_ends(share, third, n_gaps):
    """They may come from another copy of the ends; if ends are unique, coverage may be low there."""
    missing = random_text(20, 14)
    other = C[:1000] + A[-45:] + C[1000:] if third else C
    resolved = resolve(graph_of(A, B, other), pairs_of(A + missing + B, fold=round(share * FOLD)))
    assert resolved.graph.n == 3
    assert [len(resolved.gaps), len(resolved.ambiguous_overlaps), len(resolved.weak_links)] == [n_gaps, 0, 0]


@pytest.mark.parametrize(
    ("wrong", "fold", "n_differing"), [(0, FOLD, 0), (1, FOLD, 1), (3, FOLD, 1), (3, FOLD // 4, 0)]
)
def test_ends_whose_overlap_differs_are_left_to_reads(wrong, fold, n_differing):
    """The last bases of one end are of another copy. Few pairs may come from that copy."""
    genome, shared = A + B, K - 2
    graph = graph_of(with_others_bases(genome[:2000], wrong), genome[2000 - shared :])
    resolved = resolve(graph, pairs_of(genome, fold=fold))
    assert resolved.counts["linked_overlaps"] == (wrong == 0)
    assert len(resolved.mismatching_overlaps) == n_differing
    assert [len(resolved.gaps), len(resolved.ambiguous_overlaps)] == [0, 0]
    if n_differing:
        assert abs(resolved.mismatching_overlaps[0].size + shared) <= resolved.mismatching_overlaps[0].spread
    assert resolve(graph, pairs_of(genome, fold=fold), rules=rules_without(["end-overlaps"])).mismatching_overlaps == []


def with_others_bases(text, n):
    """Return a text with n other bases near the end."""
    codes = list(text)
    for at in range(len(codes) - 10, len(codes) - 10 - 10 * n, -10):
        codes[at] = {"A": "C", "C": "A", "G": "T", "T": "G"}[codes[at]]
    return "".join(codes)


@pytest.mark.parametrize(("mode", "n_differing"), [("isolate", 1), ("meta", 0)])
def test_in_a_community_mismatching_ends_stay_apart(mode, n_differing):
    genome = A + B
    graph = graph_of(with_others_bases(genome[:2000], 2), genome[2000 - K + 2 :])
    spectrum = analyse_spectrum(np.array([0, 100, 10, 1, 0]), 31)
    state = SimpleNamespace(
        kmer_graph=SimpleNamespace(graph=graph),
        repeat_kmers=None,
        spanning=pairs_of(genome),
        mode=Mode(mode, ""),
        rules=Mode(mode, "").rules(),
        spectrum=spectrum,
    )
    assert len(resolve_pairs(state, Stages()).mismatching_overlaps) == n_differing


def test_an_overlap_at_another_distance_is_not_used():
    """The ends share 40 bases, but lie 100 apart."""
    shared = random_text(40, 12)
    genome = A + shared + random_text(20, 13) + shared + B
    graph = graph_of(A + shared, shared + B)
    resolved = resolve(graph, pairs_of(genome))
    assert resolved.counts["linked_overlaps"] == 0
    assert resolved.graph.n == 2


def test_low_complexity_does_not_make_an_overlap():
    genome = A + "A" * 40 + B
    resolved = resolve(graph_of(A + "A" * 30, "A" * 30 + B), pairs_of(genome))
    assert resolved.counts["linked_overlaps"] == 0
    assert resolved.graph.n == 2


@pytest.mark.parametrize(("library", "joins"), [({}, True), ({"mean": 400, "sd": 60, "fold": FOLD // 5}, False)])
def test_an_overlap_of_a_tandem_repeat_needs_pairs_that_exclude_another_unit(library, joins):
    """The first end contains the shared bases twice, at the distance of a unit of 35 bases."""
    shared = random_text(25, 18)
    end = A + shared + random_text(10, 19) + shared
    resolved = resolve(graph_of(end, shared + B, fold=library.get("fold", FOLD)), pairs_of(end + B, **library))
    assert (texts_of(resolved.graph) == [either_strand(end + B)]) == joins
    assert len(resolved.gaps) == (not joins)


@pytest.mark.parametrize("is_lost", [True, False])
def test_the_flank_of_a_lost_copy_is_not_linked_to_the_other_copy(is_lost):
    """The ends of a transposon are identical: pairs link its flank to one of them, and none to the flank behind it.

    The sequence between has several copies, so it is no single copy with a better link.
    """
    repeat, inner = random_text(200, 20), random_text(400, 21)
    elsewhere = [C[:1000] + inner + C[1000:], D[:1000] + inner + D[1000:]]
    middle = repeat + inner + repeat if is_lost else repeat
    resolved = resolve(
        graph_of(A + repeat[:25], repeat + B, *elsewhere), pairs_of(A + middle + B, *elsewhere, mean=400)
    )
    assert resolved.counts["links"] > 0
    assert (either_strand(A + repeat + B) in texts_of(resolved.graph)) == (not is_lost)
    assert resolved.gaps == []


@pytest.mark.parametrize("between", [165, 175, 200])
def test_ends_that_share_a_tandem_unit_are_not_joined(between):
    """Only the longest fragments reach across both units, and appear as short ones over one unit."""
    unit = random_text(50, 31)
    genome = A + unit + random_text(between, 32) + unit + B
    resolved = resolve(graph_of(A + unit, unit + B), pairs_of(genome))
    assert resolved.counts["linked_overlaps"] == 0
    assert resolved.graph.n == 2


@pytest.mark.parametrize("missing", [1, 30, 80])
def test_a_gap_has_the_size_of_its_pairs(missing):
    genome = A + random_text(missing, 14) + B
    resolved = resolve(graph_of(A, B), pairs_of(genome))
    assert resolved.graph.n == 2
    (gap,) = resolved.gaps
    assert abs(gap.size - missing) <= 4 * gap.sd + 2
    (scaffold,) = scaffolds_of(resolved)
    left, right = scaffold.sequence.replace("N", " ").split()
    assert scaffold.sequence.count("N") == max(10, gap.size)
    assert {either_strand(left), either_strand(right)} <= {either_strand(t[i:j]) for t in (A, B) for i, j in cuts(gap)}


def cuts(gap):
    """Return how a contig of 2000 bases may be trimmed for a gap: at neither end, or at one."""
    missing = max(0, 10 - gap.size)
    return (0, 2000), (missing, 2000), (0, 2000 - missing)


def chimeras(n, *, seed=3):
    """Return pairs between the end of A and random positions of D."""
    rng = np.random.default_rng(seed)
    texts = []
    for at in rng.integers(0, 1500, n).tolist():
        begin = 1700 + int(rng.integers(0, 150))
        texts += [A[begin : begin + LENGTH], reverse_complement(D[at : at + LENGTH])]
    return texts


@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_chimeras_join_nothing(n):
    resolved = resolve(graph_of(A, D), pairs_of(A, D, extra=chimeras(n)))
    assert resolved.graph.n == 2
    assert resolved.gaps == []


@pytest.mark.parametrize("n", [2, 20])
def test_chimeras_do_not_hide_a_join(n):
    genome = A + R + B + R + C
    resolved = resolve(graph_of(genome, D), pairs_of(genome, D, extra=chimeras(n)))
    assert either_strand(genome) in texts_of(resolved.graph)


def test_paths_of_one_length_stay_open():
    """Two variants of one base lie between A and B: half of the pairs contain each."""
    middle = random_text(200, 15)
    other = middle[:100] + ("A" if middle[100] != "A" else "C") + middle[101:]
    texts = A + middle + B, A + other + B
    graph = graph_of(*texts)
    graph = replace(graph, count=graph.count // 2)
    resolved = resolve(graph, pairs_of(*texts, fold=FOLD / 2))
    assert texts_of(resolved.graph) == texts_of(graph)


def test_a_path_that_pairs_exclude_is_removed():
    """R alone lies between A and B; the graph also contains a longer path, for which all fragments are too short."""
    genome, wrong = A + R + B, A[-K:] + R + random_text(500, 16) + B[:K]
    graph = graph_of(genome, wrong)
    resolved = resolve(graph, pairs_of(genome))
    assert either_strand(genome) in texts_of(resolved.graph)


def test_without_pairs_the_graph_stays():
    graph = graph_of(A + R + B + R + C)
    resolved = resolve(graph, None)
    assert resolved.graph is graph
    assert resolved.gaps == []


def in_another_order(pairs, seed):
    """Return the pairs shuffled, with the mates of some of them swapped."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(pairs.reads.n_segments // 2)
    first = 2 * order + (rng.random(order.size) < 0.5)
    return replace(pairs, reads=pairs.reads.select(np.stack([first, first ^ 1], axis=1).ravel()))


@given(st.integers(0, 1 << 20))
@settings(max_examples=10, deadline=None)
def test_order_of_pairs_and_of_mates_does_not_matter(seed):
    graph = graph_of(GENOME[:5000], GENOME[5030:], D)
    assert bytes_of(resolve(graph, in_another_order(PAIRS, seed))) == bytes_of(resolve(graph, PAIRS))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_matter(threads):
    graph = graph_of(GENOME[:5000], GENOME[5030:], D)
    expected = bytes_of(resolve(graph, PAIRS))
    before = thread_count()
    try:
        set_threads(threads)
        assert bytes_of(resolve(graph, PAIRS)) == expected
    finally:
        set_threads(before)
