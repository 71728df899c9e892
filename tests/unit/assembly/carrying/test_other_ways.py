"""Arcs that fragments contradict: an end goes on otherwise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.carrying import other_ways
from gpuasm.assembly.carrying.other_ways import contradicted_by_fragments
from tests.unit.assembly.carrying.test_contradicted import contradicted, counted, two_places


def test_fragments_that_show_one_way_out_of_a_single_copy_contradict_the_others():
    state, text, tally, dictionary = counted(two_places(fold=10)[1])
    graph = state.level.graph
    _, by_reads = contradicted(two_places(fold=10)[1])
    single = np.ones(graph.n, bool)

    def given_up(is_single: np.ndarray, windows_per_base: float) -> np.ndarray:
        return contradicted_by_fragments(
            text, tally, dictionary, graph, is_single=is_single, copy=None, windows_per_base=windows_per_base
        )

    assert np.array_equal(given_up(single, 0.1), by_reads)
    assert not given_up(~single, 0.1).any()  # a copy may go each way, and no pair of the other be joined
    assert not given_up(single, 10.0).any()  # far fewer go the other way than one copy should have


def found(monkeypatch, arcs, *, depth, support, copy=10.0, windows_per_base=4.0) -> list[int]:
    """Return the given-up ones of arcs between oriented unitigs of some depths, with so many fragments each."""
    monkeypatch.setattr(other_ways, "flank_support", lambda *_: SimpleNamespace(least=np.array(support, np.int64)))
    source, target = np.array(arcs, np.int64).reshape(-1, 2).T
    graph = SimpleNamespace(n=len(depth), k=61, depth=np.array(depth, float))
    given_up = contradicted_by_fragments(
        SimpleNamespace(flanks=SimpleNamespace(source=source, target=target)),
        None,
        None,
        graph,
        is_single=np.zeros(len(depth), bool),
        copy=np.full(len(depth), copy),
        windows_per_base=windows_per_base,
    )
    return np.flatnonzero(given_up).tolist()


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(
    ("depth", "support", "expected"),
    [
        ((20, 20, 10), (30, 0), [1]),  # both copies go where fragments show: none is left for the other way
        ((20, 10, 10), (30, 0), []),  # one of the two is left
        ((20, 18, 10), (30, 0), [1]),  # a quarter of a copy is chance
        ((20, 17, 10), (30, 0), []),
        ((20, 29, 10), (30, 0), [1]),
        ((20, 30, 10), (30, 0), []),  # what they lead to has other ways in
        ((30, 30, 10), (30, 0), []),  # of three copies depth tells nothing
        ((20, 20, 10), (3, 0), []),  # so few may be joined falsely
        ((20, 20, 10), (4, 0), [1]),
        ((20, 20, 10), (30, 1), []),  # fragments go this way too
    ],
)
def test_no_copy_is_left_for_a_way_that_no_fragment_takes(monkeypatch, turn, depth, support, expected):
    """Unitig 0 goes on to 1 and to 2; read from the other side, both lead into it."""
    arcs = [(0, 2), (0, 4)] if turn == 0 else [(3, 1), (5, 1)]
    assert found(monkeypatch, arcs, depth=depth, support=support) == expected


def test_a_tenth_of_one_copys_fragments_is_enough(monkeypatch):
    arcs = [(0, 2), (0, 4)]
    for windows_per_base, expected in ((20.0, [1]), (20.1, [])):  # 10 bases deep: 200 fragments a copy
        own = found(monkeypatch, arcs, depth=(20, 20, 10), support=(20, 0), windows_per_base=windows_per_base)
        assert own == expected


@pytest.mark.parametrize(("windows_per_base", "expected"), [(3.2, [1]), (3.1, [])])
def test_where_a_copy_should_have_few_fragments_none_tells_nothing(monkeypatch, windows_per_base, expected):
    own = found(monkeypatch, [(0, 2), (0, 4)], depth=(20, 20, 10), support=(30, 0), windows_per_base=windows_per_base)
    assert own == expected


def test_several_other_ways_count_together(monkeypatch):
    arcs = [(0, 2), (0, 4), (0, 6)]
    assert found(monkeypatch, arcs, depth=(20, 10, 10, 10), support=(5, 5, 0)) == [2]
    assert found(monkeypatch, arcs, depth=(20, 10, 10, 10), support=(5, 0, 0)) == []


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(0, 9)), max_size=10),
    st.lists(st.floats(1, 40), min_size=4, max_size=4),
)
def test_what_is_given_up_does_not_depend_on_the_strand_or_order(arcs, depth):
    with pytest.MonkeyPatch.context() as patch:
        ways, support = [(a, b) for a, b, _ in arcs], [n for _, _, n in arcs]
        own = found(patch, ways, depth=depth, support=support)
        turned = [(b ^ 1, a ^ 1) for a, b in ways]
        assert found(patch, turned, depth=depth, support=support) == own
        last = len(ways) - 1
        assert sorted(last - i for i in found(patch, ways[::-1], depth=depth, support=support[::-1])) == own
        assert all(support[i] == 0 for i in own)
