"""Words of lost copies: what is there twice by the reads, and once in the last graph, anchors no mate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.coverage.repeat_kmers import (
    find_repeat_kmers,
    has_several_copies,
    leads_from_repeat,
    without_repeat_kmers,
)
from gpuasm.assembly.pairs.link_evidence import Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.paths.repeat_resolution import resolve
from gpuasm.kmers.text_kmers import kmers_of
from gpuasm.sequence.encoding import encode
from tests import repeat_graphs as made

LENGTHS = (400, 90, 62, 61)


def keys_of(text: str) -> list[int]:
    """Return the keys of a text's words, two bits a base, of the strand whose key is less."""
    codes = encode(text).tolist()
    words = [codes[i : i + ANCHOR_K] for i in range(len(codes) - ANCHOR_K + 1)]
    either = [(word, [3 - code for code in reversed(word)]) for word in words]
    return [min(sum(c << 2 * (ANCHOR_K - 1 - i) for i, c in enumerate(one)) for one in both) for both in either]


def with_depth(graph, depths):
    """Return a graph, each unitig so deep as told by its text."""
    depth_of = {made.either_strand(text): depth for text, depth in depths.items()}
    depth = np.array([depth_of[made.either_strand(graph.sequence(u))] for u in range(graph.n)])
    return replace(graph, count=np.rint(depth * graph.unit * graph.n_kmers).astype(graph.count.dtype))


@given(st.lists(st.floats(5, 60), min_size=len(LENGTHS), max_size=len(LENGTHS)))
def test_words_are_copied_where_reads_make_two_copies_likelier_than_one(depths):
    texts = [made.random_text(n, 40 + n) for n in LENGTHS]
    graph = with_depth(made.graph_of(*texts), dict(zip(texts, depths, strict=True)))
    copy = max(float(graph.depth[u]) for u in range(graph.n) if graph.length[u] == LENGTHS[0])
    expected = set()
    for u in range(graph.n):
        reads_per_depth = (int(graph.n_kmers[u]) + 100 - made.K) / 100
        n = reads_per_depth * float(graph.depth[u])
        bits = n - reads_per_depth * copy / np.log(2)  # of n reads by Poisson, where so many, or twice as many, are due
        assume(abs(bits - 4) > 1e-6)
        expected |= set(keys_of(graph.sequence(u))) if bits >= 4 else set()
    assert find_repeat_kmers(graph, np.full(graph.n, copy), bases_per_read=100).tolist() == sorted(expected)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_copied_words_are_no_anchors_but_where_all_of_a_unitig_are(xp, share):
    shared = made.random_text(40, 50)
    graph = made.graph_of(made.A[:300] + shared, made.B[:200], made.C[:100] + shared, made.D[:70])
    index = AnchorIndex.of(graph, xp)
    words = [keys_of(graph.sequence(u)) for u in range(graph.n)]
    times = Counter(key for own in words for key in own)
    rng = np.random.default_rng(3)
    repeat_kmers = {key for key in sorted(times) if rng.random() < share}
    repeat_kmers |= {key for u, own in enumerate(words) for key in own if graph.length[u] == 70 and share}
    whole = [{key for key in own if times[key] == 1} <= repeat_kmers for own in words]
    assert any(whole) == (share > 0)
    asked = np.array(sorted(repeat_kmers | {12345}), np.uint64)
    left, is_whole = without_repeat_kmers(index, to_namespace(xp, asked))
    assert is_whole.tolist() == whole
    expected = {
        key
        for own, stays in zip(words, whole, strict=True)
        for key in own
        if times[key] == 1 and (stays or key not in repeat_kmers)
    }
    place, keys = to_host(left.packed.place), to_host(left.packed.dictionary.keys)
    assert set(keys[place >= 0].tolist()) == expected
    kept = place >= 0
    assert np.array_equal(place[kept], to_host(index.kmers.place)[kept])


def links_of(*rows, xp=np):
    """Return links, each of the oriented unitigs that it joins, and how far from their ends its pairs begin and end."""
    source, target = np.array([ends for ends, _, _ in rows], np.int32).T
    left, right = (np.array([far for row in rows for far in row[side]], np.int32) for side in (1, 2))
    first, none = np.cumsum([0, *(len(row[1]) for row in rows)]), np.zeros(0, np.int32)
    arrays = source, target, first, np.arange(left.size), left, right, none, none
    return Links(*(to_namespace(xp, array) for array in arrays))


