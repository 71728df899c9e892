"""U*-matrix: the walls of the U-matrix, lowered where rows are dense and raised where they are thin (Ultsch 2003)."""

from __future__ import annotations

import numpy as np


def u_star(heights: np.ndarray, density: np.ndarray) -> np.ndarray:
    """Return U * (P - mean P) / (mean P - max P) + U: 0 where P is largest, U where P is its mean, more below.

    Parameters
    ----------
    heights : (rows, columns) float
        The U-matrix.
    density : (rows, columns) float
        The P-matrix.

    Returns
    -------
    (rows, columns) float64; the U-matrix itself where the density is the same everywhere.
    """
    mean, most = float(density.mean()), float(density.max())
    heights = heights.astype(np.float64)
    if most <= mean:
        return heights
    return heights * np.maximum(0.0, (most - density) / (most - mean))
