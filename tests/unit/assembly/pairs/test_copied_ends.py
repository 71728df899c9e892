"""Links that another copy's pairs may have made."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.assembly.pairs.copied_ends import Copies, come_from_copies, leave_repeats
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.pairs.resolving import resolve
from tests.unit.assembly.pairs import test_resolving as made

K = 5


def copied_one_by_one(windows: list[bool]) -> list[int]:
    """Return for both ends of one unitig how far from it the last window with a single word begins, read towards it."""
    length, single = len(windows) + K - 1, [i for i, is_single in enumerate(windows) if is_single]
    if not single:
        return [0, 0]
    return [
        0 if single[-1] == len(windows) - 1 else length - single[-1],
        0 if single[0] == 0 else single[0] + K,
    ]


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=6))
def test_ends_are_copies_from_the_last_window_with_a_single_word_on(windows):
    n_kmers = np.array([len(own) for own in windows])
    graph = SimpleNamespace(n=n_kmers.size, n_kmers=n_kmers, k=K)
    copies = Copies.of(graph, np.concatenate([np.array(own) for own in windows]))
    assert copies.end.tolist() == [far for own in windows for far in copied_one_by_one(own)]
    assert copies.is_whole.tolist() == [not any(own) for own in windows]


@pytest.mark.parametrize(
    ("left", "right", "expected", "comes"),
    [
        # No pair begins and ends elsewhere.
        ([99] * 6, [50] * 6, 4.0, True),
        ([100] * 6, [49] * 6, 4.0, True),
        ([99] * 3 + [100] * 3, [50] * 3 + [49] * 3, 4.0, True),
        # One does.
        ([99] * 5 + [100], [50] * 6, 4.0, False),
        ([100] * 6, [50] * 6, 4.0, False),
        # Of so many expected the other neighbour's would be there.
        ([99] * 40, [50] * 40, 8.0, False),
        ([99] * 40, [50] * 40, 7.9, True),
    ],
)
def test_links_of_copied_ends_may_be_another_copys(left, right, expected, comes):
    links = links_of(([0, 3], left, right), ([4, 4], [7], [7]))
    evidence = SimpleNamespace(expected=np.array([round(16 * expected), 1]))
    # Source 0 is a copy for 100 bases, target 3, seen from its own end 2, for 50.
    copies = Copies(np.array([100, 0, 50, 0, 0, 0]), np.zeros(3, bool))
    assert come_from_copies(links, evidence, copies).tolist() == [comes, False]


def links_of(*rows):
    """Return links, each of the oriented unitigs that it joins, and how far from their ends its pairs begin and end."""
    source, target = np.array([ends for ends, _, _ in rows], np.int32).T
    left, right = (np.array([far for row in rows for far in row[side]], np.int32) for side in (1, 2))
    first, none = np.cumsum([0, *(len(row[1]) for row in rows)]), np.zeros(0, np.int32)
    return Links(source, target, first, np.arange(left.size), left, right, left_thread=none, right_thread=none)


@pytest.mark.parametrize(
    ("single", "depths", "leaves"),
    [
        ([[0, 0], [0, 1]], (30, 20), [True]),
        ([[0, 1], [0, 0]], (20, 30), [True]),
        ([[0, 0], [0, 1]], (29, 20), [False]),
        ([[0, 0], [0, 1]], (20, 30), [False]),
        ([[0, 0], [0, 0]], (30, 20), [False]),
        ([[1, 0], [0, 1]], (30, 20), [False]),
    ],
)
def test_a_repeat_from_end_to_end_leads_to_nothing_that_is_there_once(single, depths, leaves):
    graph = SimpleNamespace(n_kmers=np.array([2, 2]), depth=np.array(depths, float))
    copies = Copies(np.zeros(4, np.int64), ~np.array(single, bool).any(axis=1))
    assert leave_repeats(links_of(([1, 2], [9], [9])), graph, copies).tolist() == leaves


@pytest.mark.parametrize(("fold", "is_known", "n_joins"), [(64, True, 0), (64, False, 1), (56, True, 1)])
def test_a_deep_unitig_without_single_words_is_joined_to_nothing_shallower_by_far(fold, is_known, n_joins):
    """However many pairs link them: a repeat of 2,000 bases goes on in two ways, one of which is lost."""
    graph = made.graph_of(made.A, made.B, made.C, made.D)
    deep = next(u for u in range(graph.n) if made.either_strand(made.A) == made.either_strand(graph.sequence(u)))
    start = np.concatenate([[0], np.cumsum(graph.n_kmers)])
    windows = slice(start[deep], start[deep + 1])
    count = graph.count.copy()
    count[deep] = count[deep] // made.FOLD * fold
    graph, single = replace(graph, count=count), np.ones(start[-1], bool)
    single[windows] = False
    pairs = made.pairs_of(made.A + made.random_text(40, 20) + made.B)
    resolved = resolve(graph, pairs, may_be_single=single if is_known else None)
    assert len(resolved.gaps) == n_joins
    assert resolved.counts["copied_ends"] == 1 - n_joins


def test_a_repeat_that_another_copy_links_does_not_join_strangers():
    """Of C-R-D no window holds R and D, so D begins behind R; A-R is in the graph, and what follows it there is not."""
    repeat = made.random_text(282, 30)
    graph = made.graph_of(made.A + repeat, made.D, fold=made.FOLD // 8)
    pairs = made.pairs_of(made.C + repeat + made.D, made.A + repeat, fold=made.FOLD // 4)
    all_single, single = (np.concatenate([of(u) for u in range(graph.n)]) for of in (ones_of(graph), in_a_of(graph)))
    assert len(resolve(graph, pairs, may_be_single=all_single).gaps) == len(resolve(graph, pairs).gaps) == 1
    told = resolve(graph, pairs, may_be_single=single)
    assert told.counts["copied_ends"] == 1
    assert told.gaps == []


def ones_of(graph):
    return lambda u: np.ones(graph.n_kmers[u], bool)


def in_a_of(graph):
    """Return what tells the windows of a unitig that hold more of it than the repeat at the end of A, if it has A."""

    def windows(u: int) -> np.ndarray:
        single, text = np.ones(graph.n_kmers[u], bool), graph.sequence(u)
        if made.A in text:
            single[len(made.A) - made.K :] = False
        elif made.either_strand(made.A) in made.either_strand(text):
            single[: -len(made.A) + made.K] = False
        return single

    return windows
