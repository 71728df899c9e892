"""Calibration of inferences by the errors of samples whose place is known."""

from __future__ import annotations

import math

import numpy as np

RADIUS_SHARES = (0.5, 0.9)
"""Probabilities with which radii hold the true place."""


def calibrated_factor(scores: np.ndarray, share: float) -> float:
    """Return the score that a further sample stays within with a probability of a share; NaN with too few samples.

    The rule of split conformal prediction (Vovk, Gammerman and Shafer 2005): of k scores the
    ceil((k + 1) share)-th.

    Parameters
    ----------
    scores : (k,) float64
        Errors of samples of known place, each inferred without itself, in units of what was expected.
    share
        From 0 to 1.
    """
    rank = math.ceil((scores.size + 1) * share - 1e-9)
    return float(np.sort(scores)[rank - 1]) if 0 < rank <= scores.size else math.nan


def macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean over all classes of the harmonic mean of precision and recall.

    Parameters
    ----------
    truth, predicted : (k,) integers
        Classes; a negative prediction is none.
    """
    scores = []
    for kind in np.union1d(truth, predicted[predicted >= 0]).tolist():
        is_true, is_predicted = truth == kind, predicted == kind
        both = int((is_true & is_predicted).sum())
        scores.append(2 * both / int(is_true.sum() + is_predicted.sum()))
    return float(np.mean(scores)) if scores else math.nan
