"""Weights of predictors by cross-validation: those with the least energy score of known states.

The energy score of a prediction is its expected distance to the truth, less half its expected distance to another draw
of itself (Gneiting and Raftery 2007, doi:10.1198/016214506000001437). Honest probabilities minimise it. With a
distance of 1 between all states it is half of Brier's score. Of a mean of predictions it is quadratic in the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_FOLDS, _SEED = 5, 0
_STEPS, _STEP = 400, 2.0
_PRIOR = 1.0
"""Equal weights count as much as this many samples."""


class Stacked(NamedTuple):
    """Means of predictions.

    Attributes
    ----------
    shares : (n, s) float64
        Probabilities of the states; of a known sample by weights that other samples chose.
    weights : (m,) float64
        Weights of the predictors for samples of unknown state.
    """

    shares: np.ndarray
    weights: np.ndarray


def stack(predictions: Sequence[np.ndarray], known: np.ndarray, cost: np.ndarray, between: np.ndarray) -> Stacked:
    """Return the mean of predictions with the least energy score of the known states.

    Parameters
    ----------
    predictions : m arrays (n, s) float64
        Each without the sample's own state.
    known : (k,) int64
        The samples of known state.
    cost : (k, s) float64
        Distance of each state to the truth.
    between : (s, s) float64
        Distances of the states.
    """
    m, k = len(predictions), known.size
    if k < 2:
        weights = np.full(m, 1 / m)
        return Stacked(_mean(predictions, weights), weights)
    fold = np.random.Generator(np.random.PCG64(_SEED)).permutation(k) % min(_FOLDS, k)
    masks = [fold == number for number in range(int(fold.max()) + 1)]
    own = [one[known] for one in predictions]
    to_truth = np.array([(one * cost).sum(axis=1) for one in own])
    to_itself = np.array([_expected_distances([one[mask] for one in own], between) for mask in masks])
    weights = _least_energy(to_truth.sum(axis=1), to_itself.sum(axis=0), k)
    shares = _mean(predictions, weights)
    for number, mask in enumerate(masks):
        rest = _least_energy(
            to_truth[:, ~mask].sum(axis=1), to_itself.sum(axis=0) - to_itself[number], int((~mask).sum())
        )
        shares[known[mask]] = _mean([one[mask] for one in own], rest)
    return Stacked(shares, weights)


def _expected_distances(predictions: Sequence[np.ndarray], between: np.ndarray) -> np.ndarray:
    """Return the distances (m, m) expected between draws of each two predictions, summed over the samples."""
    flat = np.stack([one.ravel() for one in predictions])
    found = np.stack([(one @ between).ravel() for one in predictions]) @ flat.T
    return (found + found.T) / 2


def _mean(predictions: Sequence[np.ndarray], weights: np.ndarray) -> np.ndarray:
    found = np.zeros_like(predictions[0])
    for one, weight in zip(predictions, weights.tolist(), strict=True):
        found += weight * one
    return found


def _least_energy(to_truth: np.ndarray, to_itself: np.ndarray, k: int) -> np.ndarray:
    """Return the weights of least energy, drawn towards equal ones, by exponentiated gradients."""
    scale = float(to_itself.max())
    if scale <= 0:
        return np.full(to_truth.size, 1 / to_truth.size)
    prior = _STEP / scale * _PRIOR * float(to_truth.mean()) / k
    logarithms = np.zeros(to_truth.size)
    for _ in range(_STEPS):
        weights = _normalised(logarithms)
        gradient = to_truth - to_itself @ weights
        logarithms = (1 - min(prior, 1.0)) * logarithms - _STEP / scale * gradient
        logarithms -= logarithms.max()
    return _normalised(logarithms)


def _normalised(logarithms: np.ndarray) -> np.ndarray:
    weights = np.exp(logarithms)
    return weights / weights.sum()
