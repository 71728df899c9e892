"""Euler tours of assembly graphs: junctions, copies, strands, and components without a tour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.errors import DataError, ResourceError
from gpuasm.graph.segment_tours import SegmentTour, segment_tours
from gpuasm.resources import limited_memory, resident_bytes


def tours(lengths: list[int], depths: list[float], links: list[tuple[int, int]]) -> list[SegmentTour]:
    first, second = np.array(links, np.int64).reshape(-1, 2).T
    return list(segment_tours(np.array(lengths), np.array(depths, float), first, second))


def walks_along_links(tour: SegmentTour, links: list[tuple[int, int]], *, closed: bool) -> bool:
    both = set(links) | {(b ^ 1, a ^ 1) for a, b in links}
    steps = tour.steps.tolist()
    pairs = list(zip(steps, [*steps[1:], steps[0]], strict=True))
    return all(pair in both for pair in (pairs if closed else pairs[:-1]))


def test_a_repeat_is_walked_twice() -> None:
    links = [(0, 2), (2, 4), (4, 2), (2, 0)]  # 0+ r+ 2+ r+, around
    (tour,) = tours([900, 50, 1000], [10, 21, 11], links)
    assert (tour.kind, tour.reason, tour.both_strands) == ("circuit", "", False)
    assert tour.copies.tolist() == [1, 2, 1]
    assert sorted(tour.steps.tolist()) == [0, 2, 2, 4]
    assert walks_along_links(tour, links, closed=True)


def test_a_path_may_run_over_other_strands() -> None:
    links = [(1, 2), (2, 5)]  # 0- 1+ 2-
    (tour,) = tours([10, 10, 10], [5, 5, 5], links)
    assert tour.kind == "path"
    assert tour.steps.tolist() in ([1, 2, 5], [4, 3, 0])


def test_components_are_reported_once_in_segment_order() -> None:
    found = tours([10, 20, 30], [1, 5, 9], [(4, 4)])
    assert [tour.segments.tolist() for tour in found] == [[0], [1], [2]]
    assert [tour.kind for tour in found] == ["path", "path", "circuit"]
    assert [tour.depth for tour in found] == [1, 5, 9]
    assert [tour.steps.tolist() for tour in found] == [[0], [2], [4]]


def test_hairpins_join_the_strands() -> None:
    (tour,) = tours([10], [3], [(0, 1), (1, 0)])
    assert tour.both_strands
    assert (tour.kind, tour.steps.tolist()) == ("circuit", [0, 1])


def test_a_component_without_tour_has_a_reason() -> None:
    (tour,) = tours([10, 10, 10], [3, 3, 3], [(0, 2), (0, 5)])
    assert tour.kind == "none"
    assert tour.steps.size == 0
    assert tour.reason == "4 unbalanced junctions, 2 walks would do"


@pytest.mark.parametrize("depths", [[np.nan, np.nan], [0, 0], [np.nan, 8]])
def test_without_depth_there_is_one_copy(depths: list[float]) -> None:
    (tour,) = tours([10, 10], depths, [(0, 2), (2, 0)])
    assert tour.copies.tolist() == [1, 1]
    assert tour.kind == "circuit"


def test_no_segments() -> None:
    assert tours([], [], []) == []


@given(n=st.integers(1, 8), data=st.data())
def test_any_graph(n: int, data: st.DataObject) -> None:
    oriented = st.integers(0, 2 * n - 1)
    links = data.draw(st.lists(st.tuples(oriented, oriented), max_size=10))
    depths = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    found = tours([100] * n, [10.0 * d for d in depths], links)
    assert sorted(np.concatenate([tour.segments for tour in found]).tolist()) == list(range(n))
    for tour in found:
        if tour.kind == "none":
            continue
        walked = np.bincount(tour.steps >> 1, minlength=n)[tour.segments]
        assert walked.tolist() == (tour.copies * (1 + tour.both_strands)).tolist()


@pytest.mark.parametrize("depth", [1e12, 1e19, 1e300])
def test_depths_that_differ_beyond_all_measure_are_refused(depth):
    lengths, first = np.array([5, 1]), np.array([0, 2])
    with pytest.raises(DataError, match="at most 100,000,000 copies"):
        list(segment_tours(lengths, np.array([1.0, depth]), first, first[::-1]))


def test_a_tour_that_memory_does_not_hold_is_refused() -> None:
    depths, link = np.array([5e7, 1.0]), (np.array([0]), np.array([2]))
    with limited_memory(resident_bytes() + (1 << 28)), pytest.raises(ResourceError, match="segments"):
        list(segment_tours(np.array([8, 8000]), depths, *link))
