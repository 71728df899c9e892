"""de Bruijn sequences against those from Lyndon words, and searches in them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import ResourceError, UsageError
from gpuasm.graph.debruijn_sequence import debruijn_symbols, find_string, number_letters, spell, symbols_of_tour
from gpuasm.graph.generators import de_bruijn_graph
from tests.euler_graphs import FINDERS, Finder
from tests.oracles.euler import circular_substrings, least_debruijn_sequence

SMALL = [(a, k) for a in range(1, 11) for k in range(1, 18) if a**k <= 20_000]


def test_example_of_the_original() -> None:
    assert "".join(spell(debruijn_symbols(2, 3), "01")) == "00010111"


@pytest.mark.parametrize(("n_letters", "order"), SMALL)
def test_the_sequence_is_the_least_one(n_letters: int, order: int) -> None:
    symbols = debruijn_symbols(n_letters, order)
    assert symbols.tolist() == least_debruijn_sequence(n_letters, order)
    strings = circular_substrings(symbols.tolist(), order)
    assert sorted(strings) == list(itertools.product(range(n_letters), repeat=order))


@pytest.mark.parametrize(
    ("n_letters", "order"), [(2, 18), (4, 9), (255, 2), (256, 2), (257, 2), (1000, 2), (70_000, 1)]
)
def test_large_sequences(n_letters: int, order: int) -> None:
    assert debruijn_symbols(n_letters, order).tolist() == least_debruijn_sequence(n_letters, order)


@pytest.mark.parametrize(("n_letters", "order"), [(1, 1), (1, 5), (2, 1), (2, 5), (3, 4), (10, 4)])
def test_linear_sequences_contain_each_string_without_wrapping(n_letters: int, order: int) -> None:
    symbols = debruijn_symbols(n_letters, order, linear=True).tolist()
    assert len(symbols) == n_letters**order + order - 1
    strings = {tuple(symbols[i : i + order]) for i in range(n_letters**order)}
    assert len(strings) == n_letters**order


@pytest.mark.parametrize("find", FINDERS)
@pytest.mark.parametrize(("n_letters", "order"), [(1, 3), (2, 1), (2, 10), (3, 6), (4, 5), (10, 3), (300, 2)])
def test_any_circuit_spells_one(find: Finder, n_letters: int, order: int) -> None:
    tour = find(de_bruijn_graph("".join(map(chr, range(200, 200 + n_letters))), order))
    symbols = symbols_of_tour(tour, n_letters, order)
    assert len(set(circular_substrings(symbols.tolist(), order))) == n_letters**order
    assert symbols[: min(order, symbols.size)].tolist() == [0] * min(order, symbols.size)
    linear = symbols_of_tour(tour, n_letters, order, linear=True)
    assert linear.tolist() == [*symbols.tolist(), *np.resize(symbols, order - 1).tolist()]


@pytest.mark.parametrize(("n_letters", "order"), [(1, 3), (2, 7), (10, 3)])
@pytest.mark.parametrize("linear", [False, True])
def test_each_string_is_found_at_its_position(n_letters: int, order: int, linear: bool) -> None:
    symbols = debruijn_symbols(n_letters, order, linear=linear)
    for place, string in enumerate(circular_substrings(debruijn_symbols(n_letters, order).tolist(), order)):
        assert find_string(symbols, np.array(string), linear=linear) == place


@given(
    sequence=st.lists(st.integers(0, 2), min_size=1, max_size=30),
    string=st.lists(st.integers(0, 2), min_size=1, max_size=8),
    linear=st.booleans(),
)
def test_search(sequence: list[int], string: list[int], linear: bool) -> None:
    text = "".join(map(str, sequence))
    around = text if linear else text + text * (len(string) // len(text) + 1)
    places = [i for i in range(len(text)) if around[i : i + len(string)] == "".join(map(str, string))]
    found = find_string(np.array(sequence, np.uint8), np.array(string), linear=linear)
    assert found == (places[0] if places else -1)


def test_letters() -> None:
    assert number_letters("éa") == {"é": 0, "a": 1}
    assert "".join(spell(np.array([0, 1, 1]), "é🙂")) == "é🙂🙂"
    with pytest.raises(UsageError, match="'A' twice"):
        number_letters("CATA")
    with pytest.raises(UsageError, match="none"):
        number_letters("")


def test_a_too_long_sequence_is_refused_with_its_memory() -> None:
    with pytest.raises(ResourceError, match=r"20\.0 MB of memory .* --memory 21M"):
        debruijn_symbols(4, 12, memory=10_000_000)
    with pytest.raises(ResourceError, match=r"about 10\^40 bytes"):
        debruijn_symbols(10, 40)
    with pytest.raises(ResourceError, match="about 10"):
        debruijn_symbols(1, 1 << 70)


@pytest.mark.parametrize(("n_letters", "order"), [(0, 3), (2, 0)])
def test_nothing_is_refused(n_letters: int, order: int) -> None:
    with pytest.raises(UsageError, match="at least one letter"):
        debruijn_symbols(n_letters, order)
