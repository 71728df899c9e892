"""Probabilities of states at the leaves of a tree, each without what is known of the leaf itself.

Along a branch of length t the state stays the same with probability e^(-rate t). Else it is drawn anew, all states
alike: the model of Felsenstein 1981 (doi:10.1007/BF01734359). Two passes over the tree, to the root and back, give
the probabilities at each leaf from all other leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SampleTree(NamedTuple):
    """A tree whose nodes 0 to n - 1 are samples, children before parents.

    Attributes
    ----------
    parent : (nodes,) int64
        The parent of each node; -1 for the root.
    length : (nodes,) float64
        Length of the branch to the parent.
    """

    parent: np.ndarray
    length: np.ndarray


def leaf_probabilities(
    tree: SampleTree, states: np.ndarray, n_states: int, *, rates: np.ndarray, least_length: float
) -> np.ndarray:
    """Return the probability of each state at each leaf, by the states of the other leaves.

    Parameters
    ----------
    tree
        The samples are its leaves.
    states : (n,) int64
        State of each leaf; -1 if unknown.
    n_states
        Number of states.
    rates : (r,) float64
        Rates of change for a unit of length; each is a model of its own.
    least_length
        Added to each branch, so that equal samples can have different states.

    Returns
    -------
    (r, n, n_states) float64
    """
    n, root = len(states), len(tree.parent) - 1
    stays = np.exp(-rates[:, None] * (tree.length + least_length))
    children: list[list[int]] = [[] for _ in tree.parent]
    for node, parent in enumerate(tree.parent[:-1].tolist()):
        children[parent].append(node)
    upward = np.empty((root + 1, rates.size, n_states))
    for node in range(root):
        if node >= n:
            own = _scaled(np.prod(upward[children[node]], axis=0))
        else:
            own = np.ones((rates.size, n_states))
            if states[node] >= 0:
                own[:] = np.arange(n_states) == states[node]
        upward[node] = _along_branch(own, stays[:, node, None])
    found = np.empty((rates.size, n, n_states))
    downward = {root: np.ones((rates.size, n_states))}
    for node in range(root, -1, -1):
        own = downward.pop(node)
        if node < n:
            found[:, node] = own / own.sum(axis=1, keepdims=True)
        for child in children[node]:
            others = [upward[other] for other in children[node] if other != child]
            from_others = _scaled(np.prod([own, *others], axis=0))
            downward[child] = _along_branch(from_others, stays[:, child, None])
    return found


def _along_branch(values: np.ndarray, stays: np.ndarray) -> np.ndarray:
    return stays * values + (1 - stays) * values.mean(axis=1, keepdims=True)


def _scaled(values: np.ndarray) -> np.ndarray:
    return values / values.max(axis=1, keepdims=True)
