"""Arcs that reads contradict at the next k."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly import next_level
from gpuasm.assembly.carrying import contradicted as contradicted_module
from gpuasm.assembly.carrying.carrying import Text, next_text
from gpuasm.assembly.carrying.contradicted import (
    Support,
    _expected_right,
    _flank_support,
    contradicted_by_fragments,
    contradicted_flanks,
    improbable_flanks,
)
from gpuasm.assembly.first_level import begin
from gpuasm.assembly.next_level import climb
from gpuasm.assembly.options import AssemblyOptions
from gpuasm.assembly.state import AssemblyState
from gpuasm.kmers.names import Dictionary
from gpuasm.kmers.tally import Tally, tally_kmers
from gpuasm.sequence.encoding import decode, unpack
from gpuasm.sequence.reads import Reads
from gpuasm.stages import Stages
from tests.oracles.kmers import reverse_complement

SHARED = 23


def random_text(n: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


def two_places(*, fold: int) -> tuple[str, list[str]]:
    """Return the false turn between two places that share 23 bases, and reads: of the one place none goes further."""
    own, shared, other = random_text(600, 1), random_text(SHARED, 2), random_text(600, 3)
    before = random_text(600, 4)
    first, second = own + shared, before + shared + other
    reads = [second[i : i + 100] for i in range(0, len(second) - 99, 8)]
    reads += [first[i : i + 100] for i in range(0, len(first) - 99, 100 // fold)]
    return own[-5:] + shared + other[:1], reads + [first[-100:]] * 2


def counted(texts: list[str]) -> tuple[AssemblyState, Text, Tally, Dictionary]:
    """Return the state at k = 21, and the text of k = 41 with its k-mers."""
    state = begin(Reads.from_strings(texts), AssemblyOptions(k=(21, 41)), Stages())
    text = next_text(state.crossing, state.names, state.level, k=41)
    tally = tally_kmers(text.reads, 41, text.names, k0=21)
    return state, text, tally, Dictionary.of(tally.keys, k=41, k0=21)


def contradicted(texts: list[str]) -> tuple[AssemblyState, np.ndarray]:
    """Return the state at k = 21 and which of its flanks to 41 are contradicted."""
    state, *made = counted(texts)
    return state, contradicted_flanks(*made, state.level.graph, windows_per_base=(100 - 41 + 1) / 100)


def takes(state: AssemblyState, turn: str) -> bool:
    """Tell whether a unitig of the graph at k = 41 takes a turn."""
    graph = climb(state, 41, Stages()).level.graph
    return any(turn in one or reverse_complement(turn) in one for one in map(graph.sequence, range(graph.n)))


def test_a_turn_that_no_read_takes_while_reads_take_another_ends():
    turn, texts = two_places(fold=10)
    state, given_up = contradicted(texts)
    assert given_up.tolist().count(True) == 1
    assert not takes(state, turn)


def test_what_thin_reads_miss_by_chance_goes_on():
    _, texts = two_places(fold=2)
    _, given_up = contradicted(texts)
    assert given_up.size == 2
    assert not given_up.any()


def given_up_in_a_community(texts: list[str]) -> np.ndarray:
    state, *made = counted(texts)
    return contradicted_flanks(*made, state.level.graph, windows_per_base=0.6, is_community=True)


def test_an_end_that_runs_into_the_way_of_another_member_ends():
    _, texts = two_places(fold=2)
    given_up = given_up_in_a_community(texts)
    assert given_up.tolist().count(True) == 1


def test_copies_that_both_go_on_keep_their_ways():
    """The first place goes on after the shared bases, though no read goes across."""
    _, texts = two_places(fold=2)
    after = random_text(SHARED, 2) + random_text(600, 5)
    texts += [after[i : i + 100] for i in range(0, len(after) - 99, 50)] + [after[:100]] * 2
    given_up = given_up_in_a_community(texts)
    assert given_up.size == 4
    assert not given_up.any()


@pytest.mark.parametrize(
    ("mode", "without", "n"), [("meta", (), 1), ("meta", ("foreign-ways",), 0), ("isolate", (), 0)]
)
def test_only_communities_have_such_ends(mode, without, n):
    _, texts = two_places(fold=2)
    options = AssemblyOptions(k=(21, 41), mode=mode, without=without)
    stages = Stages()
    climb(begin(Reads.from_strings(texts), options, stages), 41, stages)
    assert [r.counts["flanks_given_up"] for r in stages.records if "flanks_given_up" in r.counts] == [n]


def improbable(texts: list[str], *, reads_per_base: float = 0.01) -> np.ndarray:
    state, *made = counted(texts)
    return improbable_flanks(*made, state.level.graph, windows_per_base=0.6, reads_per_base=reads_per_base)


@pytest.mark.parametrize(("fold", "ends"), [(2, False), (5, True), (50, True)])
def test_what_chance_would_hardly_leave_without_reads_ends(fold, ends):
    """Of 17 windows none is in a read: 2-fold not even two reads should have one of these, 5-fold more than three."""
    _, texts = two_places(fold=fold)
    second = random_text(600, 4) + random_text(SHARED, 2) + random_text(600, 3)
    texts += [second[i : i + 100] for i in range(0, len(second) - 99, 100 // fold)]
    state, *made = counted(texts)
    assert improbable(texts).tolist().count(True) == ends
    assert next_level._contradicted(*made, state).tolist().count(True) == ends


@pytest.mark.parametrize(("n_false", "given_up"), [(0, 0), (7, 7)])
def test_as_many_as_chance_leaves_without_reads_stay(monkeypatch, n_false, given_up):
    """A thousand junctions of two ways, 8 reads at a window: six ways have an empty one, and some have twenty."""
    n = 1000
    empty = np.zeros(2 * n, np.int64)
    empty[: 2 * n_false : 2] = 20
    empty[-12::2] = 1
    total = np.where(empty == 20, 0, 8 * 22 - 8 * empty)
    support = Support(np.where(empty > 0, 0, 8), empty, total, np.full(2 * n, 22))
    graph = SimpleNamespace(
        n=3 * n,
        k=61,
    )
    text = SimpleNamespace(flanks=SimpleNamespace(depth=np.full(2 * n, 40.0)))
    monkeypatch.setattr(contradicted_module, "_flank_support", lambda *_: support)
    found = improbable_flanks(text, None, None, graph, windows_per_base=0.2, reads_per_base=0.01)
    assert found.sum() == given_up
    assert (empty[found] == 20).all()


@given(
    st.lists(st.floats(0, 12), max_size=8),
    st.lists(st.tuples(st.floats(0, 12), st.floats(1, 40)), max_size=12),
)
def test_flanks_that_chance_leaves_without_are_those_summed_one_by_one(missing, flanks):
    expected, chances = np.array(flanks, float).reshape(-1, 2).T
    slow = [sum(c * np.exp(-max(x, e)) for e, c in flanks) for x in missing]
    assert np.allclose(_expected_right(np.array(missing, float), expected, chances), slow)


def test_support_is_that_of_windows_counted_one_by_one():
    _, texts = two_places(fold=10)
    state, text, tally, dictionary = counted(texts)
    support = _flank_support(text, tally, dictionary, state.level.graph.k)
    in_reads = Counter(read[i : i + 41] for read in texts for i in range(len(read) - 40))
    first = text.n_reads + text.n_unitigs
    for f, row in enumerate(zip(support.least, support.empty, support.total, support.places, strict=True)):
        at, size = int(text.reads.start[first + f]), int(text.reads.length[first + f])
        flank = decode(unpack(text.reads.words, at, size))
        own = [flank[i : i + 41] for i in range(1, min(size - 41, 20) + 1)]
        counts = [in_reads[window] + in_reads[reverse_complement(window)] for window in own]
        runs = "".join("x" if n else "0" for n in counts).split("x")
        assert row == (min(counts), max(map(len, runs)), sum(counts), len(counts))


def test_what_reads_take_at_the_next_k_stays():
    turn, texts = two_places(fold=10)
    through = random_text(600, 1) + random_text(SHARED, 2) + random_text(600, 3)
    state, given_up = contradicted(texts + [through[i : i + 100] for i in range(560, 600, 10)])
    assert not given_up.any()
    assert takes(state, turn)


def test_fragments_that_show_one_way_out_of_a_single_copy_contradict_the_others():
    state, text, tally, dictionary = counted(two_places(fold=10)[1])
    graph = state.level.graph
    _, by_reads = contradicted(two_places(fold=10)[1])
    single = np.ones(graph.n, bool)

    def given_up(is_single: np.ndarray, windows_per_base: float) -> np.ndarray:
        return contradicted_by_fragments(
            text, tally, dictionary, graph, is_single=is_single, windows_per_base=windows_per_base
        )

    assert np.array_equal(given_up(single, 0.1), by_reads)
    assert not given_up(~single, 0.1).any()  # a copy may go each way, and no pair of the other be joined
    assert not given_up(single, 10.0).any()  # far fewer go the other way than one copy should have


def test_fragments_that_show_one_way_from_a_window_that_is_there_once_contradict_the_others():
    state, text, tally, dictionary = counted(two_places(fold=10)[1])
    graph = state.level.graph
    _, by_reads = contradicted(two_places(fold=10)[1])
    nowhere = np.zeros(len(text.flanks), bool)

    def given_up(*single_ends: np.ndarray, least: int = 3) -> np.ndarray:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(contradicted_module, "_FEWEST_FRAGMENTS", least)
            return contradicted_by_fragments(
                text, tally, dictionary, graph, is_single=np.zeros(graph.n, bool), single_ends=single_ends,
                windows_per_base=0.1,
            )  # fmt: skip

    support = _flank_support(text, tally, dictionary, graph.k).least
    most = np.zeros(2 * graph.n, np.int64)
    for end in (text.flanks.source, text.flanks.target ^ 1):
        np.maximum.at(most, end, support)
    at_source, at_target = most[text.flanks.source], most[text.flanks.target ^ 1]
    assert not given_up(nowhere, nowhere).any()
    assert np.array_equal(given_up(~nowhere, nowhere), (support == 0) & (at_source >= 3))
    assert np.array_equal(given_up(nowhere, ~nowhere), (support == 0) & (at_target >= 3))
    assert np.array_equal(given_up(~nowhere, ~nowhere), by_reads)
    assert by_reads.sum() == 1
    fewest = int(np.maximum(at_source, at_target)[by_reads][0])
    assert given_up(~nowhere, ~nowhere, least=fewest).any()
    assert not given_up(~nowhere, ~nowhere, least=fewest + 1).any()  # fewer fragments than that may be joined falsely
