"""Decay of the neighbourhood radius and of the learning rate over epochs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuasm.clustering.grid import MapGrid
from gpuasm.errors import UsageError

DECAYS = ("linear", "exponential")


@dataclass(frozen=True)
class Stage:
    """Rows that are presented with one neighbourhood and rate.

    Attributes
    ----------
    order : (m,) int64
        The rows, in the order of presentation.
    factors : (terms, 3, 2 * columns - 1) and (terms, 2 * rows - 1) float64, or a table and nothing
    is_table : bool
        Whether the factors are a table.
    rate : float
    """

    order: np.ndarray
    factors: tuple[np.ndarray, np.ndarray]
    is_table: bool
    rate: float


def radii(grid: MapGrid, radius: tuple[float, float] | None) -> tuple[float, float]:
    """Return the first and the last radius; by default a quarter of the shorter side, at least 1, and one half.

    Raises
    ------
    UsageError
        If they are not two numbers above 0, the first no smaller than the last.
    """
    if radius is None:
        return max(1.0, min(grid.rows, grid.columns) / 4), 0.5
    return _falling("radius", radius)


def rates(rate: tuple[float, float]) -> tuple[float, float]:
    """Return the first and the last learning rate.

    Raises
    ------
    UsageError
        If they are not two numbers above 0 and up to 1, the first no smaller than the last.
    """
    first, last = _falling("rate", rate)
    if first > 1:
        raise UsageError("rates up to 1", str(first), "give rates such as 0.5 and 0.02")
    return first, last


def decayed(bounds: tuple[float, float], step: int, n_steps: int, *, decay: str) -> float:
    """Return the value at a step: the first of the bounds at step 0, the last at step ``n_steps`` - 1.

    Raises
    ------
    UsageError
        If the decay is unknown.
    """
    if decay not in DECAYS:
        raise UsageError(f"a decay named {' or '.join(DECAYS)}", repr(decay), "use one of those names")
    first, last = bounds
    done = step / (n_steps - 1) if n_steps > 1 else 1.0
    return first + (last - first) * done if decay == "linear" else first * math.pow(last / first, done)


def _falling(name: str, bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        first, last = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        first = last = math.nan
    if not (math.inf > first >= last > 0):
        raise UsageError(
            f"a first and a last {name}, above 0 and not rising", repr(bounds), "give two numbers, the larger first"
        )
    return first, last
