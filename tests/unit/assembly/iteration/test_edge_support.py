"""Flanks without support of reads or fragments at the next k."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.iteration import edge_support, next_graph
from gpuasm.assembly.iteration.edge_support import (
    Support,
    expected_right_flanks,
    flank_support,
    improbable_flanks,
    unsupported_by_fragments,
    unsupported_flanks,
)
from gpuasm.assembly.iteration.first_graph import build_first_graph
from gpuasm.assembly.iteration.next_graph import build_next_graph
from gpuasm.assembly.iteration.passed_contigs import Text, next_text
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.parameters import PATHS
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.counting import tally_kmers
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.false_edges import SHARED, random_text, two_places
from tests.oracles.kmers import reverse_complement


def counted(texts: list[str]) -> tuple[AssemblyState, Text, Tally, Dictionary]:
    """Return the state at k = 21, and the text of k = 41 with its k-mers."""
    state = build_first_graph(Reads.from_strings(texts), AssemblyOptions(k=(21, 41), mode="isolate"), Stages())
    text = next_text(state.junction_reads, state.names, state.kmer_graph, k=41)
    tally = tally_kmers(text.reads, 41, text.names, k0=21)
    return state, text, tally, Dictionary.of(tally.keys, k=41, k0=21)


def unsupported(
    texts: list[str], *, windows_per_base=(100 - 41 + 1) / 100, **options
) -> tuple[AssemblyState, np.ndarray]:
    """Return the state at k = 21 and which of its flanks to 41 are unsupported."""
    state, *made = counted(texts)
    text, graph, support = made[0], state.kmer_graph.graph, flank_support(*made)
    return state, unsupported_flanks(text, graph, support, windows_per_base=windows_per_base, **options)


def contains_edge(state: AssemblyState, edge: str) -> bool:
    """Return whether a unitig of the graph at k = 41 contains an edge."""
    graph = build_next_graph(state, 41, Stages()).kmer_graph.graph
    return any(edge in one or reverse_complement(edge) in one for one in map(graph.sequence, range(graph.n)))


def test_edge_without_reads_next_to_a_supported_one_is_removed():
    edge, texts = two_places(fold=10)
    state, removed = unsupported(texts)
    assert removed.tolist().count(True) == 1
    assert not contains_edge(state, edge)


def test_edge_missed_at_low_coverage_is_kept():
    _, texts = two_places(fold=2)
    _, removed = unsupported(texts)
    assert removed.size == 2
    assert not removed.any()


def removed_in_a_community(texts: list[str]) -> np.ndarray:
    return unsupported(texts, is_community=True)[1]


def test_dead_end_joining_another_genome_is_removed():
    _, texts = two_places(fold=2)
    removed = removed_in_a_community(texts)
    assert removed.tolist().count(True) == 1


def test_repeat_copies_keep_their_edges():
    """The first place continues after the shared bases, though no read spans them."""
    _, texts = two_places(fold=2)
    after = random_text(SHARED, 2) + random_text(600, 5)
    texts += [after[i : i + 100] for i in range(0, len(after) - 99, 50)] + [after[:100]] * 2
    removed = removed_in_a_community(texts)
    assert removed.size == 4
    assert not removed.any()


@pytest.mark.parametrize(
    ("mode", "without", "n"), [("meta", (), [1]), ("meta", ("edge-support",), []), ("isolate", (), [0])]
)
def test_only_communities_remove_such_ends(mode, without, n):
    _, texts = two_places(fold=2)
    options = AssemblyOptions(k=(21, 41), mode=mode, without=without)
    stages = Stages()
    build_next_graph(build_first_graph(Reads.from_strings(texts), options, stages), 41, stages)
    assert [r.counts["flanks_removed"] for r in stages.records if "flanks_removed" in r.counts] == n


def improbable(texts: list[str]) -> np.ndarray:
    _, *made = counted(texts)
    return improbable_flanks(made[0].flanks.depth, flank_support(*made), windows_per_base=0.6, reads_per_base=0.01)


@pytest.mark.parametrize(("fold", "ends"), [(2, False), (5, True), (50, True)])
def test_improbable_edge_is_removed(fold, ends):
    """17 windows have no read: at 2-fold fewer than two reads are expected in one of them, at 5-fold over three."""
    _, texts = two_places(fold=fold)
    second = random_text(600, 4) + random_text(SHARED, 2) + random_text(600, 3)
    texts += [second[i : i + 100] for i in range(0, len(second) - 99, 100 // fold)]
    state, *made = counted(texts)
    assert improbable(texts).tolist().count(True) == ends
    assert next_graph.find_unsupported(*made, state).tolist().count(True) == ends


@pytest.mark.parametrize(("n_false", "removed"), [(0, 0), (7, 7)])
def test_edges_missed_by_chance_are_kept(n_false, removed):
    """A thousand junctions of two edges, 8 reads at a window: six edges have an empty window, and some have twenty."""
    n = 1000
    empty = np.zeros(2 * n, np.int64)
    empty[: 2 * n_false : 2] = 20
    empty[-12::2] = 1
    total = np.where(empty == 20, 0, 8 * 22 - 8 * empty)
    support = Support(np.where(empty > 0, 0, 8), empty, total, np.full(2 * n, 22))
    found = improbable_flanks(np.full(2 * n, 40.0), support, windows_per_base=0.2, reads_per_base=0.01)
    assert found.sum() == removed
    assert (empty[found] == 20).all()


@given(
    st.lists(st.floats(0, 12), max_size=8),
    st.lists(st.tuples(st.floats(0, 12), st.floats(1, 40)), max_size=12),
)
def test_expected_right_flanks_equal_the_plain_sum(missing, flanks):
    expected, chances = np.array(flanks, float).reshape(-1, 2).T
    slow = [sum(c * np.exp(-max(x, e)) for e, c in flanks) for x in missing]
    assert np.allclose(expected_right_flanks(np.array(missing, float), expected, chances), slow)


def test_support_equals_plain_counts():
    _, texts = two_places(fold=10)
    _, text, tally, dictionary = counted(texts)
    support = flank_support(text, tally, dictionary)
    in_reads = Counter(read[i : i + 41] for read in texts for i in range(len(read) - 40))
    first = text.n_reads + text.n_ends
    for f, row in enumerate(zip(support.least, support.empty, support.total, support.places, strict=True)):
        at, size = int(text.reads.start[first + f]), int(text.reads.length[first + f])
        flank = decode(unpack(text.reads.packed, at, size))
        own = [flank[i : i + 41] for i in range(1, min(size - 41, 20) + 1)]
        counts = [in_reads[window] + in_reads[reverse_complement(window)] for window in own]
        runs = "".join("x" if n else "0" for n in counts).split("x")
        assert row == (min(counts), max(map(len, runs)), sum(counts), len(counts))


def test_edge_in_reads_is_kept():
    edge, texts = two_places(fold=10)
    through = random_text(600, 1) + random_text(SHARED, 2) + random_text(600, 3)
    state, removed = unsupported(texts + [through[i : i + 100] for i in range(560, 600, 10)])
    assert not removed.any()
    assert contains_edge(state, edge)


def test_fragments_remove_other_edges_of_a_single_copy_unitig():
    state, *made = counted(two_places(fold=10)[1])
    graph, support = state.kmer_graph.graph, flank_support(*made)
    _, by_reads = unsupported(two_places(fold=10)[1])
    single = np.ones(graph.n, bool)

    def removed(is_single: np.ndarray, windows_per_base: float) -> np.ndarray:
        return unsupported_by_fragments(made[0], graph, support, is_single=is_single, windows_per_base=windows_per_base)

    assert np.array_equal(removed(single, 0.1), by_reads)
    assert not removed(~single, 0.1).any()  # repeat copies may have both edges, with no pair of one joined
    assert not removed(single, 10.0).any()  # far fewer support the other edge than one copy has


def test_fragments_remove_other_edges_of_a_single_copy_window():
    state, text, tally, dictionary = counted(two_places(fold=10)[1])
    graph, support = state.kmer_graph.graph, flank_support(text, tally, dictionary)
    _, by_reads = unsupported(two_places(fold=10)[1])
    none_single = np.zeros(text.flanks.source.size, bool)

    def removed(*single_ends: np.ndarray, least: int = 3) -> np.ndarray:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(edge_support, "PATHS", replace(PATHS, join_min_pairs=least))
            return unsupported_by_fragments(
                text, graph, support, is_single=np.zeros(graph.n, bool), single_ends=single_ends, windows_per_base=0.1
            )

    most = np.zeros(2 * graph.n, np.int64)
    for end in (text.flanks.source, text.flanks.target ^ 1):
        np.maximum.at(most, end, support.least)
    at_source, at_target = most[text.flanks.source], most[text.flanks.target ^ 1]
    assert not removed(none_single, none_single).any()
    assert np.array_equal(removed(~none_single, none_single), (support.least == 0) & (at_source >= 3))
    assert np.array_equal(removed(none_single, ~none_single), (support.least == 0) & (at_target >= 3))
    assert np.array_equal(removed(~none_single, ~none_single), by_reads)
    assert by_reads.sum() == 1
    fewest = int(np.maximum(at_source, at_target)[by_reads][0])
    assert removed(~none_single, ~none_single, least=fewest).any()
    assert not removed(~none_single, ~none_single, least=fewest + 1).any()  # so few fragments may be joined wrongly
