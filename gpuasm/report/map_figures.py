"""Figures of a map of contigs: its surface with the contigs on it, and how it was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuasm.report.binned_contigs import BinnedContigs
from gpuasm.report.figures import FIRST, INK, MAX_POINTS, SECOND, svg_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PALETTE = (
    "#2a6fb0", "#c2571a", "#1d8a4e", "#8a5cc2", "#c23b3b", "#8f7500", "#c24f9e", "#4b8f9e", "#7a6a5a", "#5f7f1f",
)  # fmt: skip
_SHAPES = "os^Dvph"
_WIDE = (9.0, 4.9)
_HIGHEST_AT = 0.98
"""The share of units at which the surface is darkest; single peaks would make all else pale."""


def map_figure(binning: BinnedContigs, name: str) -> str:
    """Draw the U-matrix, darker where neighbours differ more, with the longest contigs coloured by bin."""

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - as in svg_figure

        n_rows, n_columns = len(binning.height), len(binning.height[0])
        axes.imshow(_shades(binning.height), aspect="auto", interpolation="nearest")
        names = [row["bin"] for row in binning.bins]
        drawn = binning.contigs[:MAX_POINTS]
        for number, bin_name in enumerate(["", *names]):
            chosen = [c for c in drawn if c.bin == bin_name]
            colour = _PALETTE[(number - 1) % len(_PALETTE)] if number else INK
            shape = _SHAPES[(number - 1) // len(_PALETTE) % len(_SHAPES)] if number else "x"
            axes.scatter(
                [c.column for c in chosen], [c.row for c in chosen], s=[_size(c.length) for c in chosen],
                c=colour, marker=shape, alpha=0.8 if number else 0.5, linewidth=0.7 if shape == "x" else 0,
            )  # fmt: skip
            if chosen and 0 < number <= 2 * len(_PALETTE):
                largest = chosen[0]
                axes.annotate(
                    bin_name.removeprefix("bin_"), (largest.column, largest.row), (0, 4), textcoords="offset points",
                    color=INK, fontsize=9, ha="center", fontweight="bold",
                )  # fmt: skip
        axes.set_xlim(-0.5, n_columns - 0.5)
        axes.set_ylim(n_rows - 0.5, -0.5)
        axes.grid(visible=False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("column of the map; its left edge joins the right, its upper edge the lower")
        axes.set_ylabel("row")

    return svg_figure(draw, f"{name}-map", "map of contigs", size=_WIDE)


def training_figure(binning: BinnedContigs, name: str) -> str:
    """Draw the quantisation error and the topographic error over the epochs."""

    def draw(axes: Axes) -> None:
        epochs = range(len(binning.training))
        axes.plot(epochs, [error for error, _ in binning.training], color=FIRST, linewidth=1.8)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("epoch")
        axes.set_ylabel("quantisation error", color=FIRST)
        axes.yaxis.label.set_color(FIRST)
        other = axes.twinx()
        other.plot(epochs, [100 * error for _, error in binning.training], color=SECOND, linewidth=1.8)
        other.set_ylim(0, 100)
        other.set_ylabel("topographic error (%)", color=SECOND)
        other.tick_params(colors=INK, length=0)
        other.spines[:].set_visible(False)

    return svg_figure(draw, f"{name}-training", "training of the map")


def _shades(height: list[list[float]]) -> list[list[tuple[float, float, float, float]]]:
    """Return grey of an opacity that rises with the height, so that it suits pages of any colour."""
    every = sorted(value for row in height for value in row)
    top = every[int(_HIGHEST_AT * (len(every) - 1))] or 1.0
    return [[(0.5, 0.5, 0.5, min(1.0, value / top)) for value in row] for row in height]


def _size(length: int) -> float:
    return min(60.0, 3 + (length / 2000) ** 0.5)