@pytest.mark.parametrize(
    ("whole", "depths", "leaves"),
    [
        ([True, False], (30, 20), [True]),
        ([False, True], (20, 30), [True]),
        ([True, False], (29, 20), [False]),
        ([True, False], (20, 30), [False]),
        ([True, True], (30, 20), [False]),
        ([False, False], (30, 20), [False]),
    ],
)
def test_a_repeat_from_end_to_end_leads_to_nothing_that_is_there_once(whole, depths, leaves):
    graph = replace(made.graph_of(made.A, made.B), unit=1)
    graph = replace(graph, count=np.array(depths) * graph.n_kmers)
    assert leads_from_repeat(links_of(([1, 2], [9], [9])), graph, np.array(whole)).tolist() == leaves


@pytest.mark.parametrize(("fold", "is_known", "n_joins"), [(64, True, 0), (64, False, 1), (56, True, 1)])
def test_a_deep_unitig_of_copied_words_is_joined_to_nothing_shallower_by_far(fold, is_known, n_joins):
    """However many pairs link them: a repeat of 2,000 bases goes on in two ways, one of which is lost."""
    texts = {made.A: fold, made.B: made.FOLD, made.C: made.FOLD, made.D: made.FOLD}
    graph = with_depth(made.graph_of(*texts), texts)
    pairs = made.pairs_of(made.A + made.random_text(40, 20) + made.B)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(made.A) if is_known else None).gaps) == n_joins


@pytest.mark.parametrize("fold", [2, 4, 8])
def test_a_repeat_that_another_copy_links_does_not_join_strangers(fold):
    """Of C-R-D no text holds R and D, so D begins behind R; A-R is in the graph, and what follows it there is not."""
    repeat = made.random_text(282, 30)
    graph = made.graph_of(made.A + repeat, made.D, fold=made.FOLD // fold)
    pairs = made.pairs_of(made.C + repeat + made.D, made.A + repeat, fold=2 * made.FOLD // fold)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of("")).gaps) == len(resolve(graph, pairs).gaps) == 1
    resolved = resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat))
    assert resolved.gaps == []
    assert resolved.counts["find_repeat_kmers"] == len(repeat) - ANCHOR_K + 1


def test_pairs_of_single_words_join_where_copied_ones_end():
    """A-R-D is all there is of R in the graph, and its own pairs reach beyond R: these count, as many as are due."""
    repeat = made.random_text(60, 30)
    graph = made.graph_of(made.A + repeat, made.D)
    pairs = made.pairs_of(made.A + repeat + made.D)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat)).gaps) == 1


@pytest.mark.parametrize(
    ("own", "n", "expected", "is_refused"),
    [
        (5, 30, 9.8, True),
        (30, 30, 9.8, False),  # none on copied words: depth may be uneven
        (5, 190, 100, False),  # not twice as many, however certain that is
        (5, 20, 8, False),  # two copies are 2^8.5 times as likely
        (5, 24, 9, True),
    ],
)
def test_links_with_too_many_pairs_on_copied_words_are_refused(xp, own, n, expected, is_refused):
    far = [9] * own, [9] * own
    links = links_of(([1, 2], [9], [9]), ([4, 6], *far), ([8, 2], [9], [9]), xp=xp)
    every = links_of(([0, 6], [9], [9]), ([4, 6], [9] * n, [9] * n), xp=xp)
    counts = np.array([99, n])
    due = np.array([1, round(16 * expected)])
    evidence = Evidence(np.zeros(2), counts, counts, due, np.zeros(2))
    assert has_several_copies(links, every, evidence).tolist() == [False, is_refused, False]
    assert has_several_copies(links, links_of(([0, 6], [9], [9]), xp=xp), evidence).tolist() == [False] * 3


@pytest.mark.parametrize(("fold", "n_joins"), [(1, 1), (3, 0)])
def test_ends_of_several_copies_are_not_joined_by_the_words_that_seem_to_be_there_once(fold, n_joins):
    """Of A-R and D, all of R is in several copies of C-R-D; but of its first bases that is not known."""
    repeat = made.random_text(282, 30)
    graph = made.graph_of(made.A + repeat, made.D)
    pairs = made.pairs_of(*[made.C + repeat + made.D] * fold)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat[120:])).gaps) == n_joins


def repeat_kmers_of(text: str) -> np.ndarray:
    return np.unique(np.minimum(*kmers_of(encode(text))))


@pytest.mark.parametrize("n_copied", [0, 700])
def test_that_words_are_copied_is_no_reason_to_expect_few_pairs(n_copied):
    """Ends that share their bases are joined without a pair where few are due: here 49 are, and there is none."""
    shared = made.random_text(55, 31)
    texts = made.A + shared, shared + made.B
    repeat_kmers = repeat_kmers_of((made.A + shared)[len(made.A) + len(shared) - n_copied :])
    resolved = resolve(made.graph_of(*texts), made.pairs_of(*texts), repeat_kmers=repeat_kmers)
    assert resolved.counts["unlinked_overlaps"] == 0
