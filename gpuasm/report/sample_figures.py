"""Pictures of samples: the distances of all to all, in the order of their tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpuasm.report.figures import short_name, svg_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 60
_MOST_CELLS = 1500
"""Rows of the picture at most: of more samples, each cell is the mean of some."""


def distance_figure(names: Sequence[str], distance: np.ndarray, order: Sequence[int]) -> str:
    """Draw a matrix of distances as a heat map.

    Parameters
    ----------
    names
        Of the samples.
    distance : (n, n) float64
        Symmetric.
    order
        The samples from left to right and from top to bottom.

    Returns
    -------
    SVG text, the same for the same distances.
    """
    values = _thinned(distance[np.ix_(order, order)])
    side = min(12.0, 5.0 + 0.14 * len(names))

    def draw(axes: Axes) -> None:
        drawn = axes.imshow(values, cmap="viridis_r", interpolation="nearest", vmin=0)
        axes.grid(visible=False)
        axes.figure.colorbar(drawn, ax=axes, shrink=0.7, label="distance (substitutions a base)")
        if len(names) <= _MOST_LABELS:
            labels = [short_name(names[sample]) for sample in order]
            axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
            axes.set_yticks(range(len(labels)), labels, fontsize=7)
        else:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_xlabel(f"{len(names)} samples in the order of their tree")

    return svg_figure(draw, "samples-distances", "distances between samples", size=(1.25 * side, side))


def _thinned(values: np.ndarray) -> np.ndarray:
    n = len(values)
    if n <= _MOST_CELLS:
        return values
    bounds = np.linspace(0, n, _MOST_CELLS + 1).astype(int)[:-1]
    sizes = np.diff([*bounds, n])
    sums = np.add.reduceat(np.add.reduceat(values, bounds, axis=0), bounds, axis=1)
    return sums / np.outer(sizes, sizes)
