from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.parallel import compiled
from gpuasm.primitives.searching import first_not_below, places_among, run_in_block, run_of, runs_of_blocks


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)).map(sorted))
def test_places_among_ascending_values(values, ascending):
    place, is_there = places_among(np.array(values, np.int64), np.array(ascending, np.int64))
    assert is_there.tolist() == [value in ascending for value in values]
    assert place[is_there].tolist() == [ascending.index(value) for value in values if value in ascending]


@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=20).filter(any))
def test_every_place_lies_in_its_run(sizes):
    start = np.concatenate([[0], np.cumsum(sizes)])
    found = [run_of(place, start, len(sizes)) for place in range(start[-1])]
    assert found == np.repeat(np.arange(len(sizes)), sizes).tolist()


@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=20).filter(any))
def test_every_place_is_found_by_its_block(sizes):
    start = np.concatenate([[0], np.cumsum(sizes)])
    blocks = runs_of_blocks(start, int(start[-1]))
    found = [run_in_block(place, start, blocks) for place in range(start[-1])]
    assert found == np.repeat(np.arange(len(sizes)), sizes).tolist()


@compiled()
def _places(queries, values, found):
    for i in range(queries.size):
        found[i] = first_not_below(queries[i], values, values.size)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=30), st.lists(st.integers(0, 9), max_size=9))
def test_the_first_place_not_below_is_that_of_numpy(values, queries):
    values, queries = np.sort(np.array(values, np.uint64)), np.array([*queries, *values], np.uint64)
    found = np.empty(queries.size, np.int64)
    _places(queries, values, found)
    assert found.tolist() == np.searchsorted(values, queries).tolist()
