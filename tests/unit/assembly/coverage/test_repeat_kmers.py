"""Repeat-derived k-mers that occur once in the last graph anchor no mates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuasm.arrays import to_host, to_namespace
from gpuasm.assembly.alignment.graph_anchors import ANCHOR_K, AnchorIndex
from gpuasm.assembly.coverage.copy_number import find_repeat_kmers
from gpuasm.assembly.pairs.link_evidence import Evidence
from gpuasm.assembly.pairs.links import Links
from gpuasm.assembly.paths.link_acceptance import has_several_copies, leads_from_repeat, without_repeat_kmers
from gpuasm.assembly.paths.repeat_resolution import resolve
from gpuasm.kmers.text_kmers import kmers_of
from gpuasm.sequence.encoding import encode
from tests import repeat_graphs as made

LENGTHS = (400, 90, 62, 61)


def keys_of(text: str) -> list[int]:
    """Return the canonical keys of the 31-mers of a text, two bits a base."""
    codes = encode(text).tolist()
    kmers = [codes[i : i + ANCHOR_K] for i in range(len(codes) - ANCHOR_K + 1)]
    either = [(kmer, [3 - code for code in reversed(kmer)]) for kmer in kmers]
    return [min(sum(c << 2 * (ANCHOR_K - 1 - i) for i, c in enumerate(one)) for one in both) for both in either]


def with_depth(graph, depths):
    """Return a graph with the depth of each unitig given by its text."""
    depth_of = {made.either_strand(text): depth for text, depth in depths.items()}
    depth = np.array([depth_of[made.either_strand(graph.sequence(u))] for u in range(graph.n)])
    return replace(graph, count=np.rint(depth * graph.unit * graph.n_kmers).astype(graph.count.dtype))


@given(st.lists(st.floats(5, 60), min_size=len(LENGTHS), max_size=len(LENGTHS)))
def test_repeat_kmers_are_those_of_two_likelier_copies(depths):
    texts = [made.random_text(n, 40 + n) for n in LENGTHS]
    graph = with_depth(made.graph_of(*texts), dict(zip(texts, depths, strict=True)))
    copy = max(float(graph.depth[u]) for u in range(graph.n) if graph.length[u] == LENGTHS[0])
    expected = set()
    for u in range(graph.n):
        reads_per_depth = (int(graph.n_kmers[u]) + 100 - made.K) / 100
        n = reads_per_depth * float(graph.depth[u])
        bits = n - reads_per_depth * copy / np.log(2)  # by Poisson, where so many reads, or twice as many, are expected
        assume(abs(bits - 4) > 1e-6)
        expected |= set(keys_of(graph.sequence(u))) if bits >= 4 else set()
    assert find_repeat_kmers(graph, np.full(graph.n, copy), bases_per_read=100).tolist() == sorted(expected)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_repeat_kmers_anchor_only_unitigs_of_nothing_else(xp, share):
    shared = made.random_text(40, 50)
    graph = made.graph_of(made.A[:300] + shared, made.B[:200], made.C[:100] + shared, made.D[:70])
    index = AnchorIndex.of(graph, xp)
    kmers = [keys_of(graph.sequence(u)) for u in range(graph.n)]
    times = Counter(key for own in kmers for key in own)
    rng = np.random.default_rng(3)
    repeat_kmers = {key for key in sorted(times) if rng.random() < share}
    repeat_kmers |= {key for u, own in enumerate(kmers) for key in own if graph.length[u] == 70 and share}
    whole = [{key for key in own if times[key] == 1} <= repeat_kmers for own in kmers]
    assert any(whole) == (share > 0)
    requested = np.array(sorted(repeat_kmers | {12345}), np.uint64)
    left, is_whole = without_repeat_kmers(index, to_namespace(xp, requested))
    assert is_whole.tolist() == whole
    expected = {
        key
        for own, stays in zip(kmers, whole, strict=True)
        for key in own
        if times[key] == 1 and (stays or key not in repeat_kmers)
    }
    keys = np.array(sorted(times), np.uint64)
    position = to_host(index.kmers.find_windows(to_namespace(xp, keys))) >> 1
    before, kept = to_host(index.kmers.is_unique), to_host(left.kmers.is_unique)
    assert set(keys[kept[position]].tolist()) == expected
    assert not (kept & ~before).any()


def links_of(*rows, xp=np):
    """Return links between oriented unitigs, given the distances of their pairs from the ends."""
    source, target = np.array([ends for ends, _, _ in rows], np.int32).T
    left, right = (np.array([far for row in rows for far in row[side]], np.int32) for side in (1, 2))
    first, none = np.cumsum([0, *(len(row[1]) for row in rows)]), np.zeros(0, np.int32)
    arrays = source, target, first, np.arange(left.size), left, right, none, none
    return Links(*(to_namespace(xp, array) for array in arrays))


@pytest.mark.parametrize(
    ("whole", "depths", "is_rejected"),
    [
        ([True, False], (30, 20), [True]),
        ([False, True], (20, 30), [True]),
        ([True, False], (29, 20), [False]),
        ([True, False], (20, 30), [False]),
        ([True, True], (30, 20), [False]),
        ([False, False], (30, 20), [False]),
    ],
)
def test_repeat_unitig_is_not_linked_to_single_copy_sequence(whole, depths, is_rejected):
    graph = replace(made.graph_of(made.A, made.B), unit=1)
    graph = replace(graph, count=np.array(depths) * graph.n_kmers)
    assert leads_from_repeat(links_of(([1, 2], [9], [9])), graph, np.array(whole)).tolist() == is_rejected


@pytest.mark.parametrize(("fold", "is_known", "n_joins"), [(64, True, 0), (64, False, 1), (56, True, 1)])
def test_repeat_unitig_is_not_joined_to_one_of_lower_depth(fold, is_known, n_joins):
    """However many pairs link them: a repeat of 2,000 bases has two continuations, one of which is lost."""
    texts = {made.A: fold, made.B: made.FOLD, made.C: made.FOLD, made.D: made.FOLD}
    graph = with_depth(made.graph_of(*texts), texts)
    pairs = made.pairs_of(made.A + made.random_text(40, 20) + made.B)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(made.A) if is_known else None).gaps) == n_joins


@pytest.mark.parametrize("fold", [2, 4, 8])
def test_repeat_linked_by_another_copy_is_not_joined(fold):
    """The graph has A-R and D of C-R-D and A-R; the continuation of A-R is lost."""
    repeat = made.random_text(282, 30)
    graph = made.graph_of(made.A + repeat, made.D, fold=made.FOLD // fold)
    pairs = made.pairs_of(made.C + repeat + made.D, made.A + repeat, fold=2 * made.FOLD // fold)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of("")).gaps) == len(resolve(graph, pairs).gaps) == 1
    resolved = resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat))
    assert resolved.gaps == []
    assert resolved.counts["repeat_kmers"] == len(repeat) - ANCHOR_K + 1


def test_pairs_on_single_copy_kmers_join_beyond_a_repeat():
    """R occurs once in the graph, as A-R-D, and pairs that span R count, as many as expected."""
    repeat = made.random_text(60, 30)
    graph = made.graph_of(made.A + repeat, made.D)
    pairs = made.pairs_of(made.A + repeat + made.D)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat)).gaps) == 1


@pytest.mark.parametrize(
    ("own", "n", "expected", "is_rejected"),
    [
        (5, 30, 9.8, True),
        (30, 30, 9.8, False),  # none on repeat k-mers: depth may be uneven
        (5, 190, 100, False),  # not twice as many, however certain that is
        (5, 20, 8, False),  # two copies are 2^8.5 times as likely
        (5, 24, 9, True),
    ],
)
def test_links_with_too_many_pairs_on_repeat_kmers_are_rejected(xp, own, n, expected, is_rejected):
    far = [9] * own, [9] * own
    links = links_of(([1, 2], [9], [9]), ([4, 6], *far), ([8, 2], [9], [9]), xp=xp)
    every = links_of(([0, 6], [9], [9]), ([4, 6], [9] * n, [9] * n), xp=xp)
    counts = np.array([99, n])
    expected_pairs = np.array([1, round(16 * expected)])
    evidence = Evidence(np.zeros(2), counts, counts, expected_pairs, np.zeros(2))
    assert has_several_copies(links, every, evidence).tolist() == [False, is_rejected, False]
    assert has_several_copies(links, links_of(([0, 6], [9], [9]), xp=xp), evidence).tolist() == [False] * 3


@pytest.mark.parametrize(("fold", "n_joins"), [(1, 1), (3, 0)])
def test_ends_of_several_copies_are_not_joined_by_undetected_kmers(fold, n_joins):
    """R occurs in several copies of C-R-D, but the first k-mers of R are not known to be repeat-derived."""
    repeat = made.random_text(282, 30)
    graph = made.graph_of(made.A + repeat, made.D)
    pairs = made.pairs_of(*[made.C + repeat + made.D] * fold)
    assert len(resolve(graph, pairs, repeat_kmers=repeat_kmers_of(repeat[120:])).gaps) == n_joins


def repeat_kmers_of(text: str) -> np.ndarray:
    return np.unique(np.minimum(*kmers_of(encode(text))))


@pytest.mark.parametrize("n_repeat", [0, 700])
def test_repeat_kmers_do_not_lower_the_expected_pairs(n_repeat):
    """Overlapping ends are joined without a pair if few are expected: here 49 are, and there is none."""
    shared = made.random_text(55, 31)
    texts = made.A + shared, shared + made.B
    repeat_kmers = repeat_kmers_of((made.A + shared)[len(made.A) + len(shared) - n_repeat :])
    resolved = resolve(made.graph_of(*texts), made.pairs_of(*texts), repeat_kmers=repeat_kmers)
    assert resolved.counts["unlinked_overlaps"] == 0
