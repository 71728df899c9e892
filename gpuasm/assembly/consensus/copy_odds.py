"""Copies by reads: how much likelier so many reads are of one copy than of two, by Poisson's distribution."""

from __future__ import annotations

from math import log


def log_odds_of_one(reads: float, one: float, other: float) -> float:
    """Return how much likelier reads are if a copy gives ``one`` of them than if a second gives ``other`` more.

    Parameters
    ----------
    reads
        How many there are.
    one, other
        How many a copy, and another, should give.

    Returns
    -------
    float
        A natural logarithm; minus infinity where a copy gives none.
    """
    return other - reads * log(1 + other / one) if one > 0 else float("-inf")
