"""Shared hashes of all pairs against sets, and the distances made of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm import arrays
from gpuasm.samples import (
    Sketches,
    SketchKind,
    compare,
    comparison,
    containment,
    containment_distance,
    jaccard,
    mash_distance,
)
from gpuasm.samples.hash_index import index_in_parts, merge_alike
from gpuasm.samples.p_values import p_values
from tests.oracles.sketches import mash_shared


def sketches_of(sets: list[set[int]], kind: SketchKind) -> Sketches:
    parts = [np.array(sorted(one)[: kind.size or None], np.uint64) for one in sets]
    return Sketches.join(kind, [f"s{i}" for i in range(len(sets))], parts)


def related_sets(rng: np.random.Generator, n: int, size: int) -> list[set[int]]:
    """Samples of a few families, some the same, some of few hashes."""
    families = rng.integers(0, 1 << 62, (4, 2 * size))
    sets = [set(rng.choice(families[i % 4], rng.integers(1, 2 * size), replace=False).tolist()) for i in range(n)]
    return [*sets, sets[0], set(), set(list(sets[1])[:3])]


def check(sets, kind, xp=np):
    found = compare(sketches_of(sets, kind), xp)
    kept = [sorted(one)[: kind.size or None] for one in sets]
    for a in range(len(sets)):
        for b in range(len(sets)):
            shared, compared = mash_shared(kept[a], kept[b], kind.size or 1 << 40)
            if a != b:
                assert (found.shared[a, b], found.compared[a, b]) == (shared, compared)
    return found


@pytest.mark.parametrize("kind", [SketchKind.bottom(21, 50), SketchKind.scaled(21, 1)], ids=["bottom", "scaled"])
def test_shared_hashes_are_those_of_sets(kind, xp, rng):
    found = check(related_sets(rng, 20, 50), kind, xp)
    assert found.shared.dtype == np.int32
    assert np.array_equal(np.diag(found.shared), found.sizes)


@pytest.mark.parametrize("kind", [SketchKind.bottom(21, 50), SketchKind.scaled(21, 1)], ids=["bottom", "scaled"])
def test_parts_of_the_hashes_add_up(kind, xp, rng, monkeypatch):
    sketches = sketches_of(related_sets(rng, 20, 50), kind)
    whole = compare(sketches, xp).shared
    for most in (1, 7, 100):
        monkeypatch.setattr(index_in_parts, "__kwdefaults__", {"most": most})
        assert np.array_equal(compare(sketches, xp).shared, whole)


@given(sets=st.lists(st.sets(st.integers(0, 30)), max_size=6), size=st.integers(1, 12))
def test_any_small_sets(sets, size):
    found = check(sets, SketchKind.bottom(21, size))
    assert np.array_equal(found.shared, found.shared.T)


def test_threads_do_not_matter(threads, rng):
    sketches = sketches_of(related_sets(rng, 1100, 20), SketchKind.bottom(21, 20))
    whole = compare(sketches).shared
    assert np.array_equal(whole[:40, :40], compare(first_of(sketches, 40)).shared)


def first_of(sketches, n):
    return Sketches.join(sketches.kind, sketches.names[:n], [sketches.of(i) for i in range(n)])


@pytest.mark.parametrize("kind", [SketchKind.bottom(21, 50), SketchKind.scaled(21, 1)], ids=["bottom", "scaled"])
def test_the_cuda_kernel_counts_the_same(kind, rng, emulated_functions, monkeypatch):
    monkeypatch.setattr(comparison, "cuda_functions", emulated_functions)
    sketches = sketches_of(related_sets(rng, 300, 50), kind)
    shared = np.zeros((sketches.n, sketches.n), np.int32)
    for part in index_in_parts(sketches.hashes, sketches.offsets, most=5000):
        index = merge_alike(part) if kind.is_scaled else part
        comparison._count_cuda(index, kind.size or 1 << 40, shared)
    assert np.array_equal(shared, np.triu(compare(sketches).shared, 1))


def test_hashes_of_the_same_samples_are_merged(xp, rng):
    """Genomes that differ in a few places: few sets of samples distinguish them."""
    base = rng.integers(0, 1 << 62, 500)
    sets = [set(base[: 400 + 20 * (i % 4)].tolist()) for i in range(12)]
    sketches = sketches_of(sets, SketchKind.scaled(21, 1))
    (index,) = index_in_parts(arrays.to_namespace(xp, sketches.hashes), xp.asarray(sketches.offsets))
    merged = merge_alike(index)
    assert (index.weight.size, merged.weight.size) == (460, 4)
    assert sorted(arrays.to_host(merged.weight).tolist()) == [20, 20, 20, 400]
    check(sets, SketchKind.scaled(21, 1), xp)


def test_equal_random_sums_of_different_samples_merge_nothing(monkeypatch, rng):
    sketches = sketches_of(related_sets(rng, 9, 30), SketchKind.scaled(21, 1))
    (index,) = index_in_parts(sketches.hashes, sketches.offsets)
    monkeypatch.setattr("gpuasm.samples.hash_index.random_uint64", lambda *_: np.ones(12, np.uint64))
    assert merge_alike(index) is index


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [SketchKind.bottom(21, 300), SketchKind.scaled(21, 1)], ids=["bottom", "scaled"])
def test_devices_count_the_same(kind, rng):
    sketches = sketches_of(related_sets(rng, 900, 300), kind)
    found = [compare(sketches, xp).shared for xp in (np, arrays.namespace_of("cuda"))]
    assert np.array_equal(*found)


def test_distances_of_mash():
    """Printed by Mash 2.3 for pairs with these counts, k = 21."""
    kind = SketchKind.bottom(21, 1000)
    counts = {1000: "0", 993: "0.000167546", 916: "0.00213483", 445: "0.0230782", 9: "0.191731", 1: "0.295981", 0: "1"}
    base = np.arange(3000, dtype=np.uint64)
    for shared, expected in counts.items():
        other = np.concatenate([base[:shared], base[2000 : 3000 - shared]])
        found = compare(Sketches.join(kind, ["a", "b"], [base[:1000], other]))
        # Hashes of the other sketch alone are all larger: the union's least 1,000 are those of the first.
        assert (found.shared[0, 1], found.compared[0, 1]) == (shared, 1000)
        assert f"{mash_distance(found)[0, 1]:.6g}" == expected


def test_p_values_are_sums_of_binomials(rng):
    sets = [set(rng.choice(200, 40, replace=False).tolist()) for _ in range(5)]
    found = compare(sketches_of([*sets, set()], SketchKind.bottom(9, 40)))
    bases = np.array([1000.0, 5000.0, 30_000.0, 4e6, 2e5, 1e3])
    values = p_values(found, bases)
    assert np.array_equal(values, values.T)
    for a in range(6):
        for b in range(6):
            one, other = (1 / (1 + 4**9 / bases[i]) for i in (a, b))
            rate, n, shared = one * other / (one + other - one * other), found.compared[a, b], found.shared[a, b]
            terms = (math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(shared, n + 1))
            assert values[a, b] == pytest.approx(sum(terms), rel=1e-9)


@pytest.mark.parametrize(
    ("bases", "shared", "distance", "p_value"),
    [
        ((48502, 29903), 5, "0.310702", "0.0110361"),
        ((5386, 48502), 1, "0.455815", "0.292864"),
        ((16569, 29903), 2, "0.393103", "0.177026"),
    ],
)
def test_remote_genomes_have_the_values_of_mash(bases, shared, distance, p_value):
    """By Mash 2.3 with k = 11, s = 300, of phage lambda, phiX174, SARS-CoV-2 and human mitochondrial DNA."""
    parts = [np.arange(first, first + 300, dtype=np.uint64) for first in (0, 300 - shared)]
    found = compare(Sketches.join(SketchKind.bottom(11, 300), ["a", "b"], parts))
    assert (found.shared[0, 1], found.compared[0, 1]) == (shared, 300)
    assert f"{mash_distance(found)[0, 1]:.6g}" == distance
    assert f"{p_values(found, np.array(bases, np.float64))[0, 1]:.6g}" == p_value


def test_distances_of_k_3_end_at_1():
    found = compare(
        Sketches.join(
            SketchKind.bottom(3, 99), ["a", "b"], [np.arange(50, dtype=np.uint64), np.arange(49, 98, dtype=np.uint64)]
        )
    )
    assert mash_distance(found)[0, 1] == 1.0


def test_jaccard_and_containment():
    found = compare(sketches_of([set(range(10)), set(range(8, 28)), set()], SketchKind.scaled(21, 1)))
    assert jaccard(found)[0, 1] == 2 / 28
    assert (containment(found)[0, 1], containment(found)[1, 0]) == (0.2, 0.1)
    distance = containment_distance(found)
    assert distance[0, 1] == pytest.approx(1 - 0.2 ** (1 / 21))
    assert distance[0, 2] == distance[2, 1] == 1.0
    assert np.diag(distance).tolist() == np.diag(mash_distance(found)).tolist() == [0.0] * 3
    assert math.isclose(mash_distance(found)[0, 1], -math.log(2 * (2 / 28) / (1 + 2 / 28)) / 21)


def test_containment_needs_scaled_sketches():
    with pytest.raises(ValueError, match="scaled"):
        containment(compare(sketches_of([{1}, {2}], SketchKind.bottom(21, 5))))


def test_no_sample():
    assert compare(sketches_of([], SketchKind.bottom(21, 5))).shared.shape == (0, 0)


def test_sketches_without_hashes_are_named(caplog):
    kind = SketchKind.scaled(21, 1000)
    compare(Sketches.join(kind, ["full", "empty"], [np.array([5], np.uint64), np.empty(0, np.uint64)]))
    assert "1 of 2 sketches have no hash" in caplog.text
    assert "empty" in caplog.text
