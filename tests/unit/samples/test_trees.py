"""Neighbour joining against known trees and Biopython's."""

from __future__ import annotations

import io

import numpy as np
import pytest
from Bio import Phylo
from Bio.Phylo.TreeConstruction import DistanceMatrix, DistanceTreeConstructor

from gpuasm.samples import neighbour_joining, newick


def random_additive(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the distances between the leaves of a random tree."""
    distance = np.zeros((n, n))
    groups = [{leaf: rng.random() + 0.1} for leaf in range(n)]
    while len(groups) > 1:
        first, second = (groups.pop(int(rng.integers(len(groups)))) for _ in range(2))
        for a, up in first.items():
            for b, down in second.items():
                distance[a, b] = distance[b, a] = up + down
        more = rng.random() + 0.1
        groups.append({leaf: depth + more for leaf, depth in (first | second).items()})
    return distance


def leaf_distances(text: str, names: list[str]) -> np.ndarray:
    tree = Phylo.read(io.StringIO(text), "newick")
    return np.array([[tree.distance(a, b) for b in names] for a in names])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 16])
def test_distances_of_a_tree_give_the_tree(n, rng):
    names = [f"s{i}" for i in range(n)]
    distance = random_additive(rng, n)
    assert leaf_distances(newick(neighbour_joining(distance, names)), names) == pytest.approx(distance, abs=1e-7)


def test_tree_matches_biopython_if_no_branch_is_negative(rng):
    names = [f"s{i}" for i in range(12)]
    noise = rng.random((12, 12)) * 0.02
    distance = random_additive(rng, 12) + noise + noise.T
    np.fill_diagonal(distance, 0)
    rows = DistanceMatrix(names, [distance[i, : i + 1].tolist() for i in range(12)])
    theirs = DistanceTreeConstructor().nj(rows)
    expected = np.array([[theirs.distance(a, b) for b in names] for a in names])
    tree = neighbour_joining(distance, names)
    assert tree.length.min() >= 0
    assert leaf_distances(newick(tree), names) == pytest.approx(expected, abs=1e-7)


def test_no_branch_is_negative(rng):
    distance = rng.random((40, 40))
    distance = distance + distance.T
    np.fill_diagonal(distance, 0)
    tree = neighbour_joining(distance, [str(i) for i in range(40)])
    assert tree.length.min() >= 0
    assert sorted(tree.leaves()) == list(range(40))
    assert (tree.parent[:-1] >= 0).all()
    assert (np.bincount(tree.parent[:-1])[40:] == [*[2] * 37, 3]).all()


def test_identical_samples_have_branches_of_length_0():
    tree = neighbour_joining(np.zeros((5, 5)), list("abcde"))
    assert tree.length.tolist() == [0.0] * 8
    assert newick(neighbour_joining(np.zeros((5, 5)), list("abcde"))) == newick(tree)


def test_few_samples():
    assert newick(neighbour_joining(np.zeros((0, 0)), [])) == ";"
    assert newick(neighbour_joining(np.zeros((1, 1)), ["a"])) == "a;"
    assert newick(neighbour_joining(np.array([[0, 0.5], [0.5, 0]]), ["a", "b"])) == "(a:0.25,b:0.25);"


def test_special_letters_are_quoted():
    text = newick(neighbour_joining(np.array([[0, 1.0], [1, 0]]), ["it's (1)", "x_1"]))
    assert text == "('it''s (1)':0.5,x_1:0.5);"


def test_a_chain_of_a_thousand():
    """More levels than Python's recursion limit."""
    points = np.cumsum(np.arange(1200.0))
    tree = neighbour_joining(np.abs(np.subtract.outer(points, points)), [str(i) for i in range(1200)])
    assert newick(tree).count(",") == 1199
    assert sorted(tree.leaves()) == list(range(1200))
